//! `DELETE /v1/files/{file_id}`

use serde_json::json;

use super::{made, of};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_file_in_use_goes_by_force_alone,
    uses_that_are_kept_from_somebody_take_an_administrator
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

async fn uses_that_are_kept_from_somebody_take_an_administrator(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let mut model = Model::new(&owner, world.acme).with_row(&owner);
    let file = made(&editor, &model.workspace, "f", b"x");
    model.file = crate::api::model::id(&file);
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
