//! Tenancy, cell by cell: every operation, with every id that the caller may not see, in every place
//! that takes an id, by every kind of caller.
//!
//! Each cell is asked twice, with the hidden id and with an id of nothing: status, headers and bytes
//! have to be the same. No response may hold the marker that every hidden text carries. The matrix is
//! read from the table of operations and the served document; an operation that names a parameter
//! which nobody put ids in for fails the test.

mod cells;
mod people;
mod places;
mod wire;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::document::Document;
use crate::stores::{Place, on_both_stores};
use cells::Cell;
use people::Scene;
use wire::Wire;

on_both_stores!(nothing_tells_what_is_hidden_from_what_is_missing);

/// Threads that ask.
const ASKING: usize = 4;

async fn nothing_tells_what_is_hidden_from_what_is_missing(place: Place) {
    let scene = Scene::new(place).await;
    let document = Document::of(&scene.world.nobody);
    let cells = cells::all(&scene, &document);
    assert!(cells.len() >= 5_000, "{} cells", cells.len());
    let before = scene.held().await;
    scene.owners_see_the_markers(&document);

    let (next, leaks) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..ASKING {
            scope.spawn(|| {
                let mut wire = Wire::new(scene.world.nobody.address());
                while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(leak) = check(&mut wire, cell) {
                        leaks.lock().expect("whole").push(leak);
                    }
                }
            });
        }
    });
    let leaks = leaks.into_inner().expect("whole");
    let shown: Vec<&String> = leaks.iter().take(5).collect();
    assert!(
        leaks.is_empty(),
        "{} of {}: {shown:#?}",
        leaks.len(),
        cells.len()
    );
    assert_eq!(scene.held().await, before, "something was done");
}

/// What a cell gives away, if it does.
fn check(wire: &mut Wire, cell: &Cell<'_>) -> Option<String> {
    let hidden = wire.ask(cell.credential, cell.method, &cell.hidden);
    let missing = wire.ask(cell.credential, cell.method, &cell.missing);
    let reveals = |words: &str| Some(format!("{words} {cell:#?} {hidden:#?} {missing:#?}"));
    if hidden.text.contains(cell.marker) || missing.text.contains(cell.marker) {
        return reveals("the marker");
    }
    if hidden.status >= 500 {
        return reveals("a failure");
    }
    // An id that the caller sent may come back.
    let put = |text: &str| {
        let pairs = cell.pairs.iter().enumerate();
        pairs.fold(text.to_owned(), |text, (number, (hidden, missing))| {
            let placeholder = format!("<{number}>");
            text.replace(hidden.as_str(), &placeholder)
                .replace(missing.as_str(), &placeholder)
        })
    };
    if (hidden.status, put(&hidden.text)) != (missing.status, put(&missing.text)) {
        return reveals("a difference");
    }
    None
}
