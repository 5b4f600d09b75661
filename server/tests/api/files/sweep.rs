//! Files and objects that go because nothing needs them, and what is compared with their place.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::{Value, json};
use tplkit_server::files::claim_storage;
use tplkit_server::files::create::NewFile;
use tplkit_server::files::objects::{Object, hold, hold_ends};
use tplkit_server::files::sweep::Sweep;
use tplkit_server::files::upload_hold::UploadHold;
use tplkit_server::files::verify::verify;
use tplkit_server::store::{Scope, StoreError};
use uuid::Uuid;

use super::{bytes_of, in_folder, made, of, put};
use crate::api::model::{Model, id, uuid};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_file_without_a_use_goes_when_its_grace_is_over,
    bytes_go_with_their_last_record,
    what_was_written_for_no_record_is_swept,
    an_upload_counts_until_its_hold_ends,
    an_upload_that_comes_to_nothing_lets_go_of_its_own_hold_alone,
    what_a_killed_process_has_half_written_is_swept,
    records_and_bytes_are_compared,
    a_place_is_of_one_store,
    a_place_that_is_away_takes_nothing_and_loses_nothing,
);

/// A file of somebody else.
const SOMEBODY: &str = "0198a5ba-0000-7000-8000-0000000000aa";
const BEFORE: &str = "thesis.txt";

pub(super) async fn sweep(world: &World) -> u64 {
    let sweep = Sweep {
        store: world.store.clone(),
        place: world.app.files.place.clone(),
        context: world.context.clone(),
        grace: Duration::from_secs(100),
    };
    sweep.run().await.expect("sweeps")
}

/// How many objects there are in a folder.
pub(super) fn objects(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry"));
    let count = entries.map(|entry| {
        if entry.file_type().expect("a type").is_dir() {
            objects(&entry.path())
        } else {
            usize::from(entry.file_name() != "tplkit-store")
        }
    });
    count.sum()
}

async fn a_file_without_a_use_goes_when_its_grace_is_over(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme)
        .with_row(&owner)
        .with_file(&world, &owner, "used")
        .await;
    let unused = made(&owner, &model.workspace, "unused", b"x");
    world.wait(99);
    let young = made(&owner, &model.workspace, "young", b"x");
    assert_eq!(sweep(&world).await, 0);
    world.wait(1);
    assert_eq!(sweep(&world).await, 1);
    owner.get(&of(&unused)).refused(404, "not_found");
    let left = [model.file.clone(), id(&young)];
    assert_eq!(owner.ids("/v1/files"), left);
    // From the end of its last use on it is kept for as long.
    let end = "UPDATE main.files SET unused_since = $2 WHERE id = $1";
    world.wait(1000);
    let now = world.context.now();
    world
        .sql(end, vec![uuid(&model.file).into(), now.into()])
        .await;
    world.sql("DELETE FROM main.file_uses", vec![]).await;
    world.wait(99);
    sweep(&world).await;
    assert_eq!(owner.ids("/v1/files"), [&*model.file]);
    // An automation, or a job that may be undone, keeps it as well as a cell.
    let holds = "INSERT INTO main.file_holds (organization_id, workspace_id, id, file_id, job_id, feature_id, row_id, \
         column_id, created_at) SELECT organization_id, workspace_id, id, id, $2, $2, $2, $2, 0 FROM files WHERE id = $1";
    let model = model
        .with_template(&owner, world.acme)
        .with_job(&world, &owner)
        .await;
    world
        .sql(
            holds,
            vec![uuid(&model.file).into(), uuid(&model.job).into()],
        )
        .await;
    world.wait(1000);
    sweep(&world).await;
    assert_eq!(owner.ids("/v1/files?attached=true"), [&*model.file]);
    world.sql("DELETE FROM main.file_holds", vec![]).await;
    world
        .sql(
            end,
            vec![uuid(&model.file).into(), world.context.now().into()],
        )
        .await;
    world.wait(100);
    sweep(&world).await;
    assert_eq!(owner.ids("/v1/files"), [""; 0]);
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 0);
}

async fn bytes_go_with_their_last_record(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let (first, second) = (
        made(&owner, &workspace, "a", b"x"),
        made(&owner, &workspace, "b", b"x"),
    );
    // What another organization has of the same bytes is its own.
    let theirs = made(
        &stranger,
        &Model::new(&stranger, world.other).workspace,
        "c",
        b"x",
    );
    assert_eq!(objects(folder.path()), 2);
    owner.delete(&of(&first)).expect(204);
    // Whoever has begun to bring the same bytes still finds them.
    sweep(&world).await;
    world.wait(16 * 60);
    let kept = Sweep {
        store: world.store.clone(),
        place: world.app.files.place.clone(),
        context: world.context.clone(),
        grace: Duration::from_secs(1_000_000),
    };
    kept.run().await.expect("sweeps");
    assert_eq!(owner.get(&bytes_of(&second)).expect(200).body, "x");
    owner.delete(&of(&second)).expect(204);
    kept.run().await.expect("sweeps");
    assert_eq!(objects(folder.path()), 1);
    // No upload holds what has its record.
    let brief = made(&owner, &workspace, "d", b"brief");
    owner.delete(&of(&brief)).expect(204);
    kept.run().await.expect("sweeps");
    assert_eq!(objects(folder.path()), 1);
    assert_eq!(stranger.get(&bytes_of(&theirs)).expect(200).body, "x");
    let again = made(&owner, &workspace, "a", b"x");
    assert_eq!(owner.get(&bytes_of(&again)).expect(200).body, "x");
    // With a workspace go its files, and then their bytes.
    owner
        .delete(&format!("/v1/workspaces/{workspace}?force=true"))
        .expect(204);
    world.wait(16 * 60);
    kept.run().await.expect("sweeps");
    assert_eq!(objects(folder.path()), 1);
}

/// Writes an object as an upload does that is killed before its record.
async fn written(world: &World, bytes: &'static [u8]) -> Object {
    let new = Object {
        organization: world.acme,
        id: world.context.id(),
        sha256: [bytes[0]; 32],
        size: i64::try_from(bytes.len()).expect("small"),
    };
    let held: Result<Object, StoreError> = world
        .store
        .write(
            &Scope::Operator,
            (new, world.context.now()),
            |tx, (new, now)| Box::pin(hold(tx, *new, *now)),
        )
        .await;
    let object = held.expect("holds");
    let mut writer = world
        .app
        .files
        .place()
        .expect("a place")
        .write(world.context.id());
    writer
        .write(Bytes::from_static(bytes))
        .await
        .expect("writes");
    writer
        .end()
        .await
        .expect("ends")
        .keep(&object.key())
        .await
        .expect("keeps");
    object
}

async fn what_was_written_for_no_record_is_swept(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let object = written(&world, b"abc").await;
    sweep(&world).await;
    world.wait(14 * 60);
    sweep(&world).await;
    assert_eq!(objects(folder.path()), 1, "it is still held");
    // The same bytes once more are the same object, held anew.
    assert_eq!(written(&world, b"abc").await.id, object.id);
    world.wait(14 * 60);
    sweep(&world).await;
    assert_eq!(objects(folder.path()), 1, "it is held anew");
    world.wait(2 * 60);
    sweep(&world).await;
    assert_eq!(objects(folder.path()), 0);
    // What was condemned never lives again.
    let next = written(&world, b"abc").await;
    assert_ne!(next.id, object.id);
    // A process that was killed between the two leaves work for the next.
    let condemned = "UPDATE main.file_objects SET condemned = true, free_since = 0 WHERE id = $1";
    world.sql(condemned, vec![next.id.into()]).await;
    assert_ne!(written(&world, b"abc").await.id, next.id);
    sweep(&world).await;
    assert_eq!(objects(folder.path()), 1);
    assert_eq!(
        world.sql("SELECT id FROM file_objects", vec![]).await.len(),
        1
    );
}

/// The hold of an upload that has just written an object.
fn hold_of(world: &World, object: Object) -> UploadHold {
    let now = world.context.now();
    let file = NewFile {
        id: world.context.id(),
        workspace: Uuid::nil(),
        name: String::new(),
        content_type: String::new(),
        object,
        hold_ends: hold_ends(now),
        by: Uuid::nil(),
        now,
    };
    let place = world.app.files.place().expect("a place");
    let permit = world.app.files.uploads.begin(object.organization, file.by);
    let permit = permit.expect("room");
    UploadHold::new(&world.store, place, &world.context, &file, permit)
}

async fn an_upload_counts_until_its_hold_ends(place: Place) {
    let world = World::new(place).await;
    let object = written(&world, b"abc").await;
    let hold = hold_of(&world, object);
    let uploads = &world.app.files.uploads;
    let begin = || uploads.begin(object.organization, Uuid::nil()).ok();
    let others: Vec<_> = std::iter::from_fn(begin).collect();
    assert_eq!(others.len(), 15);
    hold.done();
    assert!(begin().is_some());
}

async fn an_upload_that_comes_to_nothing_lets_go_of_its_own_hold_alone(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let holds = async || {
        let held = world.sql("SELECT free_since, uploads FROM file_objects", vec![]);
        let held = held.await;
        held.first()
            .map(|row| [0, 1].map(|at| row.get::<i64>(at).expect("a number")))
    };
    let object = written(&world, b"abc").await;
    let first = hold_of(&world, object);
    world.wait(60);
    assert_eq!(written(&world, b"abc").await.id, object.id);
    let second = hold_of(&world, object);
    let both = holds().await;
    drop(second);
    while holds().await == both {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Whoever has begun before still holds it.
    world.wait(13 * 60);
    sweep(&world).await;
    assert_eq!(objects(folder.path()), 1);
    drop(first);
    while holds().await.is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(objects(folder.path()), 0);
    // What is late has nothing to let go of.
    let late = written(&world, b"abc").await;
    let hold = hold_of(&world, late);
    world.wait(16 * 60);
    assert_eq!(written(&world, b"abc").await.id, late.id);
    let again = holds().await;
    drop(hold);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(holds().await, again);
}

async fn what_a_killed_process_has_half_written_is_swept(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let uploads = folder.path().join("uploads");
    std::fs::create_dir(&uploads).expect("a folder");
    let outside = tempfile::NamedTempFile::new().expect("a file");
    let now = u64::try_from(world.context.now()).expect("after 1970");
    let written = |name: &str, minutes: u64| {
        let file = std::fs::File::create(uploads.join(name)).expect("writes");
        let time = UNIX_EPOCH + Duration::from_micros(now) - Duration::from_secs(60 * minutes);
        file.set_modified(time).expect("has a time");
    };
    let ids: Vec<String> = (0..4).map(|_| world.context.id().to_string()).collect();
    written(&ids[0], 61);
    written(&format!("{}#1", ids[1]), 61);
    // Somebody may still be writing this one, and these are not the server's.
    written(&ids[2], 59);
    written("photo.jpg", 61);
    let mut kept = vec![ids[2].clone(), "photo.jpg".to_owned()];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), uploads.join(&ids[3])).expect("links");
        kept.push(ids[3].clone());
    }
    assert_eq!(sweep(&world).await, 2);
    let names = || {
        let entries = std::fs::read_dir(&uploads).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    kept.sort();
    assert_eq!(names(), kept);
    world.wait(2 * 60);
    assert_eq!(sweep(&world).await, 1);
    kept.retain(|name| *name != ids[2]);
    assert_eq!(names(), kept);
    assert!(outside.path().exists());
}

async fn verdict(world: &World, repair: bool, now: i64) -> Value {
    let place = world.app.files.place().expect("a place");
    let verdict = verify(&world.store, place, repair, now)
        .await
        .expect("verifies");
    serde_json::to_value(&verdict).expect("JSON")
}

async fn records_and_bytes_are_compared(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, bytes).expect("writes");
        path
    };
    let foreign_id = format!("{SOMEBODY}/a.jpg");
    for name in [
        BEFORE,
        "x.db",
        "photos/a.jpg",
        "uploads/a.jpg",
        &foreign_id,
        "two\nlines",
    ] {
        write(name, b"of somebody else");
    }
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let whole = made(&owner, &workspace, "a", b"whole");
    made(&owner, &workspace, "b", b"whole");
    let gone = made(&owner, &workspace, "c", b"gone");
    let other = made(&owner, &workspace, "d", b"other");
    // Files are written by the clock of the machine.
    let now = jiff::Timestamp::from_second(4_000_000_000)
        .expect("an instant")
        .as_microsecond();
    let fine = verdict(&world, true, 0).await;
    assert_eq!(
        fine,
        json!({"checked": 4, "missing": [], "damaged": [], "left_over": [], "repaired": 0})
    );
    let path = |file: &Value| {
        let digest = file["sha256"].as_str().expect("a digest");
        let within = folder
            .path()
            .join(world.acme.to_string())
            .join(&digest[..2]);
        let entries = std::fs::read_dir(within).expect("a folder");
        let mut names = entries.map(|entry| entry.expect("an entry").path());
        names
            .find(|path| path.to_string_lossy().contains(digest))
            .expect("an object")
    };
    std::fs::remove_file(path(&gone)).expect("is there");
    std::fs::write(path(&other), b"others").expect("writes");
    let half = format!("uploads/{SOMEBODY}#1");
    write(&half, b"half");
    write("stray", b"stray");
    // What was there when the folder was marked does not concern the store, and neither is what belongs to it or to
    // another store.
    let object = format!("below/{SOMEBODY}/aa/{}.{SOMEBODY}", "aa".repeat(32));
    write("x.db-wal", b"x");
    write("below/tplkit-store", SOMEBODY.as_bytes());
    write(&object, b"of another store");
    let foreign = [
        BEFORE,
        "x.db",
        "x.db-wal",
        "photos/a.jpg",
        "uploads/a.jpg",
        &foreign_id,
        "two\nlines",
        &object,
    ]
    .map(|name| folder.path().join(name));
    let orphan = written(&world, b"orphan").await;
    world.wait(16 * 60);
    let found = verdict(&world, false, world.context.now()).await;
    assert_eq!(found["checked"], 4);
    assert_eq!(found["missing"][0]["file_id"], gone["id"]);
    assert_eq!(found["missing"][0]["organization_id"], json!(world.acme));
    assert_eq!(found["damaged"][0]["file_id"], other["id"]);
    let mut left: Vec<&str> = found["left_over"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|left| left["key"].as_str().expect("a key"))
        .collect();
    left.sort_unstable();
    let key = orphan.key().to_string();
    let mut expected = vec!["stray", &half, &key];
    expected.sort_unstable();
    assert_eq!(left, expected);
    assert_eq!(found["repaired"], 0);
    // What is young may be an upload that still runs.
    let young = verdict(&world, true, world.context.now()).await;
    assert_eq!(
        (
            &young["repaired"],
            young["left_over"].as_array().map(Vec::len)
        ),
        (&json!(0), Some(3))
    );
    let repaired = verdict(&world, true, now).await;
    assert_eq!(repaired["repaired"], 3);
    let after = verdict(&world, true, now).await;
    assert_eq!(
        (
            after["left_over"].as_array().map(Vec::len),
            &after["repaired"]
        ),
        (Some(0), &json!(0))
    );
    assert_eq!(owner.get(&bytes_of(&whole)).expect(200).body, "whole");
    assert!(foreign.iter().all(|path| path.exists()));
}

/// A folder that is not mounted looks like one without files.
async fn a_place_that_is_away_takes_nothing_and_loses_nothing(place: Place) {
    let parent = tempfile::tempdir().expect("a folder");
    let (folder, away) = (parent.path().join("files"), parent.path().join("away"));
    std::fs::create_dir(&folder).expect("a folder");
    let world = in_folder(place, &folder).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let file = made(&owner, &workspace, "a", b"whole");
    let goes = made(&owner, &workspace, "b", b"goes");
    std::fs::rename(&folder, &away).expect("is renamed");
    for empty in [false, true] {
        if empty {
            std::fs::create_dir(&folder).expect("a folder");
        }
        for bytes in [&b"small"[..], &vec![b'x'; 1_000_000]] {
            put(&owner, &workspace, "c", bytes).refused(503, "store_unavailable");
        }
        owner
            .get(&bytes_of(&file))
            .refused(503, "store_unavailable");
        assert_eq!(folder.exists(), empty);
    }
    // What a sweep was to remove waits.
    owner.delete(&of(&goes)).expect(204);
    std::fs::remove_dir(&folder).expect("is empty");
    std::fs::rename(&away, &folder).expect("is renamed");
    assert_eq!(owner.get(&bytes_of(&file)).expect(200).body, "whole");
    assert_eq!(owner.ids("/v1/files").len(), 1);
    made(&owner, &workspace, "d", b"small");
    // Whoever removes files from it has damaged it, the mark included.
    std::fs::remove_file(folder.join("tplkit-store")).expect("is there");
    let objects = folder.join(world.acme.to_string());
    std::fs::remove_dir_all(&objects).expect("is there");
    std::fs::create_dir(&objects).expect("a folder");
    owner.get(&bytes_of(&file)).refused(500, "file_damaged");
}

async fn a_place_is_of_one_store(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let kept = world.app.files.place().expect("a place");
    claim_storage::claim(&world.store, kept, false)
        .await
        .expect("is nobody's");
    claim_storage::claim(&world.store, kept, false)
        .await
        .expect("is its own");
    let mark = folder.path().join("tplkit-store");
    let own = std::fs::read_to_string(&mark).expect("a mark");
    // Another store's is refused, whatever is on record.
    let foreign = "0198a5ba-0000-7000-8000-000000000001";
    std::fs::write(&mark, foreign).expect("writes");
    let refused = claim_storage::claim(&world.store, kept, false)
        .await
        .expect_err("is another's")
        .to_string();
    assert!(
        refused.contains(foreign)
            && refused.contains(own.trim())
            && refused.contains("--files-adopt"),
        "{refused}"
    );
    verify(&world.store, kept, true, 0)
        .await
        .expect_err("is another's");
    claim_storage::claim(&world.store, kept, true)
        .await
        .expect("is taken over");
    assert_eq!(std::fs::read_to_string(&mark).expect("a mark"), own);
    // Without files a place without a mark is as good as new, with some it is not.
    std::fs::remove_file(&mark).expect("is there");
    claim_storage::claim(&world.store, kept, false)
        .await
        .expect("is nobody's");
    let owner = world.as_user("owner@acme.test");
    made(&owner, &Model::new(&owner, world.acme).workspace, "a", b"x");
    std::fs::remove_file(&mark).expect("is there");
    let refused = claim_storage::claim(&world.store, kept, false)
        .await
        .expect_err("is empty")
        .to_string();
    assert!(
        refused.contains("no store") && refused.contains(own.trim()),
        "{refused}"
    );
    claim_storage::claim(&world.store, kept, true)
        .await
        .expect("is taken over");
    // What was in the memory of a process went with it, and so do the records.
    let memory = tplkit_server::files::FileStorage::memory();
    claim_storage::claim(&world.store, &memory, false)
        .await
        .expect("has no mark");
    assert_eq!(owner.ids("/v1/files"), [""; 0]);
    assert_eq!(
        owner.get(&world.path("")).expect(200).json()["file_bytes"],
        0
    );
}
