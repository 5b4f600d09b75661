//! `/v1/rails`

use serde_json::{Value, json};

use super::model::{Model, id};
use super::workspaces::faults;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_rail_is_created_read_changed_and_deleted,
    the_config_of_a_rail_is_a_list,
    a_rail_names_what_lies_in_its_workspace,
    rails_are_listed_below_a_module,
    deleting_a_rail_leaves_its_views,
);

async fn a_rail_is_created_read_changed_and_deleted(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let body = json!({"module_id": model.module, "label": "Open orders", "name": "open"});
    let made = editor.create("/v1/rails", &body);
    assert_eq!(
        made,
        json!({
            "id": made["id"], "organization_id": world.acme, "workspace_id": model.workspace,
            "module_id": model.module, "name": "open", "label": "Open orders", "order": 2,
            "config": [], "created_at": made["created_at"], "updated_at": made["created_at"],
        })
    );
    let path = format!("/v1/rails/{}", id(&made));
    world.wait(1);
    assert_eq!(editor.patch(&path, &json!({})).expect(200).json(), made);
    let changed = editor.patch(&path, &json!({"label": "L", "order": 0}));
    let changed = changed.expect(200).json();
    assert_eq!(
        (&changed["label"], &changed["order"]),
        (&json!("L"), &json!(0))
    );
    assert_eq!(editor.get(&path).json(), changed);
    editor
        .patch(&path, &json!({"name": "r"}))
        .refused(409, "conflict");
    let viewer = world.as_user("viewer@acme.test");
    viewer.get(&path).expect(200);
    viewer
        .patch(&path, &json!({"nonsense": 1}))
        .refused(403, "forbidden");
    viewer.delete(&path).refused(403, "forbidden");
    editor.delete(&path).expect(204);
    editor.delete(&path).refused(404, "not_found");
}

async fn the_config_of_a_rail_is_a_list(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/rails/{}", model.rail);
    let one = json!({"views": [model.view], "defaultViewId": model.view});
    let cases = [
        (one.clone(), json!([one])),
        (json!([one]), json!([one])),
        (json!([one, {}, one]), json!([one, {}, one])),
        (json!({}), json!([{}])),
        (json!([]), json!([])),
    ];
    for (sent, kept) in cases {
        let body = json!({"module_id": model.module, "label": "x", "config": sent});
        assert_eq!(editor.create("/v1/rails", &body)["config"], kept);
        let patch = |config: &Value| {
            let changed = editor.patch(&path, &json!({"config": config}));
            changed.expect(200).json()["config"].clone()
        };
        assert_eq!(patch(&sent), kept);
        assert_eq!(patch(&kept), kept);
        assert_eq!(editor.get(&path).json()["config"], kept);
    }
    for (config, fault) in [
        (json!(null), "config"),
        (json!("x"), "config"),
        (json!([1]), "config[0]"),
        (json!([{}, null]), "config[1]"),
        (json!({"vews": []}), "config.vews"),
        (json!([{}, {"vews": []}]), "config[1].vews"),
        (json!({"views": "x"}), "config.views"),
        (json!({"views": [1]}), "config.views[0]"),
        (json!([{"views": ["x"]}]), "config[0].views[0]"),
    ] {
        let response = editor.patch(&path, &json!({"config": config}));
        assert_eq!(faults(response), [fault], "{config}");
    }
}

async fn a_rail_names_what_lies_in_its_workspace(place: Place) {
    let world = World::new(place).await;
    let [admin, editor] = ["admin@acme.test", "editor@acme.test"].map(|who| world.as_user(who));
    let (model, other) = (
        Model::new(&admin, world.acme),
        Model::new(&admin, world.acme),
    );
    let path = format!("/v1/rails/{}", model.rail);
    let with = |view: &str| editor.patch(&path, &json!({"config": {"views": [model.view, view]}}));
    let refusal = |view: &str| with(view).refused(422, "validation_failed").body;
    with(&model.view).expect(200);
    let missing = refusal(&world.context.id().to_string());
    assert!(missing.contains("config.views[1]"), "{missing}");
    assert_eq!(refusal(&other.view), missing);
    let close = json!({"access": "members"});
    admin
        .patch(&format!("/v1/workspaces/{}", other.workspace), &close)
        .expect(200);
    assert_eq!(refusal(&other.view), missing);
    let foreign = Model::new(&world.as_user("stranger@other.test"), world.other);
    assert_eq!(refusal(&foreign.view), missing);
    let body = json!({"config": {"openModuleId": other.module, "defaultViewId": model.rail}});
    let mut found = faults(editor.patch(&path, &body));
    found.sort();
    assert_eq!(found, ["config.defaultViewId", "config.openModuleId"]);
}

async fn rails_are_listed_below_a_module(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (model, other) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    let of = |module: &str| format!("/v1/rails?module_id={module}");
    assert_eq!(editor.ids(&of(&model.module)), [model.rail.as_str()]);
    assert_eq!(
        editor.ids("/v1/rails"),
        [model.rail.as_str(), other.rail.as_str()]
    );
    editor
        .delete(&format!("/v1/rails/{}", model.rail))
        .expect(204);
    assert_eq!(editor.ids(&of(&model.module)), [""; 0]);
    editor
        .get(&of(&world.context.id().to_string()))
        .refused(404, "not_found");
    assert_eq!(
        faults(editor.get("/v1/rails?workspace_id=x")),
        ["query.workspace_id"]
    );
}

async fn deleting_a_rail_leaves_its_views(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/rails/{}", model.rail);
    editor
        .patch(&path, &json!({"config": {"views": [model.view]}}))
        .expect(200);
    // There is nothing to force.
    assert_eq!(
        faults(editor.delete(&format!("{path}?force=true"))),
        ["query.force"]
    );
    editor.delete(&path).expect(204);
    editor.get(&format!("/v1/views/{}", model.view)).expect(200);
    editor
        .get(&format!("/v1/modules/{}", model.module))
        .expect(200);
}
