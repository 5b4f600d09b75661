//! The cases of `tests/fixtures/automation` inside a package: `check` says of an automation in a plan what
//! the validator says of it in a file of its own, at the same places.
//!
//! A case with `"rest_only": true` is about how references are written over the API; in a package other
//! rules check that.

use serde_json::{Map, Value, json};
use tplkit::automation::{Automation, Environment, Setting, validate, validate_file};
use tplkit::check::{CheckOptions, check};
use tplkit::definitions::Definitions;
use tplkit::finding::catalog::RULES;
use tplkit::finding::{Finding, Fix, fix};
use tplkit::json::Doc;

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

/// A definition that validates, in the lines below, each of which has something that can be misspelt.
const DEFINITION: &str = r#"{
  "trigger_config": {"type": "manual"},
  "graph_config": {"steps": [
    {"id": "stp_aaaaaaaaaaaa", "key": "var.set", "config": {"name": "greeting", "value": "x"}},
    {"id": "stp_bbbbbbbbbbbb", "key": "feature.read", "config": {"featureId": "10000000-0000-4000-8000-00000000000a"}},
    {"id": "stp_cccccccccccc", "key": "email.send", "config": {"to": "a@example.org", "subject": "{{sys.today}}",
      "body": "\u00e9 \"{{ vars.greeting }}\": {{vars.steps.stp_bbbbbbbbbbbb.count}} \/"}},
    {"id": "stp_dddddddddddd", "key": "ifElse", "config": {"condition": {"subject": "var", "var": "greeting", "op": "isEmpty"},
      "then": [{"id": "stp_eeeeeeeeeeee", "key": "var.set", "config": {"name": "other", "value": "y"}}]}}
  ]}
}"#;

/// The text with every fix made, none of which may be safe.
fn guessed<'f>(text: &str, findings: impl IntoIterator<Item = &'f Finding>) -> Option<String> {
    let fixes: Vec<&Fix> = findings
        .into_iter()
        .filter_map(|one| one.fix.as_ref())
        .collect();
    assert!(fixes.iter().all(|fix| !fix.safe), "{fixes:?}");
    fix::apply(text, &fixes).map(|(text, _)| text)
}

/// What is surely meant can be written, for which only that word of a text changes.
#[test]
fn the_one_word_that_is_meant_is_an_unsafe_fix() {
    let issues = |text: &str| validate_file(text, Definitions::embedded()).expect("JSON");
    assert_eq!(issues(DEFINITION).len(), 0, "{:#?}", issues(DEFINITION));
    for (code, right, wrong) in [
        ("A002", "\"type\": \"manual\"", "\"type\": \"manaul\""),
        ("A007", "{{ vars.greeting }}", "{{ vars.greting }}"),
        ("A007", "\"var\": \"greeting\"", "\"var\": \"greting\""),
        (
            "A008",
            "{{vars.steps.stp_bbbbbbbbbbbb.",
            "{{vars.steps.stp_bbbbbbbbbbb.",
        ),
        ("A009", "bbb.count}}", "bbb.cuont}}"),
        ("A018", "{{ vars.greeting", "{{ vasr.greeting"),
        ("A018", "{{sys.today}}", "{{syss.today}}"),
    ] {
        let broken = DEFINITION.replacen(right, wrong, 1);
        let found = issues(&broken);
        let found: Vec<&Finding> = found.iter().map(|issue| &issue.finding).collect();
        assert_eq!(found.len(), 1, "{wrong}: {found:#?}");
        assert_eq!(found[0].rule.code, code, "{wrong}");
        assert!(
            found[0].help.starts_with("Did you mean `"),
            "{}",
            found[0].help
        );
        assert_eq!(
            guessed(&broken, found).as_deref(),
            Some(DEFINITION),
            "{wrong}"
        );
    }
    // Two variables are as near.
    let broken = DEFINITION
        .replacen("\"name\": \"other\"", "\"name\": \"gretings\"", 1)
        .replacen("{{ vars.greeting }}", "{{ vars.greting }}", 1);
    let found = issues(&broken);
    let finding = &found.first().expect("a finding").finding;
    assert_eq!(finding.rule.code, "A007");
    assert!(finding.fix.is_none(), "{finding:#?}");
    // A name that no token can hold.
    let broken = DEFINITION
        .replacen("\"name\": \"greeting\"", "\"name\": \"gre.ting\"", 1)
        .replacen("\"var\": \"greeting\"", "\"var\": \"other\"", 1)
        .replacen("{{ vars.greeting }}", "{{ vars.greting }}", 1);
    let found = issues(&broken);
    let finding = found.iter().find(|issue| issue.rule().code == "A007");
    assert!(finding.expect("a finding").finding.fix.is_none());
}

/// A workspace whose tables have the columns of above.
struct KnownColumns;

impl Environment for KnownColumns {
    fn setting(&self) -> Setting {
        Setting::Rest
    }

    fn columns(&self, _: &str) -> Option<Vec<String>> {
        Some(COLUMNS.map(str::to_owned).to_vec())
    }
}

#[test]
fn the_one_column_of_a_known_table_that_is_meant_is_an_unsafe_fix() {
    let right = r#"{
        "trigger_config": {"type": "record.event", "config": {"modes": ["updated"],
            "featureId": "10000000-0000-4000-8000-00000000000a", "watchedColumns": ["status"]}},
        "graph_config": {"steps": [{"key": "email.send", "config": {"to": "a@example.org", "subject": "S",
            "body": "\"{{vars.trigger.status}}\""}}]}}"#;
    let found = |text: &str| -> Vec<Finding> {
        let doc = Doc::parse(text).expect("JSON");
        let automation = Automation {
            trigger: doc.root().get("trigger_config"),
            graph: doc.root().get("graph_config"),
        };
        let issues = validate(Definitions::embedded(), &automation, &KnownColumns);
        issues.into_iter().map(|issue| issue.finding).collect()
    };
    assert!(found(right).is_empty(), "{:#?}", found(right));
    for (code, word) in [("A003", "[\"status\"]"), ("A007", ".status}}")] {
        let broken = right.replacen(word, &word.replace("status", "staus"), 1);
        let found = found(&broken);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].rule.code, code);
        assert_eq!(guessed(&broken, &found).as_deref(), Some(right));
    }
}
