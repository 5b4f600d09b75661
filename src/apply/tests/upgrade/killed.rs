//! An upgrade that stops after any call, and goes on.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::rows::with_city;
use super::undone::new;
use super::{Line, args, checked, client, config, label, request, upgrade_body, v1, v2};
use crate::apply::{
    ApplyError, JobHistory, Minter, Report, Request, ResolveInput, decide_from, run_from,
};
use crate::crashing::{Crash, Error, Memory};
use crate::definitions::Definitions;
use crate::workspace::RecordKind::{Feature, View};
use crate::workspace::ledger::Entry;
use crate::workspace::{Source as _, Target as _, ready};

/// One attempt at the same job, without decisions.
pub(super) fn attempt(
    memory: &mut Memory,
    past: JobHistory<'_>,
    text: &str,
) -> Result<Report, ApplyError<Error>> {
    decided(memory, past, text, &request(&upgrade_body(&Json::Null)))
}

fn decided(
    memory: &mut Memory,
    past: JobHistory<'_>,
    text: &str,
    request: &Request,
) -> Result<Report, ApplyError<Error>> {
    let package = checked(text);
    let own = ready(memory.ledger()).map_err(ApplyError::store("reading the ledger"))?;
    let structure = ready(memory.structure()).map_err(ApplyError::store("reading"))?;
    let known = [past.entries, &own].concat();
    let deciding = JobHistory {
        entries: &known,
        ..past
    };
    let minter = Minter::at(Timestamp::UNIX_EPOCH, 0xABC_9999);
    let definitions = Definitions::embedded();
    let decided = decide_from(
        &*memory,
        ResolveInput {
            package: &package,
            request,
            destination: &structure,
            past: deciding,
            definitions,
        },
        minter,
    );
    let decided = ready(decided).map_err(ApplyError::store("measuring"))?;
    let approved = decided.expect("approved");
    let mut unwatched = |_| {};
    let payloads = &package.payloads;
    ready(run_from(
        memory,
        &approved,
        payloads,
        past,
        definitions,
        &mut unwatched,
    ))
}

/// A job that stops at a call, and goes on; and whether it did stop. Gives its ledger.
pub(super) fn stopped(
    line: &mut Line,
    text: &str,
    body: &str,
    crash: Option<Crash>,
) -> (Vec<Entry>, bool) {
    let mut memory = std::mem::replace(&mut line.memory, Memory::new(super::nothing()));
    let request = request(body);
    let mut stopped = false;
    line.past(|past| {
        if let Some(crash) = crash {
            memory.crash_at(crash);
            stopped = decided(&mut memory, past, text, &request).is_err();
            memory.recover();
        }
        decided(&mut memory, past, text, &request).expect("a report");
    });
    let ledger = memory.next_job();
    line.memory = memory;
    (ledger, stopped)
}

/// Stops an upgrade at each of its calls and lets it go on: it ends as one that never stopped, nothing has drifted then,
/// nothing is left to do, and it can be undone.
pub(super) fn goes_on_alike(base: &Json, new: &Json) {
    let (text, body) = (new.to_string(), upgrade_body(&Json::Null));
    let mut line = Line::of(base);
    let before = line.memory.state();
    stopped(&mut line, &text, &body, None);
    let whole = line.memory.state();
    for written in [false, true] {
        for call in 0.. {
            let mut line = Line::of(base);
            let crash = Crash { call, written };
            let (ledger, stopped) = stopped(&mut line, &text, &body, Some(crash));
            assert!(line.memory.state() == whole, "{crash:?}");
            line.jobs.push((text.clone(), ledger, true));
            assert!(!line.drift(true).drift, "{crash:?}");
            let again = line.upgrade(new, &Json::Null);
            let updated: u64 = again.rows.values().map(|rows| rows.updated).sum();
            assert_eq!(updated, 0, "{crash:?}");
            line.undo(false).expect("undone");
            line.undo(false).expect("undone");
            assert!(line.memory.state() == before, "{crash:?}");
            if !stopped {
                assert!(call > 4, "{call}");
                break;
            }
        }
    }
}

/// What people have made of the first version.
fn line() -> Line {
    let mut line = Line::new();
    line.edit(Feature, "orders", label("Ours"));
    line.edit(Feature, "clients", label("Ours"));
    line.cells(0, &json!({"city": "Since"}));
    line.cells(1, &json!({"note": "ours"}));
    line
}

/// Stops a job at each of its calls and lets it go on: the workspace and the report are those of a job that never
/// stopped. Gives that report.
pub(super) fn ends_alike(begin: fn() -> Line, text: &str, decisions: &Json) -> Report {
    ends_alike_with(begin, text, &upgrade_body(decisions))
}

/// The same with everything that is asked.
pub(super) fn ends_alike_with(begin: fn() -> Line, text: &str, body: &str) -> Report {
    ends_alike_as_planned(begin, text, &request(body))
}

/// The same with what a plan saw.
pub(super) fn ends_alike_as_planned(begin: fn() -> Line, text: &str, request: &Request) -> Report {
    let of = |crash: Option<Crash>| {
        let mut line = begin();
        let mut memory = std::mem::replace(&mut line.memory, Memory::new(super::nothing()));
        let (mut stopped, mut ended) = (false, false);
        let report = line.past(|past| {
            if let Some(crash) = crash {
                memory.crash_at(crash);
                stopped = decided(&mut memory, past, text, request).is_err();
                memory.recover();
                let own = ready(memory.ledger()).expect("a ledger");
                ended = stopped && own.contains(&Entry::Completed);
            }
            decided(&mut memory, past, text, request).expect("a report")
        });
        // The report of a job that had ended stands already.
        (memory.state(), (!ended).then_some(report), stopped)
    };
    let (whole, report, _) = of(None);
    let expected = report.expect("a report");
    let mut stops = 0;
    for written in [false, true] {
        for call in 0.. {
            let (state, report, stopped) = of(Some(Crash { call, written }));
            if !stopped {
                break;
            }
            stops += 1;
            assert!(state == whole, "call {call}, written {written}");
            if let Some(report) = report {
                assert_eq!(report, expected, "call {call}, written {written}");
            }
        }
    }
    assert!(stops > 4, "{stops}");
    expected
}

#[test]
fn it_ends_as_one_that_never_stopped() {
    let text = new().to_string();
    // One leaf is decided; nobody has looked at the cell that both changed.
    let report = ends_alike(line, &text, &json!({"f_clients": {"label": "ours"}}));
    assert!(report.structure_updated > 0 && report.rows["f_clients"].updated == 1);
    assert_eq!(
        (report.moved.len(), report.decided, report.kept.len()),
        (1, 1, 2)
    );
}

#[test]
fn a_row_that_was_refused_before_is_refused_afterwards() {
    let begin = || {
        let mut line = Line::of(&with_city("Bonn"));
        line.insert("clients", r#"{"name":"D","city":"Ulm"}"#);
        line
    };
    let report = ends_alike(begin, &with_city("Ulm").to_string(), &Json::Null);
    let rows = &report.rows["f_clients"];
    assert_eq!((rows.updated, rows.failed, report.errors.len()), (0, 1, 1));
}

/// The first version, in which two clients have the same city.
fn repeated() -> Json {
    v2(|package| client(package, 1)["city"] = client(package, 0)["city"].clone())
}

/// A version that makes cities distinct and their column unique, in two units of structure.
fn distinct(change: impl FnOnce(&mut Json)) -> String {
    let package = v2(|package| {
        client(package, 1)["city"] = "Elsewhere".into();
        args(package, "c_clients_city")["config"] = json!({"unique": true});
        change(package);
    });
    package.to_string()
}

#[test]
fn what_was_decided_before_a_column_becomes_unique_is_reported_afterwards() {
    let text = distinct(|package| args(package, "f_clients")["label"] = "Theirs".into());
    let begin = || {
        let mut line = Line::of(&repeated());
        line.edit(Feature, "clients", label("Ours"));
        line
    };
    let report = ends_alike(begin, &text, &json!({"f_clients": {"label": "theirs"}}));
    assert_eq!((report.decided, report.unused.len()), (1, 0));
    assert_eq!(report.structure_updated, 2);
}

/// A key that the package takes out is not a leaf any more as soon as it is gone.
#[test]
fn a_decision_that_is_carried_out_already_is_no_fault_of_a_job_that_goes_on() {
    let sort = json!({"column": "$c_orders_code"});
    let sorted = v2(|package| args(package, "v_orders")["config"][0]["sort"] = sort.clone());
    let without = v1().to_string();
    let body = upgrade_body(&json!({"v_orders": {"config.sort": "theirs"}}));
    let mut stops = 0;
    for call in 0.. {
        let mut line = Line::of(&sorted);
        let ours = json!({"column": "client"});
        line.edit(View, "orders", config("sort", &ours));
        let crash = Crash {
            call,
            written: false,
        };
        let mut memory = std::mem::replace(&mut line.memory, Memory::new(super::nothing()));
        let stopped = line.past(|past| {
            memory.crash_at(crash);
            let stopped = decided(&mut memory, past, &without, &request(&body)).is_err();
            memory.recover();
            if stopped {
                decided(&mut memory, past, &without, &request(&body)).expect("a report");
            }
            stopped
        });
        line.memory = memory;
        let view = line.get(View, "orders");
        assert!(!view.config.write().contains("sort"), "call {call}");
        if !stopped {
            break;
        }
        stops += 1;
    }
    assert!(stops > 1, "{stops}");
}
