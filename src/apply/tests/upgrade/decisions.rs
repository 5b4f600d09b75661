//! What can be decided, and what is of no use or refused.

use serde_json::{Value as Json, json};

use super::{Line, args, client, codes, label, uid, upgrade_body, v1, v2, with, without};
use crate::upgrade::{UnusedDecision, guard};
use crate::workspace::Change;
use crate::workspace::RecordKind::{Column, Feature, Rail};

/// Clients that both sides have renamed, orders that people have.
fn both() -> (Line, Json) {
    let mut line = Line::new();
    line.edit(Feature, "clients", label("Ours"));
    line.edit(Feature, "orders", label("Orders of ours"));
    let new = v2(|package| args(package, "f_clients")["label"] = "Theirs".into());
    (line, new)
}

#[test]
fn each_form_of_a_decision_is_carried_out() {
    for (decisions, clients, orders) in [
        (
            json!({"f_clients": {"label": "theirs"}}),
            "Theirs",
            "Orders of ours",
        ),
        (
            json!({"f_clients": {"label": {"take": "ours", "ours": "Ours"}}}),
            "Ours",
            "Orders of ours",
        ),
        (
            json!({"f_clients": {"label": {"value": "Third"}}}),
            "Third",
            "Orders of ours",
        ),
        (json!({"f_clients": "theirs"}), "Theirs", "Orders of ours"),
        (
            json!({"f_clients": {"*": "ours"}}),
            "Ours",
            "Orders of ours",
        ),
        // What nobody asks about changes by a decision at its path.
        (
            json!({"f_clients": "ours", "f_orders": {"label": "theirs"}}),
            "Ours",
            "orders",
        ),
    ] {
        let (mut line, new) = both();
        let report = line.upgrade(&new, &decisions);
        let called = |name: &str| line.get(Feature, name).called().to_owned();
        assert_eq!(
            (called("clients").as_str(), called("orders").as_str()),
            (clients, orders)
        );
        assert!(report.decided > 0, "{decisions}");
    }
    let (line, new) = both();
    let plan = line.plan(&new, r#"{"upgrade": true, "conflicts": "theirs"}"#);
    assert_eq!((plan.refusals.len(), plan.update.len()), (0, 1));
}

fn unused(all: &[UnusedDecision]) -> Vec<(&str, &str)> {
    let all = all.iter();
    all.map(|one| (one.reference.as_str(), one.path.as_str()))
        .collect()
}

#[test]
fn a_word_for_a_table_decides_about_its_leaves_and_its_cells() {
    let word = json!({"f_clients": "ours"});
    let changed = |cell: bool, leaf: bool| {
        let mut line = Line::new();
        let new = v2(|package| {
            args(package, "f_clients")["label"] = "Theirs".into();
            client(package, 0)["city"] = "Theirs".into();
        });
        if cell {
            line.cells(0, &json!({"city": "Ours"}));
        }
        if leaf {
            line.edit(Feature, "clients", label("Ours"));
        }
        let plan = line.plan(&new, &upgrade_body(&word));
        assert_eq!(plan.refusals, [], "{cell} {leaf}");
        let report = line.upgrade(&new, &word);
        assert_eq!(unused(&report.unused), unused(&plan.unused));
        report.unused.len()
    };
    for (cell, leaf) in [(true, false), (false, true), (true, true)] {
        assert_eq!(changed(cell, leaf), 0, "{cell} {leaf}");
    }
    assert_eq!(changed(false, false), 1);
}

#[test]
fn a_long_value_is_held_against_its_digest() {
    let long = "x".repeat(3000);
    let mut line = Line::new();
    line.edit(Feature, "clients", label(&long));
    let new = v2(|package| args(package, "f_clients")["label"] = "Theirs".into());
    let guarded = |text: &str| {
        let held = guard(text.into());
        assert!(
            held.as_str()
                .is_some_and(|held| held.starts_with("sha256:"))
        );
        let held: Json = serde_json::from_str(&held.write()).expect("JSON");
        json!({"f_clients": {"label": {"take": "ours", "ours": held}}})
    };
    let plan = line.plan(&new, &upgrade_body(&guarded(&long)));
    assert_eq!(plan.refusals, []);
    let plan = line.plan(&new, &upgrade_body(&guarded(&"y".repeat(3000))));
    assert_eq!(codes(&plan.refusals), ["upgrade_conflicts"]);
    // It is asked again, and not listed as of no use.
    assert_eq!(unused(&plan.unused), []);
    let nothing_new = v2(|package| args(package, "f_orders")["label"] = "Theirs".into());
    let stale = upgrade_body(&guarded(&"y".repeat(3000)));
    let plan = line.plan(&nothing_new, &stale);
    assert_eq!(unused(&plan.unused), [("f_clients", "label")]);
}

#[test]
fn a_decision_against_another_value_does_not_hold() {
    let (line, new) = both();
    let stale = json!({"f_clients": {"label": {"take": "ours", "ours": "Else"}, "*": "ours"}});
    let plan = line.plan(&new, &upgrade_body(&stale));
    assert_eq!(codes(&plan.refusals), ["upgrade_conflicts"]);
}

#[test]
fn what_is_of_no_use_is_listed_and_what_is_unknown_refused() {
    let line = Line::new();
    let plan = line.plan(
        &v1(),
        &upgrade_body(&json!({"f_clients": {"label": "theirs", "*": "ours"}})),
    );
    assert_eq!(
        unused(&plan.unused),
        [("f_clients", "label"), ("f_clients", "*")]
    );
    let package = v1();
    let of = &package["payloads"][0]["rows"][0]["uid"];
    let row = &format!("rows.{}", of.as_str().expect("a uid"));
    let known = json!({"f_clients": {format!("{row}.city"): "ours"}});
    let plan = line.plan(&v1(), &upgrade_body(&known));
    assert_eq!(codes(&plan.refusals), [""; 0]);
    // A cell about which nothing is to be decided is known all the same.
    let path = format!("{row}.city");
    assert_eq!(plan.unused[0].path, path);
    let mut line = Line::new();
    assert_eq!(line.upgrade(&v1(), &known).unused[0].path, path);
    for decisions in [
        json!({"f_nothing": "ours"}),
        json!({"f_clients": {"config.nothing": "ours"}}),
        // No such row, no such column, no such table.
        json!({"f_clients": {format!("rows.{}.city", uid(1)): "ours"}}),
        json!({"f_clients": {format!("{row}.nothing"): "ours"}}),
        json!({"f_clients": {row: "ours"}}),
        json!({"m_m": {format!("{row}.city"): "ours"}}),
        // Words for what is not asked there.
        json!({"f_clients": "leave"}),
        json!({"f_clients": "delete"}),
        json!({"f_clients": "adopt"}),
        json!({"f_clients": "rename"}),
        json!({"workspace": "create"}),
    ] {
        let plan = line.plan(&v1(), &upgrade_body(&decisions));
        assert_eq!(
            codes(&plan.refusals),
            ["unknown_resolution_ref"],
            "{decisions}"
        );
    }
}

#[test]
fn a_word_is_known_where_something_new_asks_for_it() {
    let line = Line::new();
    let new = v2(|package| {
        let column = json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 9});
        with(package, "create_column", "c_clients_tel", column);
    });
    for word in ["rename", "adopt", "create", "leave", "delete"] {
        let plan = line.plan(&new, &upgrade_body(&json!({"c_clients_tel": word})));
        assert_eq!(codes(&plan.refusals), ["unknown_resolution_ref"], "{word}");
    }
    // What was carried out is of no use any more, and no mistake.
    let mut line = Line::new();
    let lost = v2(|package| without(package, "r_s"));
    let decided = json!({"r_s": "delete"});
    line.upgrade(&lost, &decided);
    let plan = line.plan(&lost, &upgrade_body(&decided));
    assert_eq!((plan.refusals.len(), plan.unused.len()), (0, 1));
}

#[test]
fn a_word_that_an_earlier_job_carried_out_is_of_no_use_and_no_mistake() {
    let unused = |line: &Line, new: &Json, reference: &str, word: &str| {
        let plan = line.plan(new, &upgrade_body(&json!({reference: word})));
        assert_eq!(codes(&plan.refusals), [""; 0], "{reference} {word}");
        assert_eq!(plan.unused.len(), 1, "{reference} {word}");
    };
    // Left away, then created after all.
    let changed = v2(|package| args(package, "c_clients_city")["label"] = "Town".into());
    let mut line = cityless();
    line.upgrade(&changed, &json!({"c_clients_city": "leave"}));
    line.upgrade(&changed, &json!({"c_clients_city": "create"}));
    unused(&line, &changed, "c_clients_city", "leave");
    unused(&line, &changed, "c_clients_city", "create");
    // A version without it.
    let lost = v2(|package| without(package, "r_s"));
    let mut line = Line::new();
    line.remove(Rail, "s");
    let label = v2(|package| args(package, "r_s")["label"] = "S".into());
    line.upgrade(&label, &json!({"r_s": "leave"}));
    unused(&line, &lost, "r_s", "leave");
    // Taken away, and brought once more.
    let mut line = Line::new();
    line.upgrade(&lost, &json!({"r_s": "delete"}));
    unused(&line, &v1(), "r_s", "delete");
}

#[test]
fn a_guard_with_the_declared_default_holds_where_the_key_is_absent() {
    let mut line = Line::new();
    line.edit(Column, "note", super::config("required", &json!(false)));
    let new = v2(|package| args(package, "c_clients_note")["config"] = json!({"required": true}));
    for ours in [
        json!({"take": "ours", "ours": false}),
        json!({"take": "ours", "absent": true}),
    ] {
        let decisions = json!({"c_clients_note": {"config.required": ours}});
        let plan = line.plan(&new, &upgrade_body(&decisions));
        assert_eq!(codes(&plan.refusals), [""; 0], "{decisions}");
        assert_eq!(unused(&plan.unused), [], "{decisions}");
    }
    let against = json!({"c_clients_note": {"config.required": {"take": "ours", "ours": true}}});
    let plan = line.plan(&new, &upgrade_body(&against));
    assert_eq!(
        unused(&plan.unused),
        [("c_clients_note", "config.required")]
    );
}

#[test]
fn what_cannot_be_upgraded_is_refused() {
    let version = |semver: &str| v2(|package| package["manifest"]["semver"] = semver.into());
    let (old, new) = (version("1.0.0"), version("2.0.0"));
    let mut line = Line::new();
    line.upgrade(&new, &Json::Null);
    let refused = |line: &Line, body: &str| codes(&line.plan(&old, body).refusals);
    assert_eq!(refused(&line, r#"{"upgrade": true}"#), ["downgrade"]);
    assert_eq!(
        refused(&line, r#"{"upgrade": true, "allowDowngrade": true}"#),
        [""; 0]
    );
    assert_eq!(
        refused(&line, r#"{"upgrade": true, "copy": true}"#),
        ["validation_failed"]
    );
    assert_eq!(
        refused(&line, r#"{"conflicts": "ours"}"#),
        ["validation_failed"]
    );
    // The place of an error is the first word of its text.
    let plan = line.plan(&old, r#"{"allowDestructive": true, "conflicts": "ours"}"#);
    let detail = &plan.refusals[0].detail;
    assert!(
        detail.starts_with("`allowDestructive`, `conflicts` without"),
        "{detail}"
    );
    // What says nothing is given all the same.
    for (name, value) in [
        ("decisions", "{}"),
        ("allowDowngrade", "false"),
        ("allowDestructive", "false"),
    ] {
        for upgrade in ["", r#""upgrade": false, "#] {
            let body = format!(r#"{{{upgrade}"{name}": {value}}}"#);
            let plan = line.plan(&old, &body);
            assert_eq!(codes(&plan.refusals), ["validation_failed"], "{body}");
            let detail = &plan.refusals[0].detail;
            assert!(detail.starts_with(&format!("`{name}` without")), "{detail}");
        }
        let body = format!(r#"{{"{name}": {value}, "upgrade": true}}"#);
        assert_eq!(refused(&line, &body), ["downgrade"], "{body}");
    }
    let mut empty = Line::new();
    empty.jobs.clear();
    assert_eq!(refused(&empty, r#"{"upgrade": true}"#), ["no_base"]);
}

/// What the report counts as decided, also of a job that was killed at any of its calls.
fn counted(begin: fn() -> Line, new: &Json, decisions: &Json) -> u64 {
    super::killed::ends_alike(begin, &new.to_string(), decisions).decided
}

fn cityless() -> Line {
    let mut line = Line::new();
    line.remove(Column, "city");
    line
}

fn with_a_telephone() -> Line {
    let mut line = Line::new();
    let mut column = line.get(Column, "city").as_column().expect("a column");
    column.id = crate::workspace::Id::from_u128(0x7E1);
    "tel".clone_into(&mut column.name);
    let feature = line.get(Feature, "clients").id;
    let new = crate::workspace::New::Column { feature, column };
    super::super::world::person(&mut line.memory, vec![Change::Create(new)]);
    line
}

#[test]
fn each_decision_about_a_whole_record_counts_once() {
    let changed = v2(|package| args(package, "c_clients_city")["label"] = "Town".into());
    for word in ["create", "leave"] {
        let decisions = json!({"c_clients_city": word});
        assert_eq!(counted(cityless, &changed, &decisions), 1, "{word}");
    }
    assert_eq!(
        counted(cityless, &v1(), &json!({"c_clients_city": "create"})),
        1
    );
    let telephone = v2(|package| {
        with(
            package,
            "create_column",
            "c_clients_tel",
            json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 9}),
        );
    });
    for word in ["create", "adopt"] {
        let decisions = json!({"c_clients_tel": word});
        assert_eq!(
            counted(with_a_telephone, &telephone, &decisions),
            1,
            "{word}"
        );
    }
    let remark = super::renamed::remark(["1", "2", "3"]);
    assert_eq!(
        counted(Line::new, &remark, &json!({"c_clients_remark": "rename"})),
        1
    );
    // Carried out already, it counts no more.
    let mut line = Line::new();
    let rename = json!({"c_clients_remark": "rename"});
    assert_eq!(line.upgrade(&remark, &rename).decided, 1);
    let again = line.upgrade(&remark, &rename);
    assert_eq!((again.decided, again.unused.len()), (0, 1));
    let viewless = v2(|package| {
        args(package, "r_r")["config"] = json!([{}]);
        args(package, "r_s")["config"] = json!([{}]);
        without(package, "v_orders");
    });
    assert_eq!(
        counted(Line::new, &viewless, &json!({"v_orders": "delete"})),
        1
    );
    let body = json!({"upgrade": true, "allowDestructive": true, "decisions": {"c_clients_note": "delete"}});
    let noteless = super::dropped::noteless();
    let report =
        super::killed::ends_alike_with(Line::new, &noteless.to_string(), &body.to_string());
    assert_eq!((report.decided, report.left.len()), (1, 1));
}

#[test]
fn a_decision_that_was_carried_out_about_a_key_that_is_gone_is_unused() {
    let mut line = Line::of(&v2(|package| {
        args(package, "c_clients_city")["config"] = json!({"required": true});
    }));
    let new = v2(|package| args(package, "c_clients_city")["config"] = json!({}));
    let decided = json!({"c_clients_city": {"config.required": "theirs"}});
    line.upgrade(&new, &decided);
    let plan = line.plan(&new, &upgrade_body(&decided));
    assert_eq!(plan.refusals, []);
    let unused = plan.unused.iter().map(|one| (&*one.reference, &*one.path));
    assert_eq!(
        unused.collect::<Vec<_>>(),
        [("c_clients_city", "config.required")]
    );
    let unknown = json!({"c_clients_city": {"config.nothing": "theirs"}});
    let plan = line.plan(&new, &upgrade_body(&unknown));
    assert_eq!(plan.refusals.len(), 1);
}

/// A plan that refuses nothing, and the decisions of no use that plan and report list alike.
#[track_caller]
fn of_no_use(line: &mut Line, new: &Json, decisions: &Json) {
    let plan = line.plan(new, &upgrade_body(decisions));
    assert_eq!(
        codes(&plan.refusals),
        [""; 0],
        "{decisions} {:?}",
        plan.refusals
    );
    let (reference, paths) = decisions
        .as_object()
        .and_then(|of| of.iter().next())
        .expect("one");
    let paths = paths.as_object().expect("paths").keys();
    let expected: Vec<(&str, &str)> = paths
        .map(|path| (reference.as_str(), path.as_str()))
        .collect();
    assert_eq!(unused(&plan.unused), expected, "{decisions}");
    assert_eq!(
        unused(&line.upgrade(new, decisions).unused),
        expected,
        "{decisions}"
    );
}

#[test]
fn a_known_leaf_about_which_nothing_is_asked_is_no_mistake() {
    let row = |at: usize, column: &str| format!("rows.{}.{column}", uid(6000 + at));
    // The row went from the destination.
    let mut line = Line::new();
    let (feature, id) = line.client_row(1);
    let rows = vec![crate::workspace::Removal { id, digest: None }];
    let gone = Change::RemoveRows { feature, rows };
    super::super::world::person(&mut line.memory, vec![gone]);
    let changed = v2(|package| client(package, 1)["city"] = "Theirs".into());
    let decided = json!({"f_clients": {row(1, "city"): "theirs"}});
    of_no_use(&mut line, &changed, &decided);
    // The package lost the row.
    let fewer = v2(|package| {
        let rows = package["payloads"][0]["rows"].as_array_mut().expect("rows");
        rows.truncate(2);
        package["payloads"][0]["count"] = 2.into();
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        let item = items.iter_mut().find(|item| item["kind"] == "rows");
        item.expect("an item")["count"] = 2.into();
    });
    let decided = json!({"f_clients": {row(2, "city"): "ours"}});
    of_no_use(&mut Line::new(), &fewer, &decided);
    // The package lost the column: its leaves and its cells are under `left`, as they are.
    let noteless = super::dropped::noteless();
    let leaves = json!({"c_clients_note": {"label": "theirs", "config.required": "ours"}});
    of_no_use(&mut Line::new(), &noteless, &leaves);
    of_no_use(
        &mut Line::new(),
        &noteless,
        &json!({"f_clients": {row(0, "note"): "theirs"}}),
    );
    // People removed the column, and the package has nothing new to say of it.
    of_no_use(
        &mut cityless(),
        &v1(),
        &json!({"c_clients_city": {"label": "theirs"}}),
    );
    of_no_use(
        &mut cityless(),
        &v1(),
        &json!({"f_clients": {row(0, "city"): "theirs"}}),
    );
    // The column is new.
    let new = v2(|package| {
        let column = json!({"featureId": "$f_clients", "name": "tel", "label": "tel", "type": "text", "defaultComponent": "textfield", "order": 9});
        with(package, "create_column", "c_clients_tel", column);
    });
    of_no_use(
        &mut Line::new(),
        &new,
        &json!({"c_clients_tel": {"label": "ours"}}),
    );
    // What nothing has is one.
    for decisions in [
        json!({"c_clients_note": {"config.nothing": "ours"}}),
        json!({"c_clients_note": {"icon": "ours"}}),
        json!({"f_clients": {row(0, "nothing"): "ours"}}),
        json!({"f_clients": {row(50, "note"): "ours"}}),
    ] {
        let plan = Line::new().plan(&noteless, &upgrade_body(&decisions));
        assert_eq!(
            codes(&plan.refusals),
            ["unknown_resolution_ref"],
            "{decisions}"
        );
    }
}

/// A killed job goes on although what it decided about is gone by then.
#[test]
fn a_decision_about_what_the_job_itself_deletes_is_of_no_use() {
    let cell = format!("rows.{}.note", uid(6000));
    let decisions = json!({"c_clients_note": {"*": "delete", "label": "ours"}, "f_clients": {cell.as_str(): "ours"}});
    let body = json!({"upgrade": true, "allowDestructive": true, "decisions": decisions});
    let noteless = super::dropped::noteless();
    let report =
        super::killed::ends_alike_with(Line::new, &noteless.to_string(), &body.to_string());
    let expected = [("c_clients_note", "label"), ("f_clients", cell.as_str())];
    assert_eq!(
        (report.decided, unused(&report.unused)),
        (1, expected.to_vec())
    );
}
