//! Every status that is not a success, next to those of the states.

use serde_json::json;

use super::{PATH, body, path, workflow};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    who_may_not_is_reported,
    bodies_that_make_no_sense,
    invalid_ones_are_not_kept
);

async fn who_may_not_is_reported(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let viewer = world.as_user("viewer@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let model = Model::new(&editor, world.acme);
    let new = body(&model.workspace, false);
    let it = workflow(&editor.create(PATH, &new));
    let verdict = json!({"workspace_id": model.workspace, "trigger_config": {"type": "manual"}, "graph_config": {"steps": []}});
    let validate = format!("{PATH}/validate");
    viewer.get(&path(&it, "")).expect(200);
    viewer.post(&validate, &verdict).expect(200);
    viewer.post(PATH, &new).refused(403, "forbidden");
    viewer
        .post_to(&it, "/apply", &json!({}))
        .refused(403, "forbidden");
    viewer
        .post_to(&it, "/versions", &json!({}))
        .refused(403, "forbidden");
    viewer.delete(&path(&it, "")).refused(403, "forbidden");
    stranger.post(PATH, &new).refused(404, "not_found");
    stranger.post(&validate, &verdict).refused(404, "not_found");
    stranger.get(&path(&it, "")).refused(404, "not_found");
    stranger
        .post_to(&it, "/apply", &json!({}))
        .refused(404, "not_found");
    stranger
        .post_to(&it, "/versions", &json!({}))
        .refused(404, "not_found");
    stranger.delete(&path(&it, "")).refused(404, "not_found");
    assert_eq!(stranger.items(PATH).len(), 0);
    let write = world.as_key(&["read", "write"]);
    write.post(&validate, &verdict).expect(200);
    write.post(PATH, &new).refused(403, "missing_scope");
    write
        .post_to(&it, "/apply", &json!({}))
        .refused(403, "missing_scope");
    write.delete(&path(&it, "")).refused(403, "missing_scope");
    let structure = world.as_key(&["write", "structure"]);
    structure.post(PATH, &new).expect(201);
    structure
        .post(&validate, &verdict)
        .refused(403, "missing_scope");
}

async fn bodies_that_make_no_sense(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let good = body(&model.workspace, true);
    for (key, value) in [
        ("name", json!(5)),
        ("is_draft", json!("yes")),
        ("is_draft", json!(null)),
        ("is_active", json!(true)),
        ("trigger_config", json!([])),
        ("trigger_config", json!(null)),
        ("graph_config", json!("x")),
        ("workspace_id", json!("x")),
        ("workflow_id", json!(world.context.id())),
    ] {
        let mut bad = good.clone();
        bad[key] = value.clone();
        let refused = editor.post(PATH, &bad).refused(422, "validation_failed");
        assert!(refused.body.contains(key), "{key} {value} {refused:?}");
    }
    for key in ["workspace_id", "name", "graph_config"] {
        let mut bad = good.clone();
        bad.as_object_mut().expect("an object").remove(key);
        editor.post(PATH, &bad).refused(422, "validation_failed");
    }
    let it = workflow(&editor.create(PATH, &good));
    editor
        .post_to(&it, "/apply", &json!({"version_id": 5}))
        .refused(422, "validation_failed");
    editor
        .post_to(&it, "/apply", &json!({"x": 5}))
        .refused(422, "validation_failed");
    editor
        .get(&path("nonsense", ""))
        .refused(422, "validation_failed");
    editor
        .get(&format!("{PATH}?active=yes"))
        .refused(422, "validation_failed");
    editor.json("POST", PATH, "{").refused(422, "invalid_json");
    editor
        .json("POST", PATH, r#"{"name":"a","name":"b"}"#)
        .refused(422, "invalid_json");
    editor
        .post(&path(&it, ""), &json!({}))
        .refused(405, "method_not_allowed");
}

async fn invalid_ones_are_not_kept(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let mut bad = body(&model.workspace, true);
    bad["graph_config"] = json!({"steps": [
        {"key": "nope"},
        {"key": "email.send", "config": {"to": "a@b.c", "body": "b"}},
        {"key": "ifElse", "config": {"condition": {"subject": "var", "var": "x", "op": "eq"}, "then": [{"key": "delay", "id": "x"}]}},
    ]});
    let refused = editor
        .post(PATH, &bad)
        .refused(422, "invalid_automation")
        .json();
    let reported: Vec<_> = refused["errors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|fault| (fault["code"].as_str(), fault["path"].as_str()))
        .collect();
    for fault in [
        ("unknown_step_key", "graph_config.steps[0].key"),
        (
            "step_config_invalid",
            "graph_config.steps[1].config.subject",
        ),
        ("unknown_var", "graph_config.steps[2].config.condition.var"),
        ("bad_step_id", "graph_config.steps[2].config.then[0].id"),
    ] {
        assert!(
            reported.contains(&(Some(fault.0), Some(fault.1))),
            "{reported:?}"
        );
        assert!(
            refused["detail"]
                .as_str()
                .is_some_and(|detail| detail.contains(fault.0))
        );
    }
    assert_eq!(editor.items(PATH).len(), 0);
    let mut missing = body(&model.workspace, true);
    missing
        .as_object_mut()
        .expect("an object")
        .remove("trigger_config");
    let refused = editor
        .post(PATH, &missing)
        .refused(422, "invalid_automation");
    let fault = &refused.json()["errors"][0];
    assert_eq!(
        (&fault["code"], &fault["path"]),
        (&json!("trigger_missing"), &json!("trigger_config.type"))
    );
}
