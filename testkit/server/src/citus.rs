//! A Citus cluster that is at hand: `TPLKIT_TEST_CITUS` is the URL of a database of its coordinator, as a superuser, in
//! which the workers are known. Tests make databases of their own on all of its nodes.
//!
//! Every node has to be reached at the address by which the coordinator knows it, with the user and the parameters of
//! the URL. Where the variable is not set, nothing is tested on Citus, and a test that needs it says so.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, thread};

use super::cluster::{self, Programs, variable};
use super::once_per_build;

/// The cluster.
#[derive(Debug)]
pub struct Citus {
    programs: Programs,
    url: Address,
    /// The coordinator first, then the workers: host and port of each.
    pub nodes: Vec<String>,
}

/// Locks of shards; they end with their session.
#[derive(Debug)]
pub struct Locked(Child);

impl Drop for Locked {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A URL in the parts that change from node to node.
#[derive(Debug)]
struct Address {
    /// Scheme and user.
    head: String,
    /// Parameters, with the `?`.
    tail: String,
    host: String,
    database: String,
}

impl Address {
    fn parse(url: &str) -> Option<Address> {
        let (scheme, rest) = url.split_once("://")?;
        let (place, tail) = match rest.split_once('?') {
            Some((place, tail)) => (place, format!("?{tail}")),
            None => (rest, String::new()),
        };
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) => (format!("{user}@"), place),
            None => (String::new(), place),
        };
        let (host, database) = place.split_once('/')?;
        Some(Address {
            head: format!("{scheme}://{user}"),
            tail,
            host: host.to_owned(),
            database: database.to_owned(),
        })
    }

    fn of(&self, node: &str, database: &str) -> String {
        format!("{}{node}/{database}{}", self.head, self.tail)
    }
}

/// The cluster of the environment, or `None` where it names none.
///
/// # Panics
/// When what it names is no Citus cluster with workers.
pub fn at_hand() -> Option<&'static Citus> {
    static CITUS: LazyLock<Option<Citus>> = LazyLock::new(|| {
        let url = variable("TPLKIT_TEST_CITUS").filter(|url| !url.is_empty())?;
        let url = url.into_string().expect("a URL");
        let url =
            Address::parse(&url).expect("TPLKIT_TEST_CITUS is postgres://USER@HOST:PORT/DATABASE");
        let programs = cluster::programs().expect("psql is installed");
        let mut citus = Citus {
            programs,
            nodes: vec![url.host.clone()],
            url,
        };
        let workers = "SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE groupid <> 0 ORDER BY nodeid";
        let workers = citus.psql(&citus.url.of(&citus.url.host, &citus.url.database), workers);
        let workers = workers.expect("TPLKIT_TEST_CITUS names a database with Citus");
        citus.nodes.extend(workers.lines().map(str::to_owned));
        assert!(
            citus.nodes.len() > 1,
            "the cluster of TPLKIT_TEST_CITUS has no workers"
        );
        Some(citus)
    });
    CITUS.as_ref()
}

/// The same for a test that is about Citus alone, which says so where there is none.
pub fn required() -> Option<&'static Citus> {
    let citus = at_hand();
    if citus.is_none() {
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: no Citus cluster; nothing was tested on one. TPLKIT_TEST_CITUS names its coordinator \
             (docs/SCALING.md).\n"
        );
    }
    citus
}

impl Citus {
    /// Runs SQL at that address and gives what psql prints, unaligned.
    fn psql(&self, url: &str, sql: &str) -> io::Result<String> {
        let output = Command::new(self.programs.psql())
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--set", "ON_ERROR_STOP=1", "--command", sql])
            .arg(url)
            .stdin(Stdio::null())
            .output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr)));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.trim_end().to_owned())
    }

    /// The URL of a database of the coordinator.
    pub fn url(&self, database: &str) -> String {
        self.url.of(&self.nodes[0], database)
    }

    /// Runs SQL in a database of the coordinator.
    pub fn psql_in(&self, database: &str, sql: &str) -> io::Result<String> {
        self.psql(&self.url(database), sql)
    }

    /// Runs SQL in the database of that name on each node, the coordinator first.
    pub fn on_each_node(&self, database: &str, sql: &str) -> io::Result<()> {
        for node in &self.nodes {
            self.psql(&self.url.of(node, database), sql)?;
        }
        Ok(())
    }

    /// Runs SQL in a database of one of the nodes.
    pub fn on_node(&self, node: &str, database: &str, sql: &str) -> io::Result<String> {
        self.psql(&self.url.of(node, database), sql)
    }

    /// Locks the shards of a table on one of the nodes, for as long as what is returned lives: whoever reads them waits.
    pub fn lock(&self, node: &str, database: &str, table: &str) -> io::Result<Locked> {
        let mut psql = Command::new(self.programs.psql())
            .args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1"])
            .arg(self.url.of(node, database))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let sql = format!(
            "SET citus.override_table_visibility = off;\n\
             SET citus.enable_manual_changes_to_shards = on;\n\
             BEGIN;\n\
             DO $do$ DECLARE shard regclass; BEGIN \
             FOR shard IN SELECT oid FROM pg_class WHERE relname ~ '^{table}_[0-9]+$' AND relkind = 'r' LOOP \
             EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', shard); \
             END LOOP; \
             IF shard IS NULL THEN RAISE EXCEPTION 'no shard of {table}'; END IF; END $do$;\n\
             \\echo locked\n"
        );
        psql.stdin
            .as_mut()
            .expect("a pipe")
            .write_all(sql.as_bytes())?;
        let mut said = String::new();
        BufReader::new(psql.stdout.take().expect("a pipe")).read_line(&mut said)?;
        let locked = Locked(psql);
        if said.trim() != "locked" {
            return Err(io::Error::other("the shards are not locked"));
        }
        Ok(locked)
    }

    /// Runs SQL on all nodes at once, in the database `postgres`.
    fn everywhere(&self, sql: &str) -> io::Result<()> {
        thread::scope(|scope| {
            let nodes = self.nodes.iter().map(|node| {
                let url = self.url.of(node, "postgres");
                scope.spawn(move || self.psql(&url, sql).map(drop))
            });
            let nodes: Vec<_> = nodes.collect();
            nodes
                .into_iter()
                .try_for_each(|node| node.join().expect("no panic"))
        })
    }

    /// A database of the cluster with nothing in it but Citus and its workers.
    pub fn empty(&self) -> io::Result<String> {
        let name = name();
        self.make_empty(&name)?;
        Ok(name)
    }

    fn make_empty(&self, name: &str) -> io::Result<()> {
        self.everywhere(&format!("CREATE DATABASE {name}"))?;
        // Few shards: a test has few organizations.
        self.everywhere(&format!("ALTER DATABASE {name} SET citus.shard_count = 4"))?;
        self.on_each_node(name, "CREATE EXTENSION citus")?;
        let call = |function: &str, node: &str| {
            let (host, port) = node.rsplit_once(':').unwrap_or((node, "5432"));
            self.psql_in(name, &format!("SELECT {function}('{host}', {port})"))
        };
        call("citus_set_coordinator_host", &self.nodes[0])?;
        for worker in &self.nodes[1..] {
            call("citus_add_node", worker)?;
        }
        Ok(())
    }

    /// The name of the note about the database that is copied: of this cluster, and no other.
    fn note(&self) -> io::Result<String> {
        let identity = "SELECT system_identifier FROM pg_control_system()";
        let identity = self.psql_in("postgres", identity)?;
        Ok(format!("citus-{identity}"))
    }

    /// A copy of a database that `distribute` was done to, by whoever comes first in this build.
    pub fn distributed(&self, distribute: impl FnOnce(&str)) -> io::Result<String> {
        let note = once_per_build::file(&self.note()?, |file| {
            let template = name();
            self.make_empty(&template).expect("makes");
            distribute(&self.url(&template));
            // A database can be copied when nobody is connected to it: neither a test nor Citus itself.
            let close = format!(
                "ALTER DATABASE {template} ALLOW_CONNECTIONS false; \
                 SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{template}'"
            );
            self.everywhere(&close).expect("closes");
            fs::write(file, &template).expect("writes");
        });
        let template = fs::read_to_string(note)?;
        let name = name();
        self.everywhere(&format!("CREATE DATABASE {name} TEMPLATE {template}"))?;
        Ok(name)
    }

    /// Removes a database from all nodes, whoever is connected to it.
    pub fn remove(&self, database: &str) -> io::Result<()> {
        self.everywhere(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"))
    }
}

fn name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("tplkit_test_{}_{number}", std::process::id())
}
