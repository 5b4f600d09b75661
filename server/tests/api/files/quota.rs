//! The quota of bytes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tplkit_server::files::sweep::Sweep;

use super::sweep::{objects, sweep};
use super::{bytes_of, in_folder, made, of, put};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    the_quota_counts_every_record,
    no_two_uploads_share_the_last_room,
    what_is_refused_or_deleted_takes_no_place,
    a_refused_upload_takes_no_bytes_of_another,
    bytes_that_are_there_are_no_other_bytes_to_who_brings_them,
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

/// The names of its members tell nothing, and what they hold is of this upload.
async fn bytes_that_are_there_are_no_other_bytes_to_who_brings_them(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let far = Model::new(&stranger, world.other).workspace;
    limit(&world, 12).await;
    let room = || {
        let organization = owner.get(&world.path("")).expect(200).json();
        organization["file_bytes"].clone()
    };
    let members = |file: &serde_json::Value| {
        let members = file.as_object().expect("an object").keys();
        members.cloned().collect::<Vec<_>>()
    };
    let first = put(&owner, &workspace, "f", b"bytes").expect(201);
    assert_eq!(room(), 5);
    let again = put(&owner, &workspace, "f", b"bytes").expect(201);
    assert_eq!(room(), 10);
    // What another organization has, and who is full, concerns nobody else.
    let elsewhere = put(&stranger, &far, "f", b"bytes").expect(201);
    put(&stranger, &far, "f", b"more bytes").expect(201);
    assert_eq!(room(), 10);
    let first = first.json();
    for response in [again, elsewhere] {
        assert_eq!(response.header("idempotency-replayed"), None);
        let file = response.json();
        assert_eq!(members(&file), members(&first));
        assert_eq!(file["sha256"], first["sha256"]);
        assert_ne!(file["id"], first["id"]);
    }
    // There is no more room for known bytes than for others.
    let [known, new] = [b"bytes", b"other"].map(|bytes| {
        let refused = put(&owner, &workspace, "f", bytes).refused(409, "quota_exceeded");
        refused.json()["detail"].clone()
    });
    assert_eq!(known, new);
    let organization = format!("/v1/organizations/{}", world.other);
    let organization = stranger.get(&organization).expect(200).json();
    assert_eq!(organization["file_bytes"], 15);
}

/// Waits until so many objects are there: what is refused goes once its response was sent.
async fn becomes(folder: &Path, count: usize) {
    for _ in 0..400 {
        if objects(folder) == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{} objects in place of {count}", objects(folder));
}

/// The clock stands still: nothing of it waits for the time of a hold.
async fn what_is_refused_or_deleted_takes_no_place(place: Place) {
    const LIMIT: usize = 1_000_000;
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    limit(&world, 1_000_000).await;
    let path = format!("/v1/files?workspace_id={workspace}&name=c");
    let chunked = [("transfer-encoding", "chunked")];
    let too_much = |bytes: &[u8]| {
        let head = format!("{:x}\r\n", bytes.len()).into_bytes();
        let body = [&head[..], bytes, b"\r\n0\r\n\r\n"].concat();
        owner
            .send_raw("POST", &path, &chunked, &body)
            .refused(409, "quota_exceeded");
    };
    for letter in [b'x', b'y'] {
        too_much(&vec![letter; LIMIT + 1]);
    }
    becomes(folder.path(), 0).await;
    // What a record names stays, whoever is refused with the same bytes.
    let all = made(&owner, &workspace, "a", &vec![b'z'; LIMIT]);
    too_much(&vec![b'z'; LIMIT]);
    too_much(b"small");
    becomes(folder.path(), 1).await;
    let content = owner.get(&bytes_of(&all)).expect(200);
    assert_eq!(content.body.len(), LIMIT);
    for _ in 0..3 {
        sweep(&world).await;
    }
    assert_eq!(objects(folder.path()), 1);
    owner.delete(&of(&all)).expect(204);
    sweep(&world).await;
    becomes(folder.path(), 0).await;
    for _ in 0..5 {
        let file = made(&owner, &workspace, "a", b"the same once more");
        owner.delete(&of(&file)).expect(204);
    }
    sweep(&world).await;
    becomes(folder.path(), 0).await;
    let left = world.sql("SELECT id FROM file_objects", vec![]).await;
    assert_eq!(left.len(), 0);
}

/// The same bytes are brought by many at a time, and there is room for some of them: nobody is refused for another
/// reason, and nobody who is taken misses a byte.
async fn a_refused_upload_takes_no_bytes_of_another(place: Place) {
    const BYTES: &[u8] = b"0123456789";
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    limit(&world, 20).await;
    let ended = Arc::new(AtomicBool::new(false));
    let sweeping = {
        let ended = ended.clone();
        let sweep = Sweep {
            store: world.store.clone(),
            place: world.app.files.place.clone(),
            context: world.context.clone(),
            grace: Duration::from_secs(1_000_000_000),
        };
        tokio::spawn(async move {
            while !ended.load(Ordering::SeqCst) {
                sweep.run().await.expect("sweeps");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    };
    tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            for _ in 0..6 {
                let (owner, workspace) = (&owner, &workspace);
                scope.spawn(move || {
                    for _ in 0..20 {
                        let response = put(owner, workspace, "same", BYTES);
                        if response.status != 201 {
                            response.refused(409, "quota_exceeded");
                            continue;
                        }
                        let file = response.json();
                        let read = owner.get(&bytes_of(&file)).expect(200);
                        assert_eq!(read.body.as_bytes(), BYTES);
                        owner.delete(&of(&file)).expect(204);
                    }
                });
            }
        });
    });
    ended.store(true, Ordering::SeqCst);
    sweeping.await.expect("ends");
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 0);
    // No hold is left that would keep them.
    for _ in 0..400 {
        sweep(&world).await;
        if objects(folder.path()) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{} objects are left", objects(folder.path()));
}
