//! The cases of `tests/fixtures/automation`, one file per rule, and whole files.
//!
//! A case of `reported` makes exactly one issue: that of the file's rule, at the path. A case
//! of `silent` makes none.

use super::{Automation, Issue, IssueTarget, PackageEnvironment, validate, validate_file};
use crate::definitions::Definitions;
use crate::finding::catalog::RULES;
use crate::json::{Doc, path};

fn issues(text: &str) -> Vec<Issue> {
    validate_file(text, Definitions::embedded()).expect("JSON")
}

fn reported(issues: &[Issue]) -> Vec<String> {
    issues
        .iter()
        .map(|issue| {
            format!(
                "{} {} {}",
                issue.rule().code,
                issue.path,
                issue.finding.message
            )
        })
        .collect()
}

#[test]
fn every_rule_has_cases_that_hold() {
    let rules = RULES.iter().filter(|rule| rule.family() == 'A');
    for code in rules.map(|rule| rule.code) {
        let file = format!(
            "{}/tests/fixtures/automation/{code}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(&file).expect("a file of cases for every rule");
        let doc = Doc::parse(&text).expect("JSON");
        for list in ["reported", "silent"] {
            let cases: Vec<_> = doc.root().get(list).expect("a list").elements().collect();
            assert!(cases.len() >= 3, "{code} {list}");
            for case in cases {
                let part = |key: &str| case.get(key).map_or("null", |part| part.raw());
                let own = case
                    .get("workflow_id")
                    .map(|id| format!(r#""workflow_id": {}, "#, id.raw()));
                let text = format!(
                    r#"{{{}"trigger_config": {}, "graph_config": {{"steps": {}}}}}"#,
                    own.unwrap_or_default(),
                    part("trigger"),
                    part("steps")
                );
                let found = issues(&text);
                let expected: Vec<_> = case
                    .get_str("path")
                    .map(|path| (code, path))
                    .into_iter()
                    .collect();
                let actual: Vec<_> = found
                    .iter()
                    .map(|issue| (issue.rule().code, issue.path.as_str()))
                    .collect();
                assert_eq!(
                    actual,
                    expected,
                    "{code}: {}\n{text}\n{:#?}",
                    part("why"),
                    reported(&found)
                );
                for issue in &found {
                    let place = &issue.finding.place;
                    let node = Doc::parse(&text).expect("JSON");
                    let node = node
                        .all_nodes()
                        .find(|node| node.pointer() == place.pointer)
                        .expect("a place");
                    assert_eq!(node.span(), place.span, "{code}: {}", place.pointer);
                    assert!(!issue.finding.help.is_empty() && issue.code() == issue.rule().name);
                }
            }
        }
    }
}

#[test]
fn the_shape_of_a_file() {
    const TABLE: &str = "10000000-0000-4000-8000-00000000000a";
    let good = r#""trigger_config": {"type": "manual"}, "graph_config": {"steps": [{"key": "delay"}, {"key": "notify", "config": {"scopeType": "organization"}}]}"#;
    let cases: [(String, &[&str]); 22] = [
        (format!("{{{good}}}"), &[]),
        (format!("\u{feff}{{{good}}}"), &[]),
        (
            format!(
                r#"{{"$schema": "x", "id": "{TABLE}", "workflow_id": "{TABLE}", "workspace_id": "{TABLE}", "name": "n", "version": 2,
                    "base_version": null, "is_draft": true, "is_active": false, "created_at": "2025-01-01T00:00:00Z", {good}}}"#
            ),
            &[],
        ),
        ("[]".to_owned(), &["J005 "]),
        ("{}".to_owned(), &["A001 type", "J006 "]),
        (r#"{"templateVersion": 2, "plan": {}}"#.to_owned(), &["A001 type", "J006 ", "J007 templateVersion", "J007 plan"]),
        (r#"{"trigger_config": {"type": "manual"}}"#.to_owned(), &["J006 "]),
        (r#"{"trigger_config": null, "graph_config": []}"#.to_owned(), &["J005 ", "J005 "]),
        (r#"{"graph_config": {"steps": [{"key": "notify", "config": {"scopeType": "organization"}}]}}"#.to_owned(), &["A001 type"]),
        (r#"{"trigger_config": {"type": "manual"}, "graph_config": {}}"#.to_owned(), &["A004 "]),
        (r#"{"trigger_config": {"type": "manual"}, "graph_config": {"steps": {}}}"#.to_owned(), &["J005 "]),
        (r#"{"trigger_config": {"type": "manual"}, "graph_config": {"steps": [5]}}"#.to_owned(), &["J005 0"]),
        (
            r#"{"trigger_config": {"type": "manual"}, "graph_config": {"steps": [5, {"key": "email.send", "config":
                {"to": "a", "subject": "{{vars.x}}", "body": "{{vars.steps.stp_000000000001.count}}{{record.a}}"}}]}}"#
                .to_owned(),
            &["J005 0"],
        ),
        (format!(r#"{{"is_draft": "yes", "workspace_id": "w", "version": 0, {good}}}"#), &["J005 is_draft", "J005 workspace_id", "J005 version"]),
        (format!(r#"{{"nmae": "n", {good}}}"#), &["J007 nmae"]),
        (format!("{{{}}}", good.replace("_config", "Config")), &["J007 triggerConfig", "J007 graphConfig"]),
        (format!(r#"{{"triggerConfig": {{}}, {good}}}"#), &["J007 triggerConfig"]),
        (format!(r#"{{"name": "a", "name": "b\u0000", {good}}}"#), &["J002 name", "J009 name"]),
        (
            r#"{"trigger_config": {"type": "manual", "key": "x"}, "graph_config": {"nodes": [], "steps": [{"key": "delay", "x": 1, "name": 5}, {"key": "notify", "config": {"scopeType": "organization"}}]}}"#.to_owned(),
            &["J007 key", "J007 nodes", "J007 0.x", "J005 0.name"],
        ),
        (
            r#"{"trigger_config": {"type": "cron", "config": {"mode": "hourly", "timezome": "UTC"}}, "graph_config": {"steps": [{"key": "notify", "config": {"scopeType": "organization", "tilte": ""}}]}}"#.to_owned(),
            &["S018 config.timezome", "S018 0.config.tilte"],
        ),
        (format!(r#"{{"\u0000": 1, {good}}}"#), &["J007 \0", "J009 \0"]),
        (r#"{"trigger_config": {}, "graph_config": {"steps": []}}"#.to_owned(), &["A001 type", "A004 "]),
    ];
    for (text, expected) in cases {
        let found = issues(&text);
        let actual: Vec<String> = found
            .iter()
            .map(|issue| format!("{} {}", issue.rule().code, issue.path))
            .collect();
        assert_eq!(actual, expected, "{text}\n{:#?}", reported(&found));
    }
    assert!(validate_file("{", Definitions::embedded()).is_err());
    let codes: Vec<_> =
        issues(r#"{"trigger_config": {"type": "cron", "x": 1}, "graph_config": {"steps": [5]}}"#)
            .iter()
            .map(|issue| (issue.code(), issue.target))
            .collect();
    let expected = [
        ("trigger_config_invalid", IssueTarget::Trigger),
        ("trigger_config_invalid", IssueTarget::Trigger),
        ("step_config_invalid", IssueTarget::Graph),
    ];
    assert_eq!(codes, expected);
}

#[test]
fn a_half_that_is_absent_or_no_object_is_an_issue_of_that_half() {
    let absent = [
        ("trigger_missing", IssueTarget::Trigger, "type"),
        ("step_config_invalid", IssueTarget::Graph, ""),
    ];
    let wrong = [
        ("trigger_config_invalid", IssueTarget::Trigger, ""),
        ("step_config_invalid", IssueTarget::Graph, ""),
    ];
    for (text, expected) in [
        ("{}", absent),
        (r#"{"trigger_config": null, "graph_config": []}"#, wrong),
        (r#"{"triggerConfig": 5}"#, [wrong[0], absent[1]]),
    ] {
        let mut found = issues(text);
        found.retain(|issue| issue.rule().code != "J007");
        let mut report: Vec<_> = found
            .iter()
            .map(|issue| (issue.code(), issue.target, issue.path.as_str()))
            .collect();
        report.sort_by_key(|(_, target, _)| *target);
        assert_eq!(report, expected, "{text}");
    }
}

/// The order of keys means nothing in JSON, and canonical files have `else` before `then`.
#[test]
fn why_a_step_has_not_run_is_said_alike_however_the_branches_are_ordered() {
    let id = "stp_000000000001";
    let mail = |body: &str| {
        format!(
            r#"{{"key": "email.send", "config": {{"to": "a@example.org", "subject": "S", "body": "{body}"}}}}"#
        )
    };
    let sent = mail("Hello").replacen('{', &format!(r#"{{"id": "{id}", "#), 1);
    let set = r#"{"key": "var.set", "config": {"name": "v", "value": 1}}"#;
    let condition = r#""condition": {"subject": "expression", "expression": "{{sys.today}}", "op": "isNotEmpty"}"#;
    let said = |first: &str, second: &str, after: &str| {
        let steps =
            format!(r#"{{"key": "ifElse", "config": {{{condition}, {first}, {second}}}}}{after}"#);
        let found = issues(&format!(
            r#"{{"trigger_config": {{"type": "manual"}}, "graph_config": {{"steps": [{steps}]}}}}"#
        ));
        reported(&found)
    };
    let output = format!("{{{{vars.steps.{id}.messageId}}}}");
    for (provider, token, apart, later) in [
        (
            sent.as_str(),
            output.as_str(),
            "A008 0.else.0.config.body `TOKEN`: that step runs in another branch",
            "A008 0.else.0.config.body `TOKEN`: that step runs later",
        ),
        (
            set,
            "{{vars.v}}",
            "A007 0.else.0.config.body `TOKEN`: the variable is set in another branch",
            "A007 0.else.0.config.body `TOKEN`: the variable is set later",
        ),
    ] {
        let (apart, later) = (apart.replace("TOKEN", token), later.replace("TOKEN", token));
        let reader = mail(token);
        let then = format!(r#""then": [{provider}]"#);
        let other = format!(r#""else": [{reader}]"#);
        assert_eq!(said(&then, &other, ""), [apart.as_str()]);
        assert_eq!(said(&other, &then, ""), [apart.as_str()]);
        let then = format!(r#""then": [{}]"#, mail("Hello"));
        let after = format!(", {provider}");
        assert_eq!(said(&then, &other, &after), [later.as_str()]);
        assert_eq!(said(&other, &then, &after), [later.as_str()]);
    }
}

fn in_package(args: &str, excuses: &[&str]) -> Vec<String> {
    let doc = Doc::parse(args).expect("JSON");
    let unresolved = |path: &str| excuses.contains(&path);
    let is_table = |value: &str| Some(value.starts_with("$f_") && value != "$f_ghost");
    let around = PackageEnvironment::new(doc.root(), Some("w_own"), &unresolved, &is_table);
    let found = validate(
        Definitions::embedded(),
        &Automation::of_args(doc.root()),
        &around,
    );
    found
        .iter()
        .map(|issue| format!("{} {}", issue.rule().code, issue.finding.place.pointer))
        .collect()
}

fn args(table: &str, write: &str, scope: &str) -> String {
    format!(
        r#"{{"triggerConfig": {{"type": "record.event", "config": {{"modes": ["updated"], "featureId": {table}, "watchedColumns": ["$c_a"], "more": 1}}}},
            "graphConfig": {{"steps": [
                {{"key": "feature.write", "config": {{"mode": "updateTrigger", "targetFeatureId": {write}, "bindings": [{{"targetColumn": "$c_a", "value": 1}}]}}}},
                {{"key": "notify", "config": {{"scopeType": "channel", "scopeId": {scope}, "more": 1}}}},
                {{"key": "automation.run", "config": {{"workflowId": "$w_own"}}}}]}}}}"#
    )
}

#[test]
fn in_a_package_references_are_checked_elsewhere() {
    let steps = "/graphConfig/steps";
    let own = format!("A014 {steps}/2/config/workflowId");
    let again = format!("A011 {steps}/0/config/bindings/0/targetColumn");
    assert_eq!(
        in_package(&args(r#""$f_a""#, r#""$f_a""#, r#""$m_x""#), &[]),
        [again.clone(), own.clone()]
    );
    // A wrong reference is one mistake: no A010 next to the plan rule that names it.
    for wrong in [
        r#""f_a""#,
        r#""$f_ghost""#,
        r#""$c_a""#,
        r#""10000000-0000-4000-8000-00000000000a""#,
    ] {
        assert_eq!(
            in_package(&args(r#""$f_a""#, wrong, r#""$m_x""#), &[]),
            std::slice::from_ref(&own),
            "{wrong}"
        );
        assert_eq!(
            in_package(&args(wrong, r#""$f_a""#, r#""$m_x""#), &[]),
            std::slice::from_ref(&own),
            "{wrong}"
        );
    }
    assert_eq!(
        in_package(&args(r#""$f_a""#, r#""$f_b""#, r#""$m_x""#), &[]),
        [
            format!("A010 {steps}/0/config/targetFeatureId"),
            own.clone()
        ]
    );
}

#[test]
fn in_a_package_empty_references_are_excused_by_their_path() {
    let emptied = args(r#""""#, r#""""#, r#""""#);
    let paths = [
        "triggerConfig.config.featureId",
        "graphConfig.steps.0.config.targetFeatureId",
        "graphConfig.steps.1.config.scopeId",
    ];
    assert_eq!(
        in_package(&emptied, &paths),
        ["A014 /graphConfig/steps/2/config/workflowId"]
    );
    let expected = [
        "A003 /triggerConfig/config/featureId",
        "A016 /graphConfig/steps/0/config/targetFeatureId",
        "A016 /graphConfig/steps/1/config/scopeId",
        "A014 /graphConfig/steps/2/config/workflowId",
    ];
    assert_eq!(in_package(&emptied, &[]), expected);
    // Null is nothing that can be excused.
    let null = args(r#""$f_a""#, r#""$f_b""#, "null");
    assert!(in_package(&null, &paths).contains(&expected[2].to_owned()));
    let absent = r#"{"triggerConfig": {"type": "record.event", "config": {"modes": ["deleted"]}}, "graphConfig": {"steps": [{"key": "automation.run"}]}}"#;
    assert_eq!(
        in_package(
            absent,
            &[
                "triggerConfig.config.featureId",
                "graphConfig.steps.0.config.workflowId"
            ]
        ),
        [""; 0]
    );
    assert_eq!(
        in_package(absent, &[]),
        ["A003 /triggerConfig/config", "A016 /graphConfig/steps/0"]
    );
}

#[test]
fn what_is_not_object_is_left_to_others() {
    assert_eq!(in_package(r#"{"triggerConfig": 5}"#, &[]), [""; 0]);
    assert_eq!(
        in_package(
            r#"{"graphConfig": {"steps": [{"key": "notify", "config": {"scopeType": "organization", "body": "{{record.a}}{{vars.trigger.b}}"}}]}}"#,
            &[]
        ),
        [""; 0]
    );
}

/// Whatever is in place of whatever value: issues, in places that exist, and no panic.
#[test]
fn no_value_anywhere_is_a_surprise() {
    let file = format!(
        "{}/tests/fixtures/cases/valid/base-auto.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(file).expect("a package");
    let doc = Doc::parse(&text).expect("JSON");
    let args = path::find(doc.root(), "manifest.plan.steps.14.args").expect("an automation");
    let half = |key: &str| args.get(key).expect("a half").raw();
    let (trigger, graph) = (half("triggerConfig"), half("graphConfig"));
    let text = format!(r#"{{"trigger_config": {trigger}, "graph_config": {graph}}}"#);
    let doc = Doc::parse(&text).expect("JSON");
    for node in doc.all_nodes() {
        for value in [
            "null", "5", "true", r#""""#, r#""zz""#, r#""{{""#, "[]", "[5]", "{}",
        ] {
            let mut changed = text.clone();
            changed.replace_range(node.span(), value);
            let found = issues(&changed);
            let again = Doc::parse(&changed).expect("JSON");
            for issue in &found {
                let pointer = &issue.finding.place.pointer;
                let there = again.all_nodes().any(|node| node.pointer() == *pointer);
                assert!(there, "{pointer} in {changed}");
            }
        }
    }
}

/// As deep as a file can be: every step takes three containers.
#[test]
fn the_deepest_graph_is_checked() {
    let levels = 41;
    let mut steps = r#"[{"key": "email.send", "config": {"to": "a", "subject": "S", "body": "{{vars.v}}{{vars.ghost}}"}}]"#.to_owned();
    for level in 0..levels {
        let branch = if level % 2 == 0 { "then" } else { "else" };
        let other = if level % 2 == 0 {
            ""
        } else {
            r#""then": [], "#
        };
        steps = format!(
            r#"[{{"key": "ifElse", "config": {{"condition": {{"subject": "var", "var": "v", "op": "isEmpty"}}, {other}"{branch}": {steps}}}}}]"#
        );
    }
    let steps = steps.replacen(
        '[',
        r#"[{"key": "var.set", "config": {"name": "v", "value": 1}}, "#,
        1,
    );
    let found = issues(&format!(
        r#"{{"trigger_config": {{"type": "manual"}}, "graph_config": {{"steps": {steps}}}}}"#
    ));
    assert_eq!(found.len(), 1, "{:?}", reported(&found));
    assert!(
        found[0].path.starts_with("1.then.0.else.0.then.0.")
            && found[0].path.ends_with(".then.0.config.body")
    );
    assert_eq!(found[0].path.matches(".0").count(), levels);
}

/// A thousand steps, each reading variables and outputs. How long that takes measures `benches/check`.
#[test]
fn a_large_graph_is_checked() {
    let step = |at: usize| {
        let id = |at: usize| format!("stp_{at:012}");
        let before = at.saturating_sub(1);
        format!(
            r#"{{"key": "email.send", "id": "{}", "config": {{"to": "a", "subject": "{{{{vars.v}}}}", "body": "{{{{vars.steps.{}.messageId}}}}{{{{record.a}}}}"}}}}"#,
            id(at),
            id(before.max(1) - usize::from(at <= 1))
        )
    };
    let list: Vec<String> = (1..=1000).map(step).collect();
    let set =
        r#"{"key": "var.set", "id": "stp_000000000000", "config": {"name": "v", "value": 1}}"#;
    let text = format!(
        r#"{{"trigger_config": {{"type": "manual"}}, "graph_config": {{"steps": [{set}, {}]}}}}"#,
        list.join(", ")
    );
    let doc = Doc::parse(&text).expect("JSON");
    let found = validate(
        Definitions::embedded(),
        &Automation::of_definition(doc.root()),
        &super::EmptyEnvironment::default(),
    );
    // The first step reads an output that its predecessor does not announce.
    assert_eq!(reported(&found).len(), 1, "{:?}", reported(&found));
}
