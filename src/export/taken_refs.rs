//! The refs of a package while they are handed out.

use std::collections::HashSet;

/// The refs that are taken.
#[derive(Debug, Clone, Default)]
pub(super) struct TakenRefs(HashSet<String>);

impl TakenRefs {
    /// These are taken.
    pub(super) fn reserved(references: HashSet<String>) -> TakenRefs {
        TakenRefs(references)
    }

    /// A ref that is not in use.
    pub(super) fn mint(&mut self, prefix: &str, tail: &str) -> String {
        let wanted = format!("{prefix}_{tail}");
        let mut reference = wanted.clone();
        let mut number = 2u64;
        while !self.0.insert(reference.clone()) {
            reference = format!("{wanted}_{number}");
            number += 1;
        }
        reference
    }
}

/// A ref without its first letter.
pub(super) fn tail_of(reference: &str) -> &str {
    reference
        .split_once('_')
        .map_or(reference, |(_, tail)| tail)
}
