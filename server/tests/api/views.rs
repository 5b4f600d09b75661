//! `/v1/views`

use serde_json::{Value, json};
use tplkit::definitions::Definitions;

use super::model::{Model, id, uuid};
use super::workspaces::faults;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_view_is_created_read_changed_and_deleted,
    the_types_of_views_are_those_of_the_definitions,
    the_config_of_a_view_is_a_list_of_one,
    a_view_names_columns_of_its_table,
    columns_that_a_view_asks_by_get_slots,
    views_are_listed_and_an_unseen_feature_has_none,
);

async fn a_view_is_created_read_changed_and_deleted(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let body = json!({"feature_id": model.feature, "label": "All", "type": "table"});
    let made = editor.create("/v1/views", &body);
    assert_eq!(
        made,
        json!({
            "id": made["id"], "organization_id": world.acme, "workspace_id": model.workspace,
            "feature_id": model.feature, "name": "all", "label": "All", "type": "table", "order": 2,
            "config": [{}], "created_at": made["created_at"], "updated_at": made["created_at"],
        })
    );
    let path = format!("/v1/views/{}", id(&made));
    world.wait(1);
    assert_eq!(editor.patch(&path, &json!({})).expect(200).json(), made);
    let changed = editor.patch(&path, &json!({"label": "L", "order": 9}));
    let changed = changed.expect(200).json();
    assert_eq!(editor.get(&path).expect(200).json(), changed);
    let taken = json!({"feature_id": model.feature, "label": "x", "type": "form", "name": "v"});
    editor.post("/v1/views", &taken).refused(409, "conflict");
    editor
        .patch(&path, &json!({"name": "v"}))
        .refused(409, "conflict");
    world.row(&model, None, "{}").await;
    assert_eq!(
        faults(editor.delete(&format!("{path}?force=true"))),
        ["query.force"]
    );
    editor.delete(&path).expect(204);
    editor.get(&path).refused(404, "not_found");
    assert!(world.counts().await.contains(&("rows", 1)));
}

async fn the_types_of_views_are_those_of_the_definitions(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/views/{}", model.view);
    for (name, kind) in &Definitions::embedded().view_types {
        let mut config = serde_json::Map::new();
        for (key, field) in &kind.config {
            if field.is_required() {
                config.insert(key.clone(), "c".into());
            }
        }
        let expected = config.keys().map(|key| format!("config.{key}"));
        let expected: Vec<String> = expected.collect();
        let body = json!({"feature_id": model.feature, "label": name, "type": name});
        if !expected.is_empty() {
            assert_eq!(faults(editor.post("/v1/views", &body)), expected);
            // What is kept is a list.
            let expected = expected
                .iter()
                .map(|path| path.replace("config", "config[0]"));
            let refused = faults(editor.patch(&path, &json!({"type": name})));
            assert_eq!(refused, expected.collect::<Vec<_>>());
        }
        let mut body = body;
        body["config"] = config.clone().into();
        assert_eq!(editor.create("/v1/views", &body)["type"], name.as_str());
        let body = json!({"type": name, "config": [config]});
        let changed = editor.patch(&path, &body).expect(200).json();
        assert_eq!(changed["type"], name.as_str());
        // What fits one type need not fit the next.
        editor
            .patch(&path, &json!({"type": "table", "config": []}))
            .expect(200);
    }
    for bad in [
        json!("Table"),
        json!(""),
        json!("list"),
        json!(null),
        json!(1),
    ] {
        let body = json!({"feature_id": model.feature, "label": "x", "type": bad});
        assert_eq!(faults(editor.post("/v1/views", &body)), ["type"]);
        assert_eq!(faults(editor.patch(&path, &json!({"type": bad}))), ["type"]);
    }
    let without = json!({"feature_id": model.feature, "label": "x"});
    assert_eq!(faults(editor.post("/v1/views", &without)), ["type"]);
    editor
        .patch(
            &path,
            &json!({"type": "chart", "config": {"groupByColumn": "c", "chartType": "pie"}}),
        )
        .expect(200);
    assert_eq!(
        faults(editor.patch(&path, &json!({"type": "table"}))),
        ["config[0].groupByColumn", "config[0].chartType"]
    );
}

async fn the_config_of_a_view_is_a_list_of_one(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/views/{}", model.view);
    let one = json!({"visibleColumns": ["c"]});
    for (sent, kept) in [
        (one.clone(), json!([one])),
        (json!([one]), json!([one])),
        (json!([]), json!([{}])),
        (json!({}), json!([{}])),
        (json!([{}]), json!([{}])),
    ] {
        let body = json!({
            "feature_id": model.feature, "label": "x", "type": "table", "config": sent,
        });
        assert_eq!(editor.create("/v1/views", &body)["config"], kept);
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
        (json!(1), "config"),
        (json!([{}, {}]), "config"),
        (json!([1]), "config[0]"),
        (json!([{"x": 1}]), "config[0].x"),
        (json!({"x": 1}), "config.x"),
        (json!({"visibleColumns": [1]}), "config.visibleColumns[0]"),
        (json!({"sort": {"desc": true}}), "config.sort.column"),
        (
            json!({"filters": [{"column": "c", "op": 1}]}),
            "config.filters[0].op",
        ),
    ] {
        let response = editor.patch(&path, &json!({"config": config}));
        assert_eq!(faults(response), [fault], "{config}");
    }
}

async fn a_view_names_columns_of_its_table(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (model, other) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    editor.create(
        &other.columns(),
        &json!({"label": "Elsewhere", "type": "text"}),
    );
    let path = format!("/v1/views/{}", model.view);
    let with = |config: Value| editor.patch(&path, &json!({"config": config}));
    // What every row has can be named too.
    let fine =
        json!({"visibleColumns": ["c", "id", "created_at"], "sort": {"column": "updated_at"}});
    with(fine).expect(200);
    with(json!({"sort": {"column": ""}})).expect(200);
    assert_eq!(
        faults(with(json!({"visibleColumns": ["c", "elsewhere", "nope"]}))),
        ["config.visibleColumns[1]", "config.visibleColumns[2]"]
    );
    let form = |key: &str, id: &str| {
        let body = json!({"type": "form", "config": {key: id}});
        editor.patch(&path, &body)
    };
    form("redirectViewId", &model.view).expect(200);
    form("redirectRailId", &model.rail).expect(200);
    for bad in [&other.view, &model.rail, &world.context.id().to_string()] {
        assert_eq!(
            faults(form("redirectViewId", bad)),
            ["config.redirectViewId"]
        );
    }
}

async fn columns_that_a_view_asks_by_get_slots(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    for number in 0..20 {
        let body = json!({"label": format!("n{number}"), "type": "number"});
        editor.create(&model.columns(), &body);
    }
    let slots = async |name: &'static str| {
        let sql = "SELECT slot, slot_ready FROM columns WHERE feature_id = $1 AND name = $2";
        let rows = world
            .sql(sql, vec![uuid(&model.feature).into(), name.into()])
            .await;
        let slot = rows[0].get::<Option<i64>>(0).expect("a slot");
        slot.map(|slot| (slot, rows[0].get::<bool>(1).expect("a flag")))
    };
    let path = format!("/v1/views/{}", model.view);
    let config = json!({
        "visibleColumns": ["n0"], "sort": {"column": "n1"}, "filters": [{"column": "n2", "op": "eq"}],
    });
    editor.patch(&path, &json!({"config": config})).expect(200);
    assert_eq!(slots("n0").await, None);
    assert_eq!(slots("n1").await, Some((1, true)));
    assert_eq!(slots("n2").await, Some((2, true)));
    world.row(&model, None, r#"{"n3":1}"#).await;
    let config = json!({"sort": {"column": "n3"}});
    editor.patch(&path, &json!({"config": config})).expect(200);
    // Somebody has to fill it first.
    assert_eq!(slots("n3").await, Some((3, false)));
    assert_eq!(slots("n1").await, Some((1, true)));
    let all: Vec<Value> = (0..20)
        .map(|number| json!({"column": format!("n{number}"), "op": "eq"}))
        .collect();
    let body = json!({
        "feature_id": model.feature, "label": "x", "type": "table", "config": {"filters": all},
    });
    editor.create("/v1/views", &body);
    let sql = "SELECT count(*) FROM columns WHERE slot IS NOT NULL";
    assert_eq!(world.sql(sql, vec![]).await[0].get::<i64>(0), Ok(16));
}

async fn views_are_listed_and_an_unseen_feature_has_none(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (model, other) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    let foreign = Model::new(&world.as_user("stranger@other.test"), world.other);
    let of = |feature: &str| editor.ids(&format!("/v1/views?feature_id={feature}"));
    assert_eq!(of(&model.feature), [model.view.as_str()]);
    assert_eq!(of(&foreign.feature), [""; 0]);
    assert_eq!(of(&world.context.id().to_string()), [""; 0]);
    assert_eq!(editor.ids("/v1/views"), [model.view, other.view]);
    assert_eq!(
        faults(editor.get("/v1/views?feature_id=x")),
        ["query.feature_id"]
    );
}
