//! What a plan saw of leaves that people had changed and that somebody decided about (`upgrade` 3.6.1).
//!
//! A job decides again by the workspace as it is. Of a leaf that people change between the plan and the write a
//! decision speaks no more: the job knows by this which values the plan has seen.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::json::Value;

/// Leaves with their values at the destination, as digests: of a large table there may be many.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SeenLeaves(BTreeSet<u64>);

impl SeenLeaves {
    /// Adds the leaf at the path of a ref.
    pub fn add(&mut self, reference: &str, path: &str, ours: &Value) {
        self.0.insert(number(reference, path, ours));
    }

    /// Whether the leaf had that value.
    pub fn has(&self, reference: &str, path: &str, ours: &Value) -> bool {
        self.0.contains(&number(reference, path, ours))
    }

    /// Adds all of others.
    pub fn extend(&mut self, others: SeenLeaves) {
        self.0.extend(others.0);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn number(reference: &str, path: &str, ours: &Value) -> u64 {
    let text = format!("{reference}\u{1f}{path}\u{1f}{}", ours.write());
    let digest = Sha256::digest(text);
    digest
        .first_chunk()
        .map_or(0, |first| u64::from_be_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::SeenLeaves;

    #[test]
    fn a_leaf_is_known_by_its_place_and_its_value() {
        let mut seen = SeenLeaves::default();
        assert!(seen.is_empty());
        seen.add("f_a", "label", &"A".into());
        assert!(seen.has("f_a", "label", &"A".into()));
        for (reference, path, ours) in [
            ("f_b", "label", "A"),
            ("f_a", "icon", "A"),
            ("f_a", "label", "B"),
        ] {
            assert!(
                !seen.has(reference, path, &ours.into()),
                "{reference} {path}"
            );
        }
        let text = serde_json::to_string(&seen).expect("JSON");
        assert_eq!(
            serde_json::from_str::<SeenLeaves>(&text).expect("the same"),
            seen
        );
    }
}
