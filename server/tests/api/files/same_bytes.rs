//! The same bytes are brought, deleted and swept at the same time: a record has its object, and an object goes that
//! none has.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tplkit_server::files::sweep::Sweep;
use tplkit_server::files::verify::verify;

use super::{bytes_of, in_folder, of, put};
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(no_record_is_without_its_object_and_no_object_without_a_record);

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
