//! The matrix: read from the table of operations and the document that the server serves.

use tplkit_server::api::operations::OPERATIONS;
use tplkit_server::call::operation::{Access, Operation};

use super::people::{Party, Scene};
use super::places;
use crate::api::document::{Document, Ids, Request};

/// One caller, one operation, and hidden ids in some of its places.
#[derive(Debug)]
pub(super) struct Cell<'a> {
    /// For the message of a failure.
    #[expect(dead_code, reason = "it is printed")]
    pub(super) who: &'a str,
    #[expect(dead_code, reason = "it is printed")]
    pub(super) party: &'a str,
    /// Stands in what is hidden.
    pub(super) marker: &'static str,
    pub(super) credential: Option<&'a str>,
    pub(super) method: &'static str,
    pub(super) hidden: Request,
    pub(super) missing: Request,
    /// Each hidden id and the one of nothing in its place.
    pub(super) pairs: Vec<(String, String)>,
}

/// All cells.
pub(super) fn all<'a>(scene: &'a Scene, document: &Document) -> Vec<Cell<'a>> {
    let mut cells = Vec::new();
    for party in &scene.parties {
        let mut missing = party.hidden.clone();
        for (name, id) in &mut missing {
            if party.own[name] != *id {
                *id = scene.world.context.id().to_string();
            }
        }
        for operation in OPERATIONS.iter().filter(|o| o.access != Access::Public) {
            let probes = probes(party, document, operation, &missing);
            for (who, credential) in &party.callers {
                // One refusal is enough for who is nobody.
                let probes = probes
                    .iter()
                    .take(if credential.is_some() { usize::MAX } else { 1 });
                cells.extend(probes.map(|(hidden, missing, pairs)| Cell {
                    who,
                    party: party.name,
                    marker: party.marker,
                    credential: credential.as_deref(),
                    method: operation.method,
                    hidden: hidden.clone(),
                    missing: missing.clone(),
                    pairs: pairs.clone(),
                }));
            }
        }
    }
    cells
}

/// A request for what is hidden, the same for what is missing, and the pairs of ids.
pub(super) type Probe = (Request, Request, Vec<(String, String)>);

/// What is asked of an operation, whoever asks.
fn probes(party: &Party, document: &Document, operation: &Operation, missing: &Ids) -> Vec<Probe> {
    let own = &party.own;
    let places = document.places(operation, own);
    let differing: Vec<&str> = places
        .into_iter()
        .filter(|name| own[name] != party.hidden[name])
        .collect();
    let mut probes = Vec::new();
    // All of them hidden, and each alone among what the caller sees.
    let mut sets: Vec<Vec<&str>> = differing.iter().map(|name| vec![*name]).collect();
    if differing.len() > 1 {
        sets.push(differing);
    }
    for set in sets {
        let with = |from: &Ids| {
            let mut ids = own.clone();
            for (name, id) in &mut ids {
                if set.contains(name) {
                    id.clone_from(&from[name]);
                }
            }
            document.request(operation, &ids)
        };
        let pairs: Vec<_> = set
            .iter()
            .map(|name| (party.hidden[name].clone(), missing[name].clone()))
            .collect();
        let (hidden, missing) = (with(&party.hidden), with(missing));
        for (hidden, missing) in places::ways(operation, &hidden, &missing) {
            probes.push((hidden, missing, pairs.clone()));
        }
    }
    probes.extend(places::inside(operation, document, party, missing));
    probes
}
