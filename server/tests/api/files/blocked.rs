//! Bytes that cannot be written or removed, because a file is where their folder was.

use std::path::Path;
use std::time::Duration;

use tplkit_server::files::sweep::Sweep;

use super::{bytes_of, in_folder, made, of, put};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_cannot_be_written_is_no_file,
    bytes_that_cannot_be_removed_are_removed_later,
);

/// Puts a file into the place of a folder, and gives what takes it away again.
fn block(folder: &Path) -> impl FnOnce() {
    let aside = folder.with_extension("aside");
    std::fs::rename(folder, &aside).expect("is renamed");
    std::fs::write(folder, b"in the way").expect("writes");
    let folder = folder.to_owned();
    move || {
        std::fs::remove_file(&folder).expect("is there");
        std::fs::rename(&aside, &folder).expect("is renamed");
    }
}

async fn sweep(world: &World) -> u64 {
    let sweep = Sweep {
        store: world.store.clone(),
        place: world.app.files.place.clone(),
        context: world.context.clone(),
        grace: Duration::from_secs(1_000_000),
    };
    sweep.run().await.expect("sweeps")
}

async fn what_cannot_be_written_is_no_file(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let kept = made(&owner, &workspace, "kept", b"kept");
    let own = folder.path().join(world.acme.to_string());
    let unblock = block(&own);
    let large = vec![b'x'; 1_000_000];
    for bytes in [&b"small"[..], &large] {
        put(&owner, &workspace, "new", bytes).refused(503, "store_unavailable");
    }
    owner
        .get(&bytes_of(&kept))
        .refused(503, "store_unavailable");
    assert_eq!(owner.ids("/v1/files").len(), 1);
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 4);
    unblock();
    assert_eq!(owner.get(&bytes_of(&kept)).expect(200).body, "kept");
    for bytes in [&b"small"[..], &large] {
        made(&owner, &workspace, "new", bytes);
    }
    assert_eq!(owner.ids("/v1/files").len(), 3);
}

async fn bytes_that_cannot_be_removed_are_removed_later(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let far = Model::new(&stranger, world.other).workspace;
    let (ours, theirs) = (
        made(&owner, &workspace, "a", b"bytes"),
        made(&stranger, &far, "b", b"bytes"),
    );
    owner.delete(&of(&ours)).expect(204);
    stranger.delete(&of(&theirs)).expect(204);
    // Nobody holds them for an upload any more.
    world.wait(16 * 60);
    let objects = async || {
        let sql = "SELECT id FROM file_objects";
        world.sql(sql, vec![]).await.len()
    };
    let own = folder.path().join(world.acme.to_string());
    let unblock = block(&own);
    // What is in the way of one is in the way of no other.
    assert_eq!(sweep(&world).await, 1);
    assert_eq!(objects().await, 1);
    // It is not tried again at once.
    assert_eq!(sweep(&world).await, 0);
    unblock();
    world.wait(6 * 60);
    assert_eq!(sweep(&world).await, 1);
    assert_eq!(objects().await, 0);
    let left = std::fs::read_dir(&own).expect("a folder");
    let left = left.flat_map(|entry| std::fs::read_dir(entry.expect("an entry").path()));
    assert_eq!(left.map(Iterator::count).sum::<usize>(), 0);
    // The same bytes once more are there once more.
    let again = made(&owner, &workspace, "c", b"bytes");
    assert_eq!(owner.get(&bytes_of(&again)).expect(200).body, "bytes");
}
