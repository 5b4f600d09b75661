//! `/v1/modules`

use serde_json::{Value, json};

use super::model::{Model, id};
use super::workspaces::faults;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_module_is_created_read_changed_and_deleted,
    the_organization_is_never_the_clients_choice,
    modules_are_listed_page_by_page_and_below_a_workspace,
    a_module_with_rails_goes_only_by_force,
    a_default_rail_lies_in_the_same_workspace,
    orders_count_on_and_are_integers,
);

async fn a_module_is_created_read_changed_and_deleted(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let body = json!({"workspace_id": model.workspace, "label": "Sales", "icon": "cart"});
    let made = editor.create("/v1/modules", &body);
    assert_eq!(
        made,
        json!({
            "id": made["id"], "organization_id": world.acme, "workspace_id": model.workspace,
            "name": "sales", "label": "Sales", "icon": "cart", "order": 2, "config": {},
            "created_at": made["created_at"], "updated_at": made["created_at"],
        })
    );
    let path = format!("/v1/modules/{}", id(&made));
    assert_eq!(editor.get(&path).expect(200).json(), made);
    world.wait(1);
    assert_eq!(editor.patch(&path, &json!({})).expect(200).json(), made);
    // Null is something, not nothing.
    let changed = editor.patch(&path, &json!({"icon": null, "order": -5}));
    let changed = changed.expect(200).json();
    assert_eq!(changed["icon"], Value::Null);
    assert_eq!(changed["order"], -5);
    assert_ne!(changed["updated_at"], made["updated_at"]);
    assert_eq!(
        faults(editor.patch(&path, &json!({"order": null}))),
        ["order"]
    );
    assert_eq!(faults(editor.patch(&path, &json!({"icon": 1}))), ["icon"]);
    assert_eq!(
        faults(editor.patch(&path, &json!({"access": "members"}))),
        ["access"]
    );
    let body = json!({"config": {"color": "red", "defaultRailId": model.rail}});
    let changed = editor.patch(&path, &body).expect(200).json();
    assert_eq!(changed["config"], body["config"]);
    let taken = editor.patch(&path, &json!({"name": "m"}));
    taken.refused(409, "conflict");
    let same = json!({"workspace_id": model.workspace, "label": "x", "name": "sales"});
    editor.post("/v1/modules", &same).refused(409, "conflict");
    editor.delete(&path).expect(204);
    editor.get(&path).refused(404, "not_found");
}

async fn the_organization_is_never_the_clients_choice(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let stranger = world.as_user("stranger@other.test");
    let foreign = Model::new(&stranger, world.other);
    for organization in [world.acme, world.other] {
        for (path, parent, above) in [
            ("/v1/modules", "workspace_id", &model.workspace),
            ("/v1/rails", "module_id", &model.module),
            ("/v1/features", "workspace_id", &model.workspace),
        ] {
            let body = json!({parent: above, "label": "x", "organization_id": organization});
            assert_eq!(faults(editor.post(path, &body)), ["organization_id"]);
        }
    }
    for (path, parent, other) in [
        (
            format!("/v1/modules/{}", model.module),
            "workspace_id",
            &foreign.workspace,
        ),
        (
            format!("/v1/rails/{}", model.rail),
            "module_id",
            &foreign.module,
        ),
        (
            format!("/v1/rails/{}", model.rail),
            "workspace_id",
            &foreign.workspace,
        ),
        (
            format!("/v1/features/{}", model.feature),
            "workspace_id",
            &foreign.workspace,
        ),
        (
            format!("/v1/views/{}", model.view),
            "feature_id",
            &foreign.feature,
        ),
        (
            format!("{}/{}", model.columns(), model.column),
            "feature_id",
            &foreign.feature,
        ),
    ] {
        for body in [
            json!({parent: other}),
            json!({"organization_id": world.other}),
            json!({"organization_id": world.acme, "label": "x"}),
            json!({"id": other}),
        ] {
            editor.patch(&path, &body).refused(403, "forbidden");
        }
    }
    assert_eq!(stranger.ids("/v1/modules").len(), 1);
    assert_eq!(editor.ids("/v1/modules"), [model.module]);
}

async fn modules_are_listed_page_by_page_and_below_a_workspace(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (one, other) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    let mut all = vec![one.module.clone()];
    for number in 0..4 {
        let body = json!({"workspace_id": one.workspace, "label": format!("m{number}")});
        all.push(id(&editor.create("/v1/modules", &body)));
    }
    let of = |workspace: &str| format!("/v1/modules?workspace_id={workspace}");
    assert_eq!(editor.ids(&of(&one.workspace)), all);
    assert_eq!(editor.ids(&of(&other.workspace)), [other.module.as_str()]);
    let first = editor.get(&format!("{}&limit=2", of(&one.workspace)));
    let first = first.expect(200).json();
    let cursor = first["next_cursor"].as_str().expect("a cursor").to_owned();
    let next = |path: String| editor.get(&format!("{path}&cursor={cursor}"));
    let rest = next(of(&one.workspace)).expect(200).json();
    assert_eq!(rest["items"].as_array().map(Vec::len), Some(3));
    assert_eq!(rest["next_cursor"], Value::Null);
    // Exactly full is the last.
    assert_eq!(editor.ids(&format!("{}&limit=5", of(&one.workspace))), all);
    next(of(&other.workspace)).refused(422, "invalid_cursor");
    next("/v1/modules?limit=2".to_owned()).refused(422, "invalid_cursor");
    next(format!("/v1/features?workspace_id={}", one.workspace)).refused(422, "invalid_cursor");
    assert_eq!(
        faults(editor.get("/v1/modules?workspace_id=x")),
        ["query.workspace_id"]
    );
    let twice = format!("{}&workspace_id={}", of(&one.workspace), one.workspace);
    assert_eq!(faults(editor.get(&twice)), ["query.workspace_id"]);
    let empty = json!({"organization_id": world.acme, "label": "empty"});
    let empty = id(&editor.create("/v1/workspaces", &empty));
    assert_eq!(editor.ids(&of(&empty)), [""; 0]);
    let missing = world.context.id().to_string();
    editor.get(&of(&missing)).refused(404, "not_found");
    let stranger = world.as_user("stranger@other.test");
    stranger.get(&of(&one.workspace)).refused(404, "not_found");
}

async fn a_module_with_rails_goes_only_by_force(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/modules/{}", model.module);
    editor.delete(&path).refused(409, "not_empty");
    assert_eq!(
        faults(editor.delete(&format!("{path}?force=yes"))),
        ["query.force"]
    );
    editor.get(&format!("/v1/rails/{}", model.rail)).expect(200);
    editor.delete(&format!("{path}?force=true")).expect(204);
    editor
        .get(&format!("/v1/rails/{}", model.rail))
        .refused(404, "not_found");
    editor.get(&format!("/v1/views/{}", model.view)).expect(200);
}

async fn a_default_rail_lies_in_the_same_workspace(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (model, other) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    let foreign = Model::new(&world.as_user("stranger@other.test"), world.other);
    let path = format!("/v1/modules/{}", model.module);
    let with = |rail: &str| editor.patch(&path, &json!({"config": {"defaultRailId": rail}}));
    with(&model.rail).expect(200);
    with(&model.rail.to_uppercase()).expect(200);
    // Emptied, as a template leaves what it skips.
    with("").expect(200);
    let refused = [
        &other.rail,
        &foreign.rail,
        &world.context.id().to_string(),
        &model.view,
    ]
    .map(|rail| with(rail).refused(422, "validation_failed").body);
    for response in &refused {
        assert_eq!(response, &refused[0]);
    }
    let workspace = format!("/v1/workspaces/{}", model.workspace);
    let with = |module: &str| {
        let body = json!({"config": {"defaultModuleId": module}});
        editor.patch(&workspace, &body)
    };
    with(&model.module).expect(200);
    assert_eq!(faults(with(&other.module)), ["config.defaultModuleId"]);
}

async fn orders_count_on_and_are_integers(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let post = |order: &str| {
        let workspace = &model.workspace;
        let body = format!(r#"{{"workspace_id":"{workspace}","label":"x"{order}}}"#);
        editor.json("POST", "/v1/modules", &body)
    };
    let order = |order: &str| post(order).expect(201).json()["order"].clone();
    assert_eq!(order(""), 2);
    assert_eq!(order(r#","order":40"#), 40);
    assert_eq!(order(""), 41);
    assert_eq!(order(r#","order":1e2"#), 100);
    assert_eq!(
        order(r#","order":-9007199254740991"#),
        -9_007_199_254_740_991_i64
    );
    assert_eq!(
        order(r#","order":9007199254740991"#),
        9_007_199_254_740_991_i64
    );
    // Where no greater one can be said, the next has the same.
    let last = post("").expect(201).json();
    assert_eq!(last["order"], 9_007_199_254_740_991_i64);
    let path = format!("/v1/modules/{}", id(&last));
    let same = editor.patch(&path, &json!({"order": last["order"]}));
    same.expect(200);
    for bad in ["1.5", "\"1\"", "9007199254740992", "1e30", "null", "true"] {
        assert_eq!(
            faults(post(&format!(r#","order":{bad}"#))),
            ["order"],
            "{bad}"
        );
    }
}
