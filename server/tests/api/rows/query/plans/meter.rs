//! How much a store read for a request.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::api::client::Response;
use crate::cluster::{self, Cluster};
use crate::stores::Place;

/// Steps of SQLite's machine that looking at one row may take, with everything that is asked about it.
const STEPS: u64 = 25;
/// Steps aside: who asks, and whether the table is what it was.
const OTHER_STEPS: u64 = 4_000;

/// Asks a store what it did.
pub(super) enum Meter {
    /// The steps that SQLite took so far.
    Steps(Box<dyn Fn() -> u64 + Send + Sync>),
    /// The log into which PostgreSQL writes its plans.
    Plans(PathBuf),
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Rows of the table that were looked at, or steps.
    pub(super) amount: u64,
    /// The indexes of the table that were used.
    indexes: BTreeSet<String>,
    /// Whether the table was read from end to end.
    whole: bool,
    /// Whether the table was visited, where an index alone might do.
    visited: bool,
}

impl Meter {
    /// How much that many rows are.
    pub(super) fn worth(&self, rows: u64) -> u64 {
        match self {
            // A row that is only passed by.
            Meter::Steps(_) => rows * 8,
            Meter::Plans(_) => rows,
        }
    }

    /// What was read for a request.
    pub(super) fn read(&self, ask: impl FnOnce() -> Response) -> (Response, Read) {
        match self {
            Meter::Steps(steps) => {
                let before = steps();
                let response = ask();
                let amount = steps() - before;
                (
                    response,
                    Read {
                        amount,
                        ..Read::default()
                    },
                )
            }
            Meter::Plans(log) => {
                let before = fs::read_to_string(log).expect("a log").len();
                let response = ask();
                // The plan of a statement may reach the log after its rows have reached the server.
                let (mut text, mut read) = (String::new(), Read::default());
                for _ in 0..50 {
                    let earlier =
                        std::mem::replace(&mut text, fs::read_to_string(log).expect("a log"));
                    if earlier == text {
                        read = Read::default();
                        for plan in plans(&text[before..]) {
                            read.add(&plan["Plan"]);
                        }
                        if read.indexes.iter().any(|used| used.starts_with("rows"))
                            || read.amount > 0
                        {
                            break;
                        }
                    }
                    thread::sleep(Duration::from_millis(10));
                }
                (response, read)
            }
        }
    }

    /// Fails when more than that many rows were looked at, or they were found otherwise.
    #[track_caller]
    pub(super) fn check(
        &self,
        name: &str,
        most: u64,
        index: &str,
        ask: impl FnOnce() -> Response,
    ) -> Response {
        let (response, read) = self.read(ask);
        assert!(response.status < 300, "{name} {response:?}");
        let (most, by_index) = match self {
            Meter::Steps(_) => (most * STEPS + OTHER_STEPS, true),
            Meter::Plans(_) => {
                let by_index = read.indexes.iter().any(|used| used.starts_with(index));
                (most, by_index || index.is_empty())
            }
        };
        assert!(by_index, "{name} was not found by {index}: {read:?}");
        assert!(!read.whole, "{name}: {read:?}");
        assert!(read.amount <= most, "{name}: {read:?}, and {most} at most");
        response
    }
}

impl Read {
    /// Fails when PostgreSQL visited the table, where an index alone is enough. SQLite's steps do not show it.
    #[track_caller]
    pub(super) fn is_of_an_index_alone(&self, name: &str) {
        assert!(!self.visited, "{name} visits the table: {self:?}");
    }

    /// Adds a plan and what is below it.
    fn add(&mut self, node: &Value) {
        let number = |name: &str| node[name].as_f64().unwrap_or_default();
        if node["Relation Name"] == "rows" {
            let each = number("Actual Rows")
                + number("Rows Removed by Filter")
                + number("Rows Removed by Index Recheck");
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number of rows"
            )]
            let looked_at = (each * number("Actual Loops")).ceil() as u64;
            self.amount += looked_at;
            self.visited |= node["Node Type"] != "Index Only Scan" && looked_at > 0;
            self.whole |= node["Node Type"] == "Seq Scan" && looked_at > 0;
        }
        if let Some(index) = node["Index Name"].as_str() {
            self.indexes.insert(index.to_owned());
        }
        for below in node["Plans"].as_array().into_iter().flatten() {
            self.add(below);
        }
    }
}

/// A PostgreSQL of its own that logs its plans, and the place that it is; nothing where it is not installed, or not the
/// part of it that does so, which some systems have in a package of its own.
pub(crate) fn postgres_with_plans() -> Option<(Cluster, Place)> {
    let cluster = Cluster::start(cluster::programs()?).expect("starts");
    if let Err(why) = log_plans(&cluster) {
        assert!(why.to_string().contains("auto_explain"), "{why}");
        return None;
    }
    let place = Place::at(cluster.url("postgres"));
    Some((cluster, place))
}

/// Has PostgreSQL log the plan of each statement and what came of it.
fn log_plans(cluster: &Cluster) -> io::Result<()> {
    cluster.psql("LOAD 'auto_explain'")?;
    for setting in [
        "auto_explain.log_min_duration = 0",
        "auto_explain.log_analyze = on",
        "auto_explain.log_timing = off",
        "auto_explain.log_format = json",
        "auto_explain.log_nested_statements = on",
        "session_preload_libraries = 'auto_explain'",
    ] {
        cluster.psql(&format!("ALTER DATABASE postgres SET {setting}"))?;
    }
    Ok(())
}

/// How many rows of a table were looked at by the statements whose plans are in a log.
pub(crate) fn rows_read(log: &str, relation: &str) -> u64 {
    rounded_up(plans(log).iter().map(|plan| rows_of(plan, relation)).sum())
}

/// The statements of a log that looked at more rows of a table, with how many rows they looked at altogether.
pub(crate) fn statements_that_read(log: &str, relation: &str, more: u64) -> Vec<(String, u64)> {
    let mut found: HashMap<String, u64> = HashMap::new();
    for plan in &plans(log) {
        let rows = rounded_up(rows_of(plan, relation));
        if rows > more {
            let text = plan["Query Text"].as_str().unwrap_or_default();
            *found.entry(text.to_owned()).or_default() += rows;
        }
    }
    found.into_iter().collect()
}

/// How many rows of a table a plan looked at.
fn rows_of(plan: &Value, relation: &str) -> f64 {
    fn add(node: &Value, relation: &str) -> f64 {
        let number = |name: &str| node[name].as_f64().unwrap_or_default();
        let each = number("Actual Rows")
            + number("Rows Removed by Filter")
            + number("Rows Removed by Index Recheck");
        // What an index gives to a bitmap is looked at by the node above.
        let own = if node["Relation Name"] == relation {
            each * number("Actual Loops")
        } else {
            0.0
        };
        let below = node["Plans"].as_array().into_iter().flatten();
        own + below.map(|node| add(node, relation)).sum::<f64>()
    }
    add(&plan["Plan"], relation)
}

fn rounded_up(rows: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of rows"
    )]
    let rows = rows.ceil() as u64;
    rows
}

/// The plans in a part of the log. Lines of one entry that follow its first one begin with a tab.
fn plans(log: &str) -> Vec<Value> {
    let mut plans = Vec::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.ends_with(" plan:") {
            continue;
        }
        let mut text = String::new();
        while let Some(line) = lines.peek().and_then(|line| line.strip_prefix('\t')) {
            text.push_str(line);
            lines.next();
        }
        plans.push(serde_json::from_str(&text).expect("a plan"));
    }
    plans
}
