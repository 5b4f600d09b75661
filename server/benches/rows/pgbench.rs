//! The same transactions without a server: what pgbench makes of the very statements that a request
//! sends. They are not written down here, where they would age: the database logs them.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use super::CONNECTIONS;
use super::cluster::Cluster;
use super::load::{Connection, Question, Seen};
use super::logged::{self, Sent};
use super::server::Server;

/// How many scripts there are, each of which asks for another row. Each client plans each of them once, so
/// more of them would measure planning.
const SCRIPTS: usize = 8;

/// How the server has PostgreSQL plan, and the role that its sessions for reads have between transactions. Others set
/// their role themselves.
const OPTIONS: &str = "-c search_path=main -c plan_cache_mode=force_generic_plan \
    -c enable_seqscan=off -c jit=off -c role=tplkit_gate";

/// What a question's requests make of the database, as files for pgbench.
pub(crate) struct Scripts {
    folder: tempfile::TempDir,
    /// The parameters of all of them, as pgbench gets them.
    values: Vec<String>,
    url: String,
}

impl Scripts {
    pub(crate) fn of(cluster: &Cluster, server: &Server, question: &Question<'_>) -> Scripts {
        let folder = tempfile::tempdir().expect("a folder");
        let mut values = Vec::new();
        for (n, statements) in transactions(cluster, server, question).iter().enumerate() {
            let mut script = String::from("\\startpipeline\n");
            for (m, sent) in statements.iter().enumerate() {
                // What the server sends as a parameter is one here, unless pgbench has no word for it.
                let name = |number: usize| format!("p{n}_{m}_{number}");
                let text = sent.with(|number| match sent.values[number].as_deref() {
                    None => "NULL".to_owned(),
                    Some("") => "''".to_owned(),
                    Some(_) => format!(":{}", name(number)),
                });
                for (number, value) in sent.values.iter().enumerate() {
                    if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
                        values.push(format!("--define={}={value}", name(number)));
                    }
                }
                let _ = writeln!(script, "{text};");
            }
            script.push_str("\\endpipeline\n");
            std::fs::write(folder.path().join(format!("{n}.sql")), script).expect("writes");
        }
        let url = cluster.url("bench");
        Scripts {
            folder,
            values,
            url,
        }
    }

    /// How many of these transactions a second the database does by itself.
    pub(crate) fn run(&self, time: Duration) -> Seen {
        let seconds = time.as_secs().max(1).to_string();
        let mut command = Command::new("pgbench");
        command
            .args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--time"])
            .args([&seconds, "--client", &CONNECTIONS.to_string()])
            .args(&self.values);
        for n in 0..SCRIPTS {
            let file = self.folder.path().join(format!("{n}.sql"));
            command.arg("--file").arg(file);
        }
        let output = command
            .arg(&self.url)
            .env("PGOPTIONS", OPTIONS)
            .output()
            .expect("pgbench starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let figure = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
            number.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
        };
        let per_second = figure("tps = ");
        Seen {
            requests: per_second * time.as_secs_f64(),
            per_second,
            median: figure("latency average = ") * 1000.0,
            p95: None,
        }
    }
}

/// What requests make the server send, one after the other, so that none shares its transaction.
fn transactions(cluster: &Cluster, server: &Server, question: &Question<'_>) -> Vec<Vec<Sent>> {
    let log = cluster.folder().join("log");
    let mut connection = Connection::open(server.address);
    // The first may be asked otherwise: nothing is remembered yet.
    connection.ask(&(question.next)(0, 0));
    let before = std::fs::read_to_string(&log).expect("a log").len();
    say(cluster, "all");
    for n in 0..SCRIPTS {
        let (status, _) = connection.ask(&(question.next)(0, n));
        assert_eq!(status, question.expected, "{}", question.name);
    }
    say(cluster, "none");
    let text = std::fs::read_to_string(&log).expect("a log");
    let transactions = logged::transactions(&text[before..]);
    assert_eq!(transactions.len(), SCRIPTS, "{}", question.name);
    transactions
}

/// Has the database log statements, or no longer.
fn say(cluster: &Cluster, statements: &str) {
    let set = format!("ALTER SYSTEM SET log_statement = '{statements}'");
    cluster.psql(&set).expect("is set");
    cluster.psql("SELECT pg_reload_conf()").expect("reloads");
    while cluster.psql("SHOW log_statement").expect("a result") != statements {
        std::thread::sleep(Duration::from_millis(10));
    }
}
