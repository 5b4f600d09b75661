//! The same bytes are brought, deleted and swept at the same time: a record has its object, and an object goes that
//! none has.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tplkit_server::app::Config;
use tplkit_server::files::sweep::Sweep;
use tplkit_server::files::verify::verify;
use tplkit_server::files::{FileStorage, Files};

use super::{bytes_of, in_folder, of, put};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores, run};

on_both_stores!(
    no_record_is_without_its_object_and_no_object_without_a_record,
    repairs_next_to_uploads_take_nothing_that_a_record_names,
);

/// Small ones are written when all of them came, large ones while they come.
const SIZES: [usize; 2] = [10, 600_000];
const CLIENTS: usize = 4;
const ROUNDS: usize = 12;

fn sweep(world: &World) -> Sweep {
    Sweep {
        store: world.store.clone(),
        place: world.app.files.place.clone(),
        context: world.context.clone(),
        // Only deletes end a file.
        grace: Duration::from_secs(1_000_000_000),
    }
}

async fn no_record_is_without_its_object_and_no_object_without_a_record(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let ended = Arc::new(AtomicBool::new(false));
    // Two workers, as two processes have them.
    let sweeping: Vec<_> = (0..2)
        .map(|_| {
            let (sweep, ended) = (sweep(&world), ended.clone());
            tokio::spawn(async move {
                while !ended.load(Ordering::SeqCst) {
                    sweep.run().await.expect("sweeps");
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
        })
        .collect();
    let kept: Mutex<Vec<Value>> = Mutex::default();
    // No upload takes a quarter of an hour.
    let running = RwLock::new(());
    tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (owner, workspace, kept, world) = (&owner, &workspace, &kept, &world);
                let running = &running;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let bytes = vec![b'x'; SIZES[round % SIZES.len()]];
                        let turn = running.read().expect("a lock");
                        let file = put(owner, workspace, "same", &bytes).expect(201).json();
                        drop(turn);
                        // Holds of uploads that are over end, so that there is something to sweep.
                        if client == 0 && round % 6 == 5 {
                            let _turn = running.write().expect("a lock");
                            world.wait(16 * 60);
                        }
                        if (client + round) % 4 == 0 {
                            kept.lock().expect("a lock").push(file);
                        } else {
                            owner.delete(&of(&file)).expect(204);
                        }
                    }
                });
            }
        });
    });
    ended.store(true, Ordering::SeqCst);
    for sweeping in sweeping {
        sweeping.await.expect("ends");
    }
    let kept = kept.into_inner().expect("a lock");
    assert!(!kept.is_empty());
    assert_eq!(owner.ids("/v1/files").len(), kept.len());
    for file in &kept {
        let size = file["size"].as_u64().expect("a size");
        let read = owner.get(&bytes_of(file)).expect(200);
        assert_eq!(read.body.len() as u64, size);
    }
    // After the grace of uploads nothing is there but what the records name.
    world.wait(16 * 60);
    sweep(&world).run().await.expect("sweeps");
    let place = world.app.files.place().expect("a place");
    let verdict = verify(&world.store, place, false, world.context.now());
    let verdict = serde_json::to_value(verdict.await.expect("verifies")).expect("JSON");
    for found in ["missing", "damaged", "left_over"] {
        assert_eq!(verdict[found], serde_json::json!([]), "{verdict}");
    }
    assert_eq!(verdict["checked"], kept.len());
    let objects = world.sql("SELECT id FROM file_objects", vec![]).await;
    let mut digests: Vec<&Value> = kept.iter().map(|file| &file["sha256"]).collect();
    digests.sort_by_key(|digest| digest.as_str());
    digests.dedup();
    assert_eq!(objects.len(), digests.len());
    // With the last records go the last objects.
    for file in &kept {
        owner.delete(&of(file)).expect(204);
    }
    sweep(&world).run().await.expect("sweeps");
    let objects = world.sql("SELECT id FROM file_objects", vec![]).await;
    assert_eq!(objects.len(), 0);
    let organization = owner.get(&world.path("")).expect(200).json();
    assert_eq!(organization["file_bytes"], 0);
}

/// The lock on bytes is one of the store: a process that sweeps them knows of the other that brings them. A file of
/// SQLite has one process alone.
#[test]
fn two_servers_that_bring_the_same_bytes_keep_them() {
    run(Place::postgres(), bring_the_same_bytes_to_two);
}

async fn bring_the_same_bytes_to_two(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    // Nothing but the store and the folder is common to both.
    let kept = FileStorage::folder(folder.path()).expect("a folder");
    let config = Config {
        rate: None,
        files: Files::in_place(Some(kept)),
        ..Config::default()
    };
    let there = world.second_server(world.place.open().await, config).await;
    let there = there.with(owner.credential().expect("a token"));
    let ended = Arc::new(AtomicBool::new(false));
    let sweeping = {
        let (sweep, ended) = (sweep(&world), ended.clone());
        tokio::spawn(async move {
            while !ended.load(Ordering::SeqCst) {
                sweep.run().await.expect("sweeps");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    };
    let kept: Mutex<Vec<Value>> = Mutex::default();
    // No upload takes a quarter of an hour.
    let running = RwLock::new(());
    tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            let clients = [&owner, &there, &owner, &there];
            for (number, client) in clients.into_iter().enumerate() {
                let (workspace, kept, world) = (&workspace, &kept, &world);
                let running = &running;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let bytes = vec![b'x'; SIZES[round % SIZES.len()]];
                        let turn = running.read().expect("a lock");
                        let file = put(client, workspace, "same", &bytes).expect(201).json();
                        drop(turn);
                        // Holds of uploads that are over end, so that there is something to sweep.
                        if number == 0 && round % 6 == 5 {
                            let _turn = running.write().expect("a lock");
                            world.wait(16 * 60);
                        }
                        if round % 4 == 3 {
                            kept.lock().expect("a lock").push(file);
                        } else {
                            client.delete(&of(&file)).expect(204);
                        }
                    }
                });
            }
        });
    });
    ended.store(true, Ordering::SeqCst);
    sweeping.await.expect("ends");
    let kept = kept.into_inner().expect("a lock");
    assert_eq!(kept.len(), CLIENTS * ROUNDS / 4);
    for file in &kept {
        let size = file["size"].as_u64().expect("a size");
        for client in [&owner, &there] {
            let read = client.get(&bytes_of(file)).expect(200);
            assert_eq!(read.body.len() as u64, size);
        }
    }
    let organization = owner.get(&world.path("")).expect(200).json();
    let sizes = kept
        .iter()
        .map(|file| file["size"].as_u64().expect("a size"));
    assert_eq!(organization["file_bytes"], sizes.sum::<u64>());
}

/// The files below a folder, but for its mark and what still has no name of its own.
fn objects(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && name != "uploads" {
            found.extend(objects(&path));
        } else if path.is_file() && name != "tplkit-store" && !name.contains('#') {
            found.push(path);
        }
    }
    found
}

/// Makes objects look as if they had been written hours ago. They may be gone.
fn age(folder: &Path, now: SystemTime) {
    for object in objects(folder) {
        if let Ok(file) = File::options().write(true).open(object) {
            let _ = file.set_modified(now - Duration::from_secs(3 * 3600));
        }
    }
}

/// The clock of the machine, as files have it.
fn machine_now(folder: &Path) -> SystemTime {
    let probe = tempfile::NamedTempFile::new_in(folder).expect("a file");
    let written = probe.as_file().metadata().expect("a file").modified();
    written.expect("a time")
}

async fn repairs_next_to_uploads_take_nothing_that_a_record_names(place: Place) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = in_folder(place, folder.path()).await;
    // Objects bear the time of the machine, and the store has to have the same one.
    let other = tempfile::tempdir().expect("a folder");
    let machine = machine_now(other.path());
    let since = machine.duration_since(UNIX_EPOCH).expect("after 1970");
    let seconds = i64::try_from(since.as_secs()).expect("a time");
    world.wait(seconds - world.context.now() / 1_000_000);
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let kept: Mutex<Vec<Value>> = Mutex::default();
    // No upload takes a quarter of an hour.
    let running = RwLock::new(());
    let ended = Arc::new(AtomicBool::new(false));
    let repairing = {
        let (store, context) = (world.store.clone(), world.context.clone());
        let place = world.app.files.place.clone().expect("a place");
        let (folder, ended) = (folder.path().to_owned(), ended.clone());
        tokio::spawn(async move {
            let mut repaired = 0;
            while !ended.load(Ordering::SeqCst) {
                age(&folder, machine);
                let verdict = verify(&store, &place, true, context.now()).await;
                let verdict = serde_json::to_value(verdict.expect("verifies")).expect("JSON");
                for broken in ["missing", "damaged"] {
                    assert_eq!(verdict[broken], serde_json::json!([]), "{verdict}");
                }
                repaired += verdict["repaired"].as_u64().expect("a number");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            repaired
        })
    };
    tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (owner, workspace, kept, world) = (&owner, &workspace, &kept, &world);
                let running = &running;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let size = SIZES[round % SIZES.len()] + (client + round) % 3;
                        let turn = running.read().expect("a lock");
                        let file = put(owner, workspace, "same", &vec![b'x'; size]);
                        let file = file.expect(201).json();
                        drop(turn);
                        // Nobody holds what was brought before, twice in less than an hour.
                        if client == 0 && round % 6 == 5 {
                            let _turn = running.write().expect("a lock");
                            world.wait(16 * 60);
                        }
                        if (client + round) % 4 == 0 {
                            kept.lock().expect("a lock").push(file);
                        } else {
                            owner.delete(&of(&file)).expect(204);
                        }
                    }
                });
            }
        });
    });
    ended.store(true, Ordering::SeqCst);
    let mut repaired = repairing.await.expect("ends");
    let kept = kept.into_inner().expect("a lock");
    assert!(!kept.is_empty());
    for file in &kept {
        let size = file["size"].as_u64().expect("a size");
        let read = owner.get(&bytes_of(file)).expect(200);
        assert_eq!(read.body.len() as u64, size);
    }
    // What goes last is found by the next repair, and then nothing is left but what records name.
    let last = put(&owner, &workspace, "last", b"nobody else has this");
    owner.delete(&of(&last.expect(201).json())).expect(204);
    world.wait(16 * 60);
    age(folder.path(), machine);
    let place = world.app.files.place().expect("a place");
    let verdict = verify(&world.store, place, true, world.context.now());
    let verdict = serde_json::to_value(verdict.await.expect("verifies")).expect("JSON");
    assert_eq!(verdict["checked"], kept.len(), "{verdict}");
    repaired += verdict["repaired"].as_u64().expect("a number");
    assert!(repaired > 0, "{verdict}");
    let mut digests: Vec<&Value> = kept.iter().map(|file| &file["sha256"]).collect();
    digests.sort_by_key(|digest| digest.as_str());
    digests.dedup();
    assert_eq!(objects(folder.path()).len(), digests.len());
}
