//! Records that no workspace takes: identities of a type that their `idType` does not fit, names that are too long.

use serde_json::{Value as Json, json};

use crate::apply::test_packages::{Pack, apply, empty, furnished, refused};
use crate::problem::Code;

/// A table with an identity of that type.
fn identity(kind: &str, config: Json) -> Pack {
    let mut args = json!({"featureId": "$f_t", "name": "no", "label": "No", "type": kind, "defaultComponent": "id", "order": 1});
    if config != Json::Null {
        args["config"] = config;
    }
    Pack::new()
        .table("t")
        .create("create_column", "c_t_no", args)
}

#[test]
fn an_identity_that_cannot_be_is_refused_by_ref_and_column() {
    let sequence = json!({"idType": "sequence"});
    let uuid = json!({"idType": "uuid"});
    for (kind, config) in [
        ("text", Json::Null),
        ("text", uuid.clone()),
        ("number", sequence.clone()),
    ] {
        let approved = apply(&identity(kind, config), "{}", &empty());
        assert!(approved.is_ok(), "{approved:?}");
    }
    for (kind, config) in [
        ("number", Json::Null),
        ("number", uuid),
        ("text", sequence.clone()),
    ] {
        let pack = identity(kind, config);
        let expected = [(Code::ValidationFailed, "c_t_no")];
        refused(&pack, "{}", &empty(), &expected);
        let refusals = apply(&pack, "{}", &empty()).expect_err("refused");
        assert!(refusals[0].of_package);
        let detail = &refusals[0].detail;
        assert!(detail.contains("\"No\" (`c_t_no`)"), "{detail}");
        assert!(detail.contains(&format!("the type {kind}")), "{detail}");
    }
    // The config that it has in the end counts, too.
    let update = json!({"columnId": "$c_t_no", "config": sequence});
    let pack = identity("text", Json::Null).step("update_column", update);
    let expected = [(Code::ValidationFailed, "c_t_no")];
    refused(&pack, "{}", &empty(), &expected);
}

#[test]
fn a_blueprint_of_such_an_identity_is_refused_unless_it_is_not_carried_out() {
    let link = json!({"linkedFeatureId": "$f_clients", "linkedValueColumn": "$c_clients_id"});
    let uses = [
        (1001, "config.linkedFeatureId"),
        (1001, "config.linkedValueColumn"),
    ];
    let mut pack = Pack::new()
        .table("orders")
        .column("orders", "client", "linked_select", link)
        .far_table("clients", &["id"], true, &uses);
    pack.external = vec!["f_clients", "c_clients_id"];
    let dependency = &mut pack.dependencies[0];
    dependency["identity"]["columns"][0]["type"] = "number".into();
    dependency["blueprint"]["steps"][1]["args"]["type"] = "number".into();
    let expected = [(Code::ValidationFailed, "c_clients_id")];
    refused(&pack, "{}", &furnished(), &expected);
    let skip = r#"{"resolutions": {"f_clients": {"action": "skip"}}}"#;
    assert!(apply(&pack, skip, &furnished()).is_ok());
}

#[test]
fn an_automation_with_a_name_that_no_store_takes_is_refused() {
    let named = |name: &str| {
        let args = json!({"workspaceId": "$workspace", "name": name, "label": "Tell", "triggerConfig": {"type": "manual"},
            "graphConfig": {"steps": []}, "isDraft": true});
        Pack::new().create("create_workflow_v2", "w_tell", args)
    };
    assert!(apply(&named(&"é".repeat(255)), "{}", &empty()).is_ok());
    let expected = [(Code::ValidationFailed, "w_tell")];
    refused(&named(&"é".repeat(256)), "{}", &empty(), &expected);
}
