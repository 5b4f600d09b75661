//! Cells that name files: files do not travel, and what people attached stays.

use serde_json::{Value as Json, json};

use super::killed::attempt;
use super::{Line, client, nothing, upgrade_body, v2, with};
use crate::apply::NotCarried;
use crate::crashing::{Crash, Memory};
use crate::workspace::ledger::Entry;
use crate::workspace::{Target as _, ready};

const FILE: &str = "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11";
const OTHER: &str = "9AAA5b1e-9f5d-4d8e-8a47-2f5b8d1f0a22";

/// Clients have a required picture, with these cells.
fn pictured(cells: [Json; 3]) -> Json {
    let [one, two, three] = cells;
    let column = json!({"featureId": "$f_clients", "name": "photo", "label": "photo", "type": "file",
        "defaultComponent": "filefield", "order": 9, "config": {"required": true}});
    v2(|package| {
        with(package, "create_column", "c_clients_photo", column);
        let columns = package["payloads"][0]["columns"].as_array_mut();
        columns.expect("columns").push("photo".into());
        for (at, cell) in [one, two, three].into_iter().enumerate() {
            client(package, at)["photo"] = cell;
        }
    })
}

/// Ref, path, count and whether the column is required.
fn cells(entries: &[NotCarried]) -> Vec<(&str, &str, Option<u64>, Option<bool>)> {
    let entries = entries.iter();
    entries
        .map(|one| {
            let path = one.path.as_deref().unwrap_or_default();
            (&*one.reference, path, one.count, one.required)
        })
        .collect()
}

const PATH: &str = "rows[].data.photo";

#[test]
fn a_package_with_files_enters_without_them_and_lists_what_is_to_do() {
    let package = pictured([json!(FILE), json!("scan.pdf"), json!(OTHER)]);
    let mut line = Line::empty();
    let plan = line.plan(&package, "{}");
    assert_eq!(
        cells(&plan.not_carried),
        [("f_clients", PATH, Some(2), Some(true))]
    );
    let report = line.apply(&package, "{}");
    assert_eq!(report.rows["f_clients"].inserted, 3);
    let entries: Vec<_> = report.unresolved.iter().collect();
    let [entry] = entries.as_slice() else {
        panic!("{entries:#?}")
    };
    assert_eq!(
        (&*entry.path, &*entry.kind, &*entry.reason, &*entry.action),
        (PATH, "rows", "nao_exportavel", "chave esvaziada")
    );
    assert_eq!((entry.count, entry.required), (Some(2), Some(true)));
    let clients = line.clients();
    assert!(clients[0].contains(r#""photo":null"#), "{clients:?}");
    assert!(clients[1].contains("scan.pdf"), "{clients:?}");
    // The same again finds nothing to say: nothing enters.
    let again = line.plan(&package, "{}");
    assert_eq!(cells(&again.not_carried), []);
}

#[test]
fn a_required_picture_may_be_missing_and_what_the_export_emptied_is_listed() {
    let mut package = pictured([Json::Null, json!(""), json!("scan.pdf")]);
    client(&mut package, 0)
        .as_object_mut()
        .expect("cells")
        .remove("photo");
    let items = package["manifest"]["items"].as_array().expect("items");
    let rows = items.iter().find(|item| item["kind"] == "rows");
    let uid = rows.expect("an item")["uid"].clone();
    package["manifest"]["unresolved"] = json!([{"uid": uid, "path": PATH, "kind": "rows", "form": "uuid",
        "reason": "nao_exportavel", "action": "chave esvaziada", "count": 1}]);
    let mut line = Line::empty();
    let report = line.apply(&package, "{}");
    assert_eq!(
        (
            report.rows["f_clients"].inserted,
            report.rows["f_clients"].failed
        ),
        (3, 0)
    );
    let [entry] = report.unresolved.as_slice() else {
        panic!("{report:#?}")
    };
    assert_eq!(
        (entry.source.as_deref(), entry.required, entry.count),
        (Some("package"), Some(true), Some(1))
    );
}

#[test]
fn people_attach_and_nothing_drifts() {
    let mut line = Line::of(&pictured([Json::Null, json!("scan.pdf"), json!(FILE)]));
    line.cells(0, &json!({"photo": FILE}));
    line.cells(2, &json!({"photo": OTHER}));
    let drift = line.drift(true);
    assert!(!drift.drift, "{drift:#?}");
    assert_eq!(drift.rows["f_clients"].changed, 0);
    // Where a text was, its absence is a change; where one comes, too.
    line.cells(1, &json!({"photo": FILE}));
    line.cells(0, &json!({"photo": "mine.pdf"}));
    let drift = line.drift(true);
    assert_eq!(drift.rows["f_clients"].changed, 2);
    let ours: Vec<String> = drift
        .cells
        .unwrap_or_default()
        .iter()
        .map(|cell| cell.ours.write())
        .collect();
    assert_eq!(ours, [r#""mine.pdf""#, "null"]);
}

#[test]
fn an_upgrade_never_writes_over_a_file_and_asks_nobody() {
    let mut line = Line::of(&pictured([json!("a.pdf"), json!("b.pdf"), Json::Null]));
    for at in 0..3 {
        line.cells(at, &json!({"photo": FILE}));
    }
    // Changed, unchanged, and new in the package.
    let new = pictured([json!("a2.pdf"), json!("b.pdf"), json!("c.pdf")]);
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        (plan.conflicts.len(), plan.refusals.len()),
        (0, 0),
        "{plan:#?}"
    );
    let rows = &plan.rows["f_clients"];
    assert_eq!((rows.update, rows.kept), (0, 1));
    assert_eq!(
        cells(&plan.not_carried),
        [("f_clients", PATH, Some(2), Some(true))]
    );
    // Not even a decision does.
    let path = format!("rows.{}.photo", crate::apply::test_packages::uid(6000));
    let report = line.upgrade(&new, &json!({"f_clients": {path.clone(): "theirs"}}));
    assert_eq!(
        cells(&report.not_carried),
        [("f_clients", PATH, Some(2), Some(true))]
    );
    assert_eq!(report.unused.len(), 1, "{report:#?}");
    assert!(!report.is_partial());
    for client in line.clients() {
        assert!(client.contains(FILE), "{client}");
    }
    // The base of these cells is what it was: the next version finds the same.
    let again = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        cells(&again.not_carried),
        [("f_clients", PATH, Some(2), Some(true))]
    );
    line.cells(0, &json!({"photo": "a.pdf"}));
    line.upgrade(&new, &Json::Null);
    assert!(line.clients()[0].contains("a2.pdf"));
}

#[test]
fn ids_in_the_next_version_count_as_empty() {
    let mut line = Line::of(&pictured([json!("a.pdf"), json!(FILE), Json::Null]));
    line.cells(1, &json!({"photo": OTHER}));
    let new = pictured([json!(FILE), json!(OTHER), json!(FILE)]);
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(plan.conflicts, []);
    // The cell that was empty stays so, and is one to fill as the one that was emptied; a file is there already.
    assert_eq!(
        cells(&plan.not_carried),
        [("f_clients", PATH, Some(2), Some(true))]
    );
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(report.rows["f_clients"].updated, 1);
    assert_eq!(cells(&report.not_carried), []);
    let [entry] = report.unresolved.as_slice() else {
        panic!("{report:#?}")
    };
    assert_eq!((&*entry.path, entry.count), (PATH, Some(2)));
    let clients = line.clients();
    assert!(!clients[0].contains("photo"), "{clients:?}");
    assert!(clients[1].contains(OTHER), "{clients:?}");
    line.undo(false).expect("undone");
    assert!(line.clients()[0].contains("a.pdf"));
}

#[test]
fn an_empty_cell_is_listed_once_where_the_next_version_names_a_file() {
    let column = |package: &mut Json| {
        let column = json!({"featureId": "$f_clients", "name": "scan", "label": "scan", "type": "file",
            "defaultComponent": "filefield", "order": 10});
        with(package, "create_column", "c_clients_scan", column);
        let columns = package["payloads"][0]["columns"].as_array_mut();
        columns.expect("columns").push("scan".into());
        client(package, 0)["scan"] = FILE.into();
    };
    let mut line = Line::of(&pictured([Json::Null, json!("b.pdf"), Json::Null]));
    // In a column that was there, and in a new one.
    let mut new = pictured([json!(FILE), json!("b.pdf"), Json::Null]);
    column(&mut new);
    let expected = [
        ("f_clients", PATH, Some(1), Some(true)),
        ("f_clients", "rows[].data.scan", Some(1), None),
    ];
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(plan.conflicts, []);
    assert_eq!(cells(&plan.not_carried), expected);
    let report = line.upgrade(&new, &Json::Null);
    let unresolved = report.unresolved.iter();
    let unresolved: Vec<_> = unresolved
        .map(|entry| (&*entry.path, entry.count, entry.required))
        .collect();
    assert_eq!(
        unresolved,
        expected.map(|(_, path, count, required)| (path, count, required))
    );
    assert_eq!(report.rows["f_clients"].updated, 0);
    // The next version says of these cells what this one did.
    let mut next = new.clone();
    client(&mut next, 0)["city"] = "Köln".into();
    let plan = line.plan(&next, &upgrade_body(&Json::Null));
    assert_eq!(cells(&plan.not_carried), []);
}

#[test]
fn cells_that_are_emptied_and_cells_that_keep_a_file_are_one_entry() {
    let mut line = Line::of(&pictured([json!("a.pdf"), json!("b.pdf"), Json::Null]));
    line.cells(0, &json!({"photo": FILE}));
    let new = pictured([json!("a2.pdf"), json!(FILE), Json::Null]);
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        cells(&plan.not_carried),
        [("f_clients", PATH, Some(2), Some(true))]
    );
    // The report lists them as what happened to them.
    let report = line.upgrade(&new, &Json::Null);
    assert_eq!(
        cells(&report.not_carried),
        [("f_clients", PATH, Some(1), Some(true))]
    );
    let [entry] = report.unresolved.as_slice() else {
        panic!("{report:#?}")
    };
    assert_eq!((entry.count, entry.required), (Some(1), Some(true)));
}

#[test]
fn a_column_that_becomes_required_asks_for_no_file() {
    let optional = v2(|package| {
        let column = json!({"featureId": "$f_clients", "name": "photo", "label": "photo", "type": "file",
            "defaultComponent": "filefield", "order": 9});
        with(package, "create_column", "c_clients_photo", column);
    });
    let line = Line::of(&optional);
    let plan = line.plan(
        &pictured([Json::Null, Json::Null, Json::Null]),
        &upgrade_body(&Json::Null),
    );
    assert_eq!((plan.conflicts, plan.refusals), (Vec::new(), Vec::new()));
}

#[test]
fn a_stopped_job_reports_the_same() {
    let old = pictured([json!("a.pdf"), json!("b.pdf"), Json::Null]);
    let new = pictured([json!("a2.pdf"), json!(FILE), json!("c.pdf")]).to_string();
    let line = || {
        let mut line = Line::of(&old);
        line.cells(0, &json!({"photo": FILE}));
        line
    };
    let of = |crash: Option<Crash>| {
        let mut line = line();
        let mut memory = std::mem::replace(&mut line.memory, Memory::new(nothing()));
        let (mut stopped, mut ended) = (false, false);
        let report = line.past(|past| {
            if let Some(crash) = crash {
                memory.crash_at(crash);
                stopped = attempt(&mut memory, past, &new).is_err();
                memory.recover();
                let own = ready(memory.ledger()).expect("a ledger");
                ended = stopped && own.contains(&Entry::Completed);
            }
            attempt(&mut memory, past, &new).expect("a report")
        });
        ((!ended).then_some(report), stopped)
    };
    let whole = of(None).0.expect("a report");
    assert_eq!(
        cells(&whole.not_carried),
        [("f_clients", PATH, Some(1), Some(true))]
    );
    assert_eq!(whole.unresolved.len(), 1);
    let mut stops = 0;
    for written in [false, true] {
        for call in 0.. {
            let (report, stopped) = of(Some(Crash { call, written }));
            if !stopped {
                break;
            }
            stops += 1;
            if let Some(report) = report {
                assert_eq!(report, whole, "{call} {written}");
            }
        }
    }
    assert!(stops > 5, "{stops}");
}
