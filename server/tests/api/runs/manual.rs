//! Runs that somebody begins, and how they are read.

use serde_json::{Value, json};

use super::{Stage, code, ended, runs, write};
use crate::api::workflows::path;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    only_active_automations_run,
    a_row_may_be_named,
    a_run_is_read_with_its_steps,
    a_run_has_the_rights_of_who_began_it,
    a_key_begins_one_run,
    a_run_is_not_replayed_of_a_row_that_is_hidden_by_now,
);

const MANUAL: &str = "manual";

fn manual() -> Value {
    json!({"type": MANUAL})
}

async fn only_active_automations_run(place: Place) {
    let stage = Stage::new(place).await;
    let it = stage.published(
        &manual(),
        &json!([{"key": "notify", "config": {"scopeType": "organization"}}]),
    );
    stage
        .editor
        .post_to(&it, "/runs", &json!({}))
        .refused(409, "no_active_version");
    stage.world.switch(&it, true).await;
    // A body is not needed.
    let begun = stage
        .editor
        .send("POST", &path(&it, "/runs"), &[], None)
        .expect(202)
        .json();
    for (key, value) in [
        ("workflow_id", json!(it)),
        ("version", json!(1)),
        ("status", json!("queued")),
        ("trigger", json!("manual")),
        ("row_id", Value::Null),
        ("dry_run", json!(false)),
        ("started_at", Value::Null),
        ("finished_at", Value::Null),
        ("error", Value::Null),
        ("steps", json!([])),
    ] {
        assert_eq!(begun[key], value, "{key}");
    }
    assert_eq!(begun.as_object().expect("an object").len(), 11);
    for bad in [
        json!({"x": 1}),
        json!({"row_id": 5}),
        json!({"dry_run": "yes"}),
    ] {
        stage
            .editor
            .post_to(&it, "/runs", &bad)
            .refused(422, "validation_failed");
    }
    let viewer = stage.world.as_user("viewer@acme.test");
    viewer
        .post_to(&it, "/runs", &json!({}))
        .refused(403, "forbidden");
    viewer.get(&path(&it, "/runs")).expect(200);
    let stranger = stage.world.as_user("stranger@other.test");
    stranger
        .post_to(&it, "/runs", &json!({}))
        .refused(404, "not_found");
    stranger.get(&path(&it, "/runs")).refused(404, "not_found");
    let run = format!("/v1/workflow-runs/{}", begun["id"].as_str().expect("an id"));
    stranger.get(&run).refused(404, "not_found");
    viewer.get(&run).expect(200);
    stage
        .world
        .as_key(&["write"])
        .post_to(&it, "/runs", &json!({}))
        .expect(202);
    stage
        .world
        .as_key(&["read"])
        .post_to(&it, "/runs", &json!({}))
        .refused(403, "missing_scope");
}

async fn a_row_may_be_named(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, other) = (stage.model.feature.clone(), stage.table());
    let say = json!([{"key": "notify", "config": {"scopeType": "organization", "title": "{{vars.trigger.note}}/{{record.note}}"}}]);
    let by_hand = stage.fires(&manual(), &say).await;
    let watching = stage
        .fires(&Stage::on(&feature, &["deleted"], &[]), &say)
        .await;
    let row = stage.row(&feature, &json!({"note": "here"}));
    let there = stage.row(&other, &json!({"note": "there"}));
    stage
        .editor
        .post_to(&by_hand, "/runs", &json!({"row_id": row}))
        .refused(422, "validation_failed");
    stage
        .editor
        .post_to(
            &by_hand,
            "/runs",
            &json!({"row_id": there, "feature_id": feature}),
        )
        .refused(404, "not_found");
    let nothing = stage.world.context.id();
    stage
        .editor
        .post_to(
            &by_hand,
            "/runs",
            &json!({"row_id": row, "feature_id": nothing}),
        )
        .refused(404, "not_found");
    stage
        .editor
        .post_to(&watching, "/runs", &json!({"row_id": nothing}))
        .refused(404, "not_found");
    stage
        .editor
        .post_to(
            &watching,
            "/runs",
            &json!({"row_id": there, "feature_id": other}),
        )
        .refused(422, "validation_failed");
    stage
        .editor
        .post_to(
            &by_hand,
            "/runs",
            &json!({"row_id": there, "feature_id": other}),
        )
        .expect(202);
    stage
        .editor
        .post_to(&by_hand, "/runs", &json!({}))
        .expect(202);
    let begun = stage
        .editor
        .post_to(&watching, "/runs", &json!({"row_id": row}))
        .expect(202)
        .json();
    assert_eq!(begun["row_id"], json!(row));
    assert_eq!(stage.run_due().await, 3);
    let titles = |it: &str| -> Vec<Value> {
        stage
            .runs(it)
            .iter()
            .map(|run| run["steps"][0]["input"]["title"].clone())
            .collect()
    };
    assert_eq!(titles(&by_hand), ["there/there", "/"]);
    assert_eq!(titles(&watching), ["here/here"]);
}

async fn a_run_is_read_with_its_steps(place: Place) {
    let stage = Stage::new(place).await;
    let steps = json!([
        {"key": "var.set", "id": "stp_000000000001", "config": {"name": "x", "value": 5}},
        {"key": "ifElse", "id": "stp_000000000002", "config": {"condition": {"subject": "var", "var": "x", "op": "gt", "value": 4},
            "then": [write("insert", &stage.model.feature, &[("n", json!("{{vars.x}}"))])]}},
        write("insert", &stage.model.feature, &[("n", json!("text {{vars.x}}"))]),
        {"key": "notify", "config": {"scopeType": "organization"}},
    ]);
    let it = stage.fires(&manual(), &steps).await;
    let begun = stage
        .editor
        .post_to(&it, "/runs", &json!({}))
        .expect(202)
        .json();
    stage.world.wait(5);
    stage.run_due().await;
    let run = stage
        .editor
        .get(&format!(
            "/v1/workflow-runs/{}",
            begun["id"].as_str().expect("an id")
        ))
        .expect(200)
        .json();
    assert_eq!(run, stage.run(&it));
    assert_eq!(run["status"], "failed");
    assert!(run["started_at"].is_string() && run["finished_at"].is_string());
    let reported: Vec<_> = run["steps"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|step| {
            (
                step["path"].as_str().expect("a path"),
                step["key"].as_str().expect("a key"),
                step["status"].as_str().expect("a status"),
            )
        })
        .collect();
    assert_eq!(
        reported,
        [
            ("0", "var.set", "succeeded"),
            ("1", "ifElse", "succeeded"),
            ("1.then.0", "feature.write", "succeeded"),
            ("2", "feature.write", "failed"),
        ]
    );
    assert_eq!(run["steps"][1]["output"], json!({"branch": "then"}));
    assert_eq!(run["steps"][0]["id"], "stp_000000000001");
    let error = ended(&run).1;
    for part in [
        "step 2",
        "feature.write",
        "bindings.n",
        "text {{vars.x}}",
        "text 5",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(stage.all(&stage.model.feature), [json!({"n": 5})]);
}

async fn a_run_has_the_rights_of_who_began_it(place: Place) {
    let stage = Stage::new(place).await;
    let guarded = stage.table();
    let owner = stage.world.as_user("owner@acme.test");
    owner.create(&Stage::rows(&guarded), &json!({"data": {"note": "secret"}}));
    owner
        .patch(
            &format!("/v1/features/{guarded}"),
            &json!({"config": {"rowAccess": "own"}}),
        )
        .expect(200);
    stage.row(&guarded, &json!({"note": "mine"}));
    let out = stage.table();
    let steps = json!([
        {"key": "feature.read", "id": "stp_000000000001", "config": {"featureId": guarded}},
        write("insert", &out, &[("n", json!("{{vars.steps.stp_000000000001.count}}")), ("note", json!("{{record.note}}"))]),
    ]);
    let it = stage.fires(&manual(), &steps).await;
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    owner.post_to(&it, "/runs", &json!({})).expect(202);
    assert_eq!(stage.run_due().await, 2);
    assert_eq!(
        stage.all(&out),
        [
            json!({"n": 1, "note": "mine"}),
            json!({"n": 2, "note": "secret"})
        ]
    );
    // Rights are those of the moment, and those of a key end with it.
    let body = json!({"organization_id": stage.world.acme, "name": "brief", "scopes": ["write"],
        "expires_at": "2023-11-14T23:00:00Z"});
    let key = owner.post("/v1/api-keys", &body).expect(201).json();
    let key = stage.world.nobody.with(key["key"].as_str().expect("a key"));
    let begin = || {
        let begun = key.post_to(&it, "/runs", &json!({})).expect(202).json();
        format!("/v1/workflow-runs/{}", begun["id"].as_str().expect("an id"))
    };
    let (early, late) = (begin(), {
        stage.run_due().await;
        begin()
    });
    stage.world.wait(50 * 60);
    stage.run_due().await;
    let read = |run: &str| owner.get(run).expect(200).json();
    assert_eq!(read(&early)["status"], "succeeded");
    let late = read(&late);
    assert_eq!(ended(&late).0, "failed");
    assert_eq!(code(&late), "starter_lost_access");
    assert!(ended(&late).1.contains("no longer"), "{late}");
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    let members = stage.world.path("/members");
    let editor = owner
        .items(&members)
        .into_iter()
        .find(|member| member["email"] == "editor@acme.test");
    let editor = editor.expect("a member")["user_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    owner.delete(&format!("{members}/{editor}")).expect(204);
    stage.run_due().await;
    let last = runs(&owner, &it).pop().expect("a run");
    assert_eq!(ended(&last).0, "failed");
    assert!(ended(&last).1.contains("no longer"), "{last}");
}

async fn a_key_begins_one_run(place: Place) {
    let stage = Stage::new(place).await;
    let it = stage.fires(&manual(), &json!([{"key": "delay"}])).await;
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "once"),
    ];
    let send = || {
        stage
            .editor
            .send("POST", &path(&it, "/runs"), &headers, Some(b"{}"))
    };
    let (first, again) = (send().expect(202), send().expect(202));
    assert_eq!(first.body, again.body);
    assert_eq!(stage.run_due().await, 1);
}

async fn a_run_is_not_replayed_of_a_row_that_is_hidden_by_now(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let owner = stage.world.as_user("owner@acme.test");
    let row = owner.create(&Stage::rows(&feature), &json!({"data": {"status": "a"}}));
    let row = row["id"].as_str().expect("an id");
    let trigger = Stage::on(&feature, &["updated"], &[]);
    let it = stage.fires(&trigger, &json!([{"key": "delay"}])).await;
    let set = |access: &str| {
        let config = json!({"config": {"rowAccess": access}});
        let path = format!("/v1/features/{feature}");
        owner.patch(&path, &config).expect(200);
    };
    let send = |key: &str, body: &Value| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = body.to_string();
        let path = path(&it, "/runs");
        stage
            .editor
            .send("POST", &path, &headers, Some(body.as_bytes()))
    };
    // The table is named, or it is that of the trigger.
    for (key, body) in [
        (
            "named",
            json!({"dry_run": true, "row_id": row, "feature_id": feature}),
        ),
        ("watched", json!({"dry_run": true, "row_id": row})),
    ] {
        let first = send(key, &body).expect(202);
        assert_eq!(first.json()["row_id"], row);
        let again = send(key, &body).expect(202);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.body, first.body);
        set("own");
        let hidden = send(key, &body).refused(404, "not_found");
        assert_eq!(hidden.header("idempotency-replayed"), None);
        // Nothing has changed for who sees it again.
        set("all");
        assert_eq!(send(key, &body).expect(202).body, first.body);
    }
    // One that has gone was not hidden: the run may have removed it.
    owner
        .delete(&format!("{}/{row}", Stage::rows(&feature)))
        .expect(204);
    let again = send("watched", &json!({"dry_run": true, "row_id": row})).expect(202);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
}
