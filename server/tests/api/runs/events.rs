//! What fires and what does not: modes, watched columns, drafts, depth, whoever wrote the row.

use serde_json::{Value, json};

use super::{Stage, code, ended, write};
use crate::api::model::uuid;
use crate::api::workflows::path;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    it_fires_only_if_a_watched_column_really_changes,
    modes_are_held_to,
    a_removed_row_has_the_times_that_it_had,
    new_and_removed_rows_fire_for_watched_cells_that_are_filled,
    drafts_and_superseded_versions_never_fire,
    one_that_lost_its_subscription_is_activated_again,
    the_row_that_fired_is_written,
    a_loop_stops_at_depth_eight,
    an_event_is_undone_with_its_row,
    batches_fire_for_each_row,
    a_shared_table_fires_automations_elsewhere,
    a_row_that_nests_too_deep_ends_its_runs,
);

async fn it_fires_only_if_a_watched_column_really_changes(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let out = stage.table();
    let trigger = Stage::on(&feature, &["updated"], &["status", "n"]);
    let it = stage
        .fires(
            &trigger,
            &json!([write(
                "insert",
                &out,
                &[("note", json!("{{vars.trigger.status}}"))]
            )]),
        )
        .await;
    let row = stage.row(&feature, &json!({"status": "a", "n": 1, "note": "x"}));
    let at = format!("{}/{row}", Stage::rows(&feature));
    for (change, merge, fires) in [
        (json!({"note": "y"}), true, false),
        (json!({"status": "a"}), true, false),
        (json!({"n": 1.0}), true, false),
        (json!({"c": "z"}), true, false),
        (json!({"status": "b"}), true, true),
        (json!({"status": "b", "n": 1, "note": "q"}), false, false),
        (json!({"status": "b", "n": 2}), false, true),
        (json!({"n": null}), true, true),
        (json!({"n": null}), true, false),
        (json!({}), false, true),
    ] {
        let before = stage.runs(&it).len();
        stage
            .editor
            .patch(&format!("{at}?merge={merge}"), &json!({"data": change}))
            .expect(200);
        stage.run_due().await;
        let fired = stage.runs(&it).len() - before;
        assert_eq!(fired, usize::from(fires), "{change}");
    }
    for run in stage.runs(&it) {
        assert_eq!(ended(&run), ("succeeded", ""), "{run}");
        assert_eq!(
            (&run["trigger"], &run["row_id"]),
            (&json!("record.event"), &json!(row))
        );
    }
    assert_eq!(stage.all(&out)[0], json!({"note": "b"}));
}

async fn modes_are_held_to(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let say = json!([{"key": "notify", "config": {"scopeType": "organization", "title": "{{vars.trigger.status}}"}}]);
    let mut its = Vec::new();
    for mode in ["created", "updated", "deleted"] {
        its.push(stage.fires(&Stage::on(&feature, &[mode], &[]), &say).await);
    }
    let both = stage
        .fires(
            &Stage::on(&feature, &["created", "deleted"], &["status"]),
            &say,
        )
        .await;
    let row = stage.row(&feature, &json!({"status": "new"}));
    let at = format!("{}/{row}", Stage::rows(&feature));
    stage
        .editor
        .patch(&at, &json!({"data": {"status": "other"}}))
        .expect(200);
    stage
        .editor
        .patch(&at, &json!({"data": {"status": "other"}}))
        .expect(200);
    stage.editor.delete(&at).expect(204);
    stage.run_due().await;
    let titles = |it: &str| -> Vec<Value> {
        let runs = stage.runs(it).into_iter();
        runs.map(|run| run["steps"][0]["input"]["title"].clone())
            .collect()
    };
    assert_eq!(titles(&its[0]), ["new"]);
    assert_eq!(titles(&its[1]), ["other"]);
    assert_eq!(titles(&its[2]), ["other"]);
    assert_eq!(titles(&both), ["new", "other"]);
}

async fn a_removed_row_has_the_times_that_it_had(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let title = "{{vars.trigger.created_at}} {{record.updated_at}}";
    let say = json!([{"key": "notify", "config": {"scopeType": "organization", "title": title}}]);
    let it = stage
        .fires(&Stage::on(&feature, &["deleted"], &[]), &say)
        .await;
    let row = stage.row(&feature, &json!({"status": "new"}));
    let at = format!("{}/{row}", Stage::rows(&feature));
    stage.world.wait(1);
    let change = json!({"data": {"status": "other"}});
    let row = stage.editor.patch(&at, &change).expect(200).json();
    stage.world.wait(1);
    stage.editor.delete(&at).expect(204);
    stage.run_due().await;
    let run = stage.run(&it);
    let times = ["created_at", "updated_at"].map(|key| row[key].as_str().expect("a time"));
    assert_ne!(times[0], times[1]);
    assert_eq!(run["steps"][0]["input"]["title"], times.join(" "));
}

async fn new_and_removed_rows_fire_for_watched_cells_that_are_filled(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let modes = ["created", "deleted"];
    let trigger = Stage::on(&feature, &modes, &["status", "n"]);
    let say = json!([{"key": "notify", "config": {"scopeType": "organization", "title": "x"}}]);
    let it = stage.fires(&trigger, &say).await;
    let any = stage.fires(&Stage::on(&feature, &modes, &[]), &say).await;
    for (data, fires) in [
        (json!({"n": 0}), true),
        (json!({"note": "a", "status": "b"}), true),
        (json!({"note": "a"}), false),
        (json!({"note": "a", "status": null, "n": null}), false),
        (json!({}), false),
    ] {
        let (before, all) = (stage.runs(&it).len(), stage.runs(&any).len());
        let row = stage.row(&feature, &data);
        stage.run_due().await;
        let at = format!("{}/{row}", Stage::rows(&feature));
        let created = stage.runs(&it).len() - before;
        stage.editor.delete(&at).expect(204);
        stage.run_due().await;
        let both = stage.runs(&it).len() - before;
        let once = usize::from(fires);
        assert_eq!((created, both), (once, 2 * once), "{data}");
        assert_eq!(stage.runs(&any).len() - all, 2, "{data}");
    }
}

async fn drafts_and_superseded_versions_never_fire(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    let trigger = Stage::on(&feature, &["created"], &[]);
    let say = |text: &str| json!([write("insert", &out, &[("note", json!(text))])]);
    let it = stage.published(&trigger, &say("one"));
    stage.row(&feature, &json!({}));
    assert_eq!(stage.run_due().await, 0, "published and inactive");
    stage.world.switch(&it, true).await;
    stage.row(&feature, &json!({}));
    stage
        .editor
        .post_to(
            &it,
            "/versions",
            &json!({"graph_config": {"steps": say("two")}}),
        )
        .expect(201);
    stage.row(&feature, &json!({}));
    assert_eq!(stage.run_due().await, 2, "the draft does not fire");
    stage.editor.post_to(&it, "/apply", &json!({})).expect(200);
    stage.row(&feature, &json!({}));
    assert_eq!(stage.run_due().await, 1);
    // What happened while it fired is executed, paused or not; what happens later is not.
    stage.row(&feature, &json!({}));
    stage.world.switch(&it, false).await;
    stage.row(&feature, &json!({}));
    assert_eq!(stage.run_due().await, 1);
    let notes: Vec<_> = stage
        .all(&out)
        .iter()
        .map(|row| row["note"].clone())
        .collect();
    assert_eq!(notes, ["one", "one", "two", "two"]);
    let versions: Vec<_> = stage
        .runs(&it)
        .iter()
        .map(|run| run["version"].clone())
        .collect();
    assert_eq!(versions, [1, 1, 2, 2]);
    stage.editor.delete(&path(&it, "")).expect(204);
    assert_eq!(
        stage
            .world
            .sql("SELECT id FROM workflow_runs", vec![])
            .await
            .len(),
        0
    );
}

async fn one_that_lost_its_subscription_is_activated_again(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let trigger = Stage::on(&feature, &["created"], &[]);
    let say = json!([{"key": "notify", "config": {"scopeType": "organization", "title": "x"}}]);
    let it = stage.fires(&trigger, &say).await;
    let lost = "DELETE FROM main.workflow_watchers WHERE workflow_id = $1";
    stage.world.sql(lost, vec![uuid(&it).into()]).await;
    stage.row(&feature, &json!({}));
    assert_eq!(stage.run_due().await, 0);
    assert!(stage.world.switch(&it, true).await);
    stage.row(&feature, &json!({}));
    assert_eq!(stage.run_due().await, 1);
}

async fn the_row_that_fired_is_written(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let trigger = Stage::on(&feature, &["updated"], &["status"]);
    let steps = json!([write(
        "updateTrigger",
        &feature,
        &[
            (
                "note",
                json!("was {{vars.trigger.status}}, n {{vars.trigger.n}}")
            ),
            ("n", json!("{{record.n}}"))
        ]
    )]);
    let it = stage.fires(&trigger, &steps).await;
    let row = stage.row(&feature, &json!({"status": "open", "c": "kept"}));
    let at = format!("{}/{row}", Stage::rows(&feature));
    let changed = stage
        .editor
        .patch(
            &format!("{at}?merge=true"),
            &json!({"data": {"status": "won"}}),
        )
        .expect(200);
    // The event has the row as the response and the store have it.
    let event = "SELECT record FROM workflow_events";
    let event = stage.world.sql(event, vec![]).await[0].get::<String>(0);
    assert_eq!(event.as_deref(), Ok(changed.body.as_str()));
    assert_eq!(stage.editor.get(&at).body, changed.body);
    assert_eq!(stage.run_due().await, 1);
    assert_eq!(
        stage.data(&feature, &row),
        json!({"status": "won", "c": "kept", "note": "was won, n "})
    );
    // Each change is later than the one before, whatever the clock says.
    let times =
        [stage.editor.get(&at).json(), changed.json()].map(|row| row["updated_at"].to_string());
    assert!(times[0] > times[1], "{times:?}");
    let run = stage.run(&it);
    assert_eq!(run["steps"][0]["output"], json!({"rowId": row, "count": 1}));
    // A row that is gone by then.
    stage
        .editor
        .patch(
            &format!("{at}?merge=true"),
            &json!({"data": {"status": "lost"}}),
        )
        .expect(200);
    stage.editor.delete(&at).expect(204);
    stage.run_due().await;
    let run = stage.runs(&it).remove(1);
    assert_eq!(ended(&run).0, "failed");
    assert!(ended(&run).1.contains("gone"), "{run}");
}

async fn a_loop_stops_at_depth_eight(place: Place) {
    let stage = Stage::new(place).await;
    let (ping, pong) = (stage.model.feature.clone(), stage.table());
    // Each writes into the other's table: no single automation is a cycle.
    let one = stage
        .fires(
            &Stage::on(&ping, &["created"], &[]),
            &json!([write("insert", &pong, &[("note", json!("x"))])]),
        )
        .await;
    let other = stage
        .fires(
            &Stage::on(&pong, &["created"], &[]),
            &json!([write("insert", &ping, &[("note", json!("x"))])]),
        )
        .await;
    stage.row(&ping, &json!({}));
    assert_eq!(stage.run_due().await, 8);
    let (one, other) = (stage.runs(&one), stage.runs(&other));
    let all: Vec<&Value> = one.iter().chain(&other).collect();
    assert_eq!(all.len(), 9, "the ninth is recorded, and not executed");
    let failed: Vec<_> = all.iter().filter(|run| run["status"] == "failed").collect();
    assert_eq!(failed.len(), 1);
    assert!(ended(failed[0]).1.contains("depth of 9"), "{failed:?}");
    assert_eq!(failed[0]["steps"], json!([]));
    assert_eq!(stage.all(&ping).len() + stage.all(&pong).len(), 9);
}

async fn an_event_is_undone_with_its_row(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    let unique = json!({"label": "u", "type": "text", "config": {"unique": true}});
    stage.editor.create(&stage.model.columns(), &unique);
    let it = stage
        .fires(
            &Stage::on(&feature, &["created"], &[]),
            &json!([{"key": "delay"}]),
        )
        .await;
    stage.row(&feature, &json!({"u": "a"}));
    let rows = Stage::rows(&feature);
    stage
        .editor
        .post(&rows, &json!({"data": {"u": "a"}}))
        .refused(409, "unique_violation");
    let batch = json!({"rows": [{"data": {"u": "b"}}, {"data": {"u": "b"}}]});
    stage
        .editor
        .post(&format!("{rows}:batch"), &batch)
        .refused(409, "unique_violation");
    stage.run_due().await;
    assert_eq!(stage.runs(&it).len(), 1);
}

async fn batches_fire_for_each_row(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    let it = stage
        .fires(
            &Stage::on(&feature, &["created"], &[]),
            &json!([write("insert", &out, &[("n", json!("{{record.n}}"))])]),
        )
        .await;
    let rows: Vec<Value> = (0..150).map(|n| json!({"data": {"n": n}})).collect();
    stage
        .editor
        .post(
            &format!("{}:batch", Stage::rows(&feature)),
            &json!({"rows": rows}),
        )
        .expect(201);
    assert_eq!(stage.run_due().await, 150);
    assert_eq!(stage.runs(&it).len(), 150);
    let mut numbers: Vec<_> = stage
        .all(&out)
        .iter()
        .map(|row| row["n"].as_i64().expect("a number"))
        .collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..150));
}

/// Who writes the row need not see the automation.
async fn a_shared_table_fires_automations_elsewhere(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let share = json!({"is_shared": true});
    owner
        .patch(&format!("/v1/features/{}", stage.model.feature), &share)
        .expect(200);
    let closed = crate::api::model::Model::new(&owner, stage.world.acme);
    owner
        .patch(
            &format!("/v1/workspaces/{}", closed.workspace),
            &json!({"access": "members"}),
        )
        .expect(200);
    let body = json!({"workspace_id": closed.workspace, "name": "a", "is_draft": false,
        "trigger_config": Stage::on(&stage.model.feature, &["created"], &[]),
        "graph_config": {"steps": [write("insert", &closed.feature, &[("c", json!("{{record.note}}"))])]}});
    let it = crate::api::workflows::workflow(&owner.create(crate::api::workflows::PATH, &body));
    stage.world.switch(&it, true).await;
    stage.row(&stage.model.feature, &json!({"note": "seen"}));
    assert_eq!(stage.run_due().await, 1);
    let rows = owner.items(&format!("/v1/features/{}/rows", closed.feature));
    assert_eq!(rows[0]["data"], json!({"c": "seen"}));
    stage
        .editor
        .get(&path(&it, "/runs"))
        .refused(404, "not_found");
    assert_eq!(owner.items(&path(&it, "/runs")).len(), 1);
}

async fn a_row_that_nests_too_deep_ends_its_runs(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    let any = json!({"label": "any", "type": "json"});
    stage.editor.create(&stage.model.columns(), &any);
    let note = json!("{{vars.trigger.status}}");
    let say = json!([write("insert", &out, &[("note", note)])]);
    let trigger = Stage::on(&feature, &["created", "updated"], &[]);
    let it = stage.fires(&trigger, &say).await;
    let cells = |levels: usize, status: &str| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"any":{open}{close},"status":"{status}"}}"#)
    };
    let new = format!(r#"{{"data":{}}}"#, cells(122, "new"));
    stage
        .editor
        .json("POST", &Stage::rows(&feature), &new)
        .expect(201);
    stage.run_due().await;
    assert_eq!(ended(&stage.run(&it)), ("succeeded", ""));
    // Cells may be deeper: without its row no run goes on.
    for levels in [123, 126, 127] {
        let data = cells(levels, "old");
        let row = stage.world.row(&stage.model, None, &data).await.to_string();
        let at = format!("{}/{row}?merge=true", Stage::rows(&feature));
        let change = json!({"data": {"note": "changed"}});
        stage.editor.patch(&at, &change).expect(200);
        for dry_run in [false, true] {
            let begin = json!({"row_id": row, "feature_id": feature, "dry_run": dry_run});
            stage.editor.post_to(&it, "/runs", &begin).expect(202);
        }
        stage.run_due().await;
    }
    let runs = stage.runs(&it);
    assert_eq!(runs.len(), 10);
    for run in &runs[1..] {
        assert_eq!((ended(run).0, code(run)), ("failed", "run_too_large"));
        assert!(ended(run).1.contains("122 lists and objects"), "{run}");
        assert_eq!(run["steps"], json!([]));
    }
    assert_eq!(stage.all(&out), [json!({"note": "new"})]);
}
