//! How fast rows enter a workspace in memory: twenty tables of 5000 rows, each linked to the one
//! before, from payload text to the finished report.
//!
//! `cargo bench --bench apply`, or `… -- --rounds 20`; the best round counts.
#![expect(clippy::print_stdout, reason = "this is where it reports")]
#![expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
#![expect(
    clippy::cast_precision_loss,
    reason = "rates are printed in whole thousands"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tplkit::apply::{
    Approved, ColumnWork, LinkWork, Minter, Mode, StructureWork, TableWork, run, undo,
};
use tplkit::context::{Ids as _, Seeded};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value};
use tplkit::package::payload::RawEntry;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Change, Column, Feature, Id, New, ledger, ready};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` passes no `--bench`: prove that it runs, on little.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let rounds = arguments
        .iter()
        .position(|argument| argument == "--rounds")
        .and_then(|at| arguments.get(at + 1)?.parse().ok())
        .unwrap_or(if small { 1 } else { 9 });
    let (tables, rows) = if small { (3, 600) } else { (20, 5000) };
    let texts = payloads(tables, rows);
    let approved = approved(tables, rows);
    let mut best = [Duration::MAX; 3];
    for _ in 0..rounds {
        let round = round(&approved, &texts, tables * rows);
        for (best, time) in best.iter_mut().zip(round) {
            *best = time.min(*best);
        }
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    for (what, time) in ["apply", "again", "undo"].into_iter().zip(best) {
        let seconds = time.as_secs_f64();
        println!(
            "{what}: {:.0} thousand rows a second, {:.0} MB a second, {:.1} ms",
            (tables * rows) as f64 / seconds / 1e3,
            bytes as f64 / seconds / 1e6,
            seconds * 1e3,
        );
    }
}

/// Apply, the same pass again, undo.
fn round(approved: &Approved, texts: &[String], rows: usize) -> [Duration; 3] {
    let state = State::empty(Id::from_u128(1), Id::from_u128(2), "here", "Here");
    let mut memory = Memory::new(state);
    let entries: Vec<RawEntry<'_>> = texts.iter().map(|rows| entry(rows)).collect();
    let mut apply = || {
        let started = Instant::now();
        let definitions = Definitions::embedded();
        let mut unwatched = |_| {};
        let running = run(
            &mut memory,
            approved,
            &entries,
            &[],
            definitions,
            &mut unwatched,
        );
        let report = ready(running).expect("runs");
        (started.elapsed(), report)
    };
    let (first, report) = apply();
    let inserted: u64 = report.rows.values().map(|table| table.inserted).sum();
    assert_eq!((inserted, report.unresolved.len()), (rows as u64, 0));
    let (second, report) = apply();
    let skipped: u64 = report.rows.values().map(|table| table.skipped).sum();
    assert_eq!(skipped, rows as u64);
    let started = Instant::now();
    ready(undo(&mut memory, false)).expect("undone");
    [first, second, started.elapsed()]
}

fn entry(rows: &str) -> RawEntry<'_> {
    RawEntry {
        feature_ref: String::new(),
        item_uid: String::new(),
        key_column: None,
        key_unique: false,
        columns: Vec::new(),
        rows,
    }
}

fn payloads(tables: usize, rows: usize) -> Vec<String> {
    let mut ids = Seeded::new(5);
    let mut before: Vec<String> = Vec::new();
    let table = |table: usize| {
        let uids: Vec<String> = (0..rows).map(|_| ids.uid()).collect();
        let mut text = String::from("[");
        for (row, uid) in uids.iter().enumerate() {
            let _ = write!(
                text,
                r#"{}{{"uid":"{uid}","data":{{"code":"C-{row:06}","name":"Customer number {row} of table {table}","amount":{}.{:02},"since":"20{:02}-0{}-1{}","active":{},"owner":"0c6d2b","note":"Called on Monday; wants an offer for {row} pieces, délai 14 jours"}}"#,
                if row == 0 { "" } else { "," },
                row * 37 % 9000,
                row % 100,
                row % 25,
                row % 9 + 1,
                row % 9,
                row % 3 == 0,
            );
            if let Some(target) = before.get(row * 7919 % rows) {
                let _ = write!(
                    text,
                    r#","refs":{{"owner":{{"rowUid":"{target}","featureRef":"f_{}","valueColumn":"id"}}}}"#,
                    table - 1
                );
            }
            text.push('}');
        }
        before = uids;
        text + "]"
    };
    (0..tables).map(table).collect()
}

fn approved(tables: usize, rows: usize) -> Approved {
    let mut structure = StructureWork::default();
    let columns = [
        ("id", "text", "id", "{}"),
        (
            "code",
            "text",
            "textfield",
            r#"{"unique":true,"required":true}"#,
        ),
        ("name", "text", "textfield", r#"{"required":true}"#),
        ("amount", "currency", "currencyfield", "{}"),
        ("since", "date", "datepicker", "{}"),
        ("active", "boolean", "checkbox", "{}"),
        ("owner", "linked_select", "linkfield", "{}"),
        ("note", "long_text", "textarea", "{}"),
    ];
    let mut works = Vec::new();
    for table in 0..tables {
        let feature = Id::from_u128((table as u128 + 1) << 16);
        structure.changes.push(Change::Create(New::Feature(Feature {
            id: feature,
            name: format!("table_{table}"),
            label: format!("Table {table}"),
            config: Object::new(),
            is_shared: false,
            columns: Vec::new(),
            views: Vec::new(),
        })));
        structure.entry.created.push(ledger::Created {
            reference: format!("f_{table}"),
            kind: tplkit::workspace::Kind::Feature,
            id: feature,
            name: format!("table_{table}"),
        });
        let mut work = Vec::new();
        for (at, (name, column_type, component, config)) in columns.iter().enumerate() {
            let column = Column {
                id: Id::from_u128(feature.as_u128() + at as u128 + 1),
                name: (*name).to_owned(),
                label: (*name).to_owned(),
                column_type: (*column_type).to_owned(),
                default_component: (*component).to_owned(),
                order: 1,
                config: match Value::parse(config) {
                    Ok(Value::Object(config)) => config,
                    _ => Object::new(),
                },
            };
            structure.changes.push(Change::Create(New::Column {
                feature,
                column: column.clone(),
            }));
            work.push(ColumnWork {
                package_name: (*name).to_owned(),
                column,
                link: if *name == "owner" {
                    LinkWork::Refs
                } else {
                    LinkWork::Data
                },
            });
        }
        works.push(TableWork {
            entry: table,
            uid: format!("rows {table}"),
            feature_ref: format!("f_{table}"),
            feature: Some(feature),
            mode: Mode::All,
            columns: work,
            first_ordinal: u32::try_from(1000 + table * rows).unwrap_or_default(),
        });
    }
    Approved {
        structure,
        tables: works,
        row_steps: Vec::new(),
        publish: Vec::new(),
        bound: Vec::new(),
        unresolved: Vec::new(),
        renamed: Vec::new(),
        dropped_keys: Vec::new(),
        minter: Minter::at(jiff::Timestamp::UNIX_EPOCH, 7),
    }
}
