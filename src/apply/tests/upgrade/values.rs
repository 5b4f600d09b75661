//! Values that somebody decided: those that cannot be written are refused before anything is.

use serde_json::{Value as Json, json};

use super::dropped::{allowed, noteless};
use super::{Line, args, client, codes, config, upgrade_body, v1, v2};
use crate::workspace::RecordKind::{Column, Feature, View, Workflow};

/// The first row of clients.
fn row() -> String {
    let package = v1();
    let uid = package["payloads"][0]["rows"][0]["uid"].as_str();
    format!("rows.{}.city", uid.expect("a uid"))
}

/// Every leaf that the test decides is another one.
fn new() -> Json {
    v2(|package| {
        args(package, "f_clients")["label"] = "Theirs".into();
        args(package, "m_m")["icon"] = "star".into();
        args(package, "c_clients_name")["order"] = 9.into();
        args(package, "c_clients_note")["type"] = "long_text".into();
        args(package, "c_clients_note")["defaultComponent"] = "textarea".into();
        args(package, "c_orders_client")["config"]["linkedValueColumn"] = "$c_clients_city".into();
        args(package, "v_orders")["config"][0]["visibleColumns"] = json!(["$c_orders_client"]);
        let flow = args(package, "w_flow");
        flow["name"] = "Other".into();
        flow["graphConfig"]["steps"][1]["config"]["bindings"] = bindings("y");
        client(package, 0)["city"] = "Berlin".into();
    })
}

/// What the second step writes.
fn bindings(value: &str) -> Json {
    json!([{"targetColumn": "$c_clients_name", "value": value}])
}

fn decided(reference: &str, path: &str, value: &Json) -> String {
    upgrade_body(&json!({reference: {path: {"value": value}}}))
}

#[test]
fn those_that_cannot_be_written_are_refused() {
    let (row, step) = (row(), "steps.stp_bbbbbbbbbbbb.bindings");
    let line = Line::new();
    let (new, long) = (new(), "x".repeat(256));
    for (reference, path, value) in [
        ("f_clients", "label", json!(5)),
        ("f_clients", "label", json!("")),
        ("f_clients", "label", json!(long)),
        ("f_clients", "label", Json::Null),
        ("m_m", "icon", json!(5)),
        ("f_clients", "order.columns", json!(5)),
        (
            "f_clients",
            "order.columns",
            json!(["$c_clients_note", "nothing"]),
        ),
        (
            "f_clients",
            "order.columns",
            json!(["$c_clients_note", "note"]),
        ),
        ("c_clients_note", "type", json!("text")),
        (
            "c_clients_note",
            "type",
            json!({"type": "nothing", "component": "textarea"}),
        ),
        (
            "c_clients_note",
            "type",
            json!({"type": "number", "component": "textarea"}),
        ),
        (
            "c_clients_note",
            "type",
            json!({"type": "long_text", "component": "textarea", "x": 1}),
        ),
        (
            "c_orders_client",
            "config.linkedValueColumn",
            json!("nothing"),
        ),
        (
            "c_orders_client",
            "config.linkedValueColumn",
            json!("$c_nothing"),
        ),
        ("v_orders", "config.visibleColumns", json!("$c_orders_code")),
        (
            "v_orders",
            "config.visibleColumns",
            json!(["$c_orders_code", "nothing"]),
        ),
        ("w_flow", "name", json!("")),
        ("w_flow", step, json!("nothing")),
        ("w_flow", step, json!([{"value": "y"}])),
        ("f_clients", &row, json!(["Bonn"])),
    ] {
        let plan = line.plan(&new, &decided(reference, path, &value));
        assert_eq!(
            codes(&plan.refusals),
            ["validation_failed"],
            "{reference} {path} {value}"
        );
        let place = format!("`decisions.{reference}.{path}`");
        let detail = &plan.refusals[0].detail;
        assert!(detail.starts_with(&place), "{detail}");
    }
}

#[test]
fn those_that_name_what_goes_are_refused() {
    let mut line = Line::new();
    line.edit(
        Column,
        "client",
        config("linkedValueColumn", &json!("city")),
    );
    let new = noteless();
    for goes in [true, false] {
        let mut decisions =
            json!({"c_orders_client": {"config.linkedValueColumn": {"value": "note"}}});
        if goes {
            decisions["c_clients_note"] = "delete".into();
        }
        let plan = line.plan(&new, &allowed(&decisions));
        let refused = codes(&plan.refusals) == ["validation_failed"];
        assert_eq!(refused, goes, "{:#?}", plan.refusals);
    }
}

#[test]
fn an_order_names_each_of_the_siblings_once() {
    let line = Line::new();
    let all = ["$c_clients_note", "$c_clients_name", "$c_clients_city"];
    for (value, says) in [
        (json!(all[..2]), "missing: `city`"),
        (json!([]), "missing: `name`, `city`, `note`"),
        (
            json!([all[0], all[1], all[2], all[1]]),
            "more than once: `name`",
        ),
        (
            json!([all[0], all[1], "nothing", 5]),
            "missing: `city`; unknown: `nothing`, `5`",
        ),
        (json!({"value": all}), "not a list of names"),
    ] {
        let plan = line.plan(&new(), &decided("f_clients", "order.columns", &value));
        assert_eq!(codes(&plan.refusals), ["validation_failed"], "{value}");
        let detail = &plan.refusals[0].detail;
        let place = "`decisions.f_clients.order.columns`";
        assert!(
            detail.starts_with(place) && detail.contains(says),
            "{value}: {detail}"
        );
    }
    // What people added may have its place, too.
    let plan = line.plan(&new(), &decided("f_clients", "order.columns", &json!(all)));
    assert_eq!(codes(&plan.refusals), [""; 0]);
}

#[test]
fn the_others_are_written_whoever_changed_the_leaf() {
    let (row, step) = (row(), "steps.stp_bbbbbbbbbbbb.bindings");
    let mut line = Line::new();
    let decisions = json!({
        "f_clients": {
            "label": {"value": "Third"},
            "order.columns": {"value": ["$c_clients_note", "$c_clients_name", "$c_clients_city"]},
            row: {"value": "Ulm"},
        },
        "m_m": {"icon": {"value": "sun"}},
        "c_clients_note": {"type": {"value": {"type": "long_text", "component": "textfield"}}},
        "c_orders_client": {"config.linkedValueColumn": {"value": "$c_clients_note"}},
        "v_orders": {"config.visibleColumns": {"value": ["$c_orders_code", "created_at"]}},
        "w_flow": {"name": {"value": "Third"}, step: {"value": bindings("z")}},
    });
    let report = line.upgrade(&new(), &decisions);
    assert_eq!(
        (report.unused.len(), report.moved.len()),
        (0, 0),
        "{report:#?}"
    );
    assert_eq!(line.get(Feature, "clients").called(), "Third");
    let note = line.get(Column, "note");
    assert_eq!(note.own_type.as_deref(), Some("long_text"));
    assert_eq!(note.component.as_deref(), Some("textfield"));
    let config = |kind, name| line.get(kind, name).config.write();
    assert!(config(Column, "client").contains(r#""linkedValueColumn":"note""#));
    assert!(config(View, "orders").contains(r#"["code","created_at"]"#));
    assert!(config(Workflow, "Third").contains(r#""value":"z""#));
    assert!(line.clients()[0].contains("Ulm"));
}

#[test]
fn what_people_took_away_since_leaves_the_leaf_as_it_is() {
    let mut line = Line::new();
    let path = "config.linkedValueColumn";
    let body = decided("c_orders_client", path, &json!("$c_clients_note"));
    let plan = line.plan(&new(), &body);
    assert_eq!(plan.refusals, []);
    line.remove(Column, "note");
    let before = line.get(Column, "client");
    let report = line.apply_planned(&new(), &body, plan);
    let mut moved = report.moved.iter();
    let stays = moved.any(|one| one.path.as_deref() == Some(path));
    assert!(stays, "{report:#?}");
    assert_eq!(line.get(Column, "client").config, before.config);
    assert_eq!(line.get(Feature, "clients").called(), "Theirs");
}

/// The flow sends a mail in the end.
fn mailing(subject: &str) -> Json {
    v2(|package| {
        let mail = json!({"key": "email.send", "id": "stp_cccccccccccc",
            "config": {"to": "a@b.test", "subject": subject, "body": "b", "attachmentFileId": ""}});
        let steps = args(package, "w_flow")["graphConfig"]["steps"].as_array_mut();
        steps.expect("steps").push(mail);
        let items = package["manifest"]["items"].as_array_mut().expect("items");
        let item = items.iter_mut().find(|item| item["ref"] == "w_flow");
        let ids = item.expect("an item")["stepIds"].as_array_mut();
        ids.expect("ids").push(json!("stp_cccccccccccc"));
    })
}

/// Whoever saves an automation has to see the file that it attaches; of who decides nobody asks that.
#[test]
fn no_file_is_chosen_by_a_decision() {
    const FILE: &str = "3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11";
    const OTHER: &str = "9aaa5b1e-9f5d-4d8e-8a47-2f5b8d1f0a22";
    let path = "steps.stp_cccccccccccc.attachmentFileId";
    let mut line = Line::of(&mailing("one"));
    line.edit(Workflow, "Flow", |thing| {
        let text = thing.config.write();
        let text = text.replace(
            r#""attachmentFileId":"""#,
            &format!(r#""attachmentFileId":"{FILE}""#),
        );
        assert!(text.contains(FILE), "{text}");
        thing.config = crate::json::Value::parse(&text).expect("JSON");
    });
    let new = mailing("two");
    let plan = line.plan(&new, &decided("w_flow", path, &json!(OTHER)));
    assert_eq!(codes(&plan.refusals), ["validation_failed"]);
    let detail = &plan.refusals[0].detail;
    assert!(detail.contains("chosen by whoever saves"), "{detail}");
    // What stands there may stay.
    let plan = line.plan(&new, &decided("w_flow", path, &json!(FILE)));
    assert_eq!(codes(&plan.refusals), [] as [&str; 0]);
}
