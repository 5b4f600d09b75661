//! What is decided about what a package uses and does not carry; every refusal before there is a job.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, column, feature, named, row, rows, working, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    refs_are_spelled_with_and_without_the_dollar,
    what_is_missing_is_created_from_its_blueprint,
    only_tables_within_reach_are_mapped,
    columns_are_mapped_where_the_plan_uses_them,
    what_is_skipped_is_emptied_and_reported,
    what_nothing_decides_has_to_be_mapped,
);

/// Orders without their clients: a package that depends on a table.
struct Scene {
    world: World,
    editor: Client,
    shop: Shop,
    template: String,
    /// The refs of the dependency, of its column, and of the table.
    clients: String,
    identity: String,
    orders: String,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        let editor = world.as_user("editor@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let selection = json!({"features": [shop.orders], "rows": "all"});
        let template = shop.template(&editor, &world.as_user("admin@acme.test"), &selection);
        let read = editor.get(&format!("/v1/templates/{template}")).json();
        let dependency = &read["manifest"]["dependencies"][0];
        let text = |value: &Value| value.as_str().expect("a ref").to_owned();
        Scene {
            clients: text(&dependency["ref"]),
            identity: text(&dependency["identity"]["columns"][0]["ref"]),
            orders: text(&read["manifest"]["items"][0]["ref"]),
            world,
            editor,
            shop,
            template,
        }
    }

    fn map(&self, feature: &str, column: &str) -> Value {
        let columns = json!({self.identity.as_str(): column});
        json!({"action": "map", "id": feature, "columns": columns})
    }

    /// The body with that resolution of the dependency, for a workspace.
    fn body(&self, workspace: &str, resolution: &Value) -> Value {
        json!({"workspaceId": workspace, "resolutions": {self.clients.as_str(): resolution}})
    }

    /// Asserts that it is refused as an apply, and reported as a plan, and that there is no job.
    #[track_caller]
    fn refused(&self, body: &Value, code: &str, reference: &str) {
        let refused = apply(&self.editor, &self.template, body)
            .refused(422, code)
            .json();
        assert_eq!(refused["ref"], reference, "{refused}");
        assert_eq!(refused["errors"][0]["code"], code, "{refused}");
        let plan = format!("/v1/templates/{}/plan", self.template);
        let plan = self.editor.post(&plan, body);
        if code == "unknown_resolution_ref" {
            plan.refused(422, code);
        } else {
            let plan = plan.expect(200).json();
            let refusal = &plan["refusals"][0];
            assert_eq!(
                (&refusal["code"], &refusal["ref"]),
                (&json!(code), &json!(reference)),
                "{plan}"
            );
        }
        assert_eq!(self.editor.items("/v1/template-jobs").len(), 0);
    }
}

async fn refs_are_spelled_with_and_without_the_dollar(place: Place) {
    let scene = Scene::new(place).await;
    let there = workspace(&scene.editor, scene.world.acme);
    let (bare, dollar) = (scene.clients.clone(), format!("${}", scene.clients));
    let skip = json!({"action": "skip"});
    let both =
        json!({"workspaceId": there, "resolutions": {bare.as_str(): skip, dollar.as_str(): skip}});
    scene.refused(&both, "unknown_resolution_ref", &bare);
    let unknown = json!({"workspaceId": there, "resolutions": {"$f_nothing": skip}});
    scene.refused(&unknown, "unknown_resolution_ref", "f_nothing");
    let modes = json!({"workspaceId": there, "rowsModes": {"$f_nothing": "all"}});
    scene.refused(&modes, "unknown_resolution_ref", "f_nothing");
    let orders = format!("${}", scene.orders);
    let fine = json!({"workspaceId": there, "resolutions": {dollar.as_str(): skip},
        "rowsModes": {orders.as_str(): "none"}});
    let _working = working(&scene.world);
    let job = applied(&scene.editor, &scene.template, &fine).await;
    // No dollars in the response.
    assert!(!job.to_string().contains('$'), "{job}");
}

async fn what_is_missing_is_created_from_its_blueprint(place: Place) {
    let scene = Scene::new(place).await;
    let there = workspace(&scene.editor, scene.world.acme);
    let _working = working(&scene.world);
    // The proposal of the exporter, where nobody decides.
    applied(
        &scene.editor,
        &scene.template,
        &json!({"workspaceId": there}),
    )
    .await;
    let clients = named(&scene.editor, &there, "clients").expect("from the blueprint");
    assert_eq!(rows(&scene.editor, &clients).len(), 0);
}

async fn only_tables_within_reach_are_mapped(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { world, editor, .. } = &scene;
    let there = workspace(editor, world.acme);
    let identity = json!({"label": "Id", "name": "id", "type": "text", "default_component": "id"});
    let table = |client: &Client, workspace: &str| {
        let table = feature(client, workspace, "People");
        let identity = column(client, &table, &identity);
        (table, identity)
    };
    let stranger = world.as_user("stranger@other.test");
    let foreign = table(&stranger, &workspace(&stranger, world.other));
    let elsewhere = table(editor, &workspace(editor, world.acme));
    let missing = world.context.id().to_string();
    let closed = workspace(editor, world.acme);
    let hidden = table(editor, &closed);
    let owner = world.as_user("owner@acme.test");
    owner
        .patch(
            &format!("/v1/features/{}", hidden.0),
            &json!({"is_shared": true}),
        )
        .expect(200);
    owner
        .patch(
            &format!("/v1/workspaces/{closed}"),
            &json!({"access": "members"}),
        )
        .expect(200);
    let mut refusals = Vec::new();
    for id in [&foreign.0, &elsewhere.0, &hidden.0, &missing] {
        let body = scene.body(&there, &scene.map(id, &missing));
        scene.refused(&body, "mapping_feature_not_found", &scene.clients);
        let refused = apply(editor, &scene.template, &body).body;
        refusals.push(refused.replace(id.as_str(), "…"));
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    // A shared table of the organization, and one of the workspace itself.
    editor
        .patch(
            &format!("/v1/features/{}", elsewhere.0),
            &json!({"is_shared": true}),
        )
        .expect(200);
    let _working = working(world);
    let body = scene.body(&there, &scene.map(&elsewhere.0, &elsewhere.1));
    let job = applied(editor, &scene.template, &body).await;
    assert!(named(editor, &there, "clients").is_none());
    // The rows of the source are not there: their links are emptied, and reported once for the column.
    let dropped = &job["report"]["unresolved"][0];
    assert_eq!(dropped["reason"], "row_ref_dropped", "{job}");
    assert_eq!(
        (&dropped["kind"], &dropped["count"]),
        (&json!("rows"), &json!(3))
    );
}

async fn columns_are_mapped_where_the_plan_uses_them(place: Place) {
    let scene = Scene::new(place).await;
    let Scene { world, editor, .. } = &scene;
    let there = workspace(editor, world.acme);
    let people = feature(editor, &there, "People");
    let other = feature(editor, &there, "Other");
    let foreign = column(editor, &other, &json!({"label": "C", "type": "text"}));
    let own = column(editor, &people, &json!({"label": "C", "type": "text"}));
    let refused = |resolution: &Value, code: &str, reference: &str| {
        scene.refused(&scene.body(&there, resolution), code, reference);
    };
    let bare = json!({"action": "map", "id": people});
    refused(&bare, "mapping_columns_incomplete", &scene.identity);
    let wrong = scene.map(&people, &foreign);
    refused(&wrong, "mapping_column_not_found", &scene.identity);
    let nothing = scene.map(&people, &world.context.id().to_string());
    refused(&nothing, "mapping_column_not_found", &scene.identity);
    let number = column(editor, &people, &json!({"label": "N", "type": "number"}));
    let unfit = scene.map(&people, &number);
    refused(&unfit, "mapping_column_not_found", &scene.identity);
    let mut unknown = scene.map(&people, &own);
    unknown["leaveEmpty"] = json!(["nothing"]);
    // `columns` belong to a mapping, an id and what may be empty too.
    for resolution in [
        json!({"action": "skip", "columns": {scene.identity.as_str(): own}}),
        json!({"action": "import", "columns": {}}),
        json!({"action": "skip", "leaveEmpty": []}),
        unknown,
        json!({"action": "map"}),
        json!({"action": "drop"}),
        json!({}),
    ] {
        let body = scene.body(&there, &resolution);
        apply(editor, &scene.template, &body).refused(422, "validation_failed");
    }
    assert_eq!(editor.items("/v1/template-jobs").len(), 0);
    let _working = working(world);
    let fine = scene.body(&there, &scene.map(&people, &own));
    applied(editor, &scene.template, &fine).await;
}

async fn what_is_skipped_is_emptied_and_reported(place: Place) {
    let scene = Scene::new(place).await;
    let Scene {
        world,
        editor,
        shop,
        ..
    } = &scene;
    let there = workspace(editor, world.acme);
    let _working = working(world);
    let body = scene.body(&there, &json!({"action": "skip"}));
    let job = applied(editor, &scene.template, &body).await;
    let unresolved = job["report"]["unresolved"].as_array().expect("a list");
    let entries: Vec<(&str, &str)> = unresolved
        .iter()
        .map(|entry| {
            (
                entry["path"].as_str().expect("a path"),
                entry["reason"].as_str().expect("why"),
            )
        })
        .collect();
    assert!(
        entries.contains(&("config.linkedFeatureId", "dependencia_saltada")),
        "{entries:?}"
    );
    assert!(
        entries.contains(&("config.linkedValueColumn", "dependencia_saltada")),
        "{entries:?}"
    );
    let cells = unresolved
        .iter()
        .find(|entry| entry["path"] == "rows[].data.client");
    let cells = cells.expect("one entry for the cells");
    assert_eq!(
        (&cells["kind"], &cells["count"]),
        (&json!("rows"), &json!(3))
    );
    let orders = named(editor, &there, "orders").expect("a table");
    for order in rows(editor, &orders) {
        assert!(order["client"].is_null(), "{order}");
    }
    let columns = editor
        .get(&format!("/v1/features/{orders}/columns"))
        .expect(200);
    let link = &columns.json()[1]["config"];
    assert_eq!(
        (&link["linkedFeatureId"], &link["linkedValueColumn"]),
        (&json!(""), &json!(""))
    );
    // Nothing of the source is left.
    for client in rows(editor, &shop.clients) {
        let id = client["id"].as_str().expect("an id");
        assert!(!columns.body.contains(id));
    }
    assert!(!columns.body.contains(&shop.clients));
}

async fn what_nothing_decides_has_to_be_mapped(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let source = workspace(&editor, world.acme);
    let module = |label: &str| {
        let body = json!({"workspace_id": source, "label": label});
        crate::api::model::id(&editor.create("/v1/modules", &body))
    };
    let (one, two) = (module("One"), module("Two"));
    let rail = json!({"module_id": one, "label": "R", "config": [{"openModuleId": two}]});
    editor.create("/v1/rails", &rail);
    let export = format!("/v1/workspaces/{source}/export");
    let package = editor.post(&export, &json!({"modules": [one]})).expect(200);
    let made = admin
        .json("POST", "/v1/templates/import", &package.body)
        .expect(201)
        .json();
    let template = crate::api::model::id(&made);
    let dependency = &package.json()["manifest"]["dependencies"][0];
    let reference = dependency["ref"].as_str().expect("a ref");
    assert_eq!(dependency["kind"], "module", "{dependency}");
    let there = workspace(&editor, world.acme);
    let refuses = |resolutions: Value, code: &str| {
        let body = json!({"workspaceId": there, "resolutions": resolutions});
        let refused = apply(&editor, &template, &body).refused(422, code).json();
        assert_eq!(refused["ref"], reference, "{refused}");
    };
    refuses(json!({}), "mapping_required");
    refuses(
        json!({reference: {"action": "import"}}),
        "import_without_blueprint",
    );
    let missing = world.context.id();
    refuses(
        json!({reference: {"action": "map", "id": missing}}),
        "mapping_target_not_found",
    );
    // A module of another workspace is none of this one.
    refuses(
        json!({reference: {"action": "map", "id": two}}),
        "mapping_target_not_found",
    );
    assert_eq!(editor.items("/v1/template-jobs").len(), 0);
    let body = json!({"workspace_id": there, "label": "Here"});
    let here = crate::api::model::id(&editor.create("/v1/modules", &body));
    let _working = working(&world);
    let body =
        json!({"workspaceId": there, "resolutions": {reference: {"action": "map", "id": here}}});
    applied(&editor, &template, &body).await;
    row(&editor, &feature(&editor, &there, "Any"), &json!({}));
}
