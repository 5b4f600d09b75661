//! Drafts, publishing, activation: checklist of states, one test each.

use std::thread;

use serde_json::{Value, json};

use super::{PATH, body, graph, path, steps, text, workflow};
use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_draft_unless_asked_otherwise,
    applying_keeps_whether_it_fires,
    a_draft_whose_base_moved_is_stale,
    of_two_applies_one_wins,
    versions_need_an_active_one_and_inherit_from_it,
    the_version_in_force_is_read,
    lists_show_versions,
    deleting_asks_for_force_where_it_fires,
    steps_get_ids_that_stay,
    a_key_makes_repetition_safe,
    a_workspace_with_automations_is_not_empty,
    a_button_names_an_automation_of_its_workspace,
    the_example_of_the_document_is_saved_and_has_no_fault,
);

async fn a_draft_unless_asked_otherwise(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let mut plain = body(&model.workspace, true);
    plain.as_object_mut().expect("an object").remove("is_draft");
    let made = editor.create(PATH, &plain);
    for (key, value) in [
        ("is_draft", json!(true)),
        ("is_active", json!(false)),
        ("version", json!(1)),
        ("base_version", Value::Null),
        ("name", json!("an automation")),
        ("workspace_id", json!(model.workspace)),
        ("trigger_config", json!({"type": "manual"})),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    assert_ne!(made["id"], made["workflow_id"]);
    assert_eq!(made.as_object().expect("an object").len(), 11);
    let published = editor.create(PATH, &body(&model.workspace, false));
    assert_eq!(published["is_draft"], false);
    assert_eq!(published["is_active"], false);
    // Nothing in the API activates.
    let applied = editor
        .post_to(&workflow(&made), "/apply", &json!({}))
        .expect(200)
        .json();
    assert_eq!(
        (&applied["is_draft"], &applied["is_active"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(
        editor
            .get(&format!("{PATH}?active=true"))
            .expect(200)
            .json()["items"],
        json!([])
    );
}

async fn applying_keeps_whether_it_fires(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let made = editor.create(PATH, &body(&model.workspace, false));
    let it = workflow(&made);
    assert!(world.switch(&it, true).await);
    let draft = editor
        .post_to(&it, "/versions", &json!({"name": "second"}))
        .expect(201)
        .json();
    assert_eq!(
        (&draft["is_draft"], &draft["base_version"]),
        (&json!(true), &json!(1))
    );
    // A body is not needed.
    let applied = editor
        .send("POST", &path(&it, "/apply"), &[], None)
        .expect(200)
        .json();
    assert_eq!(applied["id"], draft["id"]);
    assert_eq!(
        (&applied["is_active"], &applied["version"]),
        (&json!(true), &json!(2))
    );
    let active = editor.items(&format!("{PATH}?active=true"));
    assert_eq!(active.len(), 1, "at most one fires");
    assert_eq!(active[0]["id"], draft["id"]);
    // Paused it stays paused.
    editor
        .post_to(&it, "/versions", &json!({"name": "third"}))
        .expect(201);
    assert!(world.switch(&it, false).await);
    let applied = editor.post_to(&it, "/apply", &json!({})).expect(200).json();
    assert_eq!(
        (&applied["is_active"], &applied["name"]),
        (&json!(false), &json!("third"))
    );
    assert!(world.switch(&it, true).await);
    assert_eq!(
        editor.get(&path(&it, "")).expect(200).json()["name"],
        "third"
    );
}

async fn a_draft_whose_base_moved_is_stale(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let it = workflow(&editor.create(PATH, &body(&model.workspace, false)));
    editor
        .post_to(&it, "/apply", &json!({}))
        .refused(409, "conflict");
    world.switch(&it, true).await;
    let one = editor
        .post_to(&it, "/versions", &json!({"name": "one"}))
        .expect(201)
        .json();
    let two = editor
        .post_to(&it, "/versions", &json!({"name": "two"}))
        .expect(201)
        .json();
    editor
        .post_to(&it, "/apply", &json!({"version_id": one["id"]}))
        .expect(200);
    for named in [
        json!({}),
        json!({"version_id": two["id"]}),
        json!({"version_id": one["id"]}),
    ] {
        editor
            .post_to(&it, "/apply", &named)
            .refused(409, "draft_stale");
    }
    let unchanged = editor.items(PATH);
    let two = unchanged.iter().find(|version| version["id"] == two["id"]);
    assert_eq!(two.expect("it is there")["is_draft"], true);
    let nothing = world.context.id();
    editor
        .post_to(&it, "/apply", &json!({"version_id": nothing}))
        .refused(404, "not_found");
}

async fn of_two_applies_one_wins(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    for _ in 0..5 {
        let it = workflow(&editor.create(PATH, &body(&model.workspace, false)));
        world.switch(&it, true).await;
        let drafts = ["a", "b", "c"].map(|name| {
            let draft = editor.post_to(&it, "/versions", &json!({"name": name}));
            id(&draft.expect(201).json())
        });
        let statuses: Vec<u16> = thread::scope(|scope| {
            let publishing = drafts.iter().map(|draft| {
                let (editor, it) = (&editor, &it);
                scope.spawn(move || editor.post_to(it, "/apply", &json!({"version_id": draft})))
            });
            let publishing: Vec<_> = publishing.collect();
            publishing
                .into_iter()
                .map(|publishing| publishing.join().expect("ends").status)
                .collect()
        });
        let count = |status| statuses.iter().filter(|other| **other == status).count();
        assert_eq!((count(200), count(409)), (1, 2), "{statuses:?}");
        let active = editor.items(&format!("{PATH}?active=true"));
        assert_eq!(
            active
                .iter()
                .filter(|version| workflow(version) == it)
                .count(),
            1
        );
    }
}

async fn versions_need_an_active_one_and_inherit_from_it(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let it = workflow(&editor.create(PATH, &body(&model.workspace, false)));
    editor
        .post_to(&it, "/versions", &json!({}))
        .refused(409, "no_active_version");
    // What is wrong with the body is reported first.
    editor
        .post_to(&it, "/versions", &json!({"nmae": "x"}))
        .refused(422, "validation_failed");
    editor
        .post_to(&it, "/versions", &json!({"trigger_config": {}}))
        .refused(422, "invalid_automation");
    world.switch(&it, true).await;
    let active = editor.get(&path(&it, "")).expect(200).json();
    let draft = editor
        .post_to(&it, "/versions", &json!({}))
        .expect(201)
        .json();
    for key in [
        "name",
        "trigger_config",
        "graph_config",
        "workspace_id",
        "workflow_id",
    ] {
        assert_eq!(draft[key], active[key], "{key}");
    }
    assert_eq!(
        (&draft["version"], &draft["base_version"]),
        (&json!(2), &json!(1))
    );
    // An empty half is not an omitted one.
    let empty = editor
        .post_to(&it, "/versions", &json!({"graph_config": {}}))
        .expect(201)
        .json();
    assert_eq!(empty["graph_config"], json!({}));
    let refused = editor.post_to(&it, "/versions", &json!({"trigger_config": {}}));
    assert!(
        refused
            .refused(422, "invalid_automation")
            .body
            .contains("trigger_missing")
    );
    // Published, even active before, and not active now.
    world.switch(&it, false).await;
    editor
        .post_to(&it, "/versions", &json!({}))
        .refused(409, "no_active_version");
}

async fn the_version_in_force_is_read(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let in_force = |it: &str| editor.get(&path(it, "")).expect(200).json()["version"].clone();
    let it = workflow(&editor.create(PATH, &body(&model.workspace, true)));
    assert_eq!(
        in_force(&it),
        1,
        "the newest draft where nothing is published"
    );
    assert!(!world.switch(&it, true).await, "a draft never fires");
    editor.post_to(&it, "/apply", &json!({})).expect(200);
    world.switch(&it, true).await;
    editor.post_to(&it, "/versions", &json!({})).expect(201);
    assert_eq!(in_force(&it), 1, "not the newest draft");
    world.switch(&it, false).await;
    assert_eq!(in_force(&it), 1, "the newest published one");
    editor.post_to(&it, "/apply", &json!({})).expect(200);
    assert_eq!(in_force(&it), 2);
}

async fn lists_show_versions(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let other = Model::new(&editor, world.acme);
    let it = workflow(&editor.create(PATH, &body(&model.workspace, false)));
    world.switch(&it, true).await;
    for _ in 0..3 {
        editor.post_to(&it, "/versions", &json!({})).expect(201);
    }
    editor.create(PATH, &body(&other.workspace, false));
    let here = format!("{PATH}?workspace_id={}", model.workspace);
    let all = editor.ids(&here);
    assert_eq!(all.len(), 4);
    assert!(all.is_sorted());
    assert_eq!(editor.items(PATH).len(), 5);
    assert_eq!(editor.items(&format!("{here}&active=true")).len(), 1);
    assert_eq!(editor.items(&format!("{here}&active=false")).len(), 3);
    let nothing = format!("{PATH}?workspace_id={}", world.context.id());
    assert_eq!(editor.items(&nothing), [Value::Null; 0]);
    let mut walked = Vec::new();
    let mut next = format!("{here}&limit=3");
    loop {
        let page = editor.get(&next).expect(200).json();
        walked.extend(page["items"].as_array().expect("a list").iter().map(id));
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        editor
            .get(&format!("{PATH}?limit=3&cursor={cursor}"))
            .refused(422, "invalid_cursor");
        next = format!("{here}&limit=3&cursor={cursor}");
    }
    assert_eq!(walked, all);
}

async fn deleting_asks_for_force_where_it_fires(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let mut watching = body(&model.workspace, false);
    watching["trigger_config"] = json!({"type": "record.event", "config": {"modes": ["created"], "featureId": model.feature}});
    let it = workflow(&editor.create(PATH, &watching));
    world.switch(&it, true).await;
    editor.delete(&path(&it, "")).refused(409, "conflict");
    editor
        .delete(&path(&it, "?force=maybe"))
        .refused(422, "validation_failed");
    editor.delete(&path(&it, "?force=true")).expect(204);
    editor.get(&path(&it, "")).refused(404, "not_found");
    assert_eq!(editor.items(PATH), [Value::Null; 0]);
    for sql in [
        "SELECT count(*) FROM workflow_versions",
        "SELECT count(*) FROM workflow_watchers",
        "SELECT count(*) FROM workflows",
    ] {
        let left = world.sql(sql, vec![]).await;
        assert_eq!(left[0].get::<i64>(0), Ok(0), "{sql}");
    }
    let paused = workflow(&editor.create(PATH, &body(&model.workspace, false)));
    editor.delete(&path(&paused, "")).expect(204);
}

async fn steps_get_ids_that_stay(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let nested = json!([
        {"key": "ifElse", "id": "stp_aaaaaaaaaaaa", "config": {
            "condition": {"subject": "record", "column": "c", "op": "isEmpty"},
            "then": [{"key": "notify", "config": {"scopeType": "organization"}}]}},
        {"key": "notify", "config": {"scopeType": "organization"}},
    ]);
    let mut new = body(&model.workspace, false);
    new["graph_config"] = graph(&nested);
    let made = editor.create(PATH, &new);
    let kept = &made["graph_config"]["steps"];
    let inner = &kept[0]["config"]["then"][0];
    assert_eq!(text(&kept[0], "id"), "stp_aaaaaaaaaaaa");
    for step in [inner, &kept[1]] {
        let tail = text(step, "id").strip_prefix("stp_").expect("an id");
        assert!(tail.len() == 12 && tail.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
    assert_ne!(inner["id"], kept[1]["id"]);
    let it = workflow(&made);
    assert_eq!(editor.get(&path(&it, "")).expect(200).json(), made);
    world.switch(&it, true).await;
    let draft = editor
        .post_to(&it, "/versions", &json!({}))
        .expect(201)
        .json();
    assert_eq!(draft["graph_config"], made["graph_config"]);
}

async fn a_key_makes_repetition_safe(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let send = |path: &str, body: &Value, key: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        editor.send("POST", path, &headers, Some(body.to_string().as_bytes()))
    };
    let twice = |path: &str, body: &Value, key: &str, status: u16| {
        let first = send(path, body, key).expect(status);
        let again = send(path, body, key).expect(status);
        assert_eq!(first.body, again.body);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        first.json()
    };
    let made = twice(PATH, &body(&model.workspace, false), "a", 201);
    let it = workflow(&made);
    world.switch(&it, true).await;
    twice(&path(&it, "/versions"), &json!({}), "b", 201);
    twice(&path(&it, "/apply"), &json!({}), "c", 200);
    let verdict = json!({"workspace_id": model.workspace, "trigger_config": {}, "graph_config": graph(&steps())});
    // A validation changes nothing, so nothing is kept of it.
    let validate = format!("{PATH}/validate");
    for _ in 0..2 {
        let verdict = send(&validate, &verdict, "d").expect(200);
        assert_eq!(verdict.header("idempotency-replayed"), None);
    }
    assert_eq!(editor.items(PATH).len(), 2);
}

async fn a_workspace_with_automations_is_not_empty(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let new = json!({"organization_id": world.acme, "label": "W"});
    let workspace = id(&editor.create("/v1/workspaces", &new));
    let it = workflow(&editor.create(PATH, &body(&workspace, false)));
    world.switch(&it, true).await;
    let at = format!("/v1/workspaces/{workspace}");
    let refused = editor.delete(&at).refused(409, "not_empty");
    assert!(refused.body.contains("automations"));
    editor.delete(&format!("{at}?force=true")).expect(204);
    editor.get(&path(&it, "")).refused(404, "not_found");
}

async fn a_button_names_an_automation_of_its_workspace(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (here, there) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    let it = workflow(&editor.create(PATH, &body(&here.workspace, true)));
    let button = json!({"label": "B", "type": "button", "config": {"workflowV2Id": it}});
    editor.create(&here.columns(), &button);
    editor
        .post(&there.columns(), &button)
        .refused(422, "validation_failed");
}

async fn the_example_of_the_document_is_saved_and_has_no_fault(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let column = json!({"type": "text", "label": "Status"});
    editor.create(&format!("/v1/features/{}/columns", model.feature), &column);
    let document = world.nobody.get("/v1/openapi.json").json();
    let mut example = document["components"]["examples"]["WorkflowCreate"]["value"].clone();
    example["workspace_id"] = json!(model.workspace);
    example["graph_config"]["steps"][0]["config"]["targetFeatureId"] = json!(model.feature);
    editor.create(PATH, &example);
    let asked = json!({
        "workspace_id": model.workspace, "trigger_config": example["trigger_config"],
        "graph_config": example["graph_config"],
    });
    let verdict = editor.post(&format!("{PATH}/validate"), &asked);
    assert_eq!(verdict.expect(200).json()["issues"], json!([]));
}
