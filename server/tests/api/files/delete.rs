//! `DELETE /v1/files/{file_id}`

use serde_json::json;

use super::{made, of};
use crate::api::model::{Model, id};
use crate::api::templates::shop::{self, Shop};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_file_in_use_goes_by_force_alone,
    cells_keep_the_text_of_a_file_that_goes,
    uses_that_are_kept_from_somebody_take_an_administrator,
    a_use_that_went_with_its_row_takes_an_administrator,
);

async fn a_file_in_use_goes_by_force_alone(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&owner, world.acme)
        .with_row(&owner)
        .with_file(&world, &owner, "f")
        .await;
    let path = format!("/v1/files/{}", model.file);
    world
        .as_user("viewer@acme.test")
        .delete(&path)
        .refused(403, "forbidden");
    editor.delete(&path).refused(409, "not_empty");
    editor
        .delete(&format!("{path}?force=no"))
        .refused(422, "validation_failed");
    editor.delete(&format!("{path}?force=true")).expect(204);
    editor
        .delete(&format!("{path}?force=true"))
        .refused(404, "not_found");
    assert_eq!(
        world
            .sql("SELECT file_id FROM file_uses", vec![])
            .await
            .len(),
        0
    );
    // Of nobody else's that nothing uses there is nothing to delete.
    let unused = made(&owner, &model.workspace, "unused", b"x");
    editor.delete(&of(&unused)).refused(404, "not_found");
    owner.delete(&of(&unused)).expect(204);
    assert_eq!(
        owner.get(&world.path("")).expect(200).json()["file_bytes"],
        0
    );
}

async fn cells_keep_the_text_of_a_file_that_goes(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme);
    owner.create(&model.columns(), &json!({"label": "photo", "type": "file"}));
    let file = made(&owner, &model.workspace, "f", b"x");
    let rows = format!("/v1/features/{}/rows", model.feature);
    let cell = json!({"data": {"photo": id(&file)}});
    let row = format!("{rows}/{}", id(&owner.create(&rows, &cell)));
    owner.delete(&of(&file)).refused(409, "not_empty");
    let forced = format!("{}?force=true", of(&file));
    owner.delete(&forced).expect(204);
    let kept = owner.get(&row).expect(200).json();
    assert_eq!(kept["data"]["photo"], file["id"]);
    // What stands there may stay, and nothing new may name it.
    owner.patch(&row, &cell).expect(200);
    owner.post(&rows, &cell).refused(422, "validation_failed");
}

async fn uses_that_are_kept_from_somebody_take_an_administrator(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let mut model = Model::new(&owner, world.acme).with_row(&owner);
    let file = made(&editor, &model.workspace, "f", b"x");
    model.file = id(&file);
    world.attach(&model).await;
    let own = json!({"config": {"rowAccess": "own"}});
    owner
        .patch(&format!("/v1/features/{}", model.feature), &own)
        .expect(200);
    // The editor sees the file and not its use, which counts all the same.
    let within = format!("/v1/files?workspace_id={}", model.workspace);
    assert_eq!(
        editor.ids(&format!("{within}&attached=true")),
        [&*model.file]
    );
    assert_eq!(editor.ids(&format!("{within}&attached=false")), [""; 0]);
    editor.delete(&of(&file)).refused(409, "not_empty");
    editor
        .delete(&format!("{}?force=true", of(&file)))
        .refused(403, "forbidden");
    owner.delete(&of(&file)).refused(409, "not_empty");
    owner
        .delete(&format!("{}?force=true", of(&file)))
        .expect(204);
}

/// Until the undo nobody sees the row: whoever deletes the file takes it from somebody else's.
async fn a_use_that_went_with_its_row_takes_an_administrator(place: Place) {
    let world = World::new(place).await;
    let _working = shop::working(&world);
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let source = Shop::new(&owner, world.acme);
    let photo = json!({"label": "photo", "type": "file"});
    shop::column(&owner, &source.orders, &photo);
    let template = source.template(&owner, &owner, &json!({}));
    let there = shop::workspace(&owner, world.acme);
    shop::applied(&owner, &template, &json!({"workspaceId": there})).await;
    let orders = shop::named(&owner, &there, "orders").expect("a table");
    let table = format!("/v1/features/{orders}");
    let own = json!({"config": {"rowAccess": "own"}});
    owner.patch(&table, &own).expect(200);
    let file = made(&editor, &there, "f", b"x");
    let hidden = json!({"data": {"title": "hidden", "photo": id(&file)}});
    let row = id(&owner.create(&format!("{table}/rows"), &hidden));
    let forced = format!("{}?force=true", of(&file));
    editor.delete(&forced).refused(403, "forbidden");

    // The author takes the table away, and the owner follows.
    let gone = format!("/v1/features/{}?force=true", source.orders);
    owner.delete(&gone).expect(204);
    let export = format!("/v1/workspaces/{}/export", source.workspace);
    let package = owner.post(&export, &json!({"onto": template})).expect(200);
    let kept = format!("/v1/templates/{template}/package");
    owner.json("PUT", &kept, &package.body).expect(200);
    let mut upgrade = json!({"workspaceId": there, "upgrade": true, "allowDestructive": true});
    let plan = owner.post(&format!("/v1/templates/{template}/plan"), &upgrade);
    let plan = plan.expect(200).json();
    let left = plan["left"].as_array().expect("a list");
    let left = left.iter().find(|left| left["kind"] == "feature");
    let reference = left.expect("a table")["ref"].as_str().expect("a ref");
    upgrade["decisions"] = json!({reference: "delete"});
    let job = shop::applied(&owner, &template, &upgrade).await;
    assert_eq!(shop::named(&owner, &there, "orders"), None, "{job}");
    editor.delete(&of(&file)).refused(409, "not_empty");
    editor.delete(&forced).refused(403, "forbidden");

    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    owner.send("POST", &undo, &[], None).expect(200);
    let row = owner.get(&format!("{table}/rows/{row}")).expect(200).json();
    assert_eq!(row["data"]["photo"], json!(id(&file)));
    editor.get(&of(&file)).expect(200);
    editor.delete(&forced).refused(403, "forbidden");
    owner.delete(&forced).expect(204);
}
