//! Refs in args: as a whole string, as a key, in a list, never in text and never in data.

use serde_json::json;

use crate::apply::RowStepWork;
use crate::apply::test_packages::{Pack, apply, empty, furnished, id, value};
use crate::workspace::{Change, New};

#[test]
fn elements_of_a_list_become_empty_in_their_places() {
    let args = json!({"workspaceId": "$workspace", "name": "m", "label": "m"});
    let rail = json!({"moduleId": "$m_m", "name": "r", "label": "r", "config": [{"views": ["$v_board", "$v_t", "$v_board"], "defaultViewId": "$v_board"}]});
    let mut pack = Pack::new()
        .table("t")
        .view("t", json!({}))
        .create("create_module", "m_m", args)
        .create("create_rail", "r_r", rail);
    pack.external = vec!["v_board"];
    let pack = pack.far(
        "view",
        "v_board",
        "uuid",
        "board",
        &[
            (1003, "config.0.views.0"),
            (1003, "config.0.views.2"),
            (1003, "config.0.defaultViewId"),
        ],
    );
    let request_text = r#"{"resolutions": {"v_board": {"action": "skip"}}}"#;
    let approved = apply(&pack, request_text, &empty()).expect("approved");
    let Some(Change::Create(New::Rail { rail, .. })) = approved.structure.changes.last() else {
        panic!("a rail");
    };
    let own = approved.structure.entry.created[1].id;
    let expected = json!({"views": ["", own, ""], "defaultViewId": ""});
    assert_eq!(value(expected), rail.config[0].clone().into());
    let paths: Vec<_> = approved
        .unresolved
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "config.0.defaultViewId",
            "config.0.views.0",
            "config.0.views.2"
        ]
    );
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`json!(…)` reads better without a `&`"
)]
fn request_step(body: serde_json::Value) -> Pack {
    let graph = json!({"steps": [{"key": "http.request", "id": "stp_aaaaaaaaaaaa", "config": {"connectionName": "mailer", "method": "POST", "path": "/", "body": body}}]});
    let args = json!({"workspaceId": "$workspace", "name": "Send", "label": "Send", "triggerConfig": {"type": "manual"}, "graphConfig": graph, "isDraft": true});
    let mut pack = Pack::new()
        .table("t")
        .column("t", "a.b".replace('.', "_").as_str(), "text", json!(null))
        .create("create_workflow_v2", "w_send", args);
    pack.external = vec!["v_far"];
    pack.far(
        "view",
        "v_far",
        "uuid",
        "far",
        &[(1002, "graphConfig.steps.0.config.body.$v_far")],
    )
    .far(
        "connection",
        "connection_mailer",
        "name",
        "mailer",
        &[(1002, "graphConfig.steps.0.config.connectionName")],
    )
}

#[test]
fn keys_are_uses_and_text_around_a_ref_is_text() {
    let body = json!({"$f_t": "$100", "$v_far": {"$f_t": 1}, "text": "x $f_t", "deep": [{"$c_t_a_b": "$c_t_a_b", "$workspace": "$workspace"}]});
    let request_text = r#"{"resolutions": {"v_far": {"action": "skip"}}}"#;
    let approved = apply(&request_step(body), request_text, &furnished()).expect("approved");
    let Some(Change::Create(New::Workflow(automation))) = approved.structure.changes.last() else {
        panic!("an automation");
    };
    let table = approved.structure.entry.created[0].id.to_string();
    let here = id(2).to_string();
    let body = json!({&table: "$100", "text": "x $f_t", "deep": [{"a_b": "a_b", &here: here}]});
    let graph = crate::json::Value::Object(automation.graph_config.clone());
    let path = ["steps", "0", "config", "body"].map(str::to_owned);
    assert_eq!(graph.at_path(&path), Some(&value(body)));
    let reported: Vec<_> = approved
        .unresolved
        .iter()
        .map(|entry| (entry.path.as_str(), entry.kind.as_str()))
        .collect();
    assert_eq!(
        reported,
        [("graphConfig.steps.0.config.body.$v_far", "view")]
    );
}

#[test]
fn unknown_config_keys_are_dropped_and_listed() {
    let pack = Pack::new()
        .table("t")
        .column(
            "t",
            "a",
            "text",
            json!({"colour": {"$f_t": 1}, "unique": true}),
        )
        .view("t", json!({"pace": 1, "visibleColumns": ["$c_t_a"]}));
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    let reported: Vec<_> = approved
        .dropped_keys
        .iter()
        .map(|key| (key.reference.as_str(), key.path.as_str()))
        .collect();
    assert_eq!(
        reported,
        [("c_t_a", "config.colour"), ("v_t", "config.0.pace")]
    );
    let Some(Change::Create(New::View { view, .. })) = approved.structure.changes.last() else {
        panic!("a view");
    };
    assert_eq!(
        value(json!({"visibleColumns": ["a"]})),
        view.config.clone().into()
    );
}

#[test]
fn what_looks_like_a_ref_in_row_data_is_data() {
    let pack = Pack::new()
        .table("t")
        .column("t", "a", "text", json!(null))
        .step("insert_rows", json!({"featureId": "$f_t", "rows": [{"data": {"a": "$f_ghost"}}, {"data": {"a": "$f_t"}}]}));
    let approved = apply(&pack, "{}", &empty()).expect("approved");
    let RowStepWork::Insert {
        rows,
        columns,
        feature,
        ..
    } = &approved.row_steps[0].work
    else {
        panic!("rows");
    };
    assert_eq!(rows, &[r#"{"a":"$f_ghost"}"#, r#"{"a":"$f_t"}"#]);
    assert_eq!(
        (columns.len(), *feature),
        (1, approved.structure.entry.created[0].id)
    );
}
