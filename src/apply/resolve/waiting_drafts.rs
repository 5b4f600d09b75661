//! Drafts of automations that upgrades left next to the version in force, because they need an entry first.
//!
//! Goes in: the ledgers of a line. What such a draft says is what the line made of the automation: another upgrade
//! goes on from it, and it is not drift.

use std::collections::HashMap;

use crate::workspace::ledger::{Changed, Entry};
use crate::workspace::{AnyRecord, Id};

/// The last of these drafts, by automation.
#[derive(Debug, Default)]
pub(in crate::apply) struct WaitingDrafts<'l>(HashMap<Id, &'l Changed>);

impl<'l> WaitingDrafts<'l> {
    /// Reads ledgers, oldest first.
    pub(in crate::apply) fn read(entries: &'l [Entry]) -> WaitingDrafts<'l> {
        let mut waiting = HashMap::new();
        for entry in entries {
            match entry {
                Entry::Structure(structure) => {
                    let changed = structure.changed.iter();
                    let drafted = changed.filter(|changed| changed.draft.is_some());
                    waiting.extend(drafted.map(|changed| (changed.after.id, changed)));
                }
                Entry::Published { reference, .. } => {
                    waiting.retain(|_, changed| changed.reference != *reference);
                }
                Entry::Undoing { .. } | Entry::Undone => waiting.clear(),
                _ => {}
            }
        }
        WaitingDrafts(waiting)
    }

    /// What the draft of an automation says, as long as the version that it was begun on is in force.
    pub(in crate::apply) fn of(&self, in_force: &AnyRecord) -> Option<&'l AnyRecord> {
        let changed = self.0.get(&in_force.id)?;
        (changed.before == *in_force).then_some(&changed.after)
    }
}
