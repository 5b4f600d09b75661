//! `PgBouncer` between the server and PostgreSQL, as its package brings it.

use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use super::cluster::{self, Cluster, variable};

/// Looks after a pooler: it ends with the pipe, however the test ends.
const SUPERVISE: &str = r#"
"$1" -q "$2" >"$3/log" 2>&1 &
pooler=$!
read -r _ || :
kill -INT "$pooler" || :
wait "$pooler" || :
rm -rf "$3"
"#;

/// A running `PgBouncer` before the cluster of the tests.
#[derive(Debug)]
pub struct Pooler {
    folder: PathBuf,
    supervisor: Child,
    lifeline: Option<ChildStdin>,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let _ = self.supervisor.wait();
    }
}

/// The program, and whether it knows prepared statements of transactions; nothing where it is not
/// installed.
///
/// # Panics
/// When it is required and missing.
pub fn program() -> Option<(PathBuf, bool)> {
    let named = variable("TPLKIT_PGBOUNCER").map(PathBuf::from);
    let usual = [
        "/usr/sbin",
        "/usr/bin",
        "/usr/local/bin",
        "/opt/homebrew/bin",
    ];
    let path = variable("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(usual.map(PathBuf::from));
    let found = named
        .into_iter()
        .chain(folders.map(|folder| folder.join("pgbouncer")))
        .find(|program| program.is_file());
    let Some(program) = found else {
        assert!(
            variable("TPLKIT_REQUIRE_PGBOUNCER").is_none_or(|value| value == "0"),
            "PgBouncer is required here and not installed; run scripts/test"
        );
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: no PgBouncer found; nothing was tested through a pooler. \
             Run scripts/test to install it.\n"
        );
        return None;
    };
    let version = Command::new(&program).arg("--version").output();
    let version = String::from_utf8_lossy(&version.expect("says its version").stdout).into_owned();
    let minor = version
        .split_once(" 1.")
        .and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
    Some((program, minor.is_some_and(|minor| minor >= 21)))
}

impl Pooler {
    /// Starts with the settings that the package brings, and these.
    pub fn start(program: &Path, cluster: &Cluster, settings: &str) -> io::Result<Pooler> {
        let user = cluster::unprivileged::user()?;
        let folder = tempfile::Builder::new()
            .prefix("tplkit-pooler-")
            .tempdir_in(cluster::unprivileged::temporary_folder(user.as_ref()))?
            .keep();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755))?;
        let configuration = folder.join("pgbouncer.ini");
        // `any` signs in as the one user that the database names, whoever asks.
        std::fs::write(
            &configuration,
            format!(
                "[databases]\n* = user=postgres host={}\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {}\n\
                 listen_port = 5432\nauth_type = any\n{settings}",
                cluster.socket().display(),
                folder.display(),
            ),
        )?;
        let mut supervise = Command::new("sh");
        supervise
            .args(["-c", SUPERVISE, "supervise"])
            .args([program, &configuration, &folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        if let Some(user) = &user {
            std::os::unix::fs::chown(&folder, Some(user.uid), Some(user.gid))?;
            supervise.uid(user.uid).gid(user.gid);
        }
        let mut supervisor = supervise.spawn()?;
        let lifeline = supervisor.stdin.take();
        let pooler = Pooler {
            folder,
            supervisor,
            lifeline,
        };
        for _ in 0..500 {
            if pooler.folder.join(".s.PGSQL.5432").exists() {
                return Ok(pooler);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let log = std::fs::read_to_string(pooler.folder.join("log")).unwrap_or_default();
        Err(io::Error::other(format!("PgBouncer did not start:\n{log}")))
    }

    /// The way to a database of the cluster through it.
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.display();
        format!("postgresql:///{database}?host={folder}&user=postgres")
    }
}

/// The pooler of this process, where `TPLKIT_TEST_POOLER=1` has every test reach its database through one: in
/// session mode, as its package brings it. Servers of a test take more connections than it allows by itself.
///
/// # Panics
/// When it is asked for and not installed, or does not start.
pub fn of_suite() -> Option<&'static Pooler> {
    static POOLER: LazyLock<Option<Pooler>> = LazyLock::new(|| {
        variable("TPLKIT_TEST_POOLER").filter(|value| value != "0")?;
        let cluster = cluster::shared()?;
        let (program, _) =
            program().expect("PgBouncer is installed: TPLKIT_TEST_POOLER asks for it");
        let settings = "pool_mode = session\ndefault_pool_size = 100\nmax_client_conn = 1000\n";
        Some(Pooler::start(&program, cluster, settings).expect("the pooler starts"))
    });
    POOLER.as_ref()
}
