//! `/v1/schema`

use serde_json::{Value, json};
use tplkit::definitions::Definitions;
use tplkit_server::app::{Config, SchemaCap};

use super::model::{Model, id};
use super::workspaces::faults;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_schema_is_the_visible_model_nested,
    a_cap_cuts_the_schema_and_says_so,
    the_definitions_are_what_writes_are_held_to,
);

async fn the_schema_is_the_visible_model_nested(place: Place) {
    let world = World::new(place).await;
    let [admin, viewer] = ["admin@acme.test", "viewer@acme.test"].map(|who| world.as_user(who));
    let empty = viewer.get("/v1/schema").expect(200).json();
    assert_eq!(empty, json!({"workspaces": [], "truncated": false}));
    let (one, other) = (
        Model::new(&admin, world.acme),
        Model::new(&admin, world.acme),
    );
    let early = json!({"label": "early", "type": "text", "order": 0});
    let early = admin.create(&one.columns(), &early);
    let bare = json!({"organization_id": world.acme, "label": "bare"});
    let bare = admin.create("/v1/workspaces", &bare);
    let schema = viewer.get("/v1/schema").expect(200).json();
    assert_eq!(schema["truncated"], false);
    let record = |path: &str, id: &str| viewer.get(&format!("/v1/{path}/{id}")).expect(200).json();
    let nested = |model: &Model| {
        let mut feature = record("features", &model.feature);
        feature["columns"] = viewer.get(&model.columns()).json();
        feature["views"] = json!([record("views", &model.view)]);
        let mut workspace = record("workspaces", &model.workspace);
        workspace["features"] = json!([feature]);
        workspace
    };
    let mut bare_nested = bare.clone();
    bare_nested["features"] = json!([]);
    let all = json!([nested(&one), nested(&other), bare_nested]);
    assert_eq!(schema["workspaces"], all);
    assert_eq!(schema["workspaces"][0]["features"][0]["columns"][0], early);
    let of = |workspace: &str| format!("/v1/schema?workspace_id={workspace}");
    let single = viewer.get(&of(&other.workspace)).expect(200).json();
    assert_eq!(single["workspaces"], json!([nested(&other)]));
    let foreign = Model::new(&world.as_user("stranger@other.test"), world.other);
    let hidden = viewer
        .get(&of(&foreign.workspace))
        .refused(404, "not_found");
    let missing = viewer.get(&of(&world.context.id().to_string()));
    assert_eq!(hidden.body, missing.refused(404, "not_found").body);
    assert_eq!(faults(viewer.get(&of("x"))), ["query.workspace_id"]);
    assert_eq!(faults(viewer.get("/v1/schema?x=1")), ["query.x"]);
    let path = format!("/v1/workspaces/{}", one.workspace);
    admin
        .patch(&path, &json!({"access": "members"}))
        .expect(200);
    let schema = viewer.get("/v1/schema").expect(200).json();
    assert_eq!(schema["workspaces"].as_array().map(Vec::len), Some(2));
    assert!(!schema.to_string().contains(&one.feature));
}

async fn a_cap_cuts_the_schema_and_says_so(place: Place) {
    let config = Config {
        rate: None,
        schema_cap: SchemaCap {
            features: 2,
            columns: 3,
        },
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let features = |schema: &Value| -> Vec<(String, usize)> {
        let features = schema["workspaces"][0]["features"].as_array();
        let features = features.expect("a list").iter();
        let features = features.map(|feature| {
            let columns = feature["columns"].as_array().expect("a list");
            (id(feature), columns.len())
        });
        features.collect()
    };
    let schema = || editor.get("/v1/schema").expect(200).json();
    let body = json!({"workspace_id": model.workspace, "label": "second"});
    let second = id(&editor.create("/v1/features", &body));
    // Exactly as much as fits is whole.
    let column = json!({"label": "x", "type": "text"});
    editor.create(&format!("/v1/features/{second}/columns"), &column);
    editor.create(&format!("/v1/features/{second}/columns"), &column);
    assert_eq!(schema()["truncated"], false);
    let whole = [(model.feature.clone(), 1), (second.clone(), 2)];
    assert_eq!(features(&schema()), whole);
    editor.create("/v1/features", &body);
    assert_eq!(schema()["truncated"], true);
    assert_eq!(features(&schema()), whole);
    for _ in 0..2 {
        editor.create(&model.columns(), &column);
    }
    assert_eq!(schema()["truncated"], true);
    assert_eq!(features(&schema()), [(model.feature.clone(), 3)]);
    let path = format!("/v1/schema?workspace_id={}", model.workspace);
    assert_eq!(editor.get(&path).expect(200).json(), schema());
}

async fn the_definitions_are_what_writes_are_held_to(place: Place) {
    let world = World::new(place).await;
    let viewer = world.as_user("viewer@acme.test");
    let path = "/v1/schema/definitions";
    let generated = viewer.get(path).expect(200);
    let same = viewer.get(&format!("{path}?format=generated")).expect(200);
    assert_eq!(generated.body, same.body);
    assert_eq!(generated.json()["source"], "generated");
    let read = Definitions::parse(&generated.body).expect("a registry");
    assert_eq!(&read, Definitions::embedded());
    let legacy = viewer
        .get(&format!("{path}?format=legacy"))
        .expect(200)
        .json();
    assert_eq!(legacy["source"], "legacy");
    for key in ["column", "view", "components", "view_config"] {
        assert!(!legacy[key].is_null(), "{key}");
    }
    for query in ["format=x", "format=", "format=legacy&format=legacy"] {
        assert_eq!(
            faults(viewer.get(&format!("{path}?{query}"))),
            ["query.format"]
        );
    }
    assert_eq!(faults(viewer.get(&format!("{path}?x=1"))), ["query.x"]);
    world.nobody.get(path).refused(401, "unauthenticated");
    world
        .as_key(&["write"])
        .get(path)
        .refused(403, "missing_scope");
    world.as_key(&["read"]).get(path).expect(200);
}
