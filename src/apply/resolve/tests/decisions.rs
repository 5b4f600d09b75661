//! What becomes of dependencies, and every reason against an apply.

use serde_json::{Value as Json, json};

use crate::apply::test_packages::{Pack, apply, empty, furnished, id, refused, uid, value};
use crate::problem::Code;
use crate::workspace::{Change, New};

/// Orders link to clients, which do not travel; a second column is nowhere used.
fn orders(blueprint: bool) -> Pack {
    let mut pack = Pack::new().table("orders").column(
        "orders",
        "client",
        "linked_select",
        json!({"linkedFeatureId": "$f_clients", "linkedValueColumn": "$c_clients_id"}),
    );
    pack.external = vec!["f_clients", "c_clients_id"];
    pack.far_table(
        "clients",
        &["id", "other"],
        blueprint,
        &[
            (1001, "config.linkedFeatureId"),
            (1001, "config.linkedValueColumn"),
        ],
    )
}

fn mapped(feature: u128, columns: &[(&str, u128)]) -> String {
    let columns: serde_json::Map<String, Json> = columns
        .iter()
        .map(|(column, number)| ((*column).to_owned(), id(*number).to_string().into()))
        .collect();
    json!({"resolutions": {"f_clients": {"action": "map", "id": id(feature), "columns": columns}}})
        .to_string()
}

fn created(changes: &[Change]) -> Vec<(&str, &str)> {
    let create = changes.iter().filter_map(|change| match change {
        Change::Create(new) => Some(new),
        _ => None,
    });
    create
        .map(|new| match new {
            New::Feature(feature) => ("feature", feature.name.as_str()),
            New::Column { column, .. } => ("column", column.name.as_str()),
            _ => ("other", ""),
        })
        .collect()
}

#[test]
fn without_a_resolution_a_blueprint_is_carried_out_first() {
    let approved = apply(&orders(true), "{}", &empty()).expect("approved");
    assert_eq!(
        created(&approved.structure.changes),
        [
            ("feature", "clients"),
            ("column", "id"),
            ("column", "other"),
            ("feature", "orders"),
            ("column", "client")
        ]
    );
    let Some(Change::Create(New::Column { column, .. })) = approved.structure.changes.last() else {
        panic!("a column");
    };
    let clients = approved.structure.entry.created[0].id;
    assert_eq!(
        value(json!({"linkedFeatureId": clients, "linkedValueColumn": "id"})),
        column.config.clone().into()
    );
}

#[test]
fn without_resolution_and_blueprint_a_decision_is_required() {
    refused(
        &orders(false),
        "{}",
        &furnished(),
        &[(Code::MappingRequired, "f_clients")],
    );
}

#[test]
fn import_without_blueprint_names_the_ref() {
    let body = r#"{"resolutions": {"f_clients": {"action": "import"}}}"#;
    refused(
        &orders(false),
        body,
        &furnished(),
        &[(Code::ImportWithoutBlueprint, "f_clients")],
    );
}

#[test]
fn a_mapped_table_gives_id_and_column_name() {
    for blueprint in [false, true] {
        let body = mapped(10, &[("c_clients_id", 12)]);
        let approved = apply(&orders(blueprint), &body, &furnished()).expect("approved");
        assert_eq!(
            created(&approved.structure.changes),
            [("feature", "orders"), ("column", "client")]
        );
        let Some(Change::Create(New::Column { column, .. })) = approved.structure.changes.last()
        else {
            panic!("a column");
        };
        let expected = json!({"linkedFeatureId": id(10), "linkedValueColumn": "name"});
        assert_eq!(value(expected), column.config.clone().into());
    }
}

#[test]
fn a_shared_table_may_be_mapped_and_a_foreign_one_is_as_if_missing() {
    let shared = mapped(20, &[("$c_clients_id", 21)]);
    assert!(apply(&orders(false), &shared, &furnished()).is_ok());
    refused(
        &orders(false),
        &mapped(77, &[("c_clients_id", 11)]),
        &furnished(),
        &[(Code::MappingFeatureNotFound, "f_clients")],
    );
}

#[test]
fn a_column_of_another_table_is_not_found() {
    refused(
        &orders(false),
        &mapped(10, &[("c_clients_id", 21)]),
        &furnished(),
        &[(Code::MappingColumnNotFound, "c_clients_id")],
    );
}

#[test]
fn a_column_that_is_not_mapped_is_refused_only_when_it_is_used() {
    refused(
        &orders(false),
        &mapped(10, &[("c_clients_other", 12)]),
        &furnished(),
        &[(Code::MappingColumnsIncomplete, "c_clients_id")],
    );
    assert!(
        apply(
            &orders(false),
            &mapped(10, &[("c_clients_id", 11)]),
            &furnished()
        )
        .is_ok()
    );
}

#[test]
fn a_malformed_id_is_a_validation_error() {
    let body = r#"{"resolutions": {"f_clients": {"action": "map", "id": "clients", "columns": {"c_clients_id": "01890000-0000-7000-8000-000000000001"}}}}"#;
    refused(
        &orders(false),
        body,
        &furnished(),
        &[(Code::ValidationFailed, "f_clients")],
    );
}

#[test]
fn refs_that_the_package_does_not_have_are_refused_wherever_they_stand() {
    let body = json!({
        "resolutions": {
            "f_client": {"action": "skip"},
            "f_clients": {"action": "map", "id": id(10), "columns": {"c_clients_id": id(11), "c_orders_client": id(12)}},
        },
        "rowsModes": {"f_ghosts": "none"},
    });
    refused(
        &orders(false),
        &body.to_string(),
        &furnished(),
        &[
            (Code::UnknownResolutionRef, "f_client"),
            (Code::UnknownResolutionRef, "c_orders_client"),
            (Code::UnknownResolutionRef, "f_ghosts"),
        ],
    );
}

#[test]
fn dollars_of_keys_are_tolerated() {
    let columns = json!({"$c_clients_id": id(11)});
    let body = json!({"resolutions": {"$f_clients": {"action": "map", "id": id(10), "columns": columns}}, "rowsModes": {"$f_orders": "none"}});
    assert!(apply(&orders(false), &body.to_string(), &furnished()).is_ok());
}

/// An automation that uses a channel, two connections and a timer.
fn automation() -> Pack {
    let graph = json!({"steps": [
        {"key": "notify", "id": "stp_aaaaaaaaaaaa", "config": {"scopeType": "channel", "scopeId": "$m_sales", "title": "t", "message": "m"}},
        {"key": "email.send", "id": "stp_bbbbbbbbbbbb", "config": {"to": "a@example.org", "subject": "s", "body": "b", "connectionName": "mailer"}},
        {"key": "delay", "id": "stp_cccccccccccc", "config": {"timerProfile": "night"}},
    ]});
    let args = json!({"workspaceId": "$workspace", "name": "Tell", "label": "Tell", "triggerConfig": {"type": "manual"}, "graphConfig": graph, "isDraft": true, "published": true});
    let mut pack = Pack::new().create("create_workflow_v2", "w_tell", args);
    pack.external = vec!["m_sales"];
    pack.far(
        "channel",
        "m_sales",
        "uuid",
        "sales",
        &[(1000, "graphConfig.steps.0.config.scopeId")],
    )
    .far(
        "connection",
        "connection_mailer",
        "name",
        "mailer",
        &[(1000, "graphConfig.steps.1.config.connectionName")],
    )
    .far(
        "timerProfile",
        "timerprofile_night",
        "name",
        "night",
        &[(1000, "graphConfig.steps.2.config.timerProfile")],
    )
}

fn graph(changes: &[Change]) -> Json {
    let Some(Change::Create(New::Workflow(automation))) = changes.first() else {
        panic!("an automation: {changes:?}");
    };
    let text = crate::json::Value::Object(automation.graph_config.clone()).write();
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_name_is_satisfied_by_an_equal_name_or_an_unknown_list() {
    let body = json!({"resolutions": {"m_sales": {"action": "map", "id": id(30)}}}).to_string();
    refused(
        &automation(),
        &body,
        &furnished(),
        &[(Code::MappingRequired, "timerprofile_night")],
    );
    let mut unknown = furnished();
    unknown.organization.timer_profiles = None;
    let approved = apply(&automation(), &body, &unknown).expect("approved");
    let graph = graph(&approved.structure.changes);
    assert_eq!(graph["steps"][0]["config"]["scopeId"], json!(id(30)));
    assert_eq!(graph["steps"][1]["config"]["connectionName"], "mailer");
    assert_eq!(graph["steps"][2]["config"]["timerProfile"], "night");
    assert_eq!(approved.publish.len(), 1);
    assert_eq!(approved.structure.entry.pending_publishes, ["w_tell"]);
}

#[test]
fn a_name_may_be_mapped_to_another_one() {
    let body = json!({"resolutions": {
        "m_sales": {"action": "map", "id": id(30)},
        "connection_mailer": {"action": "map", "id": "post"},
        "timerprofile_night": {"action": "skip"},
    }});
    let approved = apply(&automation(), &body.to_string(), &furnished()).expect("approved");
    let graph = graph(&approved.structure.changes);
    assert_eq!(graph["steps"][1]["config"]["connectionName"], "post");
    assert_eq!(graph["steps"][2]["config"]["timerProfile"], "");
}

#[test]
fn targets_that_are_not_there_are_refused_all_at_once() {
    let body = json!({"resolutions": {
        "m_sales": {"action": "map", "id": id(31)},
        "connection_mailer": {"action": "map", "id": "nobody"},
        "timerprofile_night": {"action": "map", "id": "night"},
    }});
    let expected = [
        (Code::MappingTargetNotFound, "m_sales"),
        (Code::MappingTargetNotFound, "connection_mailer"),
        (Code::MappingTargetNotFound, "timerprofile_night"),
    ];
    refused(&automation(), &body.to_string(), &furnished(), &expected);
}

#[test]
fn all_refusals_at_once() {
    let pack = orders(false).rows("orders", None, &[(json!({"client": "x"}), Json::Null)]);
    let body = json!({"resolutions": {"c_x": {"action": "skip"}, "f_clients": {"action": "map", "id": id(99)}}, "rowsModes": {"f_orders": "missingByKey", "f_no": "all"}});
    refused(
        &pack,
        &body.to_string(),
        &furnished(),
        &[
            (Code::UnknownResolutionRef, "c_x"),
            (Code::MappingFeatureNotFound, "f_clients"),
            (Code::MappingColumnsIncomplete, "c_clients_id"),
            (Code::RowsModeWithoutKey, "f_orders"),
            (Code::UnknownResolutionRef, "f_no"),
        ],
    );
}

#[test]
fn skip_leaves_no_ref_and_reports_every_field() {
    let body = r#"{"resolutions": {"m_sales": {"action": "skip"}, "timerprofile_night": {"action": "skip"}}}"#;
    let approved = apply(&automation(), body, &furnished()).expect("approved");
    let graph = graph(&approved.structure.changes);
    assert_eq!(graph["steps"][0]["config"]["scopeId"], "");
    assert_eq!(
        graph["steps"].as_array().map(Vec::len),
        Some(3),
        "no step is dropped"
    );
    // It arrives unpublished.
    assert!(approved.publish.is_empty() && approved.structure.entry.pending_publishes.is_empty());
    let reported = serde_json::to_value(&approved.unresolved).expect("JSON");
    assert_eq!(
        reported,
        json!([
            {"uid": uid(1000), "path": "graphConfig.steps.0.config.scopeId", "kind": "channel", "form": "uuid",
             "reason": "dependencia_saltada", "action": "chave esvaziada", "ref": "m_sales", "required": true},
            {"uid": uid(1000), "path": "graphConfig.steps.2.config.timerProfile", "kind": "timerProfile", "form": "uuidOrName",
             "reason": "dependencia_saltada", "action": "chave esvaziada", "ref": "timerprofile_night"},
        ])
    );
}

#[test]
fn a_skipped_table_empties_its_columns_too() {
    let body = r#"{"resolutions": {"f_clients": {"action": "skip"}}}"#;
    for blueprint in [false, true] {
        let approved = apply(&orders(blueprint), body, &furnished()).expect("approved");
        let Some(Change::Create(New::Column { column, .. })) = approved.structure.changes.last()
        else {
            panic!("a column");
        };
        let expected = json!({"linkedFeatureId": "", "linkedValueColumn": ""});
        assert_eq!(value(expected), column.config.clone().into());
        let reported: Vec<_> = approved
            .unresolved
            .iter()
            .map(|entry| {
                (
                    entry.path.as_str(),
                    entry.kind.as_str(),
                    entry.form.as_str(),
                    entry.reference.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            reported,
            [
                (
                    "config.linkedFeatureId",
                    "feature",
                    "uuid",
                    Some("f_clients")
                ),
                (
                    "config.linkedValueColumn",
                    "column",
                    "name",
                    Some("f_clients")
                ),
            ]
        );
    }
}
