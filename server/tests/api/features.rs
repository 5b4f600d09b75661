//! `/v1/features`

use serde_json::json;

use super::model::{Model, id, uuid};
use super::workspaces::faults;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_feature_is_created_read_changed_and_deleted,
    features_are_listed_and_an_unseen_workspace_has_none,
    rows_alone_keep_a_feature,
    rows_that_one_cannot_see_keep_a_feature_too,
    every_change_of_its_shape_raises_the_version,
    whose_rows_are_shown_follows_the_config,
);

async fn a_feature_is_created_read_changed_and_deleted(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let body = json!({
        "workspace_id": model.workspace, "label": "Clients", "config": {"icon": "person"},
    });
    let made = editor.create("/v1/features", &body);
    assert_eq!(
        made,
        json!({
            "id": made["id"], "organization_id": world.acme, "workspace_id": model.workspace,
            "name": "clients", "label": "Clients", "is_shared": false, "config": {"icon": "person"},
            "created_at": made["created_at"], "updated_at": made["created_at"],
        })
    );
    let path = format!("/v1/features/{}", id(&made));
    world.wait(1);
    assert_eq!(editor.patch(&path, &json!({})).expect(200).json(), made);
    let changed = editor
        .patch(&path, &json!({"is_shared": true}))
        .expect(200)
        .json();
    assert_eq!(changed["is_shared"], true);
    assert_eq!(changed["config"], made["config"]);
    assert_eq!(editor.get(&path).json(), changed);
    for (body, fault) in [
        (json!({"is_shared": null}), "is_shared"),
        (json!({"is_shared": 1}), "is_shared"),
        (json!({"order": 1}), "order"),
        (json!({"version": 9}), "version"),
        (json!({"config": {"rowAccess": "mine"}}), "config.rowAccess"),
        (
            json!({"config": {"titleColumn": "nope"}}),
            "config.titleColumn",
        ),
        (json!({"config": {"rowaccess": "own"}}), "config.rowaccess"),
    ] {
        assert_eq!(faults(editor.patch(&path, &body)), [fault], "{body}");
    }
    // Everything that is wrong at once.
    let body = json!({"config": {"rowAccess": 1, "icon": [], "titleColumn": "x", "other": {}}});
    let mut all = faults(editor.patch(&path, &body));
    all.sort();
    assert_eq!(
        all,
        [
            "config.icon",
            "config.other",
            "config.rowAccess",
            "config.titleColumn"
        ]
    );
    editor.create(
        &format!("{path}/columns"),
        &json!({"label": "Name", "type": "text"}),
    );
    let titled = editor.patch(&path, &json!({"config": {"titleColumn": "name"}}));
    titled.expect(200);
    let same = json!({"workspace_id": model.workspace, "label": "x", "name": "clients"});
    editor.post("/v1/features", &same).refused(409, "conflict");
    editor
        .patch(&path, &json!({"name": "f"}))
        .refused(409, "conflict");
    editor.delete(&path).expect(204);
    editor.get(&path).refused(404, "not_found");
    editor
        .get(&format!("{path}/columns"))
        .refused(404, "not_found");
}

async fn features_are_listed_and_an_unseen_workspace_has_none(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (model, other) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    let foreign = Model::new(&world.as_user("stranger@other.test"), world.other);
    let of = |workspace: &str| editor.ids(&format!("/v1/features?workspace_id={workspace}"));
    assert_eq!(of(&model.workspace), [model.feature.as_str()]);
    assert_eq!(of(&foreign.workspace), [""; 0]);
    assert_eq!(of(&world.context.id().to_string()), [""; 0]);
    assert_eq!(editor.ids("/v1/features"), [model.feature, other.feature]);
    let bad = editor.get("/v1/features?workspace_id=");
    assert_eq!(faults(bad), ["query.workspace_id"]);
    let bad = editor.get(&format!(
        "/v1/features?workspace_id={}&limit=0",
        foreign.workspace
    ));
    assert_eq!(faults(bad), ["query.limit"]);
}

async fn rows_alone_keep_a_feature(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let empty = world.counts().await;
    let model = Model::new(&editor, world.acme);
    let body = json!({"label": "u", "type": "text", "config": {"unique": true}});
    editor.create(&model.columns(), &body);
    world.row(&model, None, r#"{"c":"x"}"#).await;
    let feature = uuid(&model.feature);
    let value = "INSERT INTO main.row_values (organization_id, workspace_id, feature_id, column_id, \
         value, row_id) VALUES ($1, $2, $3, $3, $4, $3)";
    let count = "INSERT INTO main.row_counts (organization_id, workspace_id, feature_id, shard, \
         count) VALUES ($1, $2, $3, 0, 1)";
    let ids = [
        world.acme.into(),
        uuid(&model.workspace).into(),
        feature.into(),
    ];
    world.sql(count, ids.to_vec()).await;
    let mut ids = ids.to_vec();
    ids.push([7; 32].into());
    world.sql(value, ids).await;
    let path = format!("/v1/features/{}", model.feature);
    editor.delete(&path).refused(409, "not_empty");
    editor
        .delete(&format!("{path}?force=false"))
        .refused(409, "not_empty");
    assert_eq!(
        faults(editor.delete(&format!("{path}?force=0"))),
        ["query.force"]
    );
    editor.delete(&format!("{path}?force=true")).expect(204);
    let left = "SELECT count(*) FROM row_counts";
    assert_eq!(world.sql(left, vec![]).await[0].get::<i64>(0), Ok(0));
    let module = format!("/v1/modules/{}?force=true", model.module);
    editor.delete(&module).expect(204);
    editor
        .delete(&format!("/v1/workspaces/{}", model.workspace))
        .expect(204);
    assert_eq!(world.counts().await, empty);
}

async fn rows_that_one_cannot_see_keep_a_feature_too(place: Place) {
    let world = World::new(place).await;
    let [owner, editor] = ["owner@acme.test", "editor@acme.test"].map(|who| world.as_user(who));
    let model = Model::new(&owner, world.acme);
    let path = format!("/v1/features/{}", model.feature);
    owner
        .patch(&path, &json!({"config": {"rowAccess": "own"}}))
        .expect(200);
    let person = uuid(&id(&owner.get("/v1/me").json()));
    for _ in 0..2 {
        world.row(&model, Some(person), r#"{"c":"same"}"#).await;
    }
    editor.delete(&path).refused(409, "not_empty");
    let column = format!("{}/{}", model.columns(), model.column);
    editor.delete(&column).refused(409, "not_empty");
    let unique = editor.patch(&column, &json!({"config": {"unique": true}}));
    assert_eq!(
        unique.refused(409, "unique_violation").json()["column"],
        "c"
    );
    editor.delete(&format!("{path}?force=true")).expect(204);
    assert!(world.counts().await.contains(&("rows", 0)));
}

async fn every_change_of_its_shape_raises_the_version(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/features/{}", model.feature);
    let columns = model.columns();
    let mut last = 0;
    let version = async || {
        let sql = "SELECT version FROM features WHERE id = $1";
        let rows = world.sql(sql, vec![uuid(&model.feature).into()]).await;
        rows[0].get::<i64>(0).expect("a version")
    };
    let mut raised = async || {
        let now = version().await;
        std::mem::replace(&mut last, now) < now
    };
    assert!(raised().await);
    editor.patch(&path, &json!({})).expect(200);
    editor.get(&path).expect(200);
    assert!(!raised().await);
    let updated = editor.get(&path).json()["updated_at"].clone();
    let made = editor.create(&columns, &json!({"label": "x", "type": "text"}));
    assert!(raised().await);
    let column = format!("{columns}/{}", id(&made));
    editor
        .patch(&column, &json!({"config": {"required": true}}))
        .expect(200);
    assert!(raised().await);
    let view = json!({
        "feature_id": model.feature, "label": "v", "type": "table",
        "config": {"sort": {"column": "x"}},
    });
    editor.create("/v1/views", &view);
    assert!(raised().await);
    editor.delete(&column).expect(204);
    assert!(raised().await);
    assert_eq!(editor.get(&path).json()["updated_at"], updated);
    editor.patch(&path, &json!({"label": "y"})).expect(200);
    assert!(raised().await);
    editor
        .patch(&column, &json!({"label": "y"}))
        .refused(404, "not_found");
    assert!(!raised().await);
}

async fn whose_rows_are_shown_follows_the_config(place: Place) {
    let world = World::new(place).await;
    let [admin, editor] = ["admin@acme.test", "editor@acme.test"].map(|who| world.as_user(who));
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/features/{}", model.feature);
    let own = async || {
        let sql = "SELECT own_rows FROM features WHERE id = $1";
        let rows = world.sql(sql, vec![uuid(&model.feature).into()]).await;
        rows[0].get::<bool>(0).expect("a flag")
    };
    for (config, shown) in [
        (json!({"rowAccess": "own"}), true),
        (json!({"rowAccess": "all"}), false),
        (json!({"rowAccess": "own", "icon": "x"}), true),
        (json!({}), false),
    ] {
        admin.patch(&path, &json!({"config": config})).expect(200);
        assert_eq!(own().await, shown, "{config}");
    }
    admin
        .patch(&path, &json!({"config": {"rowAccess": "own"}}))
        .expect(200);
    editor.patch(&path, &json!({"label": "y"})).expect(200);
    assert!(own().await);
}
