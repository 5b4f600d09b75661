//! A throw-away PostgreSQL server for tests.
//!
//! [`shared`] gives every test of a process the same cluster, started on first use, in a folder of
//! its own, reachable over a unix socket only. Nothing has to be stopped by hand and nothing stays
//! behind, not even when a test fails or the process is killed: `supervise.sh` says how.
//!
//! Where PostgreSQL is not installed there is no cluster, said loudly, and tests that need one
//! return early. With `TPLKIT_REQUIRE_POSTGRES=1` they fail instead.

mod programs;
pub mod replication;
#[cfg(test)]
mod tests;
pub mod unprivileged;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

pub use programs::Programs;

use super::once_per_build::temporary_folder;

const SUPERVISE: &str = include_str!("supervise.sh");
const PATIENCE: Duration = Duration::from_secs(60);
const POLL_EVERY: Duration = Duration::from_millis(20);
/// Of sockets, unless a test asks for something else.
const PORT: u16 = 5432;

/// A running server. Dropping it stops the server and removes the folder.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    folder: PathBuf,
    /// Of its socket, and of this machine where it listens there.
    port: u16,
    /// Absent when the cluster belongs to the whole run.
    supervisor: Option<Child>,
    /// Open for as long as the server is to run.
    lifeline: Option<ChildStdin>,
}

/// The cluster of this process, or `None` where there is no PostgreSQL and none is required. A runner
/// that gives every test a process of its own (nextest) has one cluster for the whole run: making one
/// takes longer than most tests.
///
/// # Panics
/// When PostgreSQL is required and missing, or when it is there and does not start.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: LazyLock<Option<Cluster>> = LazyLock::new(|| {
        let run = variable("NEXTEST_RUN_ID");
        programs().map(|programs| {
            let cluster = match run {
                Some(run) => Cluster::of_run(programs, &run),
                None => Cluster::start(programs),
            };
            cluster.expect("the cluster starts")
        })
    });
    SHARED.as_ref()
}

/// The installed programs, or `None` where there are none and none are required.
///
/// # Panics
/// When PostgreSQL is required and missing.
pub fn programs() -> Option<Programs> {
    let found = Programs::find();
    if found.is_none() {
        assert!(
            variable("TPLKIT_REQUIRE_POSTGRES").is_none_or(|value| value == "0"),
            "PostgreSQL is required here and not installed; run scripts/test"
        );
        // Not eprintln!, which the test runner keeps to itself when the test passes.
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: no PostgreSQL server programs found (initdb, postgres, psql); \
             nothing was tested against PostgreSQL. Run scripts/test to install them.\n"
        );
    }
    found
}

impl Cluster {
    /// Starts a server of its own, for a test that stops or breaks it; others use [`shared`].
    pub fn start(programs: Programs) -> io::Result<Cluster> {
        Cluster::start_as(programs, PORT, &[])
    }

    /// The same, with more environment variables for `supervise.sh`.
    fn start_as(
        programs: Programs,
        port: u16,
        environment: &[(&str, String)],
    ) -> io::Result<Cluster> {
        let (folder, mut supervisor) = supervise(&programs, None, environment)?;
        let lifeline = supervisor.stdin.take();
        let mut cluster = Cluster {
            programs,
            folder,
            port,
            supervisor: Some(supervisor),
            lifeline,
        };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// The server of a whole run of tests: started by whoever comes first, gone with the runner.
    fn of_run(programs: Programs, run: &OsStr) -> io::Result<Cluster> {
        let mut name = OsString::from("tplkit-postgres-of-");
        name.push(run);
        let temporaries = temporary_folder(&std::env::current_exe()?);
        fs::create_dir_all(&temporaries)?;
        let mut note = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(temporaries.join(name))?;
        note.lock()?;
        let mut folder = String::new();
        note.read_to_string(&mut folder)?;
        let folder = if folder.is_empty() {
            let runner = std::os::unix::process::parent_id();
            let (folder, _) = supervise(&programs, Some(runner), &[])?;
            write!(note, "{}", folder.display())?;
            folder
        } else {
            PathBuf::from(folder)
        };
        let mut cluster = Cluster {
            programs,
            folder,
            port: PORT,
            supervisor: None,
            lifeline: None,
        };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// Stops the server for a while.
    pub fn pause(&mut self) -> io::Result<()> {
        self.send("stop\n")?;
        let pid_file = self.pid_file();
        for _ in 0..PATIENCE.as_millis() / POLL_EVERY.as_millis() {
            if !pid_file.exists() {
                return Ok(());
            }
            thread::sleep(POLL_EVERY);
        }
        Err(io::Error::other("PostgreSQL did not stop"))
    }

    /// Ends the server as an accident does: nothing is written back, nobody is waited for.
    pub fn crash(&mut self) -> io::Result<()> {
        self.signal("-QUIT")?;
        self.pause()
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.join("data/postmaster.pid")
    }

    fn signal(&self, signal: &str) -> io::Result<()> {
        let text = fs::read_to_string(self.pid_file())?;
        let pid = text.lines().next().unwrap_or_default();
        Command::new("kill").args([signal, pid]).status()?;
        Ok(())
    }

    /// Starts the server again.
    pub fn resume(&mut self) -> io::Result<()> {
        self.send("start\n")?;
        self.wait_until_ready()
    }

    fn send(&mut self, words: &str) -> io::Result<()> {
        let line = self.lifeline.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        line.write_all(words.as_bytes())
    }

    /// Where clients find the server: a folder with its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// The connection URL of that database, as the superuser.
    pub fn url(&self, database: &str) -> String {
        let socket = self.socket();
        format!(
            "postgresql:///{database}?host={}&port={}&user=postgres",
            socket.display(),
            self.port
        )
    }

    /// Runs SQL in the database `postgres` and gives what psql prints, unaligned.
    pub fn psql(&self, sql: &str) -> io::Result<String> {
        self.psql_in("postgres", sql)
    }

    /// Runs SQL in that database.
    pub fn psql_in(&self, database: &str, sql: &str) -> io::Result<String> {
        self.psql_at(&self.url(database), sql)
    }

    /// Runs SQL at that address.
    pub fn psql_at(&self, url: &str, sql: &str) -> io::Result<String> {
        let output = Command::new(self.programs.psql())
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--set", "ON_ERROR_STOP=1", "--command", sql])
            .arg(url)
            .stdin(Stdio::null())
            .output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr)));
        }
        Ok(String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned())
    }

    /// The database of that name, to which `prepare` was done, by whoever comes first.
    pub fn prepared(
        &self,
        name: &'static str,
        prepare: impl FnOnce(&str),
    ) -> io::Result<&'static str> {
        let mut note = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.folder.join(name))?;
        note.lock()?;
        if note.metadata()?.len() == 0 {
            self.psql(&format!("CREATE DATABASE {name}"))?;
            prepare(name);
            // A database can be copied when nobody is connected to it.
            self.psql(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            ))?;
            note.write_all(b"done")?;
        }
        Ok(name)
    }

    /// Makes the database `to` a copy of `from`.
    pub fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let copy = format!("CREATE DATABASE {to} TEMPLATE {from}");
        // The other way, page by page through the log, takes three times as long. Before PostgreSQL 15 there is
        // only this one, without a name.
        self.execute(format!("{copy} STRATEGY file_copy"))
            .or_else(|_| self.execute(copy))
    }

    /// Removes that database, whoever is connected to it.
    pub fn remove(&self, database: &str) -> io::Result<()> {
        self.execute(format!("DROP DATABASE {database} WITH (FORCE)"))
    }

    /// Runs a statement as [`psql`](Cluster::psql) does, but without a process: every test makes and removes a database.
    fn execute(&self, sql: String) -> io::Result<()> {
        let url = self.url("postgres");
        // A test may have a runtime on this thread.
        let ran = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
                let (client, connection) = connected.map_err(io::Error::other)?;
                tokio::spawn(connection);
                client.batch_execute(&sql).await.map_err(io::Error::other)
            })
        });
        ran.join().expect("no panic")
    }

    /// The folder that holds everything, for tests of the clean-up.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn wait_until_ready(&mut self) -> io::Result<()> {
        let pid_file = self.pid_file();
        for _ in 0..PATIENCE.as_millis() / POLL_EVERY.as_millis() {
            // The eighth line of this file is how the server itself says that it takes connections.
            let state = fs::read_to_string(&pid_file).unwrap_or_default();
            if state
                .lines()
                .nth(7)
                .is_some_and(|line| ["ready", "standby"].contains(&line.trim()))
            {
                return Ok(());
            }
            if let Some(supervisor) = &mut self.supervisor
                && supervisor.try_wait()?.is_some()
            {
                break;
            }
            thread::sleep(POLL_EVERY);
        }
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        Err(io::Error::other(format!(
            "PostgreSQL did not start:\n{log}"
        )))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        if let Some(supervisor) = &mut self.supervisor {
            let _ = supervisor.wait();
            // Left there only when the server never came up.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Starts what looks after a server: for as long as its standard input stays open, or a process runs.
fn supervise(
    programs: &Programs,
    process: Option<u32>,
    environment: &[(&str, String)],
) -> io::Result<(PathBuf, Child)> {
    let user = unprivileged::user()?;
    let folder = tempfile::Builder::new()
        .prefix("tplkit-postgres-")
        .tempdir_in(unprivileged::temporary_folder(user.as_ref()))?;
    let mut supervise = Command::new("sh");
    supervise
        .args(["-c", SUPERVISE, "supervise"])
        .args([&programs.folder, folder.path()])
        .args(process.map(|process| process.to_string()))
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(if process.is_some() {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        // A runner waits for whoever holds its pipes; the supervisor outlives the test a bit.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Out of reach of a Ctrl-C: it has to be there to clean up.
        .process_group(0);
    if let Some(user) = &user {
        // PostgreSQL refuses to run as root.
        std::os::unix::fs::chown(folder.path(), Some(user.uid), Some(user.gid))?;
        supervise.uid(user.uid).gid(user.gid);
    }
    let supervisor = supervise.spawn()?;
    Ok((folder.keep(), supervisor))
}

/// An environment variable.
pub fn variable(name: &str) -> Option<OsString> {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are configured by the script that runs them"
    )]
    std::env::var_os(name)
}
