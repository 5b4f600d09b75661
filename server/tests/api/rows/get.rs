//! `GET …/rows/{row_id}`

use uuid::Uuid;

use super::seed::{COLUMNS, ask, path, table, table_in, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_row_is_returned_with_its_data_as_it_is_stored,
    hidden_and_missing_rows_are_the_same_bytes,
);

/// A row that no request wrote.
async fn put(world: &World, (organization, workspace, feature): (Uuid, Uuid, Uuid)) -> Uuid {
    let id = world.context.id();
    let sql = "INSERT INTO main.rows (organization_id, workspace_id, feature_id, id, created_by, \
         created_at, updated_at, data) VALUES ($1, $2, $3, $4, NULL, 1, 2, {json $5})";
    let data = r#"{"a":12345678901234567890.5,"b":"é\n"}"#;
    let parameters = vec![
        organization.into(),
        workspace.into(),
        feature.into(),
        id.into(),
        data.into(),
    ];
    ask(world, sql, parameters).await;
    id
}

async fn a_row_is_returned_with_its_data_as_it_is_stored(place: Place) {
    let world = World::new(place).await;
    let workspace = workspace(&world, world.acme, "organization").await;
    let feature = table_in(&world, (world.acme, workspace), false, &COLUMNS).await;
    let id = put(&world, (world.acme, workspace, feature)).await;
    let viewer = world.as_user("viewer@acme.test");
    let response = viewer.get(&path(feature, &format!("/{id}"))).expect(200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(
        response.body,
        format!(
            r#"{{"id":"{id}","feature_id":"{feature}","created_at":"1970-01-01T00:00:00.000001Z","updated_at":"1970-01-01T00:00:00.000002Z","data":{{"a":12345678901234567890.5,"b":"é\n"}}}}"#
        )
    );
    viewer
        .get(&path(feature, "/no-uuid"))
        .refused(422, "validation_failed");
    viewer
        .get(&path(feature, &format!("/{id}?x=1")))
        .refused(422, "validation_failed");
    // What is not there comes before what is wrong with the query.
    for method in ["GET", "PATCH", "DELETE"] {
        let hidden = path(workspace, "/no-uuid");
        let json = [("content-type", "application/json")];
        let body = (method == "PATCH").then_some(b"{".as_slice());
        let ask = |client: &Client, path| client.send(method, path, &json, body);
        let editor = world.as_user("editor@acme.test");
        ask(&editor, &hidden).refused(404, "not_found");
        let visible = path(feature, "/no-uuid");
        let response = ask(&editor, &visible).refused(422, "validation_failed");
        assert_eq!(response.json()["errors"][0]["path"], "path.row_id");
        // And who may not, before that.
        let response = ask(&viewer, &visible);
        match method {
            "GET" => response.refused(422, "validation_failed"),
            "PATCH" => response.refused(403, "forbidden"),
            _ => response.refused(404, "not_found"),
        };
    }
    viewer
        .get(&path(feature, &format!("/{workspace}?x=1")))
        .refused(404, "not_found");
}

async fn hidden_and_missing_rows_are_the_same_bytes(place: Place) {
    let world = World::new(place).await;
    let open = workspace(&world, world.acme, "organization").await;
    let closed = workspace(&world, world.acme, "members").await;
    let foreign = workspace(&world, world.other, "organization").await;
    let others = table(&world, &[]).await;
    let mut seen = Vec::new();
    for (organization, workspace, own_rows) in [
        (world.acme, open, true),
        (world.acme, closed, false),
        (world.other, foreign, false),
    ] {
        let feature = table_in(&world, (organization, workspace), own_rows, &[]).await;
        let row = put(&world, (organization, workspace, feature)).await;
        seen.push((feature, row));
    }
    let (guarded, row) = seen[0];
    seen.extend([
        (others, row),
        (world.context.id(), row),
        (guarded, world.acme),
    ]);
    let editor = world.as_user("editor@acme.test");
    let mut bodies = Vec::new();
    for (feature, row) in seen {
        let response = editor.get(&path(feature, &format!("/{row}")));
        let body = response.refused(404, "not_found").body;
        let body = body.replace(&feature.to_string(), "F");
        bodies.push(body.replace(&row.to_string(), "R"));
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    // Administrators see what editors do not.
    let admin = world.as_user("admin@acme.test");
    admin.get(&path(guarded, &format!("/{row}"))).expect(200);
}
