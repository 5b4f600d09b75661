//! `validate`: the library's verdict with what exists in the workspace.

use serde_json::{Value, json};
use tplkit_server::automation::channels::{NewChannel, create_channel};

use super::{PATH, body, graph, workflow};
use crate::api::client::Client;
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_verdict_writes_nothing,
    triggers_have_their_own_responses,
    what_does_not_exist_is_reported_like_what_is_hidden,
    chains_are_checked_with_their_tables,
    between_takes_two_values_in_order,
);

fn verdict(client: &Client, workspace: &str, trigger: &Value, steps: &Value) -> Value {
    let body =
        json!({"workspace_id": workspace, "trigger_config": trigger, "graph_config": graph(steps)});
    client
        .post(&format!("{PATH}/validate"), &body)
        .expect(200)
        .json()
}

/// Code, target and path of each issue.
fn issues(verdict: &Value) -> Vec<(String, String, String)> {
    let issues = verdict["issues"].as_array().expect("a list").iter();
    let text = |issue: &Value, key: &str| issue[key].as_str().expect("text").to_owned();
    issues
        .map(|issue| {
            (
                text(issue, "code"),
                text(issue, "target"),
                text(issue, "path"),
            )
        })
        .collect()
}

fn reported(code: &str, target: &str, path: &str) -> Vec<(String, String, String)> {
    vec![(code.to_owned(), target.to_owned(), path.to_owned())]
}

const NOTIFY: &str = r#"[{"key": "notify", "config": {"scopeType": "organization"}}]"#;

fn notify() -> Value {
    serde_json::from_str(NOTIFY).expect("JSON")
}

async fn a_verdict_writes_nothing(place: Place) {
    let world = World::new(place).await;
    let viewer = world.as_user("viewer@acme.test");
    let model = Model::new(&world.as_user("editor@acme.test"), world.acme);
    let before = world.counts().await;
    let empty = verdict(
        &viewer,
        &model.workspace,
        &json!({"type": "manual"}),
        &json!([]),
    );
    assert_eq!(empty["ok"], true, "a warning never blocks");
    assert_eq!(issues(&empty), reported("graph_empty", "graph", ""));
    assert_eq!(empty["issues"][0]["severity"], "warning");
    let bare = json!({"workspace_id": model.workspace, "trigger_config": {"type": "manual"}});
    let bare = viewer
        .post(&format!("{PATH}/validate"), &bare)
        .expect(200)
        .json();
    assert_eq!(issues(&bare), reported("graph_empty", "graph", ""));
    let good = verdict(
        &viewer,
        &model.workspace,
        &json!({"type": "manual"}),
        &notify(),
    );
    assert_eq!(good, json!({"ok": true, "issues": []}));
    assert_eq!(world.counts().await, before);
    assert_eq!(viewer.items(PATH).len(), 0);
    for wrong in [
        json!({}),
        json!({"workspace_id": 5}),
        json!({"workspace_id": model.workspace, "graph_config": 5}),
    ] {
        viewer
            .post(&format!("{PATH}/validate"), &wrong)
            .refused(422, "validation_failed");
    }
}

async fn triggers_have_their_own_responses(place: Place) {
    let world = World::new(place).await;
    let viewer = world.as_user("viewer@acme.test");
    let model = Model::new(&world.as_user("editor@acme.test"), world.acme);
    for (trigger, code, path) in [
        (json!({"type": ""}), "trigger_missing", "type"),
        (json!({}), "trigger_missing", "type"),
        (json!({"type": "notify"}), "trigger_is_step", "type"),
        (json!({"type": "nope"}), "trigger_unknown_key", "type"),
        (
            json!({"type": "cron", "config": {"mode": "daily"}}),
            "trigger_config_invalid",
            "config.atTime",
        ),
        (
            json!({"type": "cron", "config": {"mode": "hourly", "timezone": "Mars/North"}}),
            "trigger_config_invalid",
            "config.timezone",
        ),
    ] {
        let verdict = verdict(&viewer, &model.workspace, &trigger, &notify());
        assert_eq!(
            issues(&verdict),
            reported(code, "trigger", path),
            "{trigger}"
        );
        assert_eq!(verdict["ok"], false);
    }
}

async fn what_does_not_exist_is_reported_like_what_is_hidden(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let viewer = world.as_user("viewer@acme.test");
    let model = Model::new(&owner, world.acme);
    let closed = Model::new(&owner, world.acme);
    let close = json!({"access": "members"});
    owner
        .patch(&format!("/v1/workspaces/{}", closed.workspace), &close)
        .expect(200);
    let foreign = Model::new(&world.as_user("stranger@other.test"), world.other);
    let elsewhere = Model::new(&owner, world.acme);
    let watch = |feature: &str| json!({"type": "record.event", "config": {"modes": ["created"], "featureId": feature}});
    let mut responses = Vec::new();
    for feature in [
        &closed.feature,
        &foreign.feature,
        &elsewhere.feature,
        &world.context.id().to_string(),
    ] {
        let trigger = verdict(&viewer, &model.workspace, &watch(feature), &notify());
        assert_eq!(
            issues(&trigger),
            reported("trigger_config_invalid", "trigger", "config.featureId")
        );
        let read = json!([{"key": "feature.read", "config": {"featureId": feature}}, notify()[0]]);
        let graph = verdict(&viewer, &model.workspace, &json!({"type": "manual"}), &read);
        assert_eq!(
            issues(&graph),
            reported("step_config_invalid", "graph", "0.config.featureId")
        );
        responses.push((
            trigger.to_string().replace(feature, ""),
            graph.to_string().replace(feature, ""),
        ));
    }
    assert!(
        responses.iter().all(|response| *response == responses[0]),
        "{responses:#?}"
    );
    // A shared table may be watched from other workspaces.
    owner
        .patch(
            &format!("/v1/features/{}", elsewhere.feature),
            &json!({"is_shared": true}),
        )
        .expect(200);
    let shared = verdict(
        &viewer,
        &model.workspace,
        &watch(&elsewhere.feature),
        &notify(),
    );
    assert_eq!(shared["ok"], true);
    let new = NewChannel {
        id: world.context.id(),
        organization: world.acme,
        name: "desk".to_owned(),
        now: world.context.now(),
    };
    let channel = create_channel(&world.store, new).await.expect("creates").id;
    let it = workflow(&owner.create(PATH, &body(&model.workspace, false)));
    for (step, path) in [
        (
            json!({"key": "notify", "config": {"scopeType": "channel", "scopeId": channel}}),
            None,
        ),
        (
            json!({"key": "notify", "config": {"scopeType": "channel", "scopeId": world.context.id()}}),
            Some("0.config.scopeId"),
        ),
        (
            json!({"key": "notify", "config": {"scopeType": "user", "scopeId": world.context.id()}}),
            Some("0.config.scopeId"),
        ),
        (
            json!({"key": "automation.run", "config": {"workflowId": it}}),
            None,
        ),
        (
            json!({"key": "automation.run", "config": {"workflowId": world.context.id()}}),
            Some("0.config.workflowId"),
        ),
        // A wrong name fails when it is used.
        (
            json!({"key": "http.request", "config": {"connectionName": "nope"}}),
            None,
        ),
    ] {
        let verdict = verdict(
            &viewer,
            &model.workspace,
            &json!({"type": "manual"}),
            &json!([step]),
        );
        let expected = path.map_or(Vec::new(), |path| {
            reported("step_config_invalid", "graph", path)
        });
        assert_eq!(issues(&verdict), expected, "{step}");
    }
}

async fn chains_are_checked_with_their_tables(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme);
    let other = json!({"workspace_id": model.workspace, "label": "Other"});
    let other = crate::api::model::id(&owner.create("/v1/features", &other));
    let watch = json!({"type": "record.event", "config":
        {"modes": ["updated"], "featureId": model.feature, "watchedColumns": ["c"]}});
    let write = |mode: &str, feature: &str, column: &str| {
        json!([{"key": "feature.write", "config": {"mode": mode, "targetFeatureId": feature,
            "bindings": [{"targetColumn": column, "value": "x"}]}}])
    };
    owner.create(&model.columns(), &json!({"label": "D", "type": "text"}));
    let say = |text: &str| json!([{"key": "notify", "config": {"scopeType": "organization", "title": text}}]);
    let own = world.context.id().to_string();
    let body = |trigger: &Value, steps: &Value| {
        json!({"workspace_id": model.workspace,
        "trigger_config": trigger, "graph_config": graph(steps), "workflow_id": own})
    };
    for (steps, code, path) in [
        (say("{{vars.trigger.c}}"), "", ""),
        // What every row has next to its cells is read like a column, and never written.
        (
            say("{{vars.trigger.id}} {{vars.trigger.created_at}}"),
            "",
            "",
        ),
        (
            json!([{"key": "feature.read", "config": {"featureId": model.feature,
                "filterGroup": {"rules": [{"columnName": "created_at", "operator": "lessThan", "value": "{{sys.now}}"}]},
                "orderBy": {"column": "updated_at"}}}, notify()[0]]),
            "",
            "",
        ),
        (
            write("updateTrigger", &model.feature, "created_at"),
            "step_config_invalid",
            "0.config.bindings.0.targetColumn",
        ),
        (
            say("{{vars.trigger.nope}}"),
            "unknown_var",
            "0.config.title",
        ),
        (
            say("{{vars.steps.stp_000000000000.count}}"),
            "unknown_step_ref",
            "0.config.title",
        ),
        (say("{{vars.x.y}}"), "expression_syntax", "0.config.title"),
        (write("updateTrigger", &model.feature, "d"), "", ""),
        (
            write("updateTrigger", &model.feature, "c"),
            "reactive_cycle_column_overlap",
            "0",
        ),
        (
            write("updateTrigger", &other, "c"),
            "trigger_row_write_target_mismatch",
            "0.config.targetFeatureId",
        ),
        (
            write("updateTrigger", &model.feature, "nope"),
            "step_config_invalid",
            "0.config.bindings.0.targetColumn",
        ),
        (
            json!([{"key": "automation.run", "config": {"workflowId": own}}]),
            "self_recursion",
            "0.config.workflowId",
        ),
        (json!([{"key": "delay"}]), "chain_has_no_delivery", ""),
    ] {
        let verdict = owner
            .post(&format!("{PATH}/validate"), &body(&watch, &steps))
            .expect(200)
            .json();
        let found = issues(&verdict);
        if code.is_empty() {
            assert_eq!(found, [], "{steps}");
        } else {
            assert!(
                found.iter().any(|(known, _, at)| known == code
                    && (at == path || path.is_empty() || at.starts_with(path))),
                "{steps} {found:?}"
            );
            // That it is not stored yet is not a second mistake.
            assert!(code != "self_recursion" || found.len() == 1, "{found:?}");
        }
    }
    // Refs belong to packages.
    let refs =
        json!({"type": "record.event", "config": {"modes": ["created"], "featureId": "$f_orders"}});
    let verdict = verdict(&owner, &model.workspace, &refs, &notify());
    assert_eq!(
        issues(&verdict),
        reported("trigger_config_invalid", "trigger", "config.featureId")
    );
}

async fn between_takes_two_values_in_order(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let steps = |value: &Value| {
        let rule = json!({"columnName": "c", "operator": "between", "value": value});
        let read = json!({"featureId": model.feature, "filterGroup": {"rules": [rule]}});
        json!([{"key": "feature.read", "config": read}, notify()[0]])
    };
    let manual = json!({"type": "manual"});
    let found = |value: &Value| issues(&verdict(&editor, &model.workspace, &manual, &steps(value)));
    let at = "0.config.filterGroup.rules.0.value";
    for value in [
        json!(5),
        json!("1,2"),
        json!([1]),
        json!([1, 2, 3]),
        json!([null, 2]),
        json!([1, ""]),
        json!([10, 9]),
        json!(["b", "a"]),
    ] {
        assert_eq!(
            found(&value),
            reported("step_config_invalid", "graph", at),
            "{value}"
        );
        let mut body = body(&model.workspace, true);
        body["graph_config"] = graph(&steps(&value));
        editor.post(PATH, &body).refused(422, "invalid_automation");
    }
    for value in [
        json!([9, 10]),
        json!(["a", "b"]),
        json!(["{{sys.today}}", "2020-01-01"]),
    ] {
        assert_eq!(found(&value), [], "{value}");
    }
}
