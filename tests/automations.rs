//! The cases of `tests/fixtures/automation` inside a package: `check` says of an automation in a plan what
//! the validator says of it in a file of its own, at the same places.
//!
//! A case with `"rest_only": true` is about how references are written over the API; in a package other
//! rules check that.

use serde_json::{Map, Value, json};
use tplkit::automation::validate_file;
use tplkit::check::{CheckOptions, check};
use tplkit::definitions::Definitions;
use tplkit::finding::catalog::RULES;

const TABLES: [(&str, &str); 2] = [
    ("10000000-0000-4000-8000-00000000000a", "one"),
    ("20000000-0000-4000-8000-00000000000b", "two"),
];
const OWN: &str = "30000000-0000-4000-8000-00000000000c";
const COLUMNS: [&str; 6] = ["a", "b", "status", "note", "n", "x"];

/// The short name of the table that a text names.
fn table(text: &str) -> Option<&'static str> {
    let found = TABLES.iter().find(|(id, _)| id.eq_ignore_ascii_case(text));
    found.map(|(_, name)| *name)
}

/// A value of a definition as a package writes it: references become refs. `around` is the table that the
/// configs around it name.
fn packed(key: &str, value: &Value, around: &str) -> Value {
    let column = || match value.as_str() {
        Some(name) if !name.is_empty() => json!(format!("$c_{around}_{name}")),
        _ => value.clone(),
    };
    match (key, value) {
        ("featureId" | "targetFeatureId", Value::String(text)) => match table(text) {
            Some(name) => json!(format!("$f_{name}")),
            None => value.clone(),
        },
        ("workflowId", Value::String(text)) if text.eq_ignore_ascii_case(OWN) => json!("$w_own"),
        ("workflowId", Value::String(text)) if !text.is_empty() => json!("$w_other"),
        ("scopeId", Value::String(text)) if !text.is_empty() => json!("$m_desk"),
        ("columnName" | "targetColumn" | "matchColumn" | "watchedColumns", Value::String(_))
        | ("orderBy.column", _) => column(),
        (_, Value::Array(list)) => list.iter().map(|one| packed(key, one, around)).collect(),
        (_, Value::Object(members)) => {
            let named = ["featureId", "targetFeatureId"].map(|key| members.get(key));
            let mut named = named.into_iter().flatten().filter_map(Value::as_str);
            let around = named.find_map(table).unwrap_or(around);
            let packed = members.iter().map(|(name, value)| {
                let place = match (key, name.as_str()) {
                    ("orderBy", "column") => "orderBy.column",
                    (_, name) => name,
                };
                (name.clone(), packed(place, value, around))
            });
            Value::Object(packed.collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}

/// A package with the two tables and an automation; its step stands last in the plan.
fn package(trigger: &Value, steps: &Value) -> Value {
    let mut plan = Vec::new();
    let mut step = |tool: &str, reference: String, args: Value| {
        let uid = format!("u_00000000-0000-4000-8000-{:012}", plan.len());
        plan.push(json!({"uid": uid, "tool": tool, "ref": reference, "args": args}));
    };
    for (_, name) in TABLES {
        let args = json!({"workspaceId": "$workspace", "name": name, "label": name});
        step("create_feature", format!("f_{name}"), args);
        for (column, order) in COLUMNS.iter().zip(1..) {
            let args = json!({"featureId": format!("$f_{name}"), "name": column, "label": column,
                "type": "text", "defaultComponent": "textfield", "order": order});
            step("create_column", format!("c_{name}_{column}"), args);
        }
    }
    let args = json!({"workspaceId": "$workspace", "name": "own", "label": "own", "isDraft": true,
        "triggerConfig": packed("", trigger, ""), "graphConfig": {"steps": packed("", steps, "")}});
    step("create_workflow_v2", "w_own".to_owned(), args);
    json!({"manifest": {"templateVersion": 2, "items": [], "dependencies": [], "unresolved": [], "redacted": [],
        "plan": {"planVersion": 1, "steps": plan}}, "payloads": []})
}

/// Codes and places of the findings about automations, in order, the places from the automation on.
fn in_package(case: &Value) -> Vec<(&'static str, String)> {
    let package = package(&case["trigger"], &case["steps"]);
    let last = package["manifest"]["plan"]["steps"].as_array();
    let root = format!(
        "/manifest/plan/steps/{}/args",
        last.map_or(0, |steps| steps.len() - 1)
    );
    let report = check(package.to_string().as_bytes(), &CheckOptions::default());
    let findings = report.findings.iter();
    let automation = findings.filter(|finding| finding.rule.family() == 'A');
    automation
        .map(|finding| {
            let place = finding.place.pointer.strip_prefix(&root);
            let place = place.unwrap_or("elsewhere").to_owned();
            (finding.rule.code, place)
        })
        .collect()
}

fn in_file(case: &Value) -> Vec<(&'static str, String)> {
    let mut file =
        json!({"trigger_config": case["trigger"], "graph_config": {"steps": case["steps"]}});
    if let Some(own) = case.get("workflow_id") {
        file["workflow_id"] = own.clone();
    }
    let issues = validate_file(&file.to_string(), Definitions::embedded()).expect("JSON");
    let issues = issues.iter().map(|issue| &issue.finding);
    issues
        .map(|finding| {
            let place = &finding.place.pointer;
            let place = place.replacen("/trigger_config", "/triggerConfig", 1);
            let place = place.replacen("/graph_config", "/graphConfig", 1);
            (finding.rule.code, place)
        })
        .collect()
}

#[test]
fn a_package_reports_the_same_of_its_automations_as_a_file() {
    let mut compared = 0;
    for rule in RULES.iter().filter(|rule| rule.family() == 'A') {
        let file = format!("tests/fixtures/automation/{}.json", rule.code);
        let text = std::fs::read_to_string(&file).expect("cases of every rule");
        let cases: Value = serde_json::from_str(&text).expect("JSON");
        for kind in ["reported", "silent"] {
            let cases = cases[kind].as_array().expect("a list").iter();
            let both = cases.filter(|case| case["rest_only"] != true);
            let mut of_rule = 0;
            for case in both {
                assert_eq!(in_package(case), in_file(case), "{} {case}", rule.code);
                of_rule += 1;
            }
            assert!(of_rule >= 2, "{} {kind}", rule.code);
            compared += of_rule;
        }
    }
    assert!(compared > 200, "{compared}");
}
