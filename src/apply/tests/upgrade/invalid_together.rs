//! What both sides may say, and not together.

use serde_json::{Value as Json, json};

use super::{Line, args, conflicts, upgrade_body, v2};
use crate::json::Value;
use crate::workspace::RecordKind::Workflow;

const LEAF: &str = "steps.stp_bbbbbbbbbbbb.bindings";

/// The second step takes what the first one found.
fn new() -> Json {
    v2(|package| {
        let graph = &mut args(package, "w_flow")["graphConfig"];
        let value = "{{vars.steps.stp_aaaaaaaaaaaa.count}}";
        graph["steps"][1]["config"]["bindings"][0]["value"] = value.into();
    })
}

/// People have taken the first step out.
fn line() -> Line {
    let mut line = Line::new();
    line.edit(Workflow, "Flow", |thing| {
        let mut graph = thing.part("graphConfig");
        if let Value::Object(members) = &mut graph
            && let Some(Value::List(steps)) = members.get_mut("steps")
        {
            steps.remove(0);
        }
        if let Value::Object(config) = &mut thing.config {
            config.insert("graphConfig".to_owned(), graph);
        }
    });
    line
}

#[test]
fn a_record_that_would_be_refused_is_asked_as_a_whole() {
    let line = line();
    let plan = line.plan(&new(), &upgrade_body(&Json::Null));
    assert_eq!(conflicts(&plan), [("invalid_together", "w_flow", "")]);
    let conflict = serde_json::to_value(&plan.conflicts[0]).expect("JSON");
    assert_eq!(conflict["path"], Json::Null);
    assert_eq!(conflict["leaves"], json!([LEAF, "shape"]));
    assert_eq!(plan.update, []);
}

#[test]
fn it_is_decided_by_a_leaf_by_the_word_and_by_what_decides_the_rest() {
    let bodies = [
        upgrade_body(&json!({"w_flow": {LEAF: "ours"}})),
        upgrade_body(&json!({"w_flow": {"shape": "theirs"}})),
        upgrade_body(&json!({"w_flow": "ours"})),
        upgrade_body(&json!({"w_flow": "theirs"})),
        r#"{"upgrade": true, "conflicts": "theirs"}"#.to_owned(),
        r#"{"upgrade": true, "conflicts": "ours"}"#.to_owned(),
    ];
    for (at, body) in bodies.iter().enumerate() {
        let mut line = line();
        let before = line.memory.state();
        let plan = line.plan(&new(), body);
        assert_eq!(plan.refusals, [], "{body} {plan:#?}");
        let report = line.apply(&new(), body);
        assert!(report.decided > 0, "{body}");
        let graph = line.get(Workflow, "Flow").part("graphConfig");
        let steps = graph
            .get("steps")
            .and_then(Value::as_list)
            .map(<[Value]>::len);
        let theirs = [1, 3, 4].contains(&at);
        assert_eq!(steps, Some(if theirs { 2 } else { 1 }), "{body}");
        let plan = line.plan(&new(), &upgrade_body(&Json::Null));
        assert_eq!((plan.refusals.len(), plan.update.len()), (0, 0), "{body}");
        line.undo(false).expect("undone");
        assert_eq!(line.memory.state(), before);
    }
}
