//! Which automations go live, and what has to be entered for the others.

#![expect(
    clippy::needless_pass_by_value,
    reason = "`json!(…)` reads better without a `&` before it"
)]

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::apply::test_packages::{
    Pack, again, apply, checked, furnished, id, minter, request, uid, written,
};
use crate::apply::{Approved, Minter};
use crate::json::Value;
use crate::workspace::ledger::Entry;

const HTTP: &str = "http.request";

fn sends(config: Json) -> Json {
    json!({"key": HTTP, "id": "stp_aaaaaaaaaaaa", "config": config})
}

fn http_config(more: &[(&str, Json)]) -> Json {
    let mut config = json!({"connectionName": "mailer", "method": "GET", "path": "/"});
    for (key, value) in more {
        config[*key] = value.clone();
    }
    config
}

/// An automation that was live at the source; its item has the uid 1000.
fn live(steps: Json) -> Pack {
    let args = json!({"workspaceId": "$workspace", "name": "Send", "label": "Send",
        "triggerConfig": {"type": "manual"}, "graphConfig": {"steps": steps},
        "isDraft": true, "published": true});
    let mut pack = Pack::new().create("create_workflow_v2", "w_send", args);
    pack.source = "export";
    pack
}

fn lost(path: &str, kind: &str, action: &str) -> Json {
    json!({"uid": uid(1000), "path": path, "kind": kind, "form": "uuid",
        "reason": "inexistente", "action": action})
}

/// What keeps the one automation from going live.
fn because(approved: &Approved) -> Vec<(&str, &str)> {
    assert!(approved.publish.is_empty(), "{:?}", approved.publish);
    let pending = &approved.structure.entry.pending_publishes;
    assert!(pending.is_empty(), "{pending:?}");
    let [draft] = approved.not_published.as_slice() else {
        panic!("{:?}", approved.not_published);
    };
    assert_eq!(
        (draft.reference.as_str(), draft.name.as_str()),
        ("w_send", "Send")
    );
    let entries = draft.because.iter();
    entries
        .map(|one| (one.path.as_str(), one.reason.as_str()))
        .collect()
}

#[test]
fn a_complete_automation_is_published() {
    let pack = live(json!([sends(http_config(&[]))]));
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    assert!(approved.not_published.is_empty(), "{approved:?}");
    assert_eq!(approved.publish[0].reference, "w_send");
}

#[test]
fn a_cleared_or_empty_secret_keeps_it_a_draft() {
    let mut pack = live(json!([sends(http_config(&[("bearerToken", json!(""))]))]));
    let path = "graphConfig.steps.0.config.bearerToken";
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    assert_eq!(because(&approved), [(path, "secret_empty")]);
    pack.redacted = vec![json!({"uid": uid(1000), "path": path, "reason": "Enter it again."})];
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    assert_eq!(because(&approved), [(path, "redacted")]);
    let [field] = approved.redacted.as_slice() else {
        panic!("{:?}", approved.redacted);
    };
    assert_eq!(
        (
            &*field.reference,
            &*field.name,
            &*field.path,
            &*field.reason
        ),
        ("w_send", "Send", path, "Enter it again.")
    );
}

#[test]
fn a_field_that_the_export_emptied_is_named_once_with_the_first_reason() {
    let read =
        json!({"key": "feature.read", "id": "stp_bbbbbbbbbbbb", "config": {"featureId": ""}});
    let inside = json!({"key": "ifElse", "id": "stp_cccccccccccc", "config": {
        "condition": {"subject": "expression", "expression": "{{sys.now}}", "op": "isNotEmpty"},
        "then": [read], "else": []}});
    let path = "graphConfig.steps.0.config.then.0.config.featureId";
    let mut pack = live(json!([inside, sends(http_config(&[]))]));
    pack.unresolved = vec![lost(path, "feature", "chave esvaziada")];
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    // The validator would find the empty field, too.
    assert_eq!(because(&approved), [(path, "inexistente")]);
}

#[test]
fn values_that_were_kept_keep_nothing_back() {
    let mut pack = live(json!([sends(http_config(&[]))]));
    let path = "graphConfig.steps.0.config.connectionName";
    pack.unresolved = vec![json!({"uid": uid(1000), "path": path, "kind": "connection",
        "form": "name", "reason": "inexistente", "action": "valor mantido"})];
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    assert_eq!(approved.publish.len(), 1, "{:?}", approved.not_published);
}

#[test]
fn what_this_apply_empties_keeps_it_a_draft() {
    let notify = json!({"key": "notify", "id": "stp_dddddddddddd",
        "config": {"scopeType": "channel", "scopeId": "$m_sales", "body": "x"}});
    let path = "graphConfig.steps.0.config.scopeId";
    let mut pack =
        live(json!([notify])).far("channel", "m_sales", "uuid", "sales", &[(1000, path)]);
    pack.dependencies[0]["required"] = true.into();
    pack.dependencies[0]["identity"] = json!({"name": "sales", "label": "Sales"});
    pack.external = vec!["m_sales"];
    let skip = r#"{"resolutions": {"m_sales": {"action": "skip"}}}"#;
    let approved = apply(&pack, skip, &furnished()).expect("approved");
    assert_eq!(because(&approved), [(path, "dependencia_saltada")]);
    let map = json!({"resolutions": {"m_sales": {"action": "map", "id": id(30)}}}).to_string();
    let approved = apply(&pack, &map, &furnished()).expect("approved");
    assert_eq!(approved.publish.len(), 1, "{:?}", approved.not_published);
}

#[test]
fn fields_are_listed_in_the_order_of_the_canonical_form() {
    let notify = |id: &str| json!({"key": "notify", "id": id, "config": {"scopeType": "channel", "scopeId": "$m_sales", "body": "x"}});
    let branches = json!({"key": "ifElse", "id": "stp_cccccccccccc", "config": {
        "then": [notify("stp_dddddddddddd")], "else": [notify("stp_eeeeeeeeeeee")],
        "condition": {"subject": "expression", "expression": "{{sys.now}}", "op": "isNotEmpty"}}});
    let [then, otherwise] = ["then", "else"]
        .map(|branch| format!("graphConfig.steps.0.config.{branch}.0.config.scopeId"));
    let uses = [(1000, then.as_str()), (1000, otherwise.as_str())];
    let mut pack = live(json!([branches])).far("channel", "m_sales", "uuid", "sales", &uses);
    pack.dependencies[0]["required"] = true.into();
    pack.dependencies[0]["identity"] = json!({"name": "sales", "label": "Sales"});
    pack.external = vec!["m_sales"];
    let by_hand = pack.text();
    let canonical = crate::package::canonical::write(&by_hand).expect("a package");
    let skip = request(r#"{"resolutions": {"m_sales": {"action": "skip"}}}"#);
    for text in [by_hand, canonical] {
        let approved = crate::apply::resolve(
            crate::apply::ResolveInput {
                package: &checked(&text),
                request: &skip,
                destination: &furnished(),
                past: crate::apply::JobHistory::default(),
                definitions: crate::definitions::Definitions::embedded(),
            },
            minter(),
        );
        let approved = approved.expect("approved");
        let skipped = "dependencia_saltada";
        let expected = [(otherwise.as_str(), skipped), (then.as_str(), skipped)];
        assert_eq!(because(&approved), expected);
        let reported = approved.unresolved.iter();
        let reported: Vec<&str> = reported.map(|entry| entry.path.as_str()).collect();
        assert_eq!(reported, [otherwise.as_str(), then.as_str()]);
    }
}

#[test]
fn only_what_was_live_is_listed() {
    let mut pack = live(json!([sends(http_config(&[("bearerToken", json!(""))]))]));
    pack = pack.create(
        "create_workflow_v2",
        "w_draft",
        json!({"workspaceId": "$workspace", "name": "Draft", "label": "Draft",
            "triggerConfig": {"type": "manual"}, "isDraft": true,
            "graphConfig": {"steps": [{"key": HTTP, "id": "stp_eeeeeeeeeeee", "config": http_config(&[("bearerToken", json!(""))])}]}}),
    );
    let approved = apply(&pack, "{}", &furnished()).expect("approved");
    because(&approved);
}

#[test]
fn an_earlier_draft_is_listed_until_people_complete_it_and_never_promoted() {
    let path = "graphConfig.steps.0.config.bearerToken";
    let mut pack = live(json!([sends(http_config(&[("bearerToken", json!(""))]))]));
    pack.redacted = vec![json!({"uid": uid(1000), "path": path, "reason": "Enter it again."})];
    let first = apply(&pack, "{}", &furnished()).expect("approved");
    let mut there = written(&first, furnished());
    let own = Entry::Structure(first.structure.entry.clone());
    // The job that goes on says what it said.
    let resumed = again(
        &pack,
        "{}",
        &there,
        Some(std::slice::from_ref(&own)),
        minter(),
    )
    .expect("approved");
    assert_eq!(resumed.not_published, first.not_published);
    let earlier = [own, Entry::Completed];
    let other = Minter::at(jiff::Timestamp::UNIX_EPOCH, 6);
    let second = again(&pack, "{}", &there, Some(&earlier), other).expect("approved");
    assert_eq!(because(&second), [(path, "redacted")]);
    let automation = &mut there.automations[0];
    let graph = Value::Object(automation.graph_config.clone()).write();
    let graph = graph.replace(r#""bearerToken":"""#, r#""bearerToken":"hush""#);
    let graph = graph.replace(r#""bearerToken": """#, r#""bearerToken": "hush""#);
    automation.graph_config = match Value::parse(&graph) {
        Ok(Value::Object(graph)) => graph,
        other => panic!("{other:?}"),
    };
    let third = again(&pack, "{}", &there, Some(&earlier), other).expect("approved");
    assert!(third.not_published.is_empty(), "{:?}", third.not_published);
    assert!(third.publish.is_empty(), "{:?}", third.publish);
}

/// Files and people cannot travel: people name them afterwards.
#[test]
fn what_people_named_and_who_applies_does_not_see_keeps_it_a_draft() {
    let mail = json!({"key": "email.send", "id": "stp_ffffffffffff",
        "config": {"to": "a@b.c", "subject": "s", "body": "b", "attachmentFileId": ""}});
    let secret = http_config(&[("bearerToken", json!(""))]);
    let pack = live(json!([mail, sends(secret)]));
    let first = apply(&pack, "{}", &furnished()).expect("approved");
    let mut there = written(&first, furnished());
    let file = id(77);
    let automation = &mut there.automations[0];
    let graph = Value::Object(automation.graph_config.clone()).write();
    let mut graph: Json = serde_json::from_str(&graph).expect("JSON");
    graph["steps"][0]["config"]["attachmentFileId"] = json!(file);
    graph["steps"][1]["config"]["bearerToken"] = json!("hush");
    automation.graph_config = match Value::parse(&graph.to_string()) {
        Ok(Value::Object(graph)) => graph,
        other => panic!("{other:?}"),
    };
    let earlier = [
        Entry::Structure(first.structure.entry.clone()),
        Entry::Completed,
    ];
    let other = Minter::at(jiff::Timestamp::UNIX_EPOCH, 6);
    let seen = again(&pack, "{}", &there, Some(&earlier), other).expect("approved");
    assert!(seen.not_published.is_empty(), "{:?}", seen.not_published);
    there.unseen = BTreeSet::from([file]);
    let unseen = again(&pack, "{}", &there, Some(&earlier), other).expect("approved");
    let path = "graphConfig.steps.0.config.attachmentFileId";
    assert_eq!(because(&unseen), [(path, "step_config_invalid")]);
}
