//! A primary and its synchronous standby, on ports of this machine.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::thread;

use tplkit_server::context::random;

use super::programs::Programs;
use super::{Cluster, PATIENCE, POLL_EVERY};

/// A primary, and a standby that has all that the primary acknowledges.
pub fn pair(programs: &Programs) -> io::Result<(Cluster, Cluster)> {
    let primary = listening(programs, None)?;
    let standby = listening(programs, Some(&primary))?;
    // Only now: what the standby copied does not make it wait for a standby of its own once it is promoted.
    primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")?;
    primary.psql("SELECT pg_reload_conf()")?;
    until(|| {
        let states = primary.psql("SELECT string_agg(sync_state, ',') FROM pg_stat_replication");
        Ok(states? == "sync")
    })?;
    Ok((primary, standby))
}

fn listening(programs: &Programs, primary: Option<&Cluster>) -> io::Result<Cluster> {
    let port = free_port();
    // What is acknowledged has to be there, other than in the other tests; and whatever writes by itself is off, so
    // that everything that is written was written by somebody.
    let options = format!(
        "-p {port} -c listen_addresses=127.0.0.1 -c synchronous_commit=on -c autovacuum=off"
    );
    let mut environment = vec![("OPTIONS", options)];
    environment.extend(primary.map(|primary| ("PRIMARY", primary.url("postgres"))));
    Cluster::start_as(programs.clone(), port, &environment)
}

/// A port below those that systems give to whoever connects somewhere, so that it is free again when a server that was
/// killed comes back.
pub fn free_port() -> u16 {
    loop {
        let port = 20_000 + u16::from_be_bytes(random()) % 10_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn until(holds: impl Fn() -> io::Result<bool>) -> io::Result<()> {
    for _ in 0..PATIENCE.as_millis() / POLL_EVERY.as_millis() {
        if holds()? {
            return Ok(());
        }
        thread::sleep(POLL_EVERY);
    }
    Err(io::Error::other("it did not come to that"))
}

impl Cluster {
    /// Host and port, as they stand in a URL.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends the server with no chance to do anything; it can be [resumed](Cluster::resume).
    pub fn kill(&mut self) -> io::Result<()> {
        self.signal("-KILL")?;
        self.send("stop\n")?;
        // What worked for it ends when it finds it gone.
        let socket = self.socket().join(format!(".s.PGSQL.{}", self.port));
        until(|| Ok(std::os::unix::net::UnixStream::connect(&socket).is_err()))?;
        fs::remove_file(self.pid_file())
    }

    /// Makes a primary of a standby, and waits until it takes writes.
    pub fn promote(&self) -> io::Result<()> {
        let promoted = self.psql("SELECT pg_promote(true, 60)")?;
        if promoted == "t" {
            Ok(())
        } else {
            Err(io::Error::other("it was not promoted"))
        }
    }
}
