//! Records that earlier jobs of the template created here, read from their ledgers.

use std::collections::{HashMap, HashSet};

use super::waiting_drafts::WaitingDrafts;
use crate::apply::Minter;
use crate::workspace::ledger::{Changed, Created, Entry};
use crate::workspace::{Id, RecordKind, Structure};

/// What is left of earlier jobs, and of the unfinished one that goes on.
#[derive(Debug, Default)]
pub(super) struct EarlierJobs<'l> {
    /// In the order of the report.
    created: HashMap<(&'l str, RecordKind), Vec<EarlierRecord<'l>>>,
    /// How often the job that goes on has created something already.
    pub(super) attempts: u32,
    replaced: Vec<Replacement<'l>>,
    /// Automations that an unfinished job must still provide.
    pub(super) pending: Vec<&'l str>,
    /// Automations of which an unfinished job has made drafts.
    drafted: Vec<&'l Changed>,
    /// Refs that an upgrade gave records which were there under another ref, or which people had made.
    known: HashSet<&'l str>,
    /// Records whose leaves an unfinished upgrade has merged, by ref.
    merged: HashSet<&'l str>,
    /// Automations that jobs were to put in force, whether they have or not.
    promoted: Vec<&'l str>,
    /// Drafts that wait for an entry.
    pub(super) waiting: WaitingDrafts<'l>,
}

/// A config that an earlier job replaced or merged.
#[derive(Debug, Clone, Copy)]
struct Replacement<'l> {
    reference: &'l str,
    id: Id,
    /// Whether the job that did it is the one that goes on.
    unfinished: bool,
}

/// A record that an earlier job made.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlierRecord<'l> {
    pub(super) id: Id,
    /// Its name when it was made.
    pub(super) name: &'l str,
    /// Whether the job that made it is the one that goes on.
    pub(super) unfinished: bool,
}

impl<'l> EarlierJobs<'l> {
    /// Reads ledgers, oldest job first. Whatever is after the last completed or undone job
    /// belongs to the one that goes on. A separate copy knows its own job alone.
    pub(super) fn read(entries: &'l [Entry], copy: bool, minter: &Minter) -> EarlierJobs<'l> {
        let mut earlier = EarlierJobs {
            waiting: WaitingDrafts::read(entries),
            ..EarlierJobs::default()
        };
        for entry in entries {
            match entry {
                Entry::Structure(structure)
                    if copy && !structure.created.iter().any(|made| minter.minted(made.id)) => {}
                Entry::Structure(structure) => {
                    let own = structure.created.iter().any(|made| minter.minted(made.id));
                    earlier.attempts += u32::from(own);
                    for made in structure.created.iter().chain(&structure.known) {
                        let of = (made.reference.as_str(), made.kind);
                        earlier.created.entry(of).or_default().push(EarlierRecord {
                            id: made.id,
                            name: &made.name,
                            unfinished: !structure.adopted,
                        });
                    }
                    let replaced = structure.replaced.iter();
                    earlier.replaced.extend(replaced.map(|config| Replacement {
                        reference: &config.reference,
                        id: config.id,
                        unfinished: true,
                    }));
                    let known = structure.known.iter();
                    earlier
                        .known
                        .extend(known.map(|known| known.reference.as_str()));
                    // An upgrade merges a config leaf by leaf: no plain apply after it replaces that.
                    let merged = structure.base.iter();
                    earlier.replaced.extend(merged.map(|based| Replacement {
                        reference: &based.reference,
                        id: based.record.id,
                        unfinished: false,
                    }));
                    let pending = structure.pending_publishes.iter();
                    let pending = pending.map(String::as_str);
                    let changed = structure.changed.iter();
                    let merged = structure.base.iter();
                    earlier
                        .merged
                        .extend(merged.map(|based| based.reference.as_str()));
                    earlier
                        .drafted
                        .extend(changed.filter(|changed| changed.draft.is_some()));
                    // What is created anew goes live anew.
                    let anew = |reference: &str| {
                        let mut made = structure.created.iter();
                        let automation = |made: &Created| made.kind == RecordKind::Workflow;
                        made.any(|made| automation(made) && made.reference == reference)
                    };
                    earlier.promoted.retain(|reference| !anew(reference));
                    earlier.promoted.extend(pending.clone());
                    earlier.pending.extend(pending);
                }
                Entry::Published { reference, .. } => {
                    earlier.pending.retain(|pending| pending != reference);
                }
                Entry::Completed => {
                    earlier.pending.clear();
                    earlier.drafted.clear();
                    earlier.merged.clear();
                    for made in earlier.created.values_mut().flatten() {
                        made.unfinished = false;
                    }
                    for replaced in &mut earlier.replaced {
                        replaced.unfinished = false;
                    }
                }
                Entry::Undoing { .. } | Entry::Undone => earlier = EarlierJobs::default(),
                Entry::Rows(_)
                | Entry::Recognised(_)
                | Entry::Taken(_)
                | Entry::Links(_)
                | Entry::Closed { .. }
                | Entry::Updates(_)
                | Entry::Cells(_) => {}
            }
        }
        earlier
    }

    /// The record that stands for a ref, when one still exists, in that parent: a job that passes again
    /// may find there what it made itself, or what others have put in its place since.
    pub(super) fn made(
        &self,
        reference: &str,
        kind: RecordKind,
        parent: Option<Id>,
        destination: &Structure,
    ) -> Option<(EarlierRecord<'l>, String)> {
        let mut made = self.created.get(&(reference, kind))?.iter().rev();
        let name = |made: &'_ EarlierRecord<'l>| name_of(destination, kind, made.id, parent);
        let (made, name) = made.find_map(|made| Some((made, name(made)?)))?;
        // Another workspace cannot be looked at from here.
        let name = if kind == RecordKind::Workspace {
            made.name.to_owned()
        } else {
            name
        };
        Some((*made, name))
    }

    /// Everything that earlier jobs made for a ref, whether it still exists or not.
    pub(super) fn all<'s>(
        &'s self,
        reference: &'s str,
        kind: RecordKind,
    ) -> &'s [EarlierRecord<'l>] {
        self.created
            .get(&(reference, kind))
            .map_or(&[], Vec::as_slice)
    }

    /// The draft that the job that goes on has made of an automation.
    pub(super) fn drafted(&self, id: Id) -> Option<&'l Changed> {
        let mut drafted = self.drafted.iter().copied();
        drafted.find(|changed| changed.after.id == id)
    }

    /// Whether the upgrade that goes on has merged the leaves of a record already: what is decided there is done.
    pub(super) fn has_merged(&self, reference: &str) -> bool {
        self.merged.contains(reference)
    }

    /// Whether an upgrade found that a ref stands for a record that was there: renamed, or made by people.
    pub(super) fn has_found(&self, reference: &str) -> bool {
        self.known.contains(reference)
    }

    /// Whether a record was created once more after people had removed it.
    pub(super) fn has_recreated(&self, reference: &str) -> bool {
        let mut created = self.created.iter();
        created.any(|((of, _), records)| *of == reference && records.len() > 1)
    }

    /// Whether a job found the automation whole: it went live, or will.
    pub(super) fn promotes(&self, reference: &str) -> bool {
        self.promoted.contains(&reference)
    }

    /// The last of these.
    pub(super) fn once(&self, reference: &str, kind: RecordKind) -> Option<EarlierRecord<'l>> {
        self.all(reference, kind).last().copied()
    }

    /// Whether an earlier job replaced or merged the config of that record; and whether it is the one that
    /// goes on.
    pub(super) fn replaced(&self, reference: &str, id: Id) -> Option<bool> {
        let same = |done: &&Replacement<'_>| done.reference == reference && done.id == id;
        let mut replaced = self.replaced.iter().filter(same).peekable();
        replaced.peek()?;
        Some(replaced.any(|done| done.unfinished))
    }
}

/// The name of a record, when it exists in that parent.
fn name_of(
    destination: &Structure,
    kind: RecordKind,
    id: Id,
    parent: Option<Id>,
) -> Option<String> {
    let features = || {
        let features = destination.features.iter().chain(&destination.shared);
        features.filter(|feature| parent.is_none_or(|parent| feature.id == parent))
    };
    let name = match kind {
        RecordKind::Workspace => return Some(String::new()),
        RecordKind::Feature => {
            let mut own = destination.features.iter();
            own.find(|found| found.id == id).map(|found| &found.name)
        }
        RecordKind::Column => features()
            .find_map(|f| f.column(id))
            .map(|found| &found.name),
        RecordKind::View => {
            let mut views = features().flat_map(|feature| &feature.views);
            views.find(|found| found.id == id).map(|found| &found.name)
        }
        RecordKind::Workflow => {
            let mut automations = destination.automations.iter();
            let found = automations.find(|found| found.id == id);
            found.map(|found| &found.name)
        }
        RecordKind::Module => {
            let mut modules = destination.modules.iter();
            modules
                .find(|found| found.id == id)
                .map(|found| &found.name)
        }
        RecordKind::Rail => {
            let modules = destination.modules.iter();
            let mut rails = modules
                .filter(|module| parent.is_none_or(|parent| module.id == parent))
                .flat_map(|module| &module.rails);
            rails.find(|found| found.id == id).map(|found| &found.name)
        }
    };
    name.cloned()
}
