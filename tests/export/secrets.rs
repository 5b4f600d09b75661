//! Secrets, and what cannot be looked into.

use serde_json::{Value, json};
use tplkit::export::Selection;

use crate::exported::{Exported, exported, exported_but};
use crate::space::{Space, object};

fn manual() -> Value {
    json!({"type": "manual"})
}

/// The export of one automation, which may have findings of these codes.
fn automation(trigger: &Value, steps: &Value, codes: &[&str]) -> Exported {
    let mut space = Space::new();
    space.connection("erp", "http");
    space.automation("Call", trigger, steps);
    let package = exported_but(&space, &Selection::default(), codes);
    assert!(!package.0.to_string().contains("hush"), "a secret travels");
    package
}

/// Where something was cleared.
fn cleared(package: &Exported) -> Vec<&str> {
    let entries = package.list("redacted").iter();
    entries.map(|one| one["path"].as_str().unwrap()).collect()
}

#[test]
fn secrets_are_cleared_wherever_they_stand() {
    let mut space = Space::new();
    space.connection("erp", "http");
    let call =
        json!({"key": "http.request", "config": {"connectionName": "erp", "bearerToken": "hush"}});
    let route = json!({"key": "agent.route", "config": {"prompt": "p", "apiKey": "hush", "routes": [{"name": "a", "steps": [call]}]}});
    let empty =
        json!({"key": "http.request", "config": {"connectionName": "erp", "bearerToken": ""}});
    space.automation("Call", &json!({"type": "manual"}), &json!([route, empty]));
    let package = exported(&space, &Selection::default());
    let paths: Vec<_> = package
        .list("redacted")
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "graphConfig.steps.0.config.apiKey",
            "graphConfig.steps.0.config.routes.0.steps.0.config.bearerToken",
        ]
    );
    assert!(!package.0.to_string().contains("hush"));
}

#[test]
fn the_config_of_an_unknown_step_is_cleared_with_the_steps_inside_it() {
    let inner =
        json!({"key": "http.request", "id": "stp_000000000009", "config": {"bearerToken": "hush"}});
    let steps = json!([{"key": "retry", "id": "stp_000000000001", "config": {"password": "hush", "steps": [inner]}}]);
    let package = automation(&manual(), &steps, &["A005"]);
    assert_eq!(cleared(&package), ["graphConfig.steps.0.config"]);
    let step = &package.created("w_call")["graphConfig"]["steps"][0];
    assert_eq!(step["config"], json!({}));
    assert_eq!(
        package.item("w_call")["stepIds"],
        json!(["stp_000000000001"])
    );
}

#[test]
fn the_settings_of_an_unknown_trigger_are_cleared() {
    let trigger = json!({"type": "webhook", "config": {"signature": "hush"}});
    let notify = json!([{"key": "notify", "config": {"scopeType": "organization", "body": "x"}}]);
    let package = automation(&trigger, &notify, &["A002"]);
    assert_eq!(cleared(&package), ["triggerConfig.config"]);
}

#[test]
fn what_stands_where_steps_should_is_cleared() {
    let call = json!({"key": "http.request", "config": {"bearerToken": "hush"}});
    let condition = json!({"subject": "expression", "expression": "{{sys.now}}", "op": "isEmpty"});
    let branch =
        json!({"key": "ifElse", "config": {"condition": condition, "then": call, "else": []}});
    let route = json!({"key": "agent.route", "config": {"prompt": "p", "routes": {"name": "a", "steps": [call]}}});
    let listed = json!({"key": "http.request", "config": [call]});
    let steps = json!([branch, route, listed, [call]]);
    let package = automation(
        &manual(),
        &steps,
        &["A003", "A012", "A013", "A016", "J005", "J006", "S009"],
    );
    assert_eq!(
        cleared(&package),
        [
            "graphConfig.steps.0.config.then",
            "graphConfig.steps.1.config.routes",
            "graphConfig.steps.2.config",
            "graphConfig.steps.3",
        ]
    );
}

#[test]
fn steps_that_are_no_list_are_cleared() {
    let steps = json!({"first": {"key": "http.request", "config": {"bearerToken": "hush"}}});
    let package = automation(&manual(), &steps, &["A003", "A004", "A016", "J005", "S009"]);
    assert_eq!(cleared(&package), ["graphConfig.steps"]);
}

#[test]
fn a_member_called_like_a_secret_is_cleared_where_nothing_declares_it() {
    let value = json!({"bearerToken": "hush", "deep": [{"API-Key": {"now": "hush"}}], "apiKey": "{{vars.key}}", "key": "x"});
    let steps = json!([
        {"key": "var.set", "config": {"name": "key", "value": "x"}},
        {"key": "var.set", "config": {"name": "v", "value": value, "api_key": "hush"}},
        {"key": "notify", "bearerToken": "hush", "config": {"scopeType": "organization", "body": "x"}},
    ]);
    let package = automation(&manual(), &steps, &["J007", "S018"]);
    assert_eq!(
        cleared(&package),
        [
            "graphConfig.steps.1.config.api_key",
            "graphConfig.steps.1.config.value.bearerToken",
            "graphConfig.steps.1.config.value.deep.0.API-Key",
            "graphConfig.steps.2.bearerToken",
        ]
    );
    let kept = &package.created("w_call")["graphConfig"]["steps"][1]["config"]["value"];
    assert_eq!(
        (&kept["apiKey"], &kept["key"]),
        (&json!("{{vars.key}}"), &json!("x"))
    );
}

#[test]
fn what_is_called_like_a_secret_is_cleared_in_structural_configs_too() {
    let mut space = Space::new();
    let a = space.table("a");
    space.table_mut(a).config = object(&json!({"bearerToken": "hush"}));
    let package = exported_but(&space, &Selection::default(), &["S018"]);
    assert_eq!(cleared(&package), ["config.bearerToken"]);
    assert!(!package.0.to_string().contains("hush"));
}

#[test]
fn a_step_id_that_is_an_id_of_the_source_is_minted_anew() {
    let mut space = Space::new();
    let id = space.id();
    let step =
        json!([{"key": "notify", "id": id, "config": {"scopeType": "organization", "body": "x"}}]);
    space.automation("Call", &manual(), &step);
    let package = exported(&space, &Selection::default());
    let minted = &package.item("w_call")["stepIds"][0];
    assert_eq!(
        &package.created("w_call")["graphConfig"]["steps"][0]["id"],
        minted
    );
    assert!(minted.as_str().unwrap().starts_with("stp_"));
}
