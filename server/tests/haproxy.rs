//! `HAProxy`, with the configuration of `deploy/`, in front of two servers on one PostgreSQL. One is taken away under
//! load: asked to stop, nobody notices; killed, those alone whose requests it had.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::cluster::replication::free_port;
use crate::kill::{Wire, signed_in};
use crate::load::{Load, assert_exact, notes, now, table};
use crate::process::{Serving, command, owner};
use crate::stores::Place;

const CLIENTS: usize = 8;

/// The program, unless it is not installed.
fn program() -> Option<&'static str> {
    // Debian's programs of administrators are not in everybody's PATH.
    let found = ["haproxy", "/usr/sbin/haproxy"]
        .into_iter()
        .find(|program| Command::new(program).arg("-v").output().is_ok());
    if found.is_none() {
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: there is no haproxy; no server was taken away behind it\n"
        );
    }
    found
}

/// A running `HAProxy`, ended with the test.
struct Proxy {
    child: Child,
    address: String,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    fn start(program: &str, one: &str, two: &str) -> Proxy {
        let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), ".."].iter().collect();
        let address = format!("127.0.0.1:{}", free_port());
        let child = Command::new(program)
            // In the foreground, without a process of its own for the work: it ends when it is killed.
            .args(["-db", "-f"])
            .arg(root.join(Path::new("deploy/haproxy.cfg")))
            .env("TPLKIT_BIND", &address)
            .env("TPLKIT_ONE", one)
            .env("TPLKIT_TWO", two)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut proxy = Proxy { child, address };
        while std::net::TcpStream::connect(&proxy.address).is_err() {
            let ended = proxy.child.try_wait().expect("a child");
            assert!(ended.is_none(), "HAProxy does not take its configuration");
            thread::sleep(Duration::from_millis(10));
        }
        proxy
    }
}

fn serve(database: &str, address: &str) -> Serving {
    let mut command = command(&["serve", "--listen", address, "--database", database]);
    command.args(["--rate-limit", "off"]);
    command.env("TPLKIT_TRUST_PROXY", "1");
    Serving::of(command)
}

#[test]
fn a_server_that_goes_away_behind_haproxy_is_missed_by_nobody() {
    let (Some(place), Some(program)) = (Place::postgres(), program()) else {
        return;
    };
    let organization = owner(&place.url);
    let [one, two] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
    let mut serving = serve(&place.url, &one);
    let mut second = serve(&place.url, &two);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let feature = table(&mut wire, &workspace, "F");
    let proxy = Proxy::start(program, &one, &two);
    let load = Load::start(CLIENTS, &proxy.address, &wire.token, &feature);
    let rows = format!("/v1/features/{feature}/rows");
    for serving in [&serving, &second] {
        serving.wait_for(&rows);
    }
    load.wait_for(200);

    // Asked to stop, and back.
    serving.signal("-TERM");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0), "{log}");
    load.wait_for(200);
    serving = serve(&place.url, &one);
    serving.wait_for(&rows);
    load.wait_for(200);

    let kill = now();
    second.signal("-KILL");
    second.child.wait().expect("ends");
    let killed = now();
    load.wait_for(400);
    let written = load.stop();

    for written in &written {
        for (sent, failed) in &written.failed {
            assert!(*sent < killed, "sent {:?} after the kill", *sent - killed);
            assert!(
                *failed > kill,
                "failed {:?} before the kill",
                kill - *failed
            );
        }
        assert!(written.failed.len() <= 1, "one is in flight at a time");
    }
    let mut wire = Wire::to(&proxy.address, &wire.token);
    assert_exact(&written, &notes(&mut wire, &feature));
}
