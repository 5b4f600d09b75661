//! How fast a template job writes, as ratios against what its store takes at best.
//!
//! `cargo bench -p tplkit-server --bench jobs`, or `… -- --only sqlite|postgres --rows N` (100,000), or
//! `… --url postgres://…/jobs` for an empty database of that name in a server that is there. The
//! yardsticks are measured in the same run: on SQLite rows of the same text in a bare table, 500 to a
//! transaction, once as safe and once as fast as SQLite allows; on PostgreSQL one `COPY` of them, into a bare
//! table and into one with the columns, keys and indexes of the real one. Processor time is that of this
//! process and of the database.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "ratios are printed with two digits"
)]

mod processor;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "no bench uses all of it")]
mod support;
mod yardsticks;

use std::sync::Arc;
use std::time::Instant;

use support::arguments::Arguments;
#[cfg(unix)]
use support::cluster;
use tokio::sync::watch;
use tplkit::apply::{Minter, Request, Resolution};
use tplkit::check::Checked;
use tplkit::workspace::ledger::{Entry, RowDigest, RowNames, Rows, WrittenRow};
use tplkit::workspace::memory::State;
use tplkit::workspace::{
    Change, Column, Feature, New, Progress, RowData, StoredRow, Target as _, Unit,
};
use tplkit_server::background::TaskContext;
use tplkit_server::context::{Context, SystemClock};
use tplkit_server::identity::organizations;
use tplkit_server::jobs::{self, PackedPart, Worker};
use tplkit_server::metrics::Metrics;
use tplkit_server::rows::Tables;
use tplkit_server::store::Store;
use tplkit_server::wake::WorkerSignal;
use tplkit_server_testkit::jobs as fixtures;
use tplkit_testkit::customers;
use tplkit_testkit::packaged::packaged;
use tplkit_testkit::random::large;
use uuid::Uuid;

fn main() {
    let arguments = Arguments::read();
    let rows = arguments.number("--rows", 100_000, 1_000);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    if arguments.wants("sqlite") {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite:{}", folder.path().join("jobs.db").display());
        let seconds = runtime.block_on(measure("sqlite", &url, rows));
        for (yardstick, synchronous) in [
            ("a bare batched insert", "FULL"),
            ("one that does not wait for the disk", "NORMAL"),
        ] {
            let bare = yardsticks::bare_sqlite(folder.path(), &texts(rows), synchronous);
            show("sqlite", rows, seconds, (yardstick, bare));
        }
    }
    #[cfg(unix)]
    let url = arguments.text("--url").or_else(|| {
        let cluster = arguments.wants("postgres").then(cluster::shared)??;
        cluster.psql("CREATE DATABASE jobs").expect("creates");
        Some(cluster.url("jobs"))
    });
    #[cfg(unix)]
    if let Some(url) = url {
        let seconds = runtime.block_on(measure("postgres", &url, rows));
        for (yardstick, table) in yardsticks::TABLES {
            let copy = runtime.block_on(yardsticks::copy_postgres(&url, table, &texts(rows)));
            show("postgres", rows, seconds, (yardstick, copy));
        }
    }
}

fn show(store: &str, rows: usize, ours: Took, (yardstick, of): (&str, Took)) {
    let rate = rows as f64 / ours.wall;
    println!(
        "{store}: {rate:.0} rows/s; {:.2} of {yardstick}; processor time of a row {} to {}",
        of.wall / ours.wall,
        ours.of_a_row(rows),
        of.of_a_row(rows)
    );
}

/// How long something took, in seconds: by the clock, of this process, of the database.
#[derive(Debug, Clone, Copy)]
struct Took {
    wall: f64,
    own: f64,
    database: f64,
}

impl Took {
    fn of_a_row(self, rows: usize) -> String {
        let micros = |seconds: f64| seconds * 1e6 / rows as f64;
        format!("{:.1} + {:.1} µs", micros(self.own), micros(self.database))
    }
}

/// Looks at the clocks; the second look says what it took.
struct RecordWatch(Instant, (f64, f64));

impl RecordWatch {
    fn start() -> RecordWatch {
        RecordWatch(Instant::now(), processor::seconds("jobs"))
    }

    fn took(&self) -> Took {
        let wall = self.0.elapsed().as_secs_f64();
        let (own, database) = processor::seconds("jobs");
        Took {
            wall,
            own: own - self.1.0,
            database: database - self.1.1,
        }
    }
}

/// The data of rows, as they are stored.
fn texts(rows: usize) -> Vec<String> {
    let row = |n: usize| {
        let (amount, status) = (n * 7 % 1000, ["open", "paid", "void"][n % 3]);
        format!(
            r#"{{"amount":{amount}.5,"code":"C-{n:07}","name":"Customer number {n}","status":"{status}"}}"#
        )
    };
    (0..rows).map(row).collect()
}

/// Seconds that the rows of a plain table take, batch by batch with their ledger; before that, says how
/// long a whole template takes.
async fn measure(kind: &str, url: &str, rows: usize) -> Took {
    let store = Store::open(url).await.expect("opens");
    let context = Context::new(Arc::new(SystemClock));
    let new = organizations::New {
        id: context.id(),
        label: "O".to_owned(),
        seats: None,
        row_quota: None,
        file_quota: None,
        now: context.now(),
    };
    let organization = organizations::create(&store, new)
        .await
        .expect("creates")
        .id;
    for (tables, columns, state) in [
        (1, "thirteen", large(7, 1, 1_000)),
        (10, "thirteen", large(7, 10, 1_000)),
        (10, "eight", customers::customers(10, 1_000)),
        (10, "four plain", plain_tables(&context, 10, 1_000)),
    ] {
        let took = template(&store, &context, organization, state).await;
        println!(
            "{kind}: a template of {tables} tables of 1,000 rows with {columns} columns in {:.2} s; \
             processor time of a row {}",
            took.wall,
            took.of_a_row(tables * 1_000)
        );
    }
    let workspace = fixtures::workspace(&store, &context, organization).await;
    let new = fixtures::new(&context, organization, workspace);
    let job = new.id;
    assert!(fixtures::create(&store, new).await);
    let lease = fixtures::taken(&store, &context, job, 60).await;
    let mut target = fixtures::destination(&store, &context, lease).await;
    let feature = plain(&context);
    let id = feature.id;
    let columns = feature.columns.clone().into_iter();
    let columns = columns.map(|column| New::Column {
        feature: id,
        column,
    });
    let bare = Feature {
        columns: Vec::new(),
        ..feature
    };
    let changes = std::iter::once(New::Feature(bare)).chain(columns);
    let unit = unit(changes.map(Change::Create).collect(), None);
    target.commit(unit).await.expect("is written");
    let texts = texts(rows);
    // A job mints its ids without asking anybody.
    let minter = Minter::at("2026-03-01T09:30:00Z".parse().expect("a time"), 7);
    let begun = RecordWatch::start();
    for (at, batch) in texts.chunks(500).enumerate() {
        let rows: Vec<StoredRow> = (at * 500..)
            .zip(batch)
            .map(|(ordinal, text)| StoredRow {
                id: minter.id(u32::try_from(ordinal).expect("few")),
                data: RowData::trusted(text),
            })
            .collect();
        let written = rows.iter().enumerate().map(|(n, row)| WrittenRow {
            position: u32::try_from(at * 500 + n).expect("few"),
            id: row.id,
            digest: RowDigest::of(&row.data),
        });
        let entry = Entry::Rows(Rows {
            uid: "u_rows".to_owned(),
            feature: id,
            rows: written.collect(),
            emptied: Vec::new(),
            sequences: Vec::new(),
            early_links: Vec::new(),
            names: RowNames::default(),
        });
        let insert = Change::InsertRows { feature: id, rows };
        let unit = unit_of_rows(insert, entry);
        target.commit(unit).await.expect("is written");
    }
    begun.took()
}

fn unit(changes: Vec<Change>, entry: Option<Entry>) -> Unit {
    Unit {
        changes,
        entry,
        progress: Progress {
            phase: "rows",
            done: 1,
            total: 1,
        },
        report: None,
    }
}

fn unit_of_rows(insert: Change, entry: Entry) -> Unit {
    unit(vec![insert], Some(entry))
}

fn plain(context: &Context) -> Feature {
    let column = |(name, order): (&str, i64)| Column {
        id: context.id(),
        name: name.to_owned(),
        label: name.to_owned(),
        column_type: if name == "amount" { "number" } else { "text" }.to_owned(),
        default_component: if name == "amount" {
            "numberfield"
        } else {
            "textfield"
        }
        .to_owned(),
        order,
        config: tplkit::json::Object::new(),
    };
    let names = ["amount", "code", "name", "status"];
    Feature {
        id: context.id(),
        name: "plain".to_owned(),
        label: "Plain".to_owned(),
        config: tplkit::json::Object::new(),
        is_shared: false,
        columns: names.into_iter().zip(1..).map(column).collect(),
        views: Vec::new(),
    }
}

/// Tables of four plain columns. Those of [`customers`] have eight, with an identity, a unique code and a
/// link; those of [`large`] have thirteen, with four links, one of them a list.
fn plain_tables(context: &Context, tables: usize, rows: usize) -> State {
    let mut state = State::empty(context.id(), context.id(), "plain", "Plain");
    for number in 0..tables {
        let table = plain(context);
        let stored = texts(rows).into_iter().map(|text| StoredRow {
            id: context.id(),
            data: RowData::trusted(&text),
        });
        let mut stored: Vec<StoredRow> = stored.collect();
        stored.sort_by_key(|row| row.id);
        state.rows.insert(table.id, stored);
        state.structure.features.push(Feature {
            name: format!("plain_{number}"),
            ..table
        });
    }
    state
}

/// Seconds from asking for a job that brings what a workspace has until it is done.
async fn template(store: &Store, context: &Context, organization: Uuid, state: State) -> Took {
    let text = packaged(state).expect("exports");
    let mut request = Request::default();
    let package = Checked::trusted(&text).expect("reads");
    for dependency in package.manifest.dependencies() {
        let reference = dependency.reference.clone();
        request.resolutions.insert(reference, Resolution::Skip);
    }
    let envelope: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).expect("JSON");
    let pack = |part: &serde_json::Value| PackedPart::pack(&part.to_string());
    let mut parts = vec![pack(&envelope["manifest"])];
    let payloads = envelope["payloads"].as_array().expect("a list");
    parts.extend(payloads.iter().map(pack));
    let workspace = fixtures::workspace(store, context, organization).await;
    let new = jobs::New {
        request,
        parts,
        ..fixtures::new(context, organization, workspace)
    };
    let id = new.id;
    let (stop, stopped) = watch::channel(false);
    let signal = WorkerSignal::default();
    let worker = Worker {
        task_context: TaskContext {
            store: store.clone(),
            context: context.clone(),
            metrics: Arc::new(Metrics::new(store, None)),
            tables: Tables::default(),
            keep_runs: None,
            files: tplkit_server::files::Files::in_place(None),
        },
        lease_seconds: 60,
        signal: signal.clone(),
    };
    let working = tokio::spawn(worker.run(stopped));
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let begun = RecordWatch::start();
    assert!(fixtures::create(store, new).await);
    signal.notify();
    loop {
        let job = fixtures::job(store, context, id).await;
        if job.status.is_finished() {
            assert_eq!(job.error, None);
            break;
        }
        // Each look takes time of the processors that the job works on.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let took = begun.took();
    stop.send(true).expect("hears");
    working.await.expect("ends");
    took
}
