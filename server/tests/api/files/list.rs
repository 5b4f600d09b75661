//! `GET /v1/files`, and who sees what.

use serde_json::json;

use super::{bytes_of, made, of};
use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_list_holds_what_the_caller_sees,
    a_file_is_seen_by_who_sees_a_row_that_uses_it,
    many_files_are_listed_in_a_lane,
    files_alone_keep_no_workspace,
);

async fn a_list_holds_what_the_caller_sees(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&owner, world.acme)
        .with_row(&owner)
        .with_file(&world, &owner, "used")
        .await;
    let other = Model::new(&owner, world.acme).workspace;
    let unused = id(&made(&owner, &model.workspace, "unused", b"x"));
    let theirs = id(&made(&editor, &model.workspace, "theirs", b"x"));
    let elsewhere = id(&made(&owner, &other, "elsewhere", b"x"));
    let within = format!("/v1/files?workspace_id={}", model.workspace);
    assert_eq!(
        owner.ids("/v1/files"),
        [&*model.file, &unused, &theirs, &elsewhere]
    );
    assert_eq!(owner.ids(&within), [&*model.file, &unused, &theirs]);
    assert_eq!(
        owner.ids(&format!("{within}&attached=true")),
        [&*model.file]
    );
    assert_eq!(
        owner.ids(&format!("{within}&attached=false")),
        [&*unused, &theirs]
    );
    // A file that nothing uses is its uploader's, and nobody else's.
    assert_eq!(editor.ids("/v1/files"), [&*model.file, &theirs]);
    assert_eq!(editor.ids(&format!("{within}&attached=false")), [&*theirs]);
    let page = owner
        .get(&format!("{within}&attached=false&limit=1"))
        .expect(200)
        .json();
    let cursor = page["next_cursor"].as_str().expect("another page");
    let rest = owner.items(&format!("{within}&attached=false&limit=1&cursor={cursor}"));
    assert_eq!(id(&rest[0]), theirs);
    owner
        .get(&format!("{within}&attached=x"))
        .refused(422, "validation_failed");
    owner
        .get(&format!("/v1/files?workspace_id={}", world.acme))
        .refused(404, "not_found");
    let stranger = world.as_user("stranger@other.test");
    stranger.get(&within).refused(404, "not_found");
    assert_eq!(stranger.ids("/v1/files"), [""; 0]);
}

async fn a_file_is_seen_by_who_sees_a_row_that_uses_it(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let (editor, viewer) = (
        world.as_user("editor@acme.test"),
        world.as_user("viewer@acme.test"),
    );
    let model = Model::new(&owner, world.acme)
        .with_row(&owner)
        .with_file(&world, &owner, "f")
        .await;
    let file = owner
        .get(&format!("/v1/files/{}", model.file))
        .expect(200)
        .json();
    let seen = |client: &crate::api::client::Client| {
        let record = client.get(&of(&file)).status;
        let bytes = client.get(&bytes_of(&file)).status;
        let listed = client.ids("/v1/files").contains(&model.file);
        assert_eq!((record == 200, bytes == 200), (listed, listed));
        listed
    };
    assert!(seen(&owner) && seen(&editor) && seen(&viewer));
    // The rows of the table are kept apart: only whose row it is sees it.
    let own = json!({"config": {"rowAccess": "own"}});
    let feature = format!("/v1/features/{}", model.feature);
    owner.patch(&feature, &own).expect(200);
    assert!(seen(&owner) && !seen(&editor) && !seen(&viewer));
    owner
        .patch(&feature, &json!({"config": {"rowAccess": "all"}}))
        .expect(200);
    // Who does not see the workspace sees nothing of it, also what they uploaded.
    let theirs = made(&editor, &model.workspace, "theirs", b"x");
    let workspace = format!("/v1/workspaces/{}", model.workspace);
    owner
        .patch(&workspace, &json!({"access": "members"}))
        .expect(200);
    assert!(seen(&owner) && !seen(&editor) && !seen(&viewer));
    editor.get(&of(&theirs)).refused(404, "not_found");
    owner
        .patch(&workspace, &json!({"access": "organization"}))
        .expect(200);
    // With the row goes what it showed.
    owner
        .delete(&format!(
            "/v1/features/{}/rows/{}",
            model.feature, model.row
        ))
        .expect(204);
    assert!(seen(&owner) && !seen(&editor) && !seen(&viewer));
    // With the workspace go its files.
    owner.delete(&format!("{workspace}?force=true")).expect(204);
    owner.get(&of(&file)).refused(404, "not_found");
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 0);
}

async fn many_files_are_listed_in_a_lane(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&owner, world.acme);
    let file = made(&owner, &model.workspace, "f", b"x");
    let copy = "INSERT INTO main.files (organization_id, id, workspace_id, object_id, name, content_type, size, \
         sha256, created_by, created_at) SELECT organization_id, $2, workspace_id, object_id, name, content_type, \
         size, sha256, created_by, created_at FROM files WHERE id = $1";
    for _ in 0..1001 {
        let ids = vec![
            crate::api::model::uuid(&id(&file)).into(),
            world.context.id().into(),
        ];
        world.sql(copy, ids).await;
    }
    let last = id(&made(&editor, &model.workspace, "last", b"x"));
    assert_eq!(editor.ids("/v1/files"), [&*last]);
    let within = format!("/v1/files?workspace_id={}&attached=false", model.workspace);
    let page = owner.get(&format!("{within}&limit=200")).expect(200).json();
    assert_eq!(page["items"].as_array().map(Vec::len), Some(200));
    // All places are taken; what looks at few files needs none.
    let mut permits = Vec::new();
    while !world.app.lanes.queries.is_full(world.acme) {
        let lane = world.app.lanes.queries.clone();
        let acme = world.acme;
        permits.push(tokio::spawn(async move { lane.enter(acme).await }));
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    editor.get("/v1/files").refused(429, "busy");
    owner.get(&within).refused(429, "busy");
    owner.get("/v1/files").expect(200);
}

async fn files_alone_keep_no_workspace(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let body = json!({"organization_id": world.acme, "label": "W"});
    let workspace = id(&owner.create("/v1/workspaces", &body));
    let file = made(&owner, &workspace, "f", b"x");
    owner
        .delete(&format!("/v1/workspaces/{workspace}"))
        .expect(204);
    owner.get(&of(&file)).refused(404, "not_found");
    assert_eq!(
        owner.get(&world.path("")).expect(200).json()["file_bytes"],
        0
    );
}
