//! nginx as a server of files that takes uploads: the yardstick.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::place::Place;

/// One process in a folder of its own; gone with this.
pub(crate) struct Nginx {
    child: Child,
    address: SocketAddr,
    /// Kept until the process is gone.
    folder: TempDir,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let pid = self.child.id().to_string();
        // Its workers end with it when it is asked to.
        let asked = Command::new("kill").args(["-TERM", &pid]).status();
        if asked.is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl Nginx {
    /// None where it is not installed.
    pub(crate) fn start() -> Option<Nginx> {
        let program = ["/usr/sbin/nginx", "/usr/local/bin/nginx", "/usr/bin/nginx"]
            .into_iter()
            .find(|program| Path::new(program).exists())?;
        let folder = tempfile::tempdir().expect("a folder");
        // Freed again at once: nobody else is given it so soon.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        fs::create_dir(folder.path().join("files")).expect("a folder");
        let config = folder.path().join("nginx.conf");
        fs::write(&config, settings(folder.path(), address)).expect("writes");
        let mut command = Command::new(program);
        command.arg("-p").arg(folder.path()).arg("-c").arg(&config);
        let child = command
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let nginx = Nginx {
            child,
            address,
            folder,
        };
        (0..100).find(|_| {
            thread::sleep(Duration::from_millis(20));
            TcpStream::connect(address).is_ok()
        })?;
        Some(nginx)
    }

    pub(crate) fn place(&self) -> Place {
        Place::web_dav(self.address, self.folder.path().join("files"))
    }
}

/// As its manual has it for uploads, with everything below one folder.
fn settings(folder: &Path, address: SocketAddr) -> String {
    // Root would hand the work to a user who may not write here.
    let owner = fs::metadata(folder).expect("a folder").uid();
    let user = if owner == 0 { "user root;" } else { "" };
    let folder = folder.display();
    format!(
        "daemon off; {user} worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; sendfile on; tcp_nodelay on; keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen {address};
    location / {{ root {folder}/files; dav_methods PUT DELETE; client_max_body_size 0; }}
  }}
}}
"
    )
}
