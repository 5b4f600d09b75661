//! Databases whose tables are in parts, as a database of several nodes keeps them: each table with the rows of
//! organizations is split into four partitions by the column that assigns its rows.
//!
//! With `TPLKIT_TEST_PARTITIONS=1` every test of a store has such a database. When a test is done, the plans of the
//! statements that it sent are looked at: what is about one organization touches one partition of each table.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::thread;

use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};
use tplkit_server::store::{TranslatedStatement, placements, translated_statements};

use super::cluster::{Cluster, variable};

const SPLIT: &str = include_str!("split.sql");

/// How statements are planned, as the server has it.
const SETTINGS: &str =
    "SET search_path = main; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off";

/// Whether the tests of this run have their databases in parts.
#[must_use]
pub fn are_asked_for() -> bool {
    variable("TPLKIT_TEST_PARTITIONS").is_some_and(|value| value != "0")
}

/// Splits the tables of a migrated database that holds nothing.
///
/// # Errors
/// Those of the database.
pub fn split(cluster: &Cluster, database: &str) -> io::Result<()> {
    let mut sql = "CREATE TEMP TABLE placed (name text, key text)".to_owned();
    for (table, placement) in placements() {
        if let Some(column) = placement.column() {
            let _ = write!(sql, "; INSERT INTO placed VALUES ('{table}', '{column}')");
        }
    }
    let _ = write!(sql, ";\n{SPLIT}");
    cluster.psql_in(database, &sql).map(drop)
}

/// Looks at the plans of the statements that this process has sent, as far as no other process of the run has.
///
/// # Panics
/// When a plan of a statement about one organization touches several partitions of a table.
pub fn check_plans(cluster: &Cluster, database: &str) {
    let note = cluster.folder().join("explained");
    let known = fs::read_to_string(&note).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().collect();
    let all = translated_statements().into_iter();
    let new = all.filter(|one| one.is_of_one && !known.contains(&*digest(&one.text)));
    let new: Vec<TranslatedStatement> = new.collect();
    if new.is_empty() {
        return;
    }
    let url = cluster.url(database);
    let digests: String = new.iter().map(|one| digest(&one.text) + "\n").collect();
    // A test may have a runtime on this thread.
    let wrong = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(explain_all(&url, &new))
    });
    let wrong = wrong.join().expect("no panic");
    assert!(
        wrong.is_empty(),
        "{} statements about one organization touch several partitions of a table, or have no plan:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let mut note = File::options()
        .append(true)
        .create(true)
        .open(note)
        .expect("the folder of the cluster");
    note.write_all(digests.as_bytes()).expect("is noted");
}

fn digest(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// What is wrong with the plans of statements.
async fn explain_all(url: &str, statements: &[TranslatedStatement]) -> Vec<String> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    client.batch_execute(SETTINGS).await.expect("settings");
    let mut wrong = Vec::new();
    for TranslatedStatement { text, .. } in statements {
        match explain(&client, text).await {
            Ok(plan) => {
                for (table, partitions) in partitions(&plan) {
                    if partitions.len() > 1 {
                        wrong.push(format!("{table}: {partitions:?}: {text}"));
                    }
                }
            }
            Err(error) => wrong.push(format!("{error:?}: {text}")),
        }
    }
    wrong
}

async fn explain(client: &Client, text: &str) -> Result<Value, tokio_postgres::Error> {
    let prepared = client.prepare(text).await?;
    let arguments: Vec<&str> = prepared.params().iter().map(argument).collect();
    let arguments = match &*arguments.join(", ") {
        "" => String::new(),
        some => format!("({some})"),
    };
    let sql = format!("PREPARE looked AS {text}");
    client.batch_execute(&sql).await?;
    let sql = format!("EXPLAIN (FORMAT JSON, COSTS false) EXECUTE looked{arguments}");
    let explained = client.simple_query(&sql).await;
    client.batch_execute("DEALLOCATE looked").await?;
    let text: String = explained?
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .collect();
    Ok(serde_json::from_str(&text).expect("a plan"))
}

/// A value of a type; of ids one, so that whatever is assigned by an id lies in one partition.
fn argument(of: &Type) -> &'static str {
    match *of {
        Type::UUID => "'01999999-9999-7999-8999-999999999999'",
        Type::UUID_ARRAY => "'{01999999-9999-7999-8999-999999999999}'",
        Type::INT4 | Type::INT8 | Type::NUMERIC => "1",
        Type::INT4_ARRAY | Type::INT8_ARRAY => "'{1}'",
        Type::BOOL => "true",
        Type::TEXT | Type::BYTEA => "''",
        Type::TEXT_ARRAY => "'{x}'",
        Type::BYTEA_ARRAY => "'{\"\\\\x00\"}'",
        _ => "NULL",
    }
}

/// The partitions of each table that a plan reads. One that is chosen while it runs is none of them: each time it reads
/// the rows of one organization, which its condition names.
fn partitions(plan: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    let mut rest = vec![plan];
    while let Some(one) = rest.pop() {
        match one {
            Value::Array(values) => rest.extend(values),
            Value::Object(members) => {
                rest.extend(members.values());
                let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default();
                let partition = text("Relation Name");
                let Some((table, _)) = partition.rsplit_once("_10200") else {
                    continue;
                };
                let chosen = placements().any(|(name, placement)| {
                    let column = placement.column().unwrap_or_default();
                    name == table && text("Index Cond").contains(&format!("({column} = "))
                });
                if text("Node Type").ends_with("Scan") && !chosen {
                    let partitions = found.entry(table.to_owned()).or_default();
                    partitions.insert(partition.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}
