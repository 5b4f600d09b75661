//! Automations.

use serde_json::json;
use tplkit::export::Selection;

use crate::exported::{exported, exported_but};
use crate::space::Space;

fn notify(id: &str) -> serde_json::Value {
    json!({"key": "notify", "id": id, "config": {"scopeType": "organization", "body": "x"}})
}

#[test]
fn a_draft_is_made_and_published_only_if_active() {
    let mut space = Space::new();
    for name in ["On", "Off"] {
        space.automation(
            name,
            &json!({"type": "manual"}),
            &json!([notify("stp_n8zgRboutP7T")]),
        );
    }
    space.state.structure.automations[0].active = true;
    let package = exported(&space, &Selection::default());
    let args = package.created("w_on");
    assert_eq!(
        (&args["name"], &args["label"]),
        (&json!("On"), &json!("On"))
    );
    assert_eq!(
        (&args["isDraft"], &args["published"]),
        (&json!(true), &json!(true))
    );
    let off = package.created("w_off").as_object().unwrap();
    assert!(!off.contains_key("published") && !off.contains_key("isActive"));
}

#[test]
fn step_ids_stay_and_missing_ones_are_minted() {
    let mut space = Space::new();
    let nameless = json!({"key": "notify", "name": "Tell", "config": {"scopeType": "organization", "body": "x"}});
    let branch = json!({"key": "ifElse", "id": "stp_000000000001", "config": {
        "condition": {"subject": "expression", "expression": "{{sys.now}}", "op": "isEmpty"},
        "then": [nameless],
        "else": [notify("stp_000000000002")],
    }});
    space.automation(
        "Deep",
        &json!({"type": "manual"}),
        &json!([branch, nameless]),
    );
    let package = exported(&space, &Selection::default());
    let ids = package.item("w_deep")["stepIds"].as_array().unwrap();
    assert_eq!(ids.len(), 4);
    assert_eq!(
        (&ids[0], &ids[1]),
        (&json!("stp_000000000001"), &json!("stp_000000000002")),
        "members go by code point: `else` before `then`"
    );
    let steps = &package.created("w_deep")["graphConfig"]["steps"];
    assert_eq!(steps[0]["config"]["then"][0]["id"], ids[2]);
    assert_eq!(steps[0]["config"]["then"][0]["name"], "Tell");
    assert_eq!(steps[1]["id"], ids[3]);
}

#[test]
fn unknown_keys_of_steps_stay() {
    let mut space = Space::new();
    let mut step = notify("stp_000000000001");
    step["note"] = json!("kept");
    step["config"]["colour"] = json!("red");
    space.automation("Odd", &json!({"type": "manual"}), &json!([step]));
    let package = exported_but(&space, &Selection::default(), &["J007", "S018"]);
    let step = &package.created("w_odd")["graphConfig"]["steps"][0];
    assert_eq!(
        (&step["note"], &step["config"]["colour"]),
        (&json!("kept"), &json!("red"))
    );
}
