//! `/v1/features/{feature_id}/columns`

use serde_json::{Value, json};
use tplkit::definitions::Definitions;

use super::client::Client;
use super::model::{Model, id, uuid};
use super::workspaces::faults;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_column_is_created_listed_changed_and_deleted,
    columns_are_one_list_in_display_order,
    types_and_components_are_those_of_the_definitions,
    what_is_wrong_with_a_column_is_reported,
    some_names_are_not_for_columns,
    identities_are_texts_or_sequences,
    a_column_becomes_unique_only_over_values_that_are,
    a_sequence_goes_on_behind_what_is_there,
    links_lead_to_visible_tables_of_the_workspace_or_shared_ones,
    a_link_whose_table_has_gone_changes_in_other_ways,
    a_column_that_rows_carry_goes_only_by_force,
    columns_that_are_looked_up_get_slots,
    a_column_is_found_in_its_own_feature_only,
);

async fn a_column_is_created_listed_changed_and_deleted(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let body = json!({"label": "Preço", "type": "currency", "config": {"decimals": 3}});
    let made = editor.create(&model.columns(), &body);
    assert_eq!(
        made,
        json!({
            "id": made["id"], "organization_id": world.acme, "workspace_id": model.workspace,
            "feature_id": model.feature, "name": "preco", "label": "Preço", "type": "currency",
            "default_component": "currencyfield", "order": 2, "config": {"decimals": 3},
            "created_at": made["created_at"], "updated_at": made["created_at"],
        })
    );
    let path = format!("{}/{}", model.columns(), id(&made));
    world.wait(1);
    assert_eq!(editor.patch(&path, &json!({})).expect(200).json(), made);
    let body = json!({"default_component": "textfield", "label": "P", "config": {}, "order": 0});
    let changed = editor.patch(&path, &body).expect(200).json();
    assert_eq!(changed["default_component"], "textfield");
    assert_eq!(changed["config"], json!({}));
    assert_ne!(changed["updated_at"], made["updated_at"]);
    let listed = editor.get(&model.columns()).expect(200).json();
    assert_eq!(listed[0], changed);
    assert_eq!(listed[1]["id"], model.column);
    for frozen in [
        "name",
        "id",
        "feature_id",
        "workspace_id",
        "organization_id",
        "created_at",
    ] {
        editor
            .patch(&path, &json!({frozen: "x"}))
            .refused(403, "forbidden");
    }
    let same = json!({"label": "x", "type": "text", "name": "preco"});
    editor
        .post(&model.columns(), &same)
        .refused(409, "conflict");
    editor.delete(&path).expect(204);
    editor.delete(&path).refused(404, "not_found");
    editor.patch(&path, &json!({})).refused(404, "not_found");
    let gone = editor.get(&path);
    assert_eq!(
        gone.refused(405, "method_not_allowed").header("allow"),
        Some("DELETE, PATCH")
    );
}

async fn columns_are_one_list_in_display_order(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let mut expected = vec![(1, model.column.clone())];
    for number in 0..299 {
        let order = (number * 7) % 40;
        let body = json!({"label": format!("c{number}"), "type": "text", "order": order});
        expected.push((order, id(&editor.create(&model.columns(), &body))));
    }
    expected.sort();
    let listed = editor.get(&model.columns()).expect(200).json();
    let listed = listed.as_array().expect("a plain array");
    let listed = listed
        .iter()
        .map(|column| (column["order"].as_i64().expect("an order"), id(column)));
    assert_eq!(listed.collect::<Vec<_>>(), expected);
    for query in ["limit=5", "cursor=x"] {
        let name = query.split('=').next().expect("a name");
        let refused = editor.get(&format!("{}?{query}", model.columns()));
        assert_eq!(faults(refused), [format!("query.{name}")]);
    }
    let empty = json!({"workspace_id": model.workspace, "label": "x"});
    let empty = id(&editor.create("/v1/features", &empty));
    let none = editor
        .get(&format!("/v1/features/{empty}/columns"))
        .expect(200);
    assert_eq!(none.body, "[]");
}

/// A config that holds what a type requires.
fn expected(name: &str, model: &Model) -> Value {
    match name {
        "select" | "multi_select" => json!({"options": ["a", "b"]}),
        "masked" => json!({"mask": "nif"}),
        "linked_select" | "auto_match" => {
            json!({"linkedFeatureId": model.feature, "linkedValueColumn": "c"})
        }
        _ => json!({}),
    }
}

async fn types_and_components_are_those_of_the_definitions(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let definitions = editor.get("/v1/schema/definitions").expect(200).json();
    let path = format!("{}/{}", model.columns(), model.column);
    let components = definitions["components"].as_array().expect("a list");
    for (name, kind) in definitions["column_types"].as_object().expect("types") {
        let config = expected(name, &model);
        let body = json!({"label": name, "type": name, "config": config});
        let made = editor.create(&model.columns(), &body);
        assert_eq!(
            made["default_component"], kind["default_component"],
            "{name}"
        );
        let own = kind["components"].as_array().expect("a list");
        for component in components {
            let mut config = config.clone();
            if component == "id" && name == "number" {
                config["idType"] = "sequence".into();
            }
            let body = json!({
                "label": "x", "type": name, "default_component": component, "config": config,
            });
            let (made, changed) = (
                editor.post(&model.columns(), &body),
                editor.patch(&path, &body),
            );
            if own.contains(component) {
                assert_eq!(made.expect(201).json()["default_component"], *component);
                assert_eq!(changed.expect(200).json()["type"], name.as_str());
            } else {
                assert_eq!(faults(made), ["default_component"], "{body}");
                assert_eq!(faults(changed), ["default_component"], "{body}");
            }
        }
    }
    for bad in [
        json!("Text"),
        json!("string"),
        json!(""),
        json!(null),
        json!(3),
    ] {
        let body = json!({"label": "x", "type": bad});
        assert_eq!(faults(editor.post(&model.columns(), &body)), ["type"]);
        assert_eq!(faults(editor.patch(&path, &body)), ["type"]);
        let body = json!({"label": "x", "type": "text", "default_component": bad});
        assert_eq!(
            faults(editor.post(&model.columns(), &body)),
            ["default_component"]
        );
        assert_eq!(faults(editor.patch(&path, &body)), ["default_component"]);
    }
    // The component that was right for the old type.
    let button = json!({"label": "x", "type": "text"});
    let path = format!(
        "{}/{}",
        model.columns(),
        id(&editor.create(&model.columns(), &button))
    );
    assert_eq!(
        faults(editor.patch(&path, &json!({"type": "button"}))),
        ["default_component"]
    );
    editor.patch(&path, &json!({"type": "date"})).expect(200);
}

async fn what_is_wrong_with_a_column_is_reported(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let post = |body: &Value| editor.post(&model.columns(), body);
    for (body, paths) in [
        (json!({}), &["label", "type"][..]),
        (
            json!({"label": "x", "type": "text", "unique": true}),
            &["unique"],
        ),
        (json!({"label": "x", "type": "text", "slot": 1}), &["slot"]),
        (
            json!({"label": "x", "type": "text", "is_unique": true}),
            &["is_unique"],
        ),
        (json!({"label": "x", "type": "select"}), &["config.options"]),
        (
            json!({"label": "x", "type": "select", "config": {"options": "a"}}),
            &["config.options"],
        ),
        (
            json!({"label": "x", "type": "select", "config": {"options": ["a", 1, null]}}),
            &["config.options[1]", "config.options[2]"],
        ),
        (
            json!({"label": "x", "type": "text", "config": {"options": [], "required": 1}}),
            &["config.options", "config.required"],
        ),
        (
            json!({"label": "x", "type": "currency", "config": {"decimals": 9}}),
            &["config.decimals"],
        ),
        (
            json!({"label": "x", "type": "currency", "config": {"decimals": -1}}),
            &["config.decimals"],
        ),
        (
            json!({"label": "x", "type": "currency", "config": {"decimals": 1.5}}),
            &["config.decimals"],
        ),
        (
            json!({"label": "x", "type": "masked", "config": {"mask": "vat"}}),
            &["config.mask"],
        ),
        (
            json!({"label": "x", "type": "linked_select"}),
            &["config.linkedFeatureId", "config.linkedValueColumn"],
        ),
        // The key belongs to another component.
        (
            json!({"label": "x", "type": "text", "config": {"idType": "uuid"}}),
            &["config.idType"],
        ),
        (
            json!({"label": "x", "type": "button", "config": {"workflowV2Id": model.view}}),
            &["config.workflowV2Id"],
        ),
        // Its cells store nothing, so no row could be entered.
        (
            json!({"label": "x", "type": "button", "config": {"required": true}}),
            &["config.required"],
        ),
    ] {
        let mut found = faults(post(&body));
        found.sort();
        assert_eq!(found, paths, "{body}");
    }
    for decimals in [0, 3, 8] {
        let config = json!({"decimals": decimals});
        post(&json!({"label": "x", "type": "currency", "config": config})).expect(201);
    }
    let button = json!({"label": "x", "type": "button", "config": {"required": false}});
    let button = id(&editor.create(&model.columns(), &button));
    let path = format!("{}/{button}", model.columns());
    let required = json!({"config": {"required": true}});
    assert_eq!(faults(editor.patch(&path, &required)), ["config.required"]);
    // A type without the config that it requires.
    let path = format!("{}/{}", model.columns(), model.column);
    assert_eq!(
        faults(editor.patch(&path, &json!({"type": "select"}))),
        ["config.options"]
    );
    let body = json!({"type": "select", "config": {"options": ["a"]}});
    editor.patch(&path, &body).expect(200);
    assert_eq!(
        faults(editor.patch(&path, &json!({"type": "text"}))),
        ["config.options"]
    );
    editor
        .patch(&path, &json!({"type": "text", "config": {}}))
        .expect(200);
}

async fn some_names_are_not_for_columns(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let name = |body: Value| editor.create(&model.columns(), &body)["name"].clone();
    for refused in ["created_at", "updated_at", "id"] {
        let body = json!({"label": "x", "type": "text", "name": refused});
        assert_eq!(faults(editor.post(&model.columns(), &body)), ["name"]);
    }
    assert_eq!(
        name(json!({"label": "Created at", "type": "date"})),
        "created_at_2"
    );
    assert_eq!(name(json!({"label": "ID", "type": "text"})), "id_2");
    let body = json!({"label": "ID", "type": "text", "default_component": "id"});
    assert_eq!(name(body), "id");
    let identity = editor.get(&model.columns()).json();
    let identity = identity.as_array().expect("a list").iter();
    let identity = identity
        .filter(|column| column["name"] == "id")
        .map(id)
        .next();
    let path = format!("{}/{}", model.columns(), identity.expect("the identity"));
    let body = json!({"default_component": "textfield"});
    assert_eq!(faults(editor.patch(&path, &body)), ["default_component"]);
    for odd in ["$x", "[0]", "1", "a b", "a\\b", "a'b", "日本", "a/b?c&d=%"] {
        assert_eq!(
            name(json!({"label": "x", "type": "text", "name": odd})),
            odd
        );
        world.row(&model, None, &json!({odd: 1}).to_string()).await;
    }
    // Each is found in the rows under its own name.
    let all = editor.get(&model.columns()).json();
    for column in all.as_array().expect("a list") {
        let carried = !["c", "created_at_2", "id_2", "id"]
            .contains(&column["name"].as_str().expect("a name"));
        let path = format!("{}/{}", model.columns(), id(column));
        let response = editor.delete(&path);
        if carried {
            response.refused(409, "not_empty");
        } else {
            response.expect(204);
        }
    }
}

async fn identities_are_texts_or_sequences(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let with = |kind: &str, config: Value| {
        let body = json!({
            "label": "x", "type": kind, "default_component": "id", "config": config,
        });
        editor.post(&model.columns(), &body)
    };
    with("text", json!({})).expect(201);
    with("text", json!({"idType": "uuid"})).expect(201);
    with("number", json!({"idType": "sequence"})).expect(201);
    for (kind, config) in [
        ("text", json!({"idType": "sequence"})),
        ("number", json!({"idType": "uuid"})),
        ("number", json!({})),
        ("text", json!({"idType": "serial"})),
    ] {
        assert_eq!(faults(with(kind, config)), ["config.idType"]);
    }
    assert_eq!(faults(with("currency", json!({}))), ["default_component"]);
    let path = format!("{}/{}", model.columns(), model.column);
    let body = json!({"default_component": "id"});
    editor.patch(&path, &body).expect(200);
    assert_eq!(
        faults(editor.patch(&path, &json!({"type": "number"}))),
        ["config.idType"]
    );
    let body = json!({"default_component": "textfield"});
    editor.patch(&path, &body).expect(200);
}

/// The values that are known not to be repeated.
async fn values(world: &World) -> i64 {
    let sql = "SELECT count(*) FROM row_values";
    world.sql(sql, vec![]).await[0].get(0).expect("a count")
}

async fn a_column_becomes_unique_only_over_values_that_are(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("{}/{}", model.columns(), model.column);
    for data in [
        r#"{"c":"a"}"#,
        r#"{"c":"A"}"#,
        r#"{"c":"1"}"#,
        r#"{"c":1}"#,
        r#"{"c":null}"#,
        r#"{"c":null}"#,
        "{}",
        "{}",
        r#"{"c":{"x":1,"y":2}}"#,
        r#"{"c":["a"]}"#,
    ] {
        world.row(&model, None, data).await;
    }
    let unique = json!({"config": {"unique": true}});
    editor.patch(&path, &unique).expect(200);
    assert_eq!(values(&world).await, 6);
    // Once more changes nothing; a label neither.
    editor.patch(&path, &unique).expect(200);
    editor.patch(&path, &json!({"label": "x"})).expect(200);
    assert_eq!(values(&world).await, 6);
    editor.patch(&path, &json!({"config": {}})).expect(200);
    assert_eq!(values(&world).await, 0);
    // Behind the first thousand.
    for number in 0..1000 {
        world
            .row(&model, None, &format!(r#"{{"c":"v{number}"}}"#))
            .await;
    }
    world.row(&model, None, r#"{"c":{"x":1,"y":2}}"#).await;
    let before = editor.get(&model.columns()).body;
    let refused = editor
        .patch(&path, &unique)
        .refused(409, "unique_violation");
    assert_eq!(refused.json()["column"], "c");
    editor
        .patch(&path, &json!({"default_component": "id"}))
        .refused(409, "unique_violation");
    assert_eq!(values(&world).await, 0);
    assert_eq!(editor.get(&model.columns()).body, before);
    // A new column over a key that rows carry already.
    world.row(&model, None, r#"{"d":1}"#).await;
    world.row(&model, None, r#"{"d":1}"#).await;
    let body = json!({"label": "d", "type": "number", "config": {"unique": true}});
    let refused = editor
        .post(&model.columns(), &body)
        .refused(409, "unique_violation");
    assert_eq!(refused.json()["column"], "d");
    let body = json!({"label": "e", "type": "number", "config": {"unique": true}});
    let path = format!(
        "{}/{}",
        model.columns(),
        id(&editor.create(&model.columns(), &body))
    );
    editor.delete(&path).expect(204);
}

async fn a_sequence_goes_on_behind_what_is_there(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let next = async |name: &'static str| {
        let sql = "SELECT next_number FROM columns WHERE feature_id = $1 AND name = $2";
        let rows = world
            .sql(sql, vec![uuid(&model.feature).into(), name.into()])
            .await;
        rows[0].get::<i64>(0).expect("a number")
    };
    let body = |name: &str| {
        json!({
            "label": name, "type": "number", "default_component": "id",
            "config": {"idType": "sequence"},
        })
    };
    editor.create(&model.columns(), &body("first"));
    assert_eq!(next("first").await, 1);
    for data in [
        r#"{"n":41}"#,
        r#"{"n":-3}"#,
        r#"{"n":99.5}"#,
        r#"{"n":"500"}"#,
        "{}",
    ] {
        world.row(&model, None, data).await;
    }
    editor.create(&model.columns(), &body("n"));
    // Above every number, also above those that no sequence mints.
    assert_eq!(next("n").await, 100);
}

fn link(editor: &Client, model: &Model, table: &str, column: &str) -> super::client::Response {
    let config = json!({"linkedFeatureId": table, "linkedValueColumn": column});
    let body = json!({"label": "link", "type": "linked_select", "config": config});
    editor.post(&model.columns(), &body)
}

async fn links_lead_to_visible_tables_of_the_workspace_or_shared_ones(place: Place) {
    let world = World::new(place).await;
    let [admin, editor] = ["admin@acme.test", "editor@acme.test"].map(|who| world.as_user(who));
    let (model, other) = (
        Model::new(&admin, world.acme),
        Model::new(&admin, world.acme),
    );
    let foreign = Model::new(&world.as_user("stranger@other.test"), world.other);
    link(&editor, &model, &model.feature, "c").expect(201);
    // A link without a target is legal, and nothing can be said of its column.
    link(&editor, &model, "", "anything").expect(201);
    assert_eq!(
        faults(link(&editor, &model, &model.feature, "nope")),
        ["config.linkedValueColumn"]
    );
    assert_eq!(
        faults(link(&editor, &model, "x", "c")),
        ["config.linkedFeatureId"]
    );
    let missing = link(&editor, &model, &world.context.id().to_string(), "c");
    let missing = missing.refused(422, "validation_failed").body;
    let refusal = |table: &str| {
        let refused = link(&editor, &model, table, "c");
        refused.refused(422, "validation_failed").body
    };
    assert_eq!(refusal(&other.feature), missing);
    assert_eq!(refusal(&foreign.feature), missing);
    let shared = |client: &Client, model: &Model| {
        let path = format!("/v1/features/{}", model.feature);
        client.patch(&path, &json!({"is_shared": true})).expect(200);
    };
    shared(&world.as_user("stranger@other.test"), &foreign);
    assert_eq!(refusal(&foreign.feature), missing);
    shared(&admin, &other);
    link(&editor, &model, &other.feature, "c").expect(201);
    assert_eq!(
        faults(link(&editor, &model, &other.feature, "nope")),
        ["config.linkedValueColumn"]
    );
    // Shared, but as visible as its workspace.
    let path = format!("/v1/workspaces/{}", other.workspace);
    admin
        .patch(&path, &json!({"access": "members"}))
        .expect(200);
    assert_eq!(refusal(&other.feature), missing);
    link(&admin, &model, &other.feature, "c").expect(201);
}

async fn a_link_whose_table_has_gone_changes_in_other_ways(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let table = json!({"workspace_id": model.workspace, "label": "Gone"});
    let table = id(&editor.create("/v1/features", &table));
    let key = json!({"label": "k", "type": "text"});
    editor.create(&format!("/v1/features/{table}/columns"), &key);
    let made = link(&editor, &model, &table, "k").expect(201).json();
    let path = format!("{}/{}", model.columns(), id(&made));
    editor.delete(&format!("/v1/features/{table}")).expect(204);
    for body in [
        json!({"default_component": "textfield"}),
        json!({"type": "auto_match"}),
        json!({"label": "x"}),
    ] {
        let changed = editor.patch(&path, &body).expect(200).json();
        assert_eq!(changed["config"], made["config"], "{body}");
    }
    // What is sent has to lead somewhere.
    let body = json!({"config": made["config"]});
    assert_eq!(
        faults(editor.patch(&path, &body)),
        ["config.linkedFeatureId"]
    );
}

async fn a_column_that_rows_carry_goes_only_by_force(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("{}/{}", model.columns(), model.column);
    editor
        .patch(&path, &json!({"config": {"unique": true}}))
        .expect(200);
    world.row(&model, None, r#"{"other":{"c":1}}"#).await;
    let extra = json!({"label": "n", "type": "text"});
    let extra = format!(
        "{}/{}",
        model.columns(),
        id(&editor.create(&model.columns(), &extra))
    );
    editor.delete(&extra).expect(204);
    // An empty cell is a cell.
    let row = world.row(&model, None, r#"{"c":null}"#).await;
    editor.delete(&path).refused(409, "not_empty");
    for force in ["x", "", "True"] {
        let refused = editor.delete(&format!("{path}?force={force}"));
        assert_eq!(faults(refused), ["query.force"]);
    }
    editor.delete(&format!("{path}?force=true")).expect(204);
    assert_eq!(values(&world).await, 0);
    // The definition alone has gone.
    let sql = "SELECT {text data} FROM rows WHERE id = $1";
    let data = world.sql(sql, vec![row.into()]).await;
    assert_eq!(data[0].get::<String>(0).as_deref(), Ok(r#"{"c":null}"#));
    assert_eq!(editor.get(&model.columns()).json(), json!([]));
}

async fn columns_that_are_looked_up_get_slots(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let slot = async |name: &str| {
        let sql =
            "SELECT slot, slot_ready, is_unique FROM columns WHERE feature_id = $1 AND name = $2";
        let rows = world
            .sql(sql, vec![uuid(&model.feature).into(), name.into()])
            .await;
        let slot = rows[0].get::<Option<i64>>(0).expect("a slot");
        (
            slot,
            rows[0].get::<bool>(1).expect("a flag"),
            rows[0].get::<bool>(2).expect("a flag"),
        )
    };
    assert_eq!(slot("c").await, (None, false, false));
    let unique = json!({"label": "u", "type": "text", "config": {"unique": true}});
    let unique = id(&editor.create(&model.columns(), &unique));
    assert_eq!(slot("u").await, (Some(1), true, true));
    let identity = json!({"label": "i", "type": "text", "default_component": "id"});
    editor.create(&model.columns(), &identity);
    assert_eq!(slot("i").await, (Some(2), true, true));
    link(&editor, &model, &model.feature, "c").expect(201);
    assert_eq!(slot("link").await, (Some(3), true, false));
    // What is given back is given again.
    editor
        .delete(&format!("{}/{unique}", model.columns()))
        .expect(204);
    world.row(&model, None, r#"{"c":"1"}"#).await;
    let path = format!("{}/{}", model.columns(), model.column);
    editor
        .patch(&path, &json!({"config": {"unique": true}}))
        .expect(200);
    assert_eq!(slot("c").await, (Some(1), false, true));
    let ready = "UPDATE main.columns SET slot_ready = $1";
    world.sql(ready, vec![true.into()]).await;
    editor.patch(&path, &json!({"type": "email"})).expect(200);
    assert_eq!(slot("c").await, (Some(1), true, true));
    // Numbers stand there in another form.
    editor.patch(&path, &json!({"type": "number"})).expect(200);
    assert_eq!(slot("c").await, (Some(1), false, true));
    assert!(Definitions::embedded().column_types.len() > 16);
    for number in 0..16 {
        let body =
            json!({"label": format!("x{number}"), "type": "text", "config": {"unique": true}});
        editor.create(&model.columns(), &body);
    }
    assert_eq!(slot("x12").await, (Some(16), false, true));
    assert_eq!(slot("x13").await, (None, false, true));
}

async fn a_column_is_found_in_its_own_feature_only(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let (model, other) = (
        Model::new(&editor, world.acme),
        Model::new(&editor, world.acme),
    );
    let path = format!("{}/{}", model.columns(), other.column);
    editor
        .patch(&path, &json!({"label": "x"}))
        .refused(404, "not_found");
    editor.delete(&path).refused(404, "not_found");
    let path = format!("{}/x", model.columns());
    assert_eq!(faults(editor.delete(&path)), ["path.column_id"]);
}
