//! Columns that become stricter, and the cells that are there.

use serde_json::{Value as Json, json};

use super::{Line, args, client, codes, conflicts, upgrade_body, v1, v2, with};
use crate::crashing::Crash;
use crate::workspace::RecordKind::Column;

fn stricter(config: &Json) -> Json {
    v2(|package| args(package, "c_clients_city")["config"] = config.clone())
}

#[test]
fn what_would_not_fit_is_asked_with_its_places() {
    let mut line = Line::new();
    line.cells(0, &json!({"city": null}));
    line.cells(2, &json!({"city": "Kiel"}));
    let plan = line.plan(
        &stricter(&json!({"required": true})),
        &upgrade_body(&Json::Null),
    );
    assert_eq!(
        conflicts(&plan),
        [("required_empty", "c_clients_city", "config.required")]
    );
    let conflict = &plan.conflicts[0];
    assert_eq!(
        (conflict.count, conflict.places.as_slice()),
        (Some(1), &[line.client_row(0).1][..])
    );
    let plan = line.plan(
        &stricter(&json!({"unique": true})),
        &upgrade_body(&Json::Null),
    );
    assert_eq!(
        conflicts(&plan),
        [("unique_repeated", "c_clients_city", "config.unique")]
    );
    // `theirs` lets cells stay empty, and never lets values stand twice.
    let theirs = |path: &str| upgrade_body(&json!({"c_clients_city": {path: "theirs"}}));
    let plan = line.plan(
        &stricter(&json!({"required": true})),
        &theirs("config.required"),
    );
    assert_eq!(conflicts(&plan), []);
    let plan = line.plan(
        &stricter(&json!({"unique": true})),
        &theirs("config.unique"),
    );
    assert_eq!(conflicts(&plan).len(), 1);
    // `ours` keeps the column.
    let ours = upgrade_body(&json!({"c_clients_city": {"config.unique": "ours"}}));
    assert_eq!(
        line.plan(&stricter(&json!({"unique": true})), &ours)
            .refusals,
        []
    );
}

#[test]
fn another_type_is_measured_and_what_fits_is_written() {
    let number = v2(|package| {
        let args = args(package, "c_clients_note");
        args["type"] = "number".into();
        args["defaultComponent"] = "numberfield".into();
        for row in 0..3 {
            client(package, row)["note"] = (row + 1).into();
        }
    });
    // Every cell becomes a number by the same upgrade.
    let mut line = Line::new();
    line.upgrade(&number, &Json::Null);
    assert!(line.clients()[2].contains(r#""note":3"#));
    // A row that people made keeps its cells.
    let mut line = Line::new();
    let row = line.insert("clients", r#"{"name":"D","note":"four"}"#);
    let plan = line.plan(&number, &upgrade_body(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [("type_change_loses", "c_clients_note", "type")]
    );
    let conflict = &plan.conflicts[0];
    assert_eq!(
        (conflict.count, conflict.places.as_slice()),
        (Some(1), &[row][..])
    );
    // `ours` keeps the column, whatever says so for it.
    for ours in [json!({"type": "ours"}), json!("ours")] {
        let ours = json!({"c_clients_note": ours});
        let plan = line.plan(&number, &upgrade_body(&ours));
        assert_eq!(
            (plan.refusals.len(), plan.update.len()),
            (0, 0),
            "{plan:#?}"
        );
    }
    let plan = line.plan(&number, r#"{"upgrade": true, "conflicts": "theirs"}"#);
    assert_eq!(conflicts(&plan).len(), 1, "nothing wider decides");
    let fits = Line::new();
    assert_eq!(fits.plan(&v1(), &upgrade_body(&Json::Null)).conflicts, []);
    let unique = stricter(&json!({"unique": true}));
    let mut line = Line::new();
    line.upgrade(&unique, &Json::Null);
    let city = line.get(crate::workspace::RecordKind::Column, "city");
    assert_eq!(city.config.get("unique"), Some(&true.into()));
}

/// Notes that are numbers.
fn numbered() -> Json {
    v2(|package| {
        let args = args(package, "c_clients_note");
        args["type"] = "number".into();
        args["defaultComponent"] = "numberfield".into();
        for row in 0..3 {
            client(package, row)["note"] = (row + 1).into();
        }
    })
}

/// A line with a row of people that does not fit.
fn misfit() -> Line {
    let mut line = Line::new();
    line.insert("clients", r#"{"name":"D","note":"four"}"#);
    line
}

fn lossy(decisions: &Json) -> String {
    json!({"upgrade": true, "allowDestructive": true, "decisions": decisions}).to_string()
}

#[test]
fn cells_that_do_not_fit_a_type_are_lost_where_that_is_allowed_and_come_back() {
    for theirs in [json!({"type": "theirs"}), json!("theirs")] {
        let theirs = json!({"c_clients_note": theirs});
        let mut line = misfit();
        let plan = line.plan(&numbered(), &upgrade_body(&theirs));
        assert_eq!(codes(&plan.refusals), ["destructive"], "{plan:#?}");
        assert_eq!((plan.refusals[0].cells, plan.conflicts.len()), (Some(1), 0));
        let detail = &plan.refusals[0].detail;
        assert!(
            detail.contains(": 1 cell does not fit the type"),
            "{detail}"
        );
        assert_eq!(line.plan(&numbered(), &lossy(&theirs)).refusals, []);
        let before = line.memory.state();
        line.apply(&numbered(), &lossy(&theirs));
        assert_eq!(line.clients()[3], r#"{"name":"D"}"#);
        assert!(line.clients()[0].contains(r#""note":1"#));
        assert_eq!(
            line.plan(&numbered(), &upgrade_body(&Json::Null)).update,
            []
        );
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before);
    }
}

#[test]
fn a_loss_ends_as_one_that_never_stopped() {
    let (text, body) = (
        numbered().to_string(),
        lossy(&json!({"c_clients_note": "theirs"})),
    );
    let mut whole = misfit();
    super::killed::stopped(&mut whole, &text, &body, None);
    for written in [false, true] {
        for call in 0.. {
            let mut line = misfit();
            let before = line.memory.state();
            let crash = Some(Crash { call, written });
            let (ledger, stopped) = super::killed::stopped(&mut line, &text, &body, crash);
            assert!(
                line.memory.state() == whole.memory.state(),
                "{call} {written}"
            );
            if !stopped {
                break;
            }
            line.jobs.push((text.clone(), ledger, true));
            line.undo(false).expect("undone");
            assert!(line.memory.state() == before, "{call} {written}");
        }
    }
}

/// A required column in clients, of which the package fills two rows.
fn required_column() -> Json {
    v2(|package| {
        let column = json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 9, "config": {"required": true}});
        with(package, "create_column", "c_clients_tel", column);
        package["payloads"][0]["columns"] = json!(["name", "city", "note", "tel"]);
        for row in 0..3 {
            client(package, row)["tel"] = "1".into();
        }
    })
}

#[test]
fn a_new_required_column_is_measured_over_rows_that_stay_empty() {
    let filled = Line::new();
    let plan = filled.plan(&required_column(), &upgrade_body(&Json::Null));
    assert_eq!(plan.refusals, [], "the upgrade fills every row");
    let made = || {
        let mut line = Line::new();
        let row = line.insert("clients", r#"{"name":"D"}"#);
        (line, row)
    };
    let (line, row) = made();
    let plan = line.plan(&required_column(), &upgrade_body(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [("required_empty", "c_clients_tel", "config.required")]
    );
    let conflict = &plan.conflicts[0];
    assert_eq!(
        (conflict.id, conflict.count, conflict.places.as_slice()),
        (None, Some(1), &[row][..])
    );
    assert_eq!(conflict.absent, ["base", "ours"]);
    for (decision, required) in [
        (json!({"config.required": "ours"}), false),
        (json!("ours"), false),
        (json!({"config.required": "theirs"}), true),
        (json!("theirs"), true),
    ] {
        let (mut line, _) = made();
        let before = line.memory.state();
        let report = line.upgrade(&required_column(), &json!({"c_clients_tel": decision}));
        assert_eq!(report.decided, 1);
        let column = line.get(Column, "tel").as_column().expect("a column");
        assert_eq!(column.is_required(), required, "{decision}");
        assert!(line.clients()[0].contains(r#""tel":"1""#));
        // Decided, it is silent.
        let plan = line.plan(&required_column(), &upgrade_body(&Json::Null));
        assert_eq!((plan.refusals.len(), plan.update.len()), (0, 0));
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before);
    }
    // Where nothing is asked it is of no use.
    let decided = json!({"c_clients_tel": {"config.required": "ours"}});
    let plan = filled.plan(&required_column(), &upgrade_body(&decided));
    assert_eq!((plan.refusals.len(), plan.unused.len()), (0, 1));
}

#[test]
fn what_the_same_upgrade_writes_counts() {
    // Two clients of one city, and a city that is not given.
    let old = v2(|package| {
        client(package, 1)["city"] = "Bonn".into();
        let cells = client(package, 2).as_object_mut().expect("cells");
        cells.shift_remove("city");
    });
    let new = v2(|package| {
        args(package, "c_clients_city")["config"] = json!({"required": true, "unique": true});
        args(package, "c_clients_city")["label"] = "City".into();
    });
    let mut line = Line::of(&old);
    let before = line.memory.state();
    line.upgrade(&new, &Json::Null);
    let column = line.get(Column, "city").as_column().expect("a column");
    assert!(column.is_unique() && column.is_required());
    assert_eq!(column.label, "City");
    assert_eq!(line.plan(&new, &upgrade_body(&Json::Null)).update, []);
    line.undo(false).expect("undone");
    assert_eq!(line.memory.state(), before);
    // What people have keeps it from that.
    let mut line = Line::of(&old);
    line.insert("clients", r#"{"name":"D","city":"Jena"}"#);
    line.insert("clients", r#"{"name":"E"}"#);
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!(
        conflicts(&plan),
        [
            ("required_empty", "c_clients_city", "config.required"),
            ("unique_repeated", "c_clients_city", "config.unique"),
        ]
    );
    assert_eq!(
        (plan.conflicts[0].count, plan.conflicts[1].count),
        (Some(1), Some(1))
    );
    // The word for the column decides both, and what is never allowed stands.
    let plan = line.plan(&new, &upgrade_body(&json!({"c_clients_city": "theirs"})));
    assert_eq!(
        conflicts(&plan),
        [("unique_repeated", "c_clients_city", "config.unique")]
    );
    line.upgrade(&new, &json!({"c_clients_city": "ours"}));
    let column = line.get(Column, "city").as_column().expect("a column");
    assert!(!column.is_unique() && !column.is_required());
    assert_eq!(column.label, "City", "what nobody asks about is written");
}

#[test]
fn what_comes_up_after_the_plan_stays_and_is_reported() {
    let new = v2(|package| args(package, "c_clients_city")["config"] = json!({"required": true}));
    let mut line = Line::new();
    assert_eq!(line.plan(&new, &upgrade_body(&Json::Null)).refusals, []);
    line.cells(0, &json!({"city": null}));
    let report = line.apply(&new, &upgrade_body(&Json::Null));
    let moved = &report.moved[0];
    assert_eq!(
        (moved.reference.as_str(), moved.path.as_deref()),
        ("c_clients_city", Some("config.required"))
    );
    let column = line.get(Column, "city").as_column().expect("a column");
    assert!(!column.is_required());
    assert_eq!(
        conflicts(&line.plan(&new, &upgrade_body(&Json::Null))).len(),
        1
    );
}
