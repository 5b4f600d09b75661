//! The quota of bytes.

use serde_json::json;

use super::{made, of, put};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_quota_counts_every_record,
    no_two_uploads_share_the_last_room
);

async fn limit(world: &World, bytes: i64) {
    let sql = "UPDATE main.organizations SET file_quota = $2 WHERE id = $1";
    world.sql(sql, vec![world.acme.into(), bytes.into()]).await;
}

async fn the_quota_counts_every_record(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    limit(&world, 10).await;
    let first = made(&owner, &workspace, "a", b"12345");
    // The same bytes take room once more.
    made(&owner, &workspace, "b", b"12345");
    put(&owner, &workspace, "c", b"1").refused(409, "quota_exceeded");
    // Nobody says how much comes, so it is found out at the end.
    let path = format!("/v1/files?workspace_id={workspace}&name=c");
    let chunked = [("transfer-encoding", "chunked")];
    owner
        .send_raw("POST", &path, &chunked, b"1\r\nx\r\n0\r\n\r\n")
        .refused(409, "quota_exceeded");
    let seen = |email: &str| {
        let organization = world.as_user(email).get(&world.path("")).expect(200).json();
        (
            organization["file_quota"].clone(),
            organization["file_bytes"].clone(),
        )
    };
    assert_eq!(seen("owner@acme.test"), (json!(10), json!(10)));
    assert_eq!(seen("admin@acme.test"), (json!(10), json!(10)));
    for email in ["editor@acme.test", "viewer@acme.test"] {
        assert_eq!(seen(email), (json!(null), json!(null)));
    }
    for field in ["file_quota", "file_bytes"] {
        owner
            .patch(&world.path(""), &json!({field: 1}))
            .refused(403, "forbidden");
    }
    owner.delete(&of(&first)).expect(204);
    made(&owner, &workspace, "c", b"12345");
}

async fn no_two_uploads_share_the_last_room(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    limit(&world, 50).await;
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..12)
            .map(|number| {
                let (owner, workspace) = (&owner, &workspace);
                // Half of them bring the same bytes.
                let bytes = format!("{:010}", number / 2);
                scope.spawn(move || put(owner, workspace, "x", bytes.as_bytes()).status)
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("ends"))
            .collect()
    });
    let taken = statuses.iter().filter(|status| **status == 201).count();
    let refused = statuses.iter().filter(|status| **status == 409).count();
    assert_eq!((taken, refused), (5, 7), "{statuses:?}");
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 50);
}
