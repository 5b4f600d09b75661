//! What each record of the package is at the destination of an upgrade.
//!
//! The pairing (`upgrade::pair`) fills it in; binding and merging read it. It decides nothing itself.

use std::collections::{HashMap, HashSet};

use crate::upgrade::Rename;
use crate::workspace::{AnyRecord, Id};

/// What a record of the package is at the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Counterpart {
    /// It is new.
    New,
    /// The destination has it.
    Present(AnyRecord),
    /// People removed it.
    Removed(AnyRecord),
    /// People removed it, and it is created once more.
    Recreated(AnyRecord),
    /// People made it, and it counts as the package's from now on.
    Adopted(AnyRecord),
    /// Its parent stays away, and it with it.
    LeftOut,
}

/// What each record of the package is at the destination.
#[derive(Debug, Default)]
pub(super) struct Counterparts {
    by_ref: HashMap<String, Counterpart>,
    /// Records of the base that some ref of the package stands for.
    claimed: HashSet<Id>,
    /// Pairs that may be one thing under a new name.
    pub(super) renames: Vec<Rename>,
    /// New things whose name a record of people has.
    pub(super) taken: Vec<(String, AnyRecord)>,
    /// New things that cannot be without something that people removed and that stays away, with the refs of that.
    pub(super) barred: HashMap<String, String>,
}

impl Counterparts {
    /// What becomes of what a ref stands for.
    pub(super) fn counterpart(&self, reference: &str) -> &Counterpart {
        self.by_ref.get(reference).unwrap_or(&Counterpart::New)
    }

    /// Notes what becomes of what a ref stands for.
    pub(super) fn insert(&mut self, reference: &str, counterpart: Counterpart) {
        self.by_ref.insert(reference.to_owned(), counterpart);
    }

    /// Whether some ref of the package stands for a record of the base.
    pub(super) fn claims(&self, id: Id) -> bool {
        self.claimed.contains(&id)
    }

    /// Notes that some ref of the package stands for a record of the base.
    pub(super) fn claim(&mut self, id: Id) {
        self.claimed.insert(id);
    }
}
