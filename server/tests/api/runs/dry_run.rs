//! Dry runs: everything is shown, nothing is done.

use serde_json::json;

use super::{Stage, ended, key, write};
use crate::api::workflows::path;
use crate::sinks::{HttpSink, MailSink};
use crate::stores::{Place, on_both_stores};
use tplkit_server::automation::Settings;
use tplkit_server::automation::channels::{NewChannel, create_channel};

on_both_stores!(
    a_dry_run_shows_and_does_nothing,
    a_dry_run_fails_where_a_run_would,
    a_dry_run_checks_what_needs_nobody_outside,
    a_dry_run_needs_nothing_that_is_set_up_later,
);

async fn a_dry_run_shows_and_does_nothing(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    let (mails, requests) = (MailSink::start(), HttpSink::start("200 OK", "{}"));
    stage.connection("post", "smtp", &mails.url, None).await;
    stage.connection("api", "http", &requests.url, None).await;
    // It would fire others.
    stage
        .fires(
            &Stage::on(&out, &["created"], &[]),
            &json!([{"key": "delay"}]),
        )
        .await;
    let other = stage
        .fires(&json!({"type": "manual"}), &json!([{"key": "delay"}]))
        .await;
    let steps = json!([
        write("insert", &out, &[("n", json!("{{record.n}}"))]),
        {"key": "feature.read", "id": "stp_000000000001", "config": {"featureId": out}},
        write("updateTrigger", &feature, &[("n", json!("{{vars.steps.stp_000000000001.count}}"))]),
        {"key": "email.send", "config": {"to": "a@b.c", "subject": "n={{record.n}}", "body": "b", "connectionName": "post"}},
        {"key": "http.request", "config": {"connectionName": "api"}},
        {"key": "notify", "config": {"scopeType": "organization", "title": "t"}},
        {"key": "delay", "config": {"seconds": 3600}},
        {"key": "automation.run", "config": {"workflowId": other}},
    ]);
    // A draft, which could not be run.
    let body = json!({"workspace_id": stage.model.workspace, "name": "d", "trigger_config": {"type": "manual"}, "graph_config": {"steps": steps}});
    let draft =
        crate::api::workflows::workflow(&stage.editor.create(crate::api::workflows::PATH, &body));
    let row = stage.row(&feature, &json!({"n": 7}));
    stage.run_due().await;
    let before = stage.world.counts().await;
    let begin = json!({"row_id": row, "feature_id": feature, "dry_run": true});
    let begun = stage
        .editor
        .post_to(&draft, "/runs", &begin)
        .expect(202)
        .json();
    assert_eq!(begun["dry_run"], true);
    let executor = stage.executor_with(Settings {
        secret_key: Some(key()),
        ..Settings::default()
    });
    assert_eq!(executor.run_due().await.expect("runs"), 1);
    let run = stage.run(&draft);
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
    let steps = run["steps"].as_array().expect("a list");
    assert_eq!(steps.len(), 8);
    assert!(steps.iter().all(|step| step["status"] == "succeeded"));
    assert_eq!(steps[0]["output"]["count"], 1);
    // It sees what it wrote itself.
    assert_eq!(steps[1]["output"]["count"], 1);
    assert_eq!(steps[3]["input"]["subject"], "n=7");
    assert!(mails.mails().is_empty() && requests.received().is_empty());
    assert_eq!(stage.data(&feature, &row), json!({"n": 7}));
    let after: Vec<_> = stage.world.counts().await;
    for (one, other) in before.iter().zip(&after).filter(|(one, _)| one.0 != "runs") {
        assert_eq!(one, other);
    }
    assert_eq!(stage.runs(&other).len(), 0);
    assert_eq!(
        stage
            .world
            .sql("SELECT id FROM notifications", vec![])
            .await
            .len(),
        0
    );
    assert_eq!(
        stage.editor.get(&path(&draft, "")).expect(200).json()["is_draft"],
        true
    );
}

async fn a_dry_run_fails_where_a_run_would(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let steps = json!([
        write("insert", &feature, &[("n", json!(1))]),
        write("insert", &feature, &[("n", json!("one"))]),
        {"key": "notify", "config": {"scopeType": "organization"}},
    ]);
    let it = stage.published(&json!({"type": "manual"}), &steps);
    stage
        .editor
        .post_to(&it, "/runs", &json!({"dry_run": true}))
        .expect(202);
    stage.run_due().await;
    let run = stage.run(&it);
    assert_eq!(run["status"], "failed");
    assert!(ended(&run).1.contains("bindings.n"), "{run}");
    assert_eq!(run["steps"].as_array().expect("a list").len(), 2);
    assert_eq!(stage.all(&feature).len(), 0);
}

async fn a_dry_run_checks_what_needs_nobody_outside(place: Place) {
    let stage = Stage::new(place).await;
    let out = stage.table();
    for (name, kind, url) in [
        ("post", "smtp", "smtp://mail.example.com:25"),
        ("api", "http", "https://api.example.com/v1"),
        ("rhythm", "timer", "cron:0 8 * * *"),
    ] {
        stage.connection(name, kind, url, None).await;
    }
    let manual = json!({"type": "manual"});
    let new = NewChannel {
        id: stage.world.context.id(),
        organization: stage.world.acme,
        name: "desk".to_owned(),
        now: stage.world.context.now(),
    };
    let channel = create_channel(&stage.world.store, new).await;
    let channel = channel.expect("creates").id;
    let mail = |to: &str, connection: &str| json!({"key": "email.send", "config": {"to": to, "subject": "s", "body": "b", "connectionName": connection}});
    let wait = |timer: &str| json!({"key": "delay", "config": {"timerProfile": timer}});
    let cases = [
        (mail("not an address", "post"), "is not an address"),
        (mail("a@b.c", "api"), "is of kind http"),
        (
            json!({"key": "http.request", "config": {"connectionName": "api", "path": "../x"}}),
            "leads out of the connection's address",
        ),
        (
            json!({"key": "notify", "config": {"scopeType": "channel", "scopeId": channel, "title": "t"}}),
            "has no channel of that id",
        ),
        (wait("rhythm"), "a rhythm and no while"),
    ];
    let write = write("insert", &out, &[("n", json!(1))]);
    let mut automations = Vec::new();
    for (step, why) in cases {
        // Behind a write, a dry run is in one transaction.
        for steps in [vec![step.clone()], vec![write.clone(), step.clone()]] {
            let it = stage.fires(&manual, &json!(steps)).await;
            automations.push((it, why));
        }
    }
    let gone = "DELETE FROM main.channels WHERE id = $1";
    stage.world.sql(gone, vec![channel.into()]).await;
    for (it, why) in automations {
        for dry_run in [true, false] {
            let begin = json!({ "dry_run": dry_run });
            stage.editor.post_to(&it, "/runs", &begin).expect(202);
        }
        stage.run_due().await;
        let runs = stage.runs(&it);
        let ends: Vec<(&str, &str)> = runs.iter().map(ended).collect();
        assert_eq!(ends.len(), 2, "{runs:?}");
        assert_eq!(ends[0], ends[1], "{runs:?}");
        let (status, detail) = ends[0];
        assert!(
            status == "failed" && detail.contains(why),
            "{why}: {runs:?}"
        );
    }
}

/// What a step is for is left out, and may be set up later.
async fn a_dry_run_needs_nothing_that_is_set_up_later(place: Place) {
    let stage = Stage::new(place).await;
    let manual = json!({"type": "manual"});
    let paused = stage.published(&manual, &json!([{"key": "delay"}]));
    let mail = json!({"key": "email.send", "config":
        {"to": "a@b.c", "subject": "s", "body": "b", "connectionName": "none"}});
    let request = json!({"key": "http.request", "config": {"connectionName": "none", "path": "x"}});
    let wait = json!({"key": "delay", "config": {"timerProfile": "none"}});
    let other = json!({"key": "automation.run", "config": {"workflowId": paused}});
    let it = stage
        .fires(&manual, &json!([mail, request, wait, other]))
        .await;
    let begin = json!({"dry_run": true});
    stage.editor.post_to(&it, "/runs", &begin).expect(202);
    stage.run_due().await;
    let run = stage.run(&it);
    assert_eq!(ended(&run), ("succeeded", ""), "{run}");
}
