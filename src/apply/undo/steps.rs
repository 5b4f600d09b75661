//! The steps of an undo: a ledger read from its end, rows before structure.
//!
//! Reading backwards repeats earlier states, so a unique value is free again before it is restored.
//! The same ledger always gives the same steps, so the progress of an undo is a number of steps.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::workspace::ledger::{
    CellsOf, Changed, Entry, RemovedContent, RowDigest, Updated, WrittenStructure,
};
use crate::workspace::{AnyRecord, Change, Id, New, RecordKind, Removal};

use super::before_job::before;
use super::rewritten::RewrittenRows;
use super::sibling_order::Places;

/// A part of an undo.
#[derive(Debug, Clone)]
pub(super) enum UndoStep {
    /// Rows that the job changed and others wrote become what they were.
    Restore { feature: Id, rows: Vec<Updated> },
    /// Rows that the job wrote go.
    Remove { feature: Id, rows: Vec<Removal> },
    /// Cells that an upgrade changed become what they were.
    Cells {
        feature: Id,
        reference: String,
        rows: Vec<CellsOf>,
    },
    /// Rows, or cells of a column, that an upgrade took away come back.
    Put(RemovedContent),
    /// A record of which an upgrade changed leaves becomes what it was; and whether all of it was in force.
    Back(Box<Changed>, bool),
    /// A sequence, a config or a record.
    Single(Change),
}

impl UndoStep {
    /// How many rows or records it is about.
    fn weight(&self) -> usize {
        match self {
            UndoStep::Restore { rows, .. } => rows.len(),
            UndoStep::Remove { rows, .. } => rows.len(),
            UndoStep::Cells { rows, .. } => rows.len(),
            UndoStep::Put(taken) => taken.rows.len(),
            UndoStep::Back(..) | UndoStep::Single(_) => 1,
        }
    }

    /// Takes the first rows out of it.
    fn split(&mut self, at: usize) -> UndoStep {
        match self {
            UndoStep::Restore { feature, rows } => {
                let rest = rows.split_off(at);
                let rows = std::mem::replace(rows, rest);
                UndoStep::Restore {
                    feature: *feature,
                    rows,
                }
            }
            UndoStep::Remove { feature, rows } => {
                let rest = rows.split_off(at);
                let rows = std::mem::replace(rows, rest);
                UndoStep::Remove {
                    feature: *feature,
                    rows,
                }
            }
            UndoStep::Put(taken) => {
                let rest = taken.rows.split_off(at);
                let rows = std::mem::replace(&mut taken.rows, rest);
                UndoStep::Put(RemovedContent {
                    feature: taken.feature,
                    column: taken.column.clone(),
                    rows,
                })
            }
            UndoStep::Cells { .. } | UndoStep::Back(..) => self.clone(),
            UndoStep::Single(change) => UndoStep::Single(change.clone()),
        }
    }
}

/// Everything that is left to take back.
#[derive(Debug, Default)]
pub(super) struct UndoSteps {
    left: VecDeque<UndoStep>,
    /// Tables that the job created: they go with whatever is in them.
    pub(super) created: HashSet<Id>,
    /// Where records belong that come back.
    pub(super) places: Places,
    /// The refs of records that come back.
    references: HashMap<Id, String>,
}

/// What the rows of each table held when the job last wrote them; nothing of those that go already.
type DigestsByTable = HashMap<Id, HashMap<Id, Option<RowDigest>>>;

impl UndoSteps {
    /// Reads a ledger.
    pub(super) fn of(ledger: &[Entry]) -> UndoSteps {
        let published: HashSet<&str> = ledger.iter().filter_map(published).collect();
        let mut own = written(ledger);
        let rewritten = RewrittenRows::of(ledger);
        let mut steps = UndoSteps {
            places: Places::of(ledger),
            ..UndoSteps::default()
        };
        let mut sequences = Vec::new();
        let first_rows = ledger.iter().position(is_of_rows).unwrap_or(ledger.len());
        for (at, entry) in ledger.iter().enumerate().rev() {
            match entry {
                Entry::Rows(rows) => {
                    let ids = rows.rows.iter().map(|row| row.id);
                    steps.remove(&mut own, rows.feature, ids);
                    let moved = rows.sequences.iter().rev();
                    sequences.extend(moved.map(|moved| Change::RewindSequence {
                        feature: rows.feature,
                        column: moved.column,
                        from: moved.to,
                        to: moved.from,
                    }));
                }
                Entry::Links(links) => {
                    let ids = links.rows.iter().map(|row| row.id);
                    steps.remove(&mut own, links.feature, ids);
                }
                Entry::Updates(updates) => {
                    let ids = updates.rows.iter().map(|row| row.id);
                    // A row of the job's own goes with its newest cells: those before are nobody's.
                    let mine = steps.remove(&mut own, updates.feature, ids);
                    steps.restore(updates.feature, &updates.rows, &mine);
                }
                Entry::Cells(cells) => {
                    let written = || cells.rows.iter().filter(|row| row.after.as_str() != "{}");
                    let ids = written().map(|row| row.id);
                    let mine = steps.remove(&mut own, cells.feature, ids);
                    let rows = written().filter(|row| !mine.contains(&row.id));
                    let rows = rows.filter_map(|row| rewritten.back(at, cells.feature, row));
                    let rows: Vec<CellsOf> = rows.collect();
                    if !rows.is_empty() {
                        steps.left.push_back(UndoStep::Cells {
                            feature: cells.feature,
                            reference: cells.reference.clone(),
                            rows,
                        });
                    }
                }
                Entry::Taken(taken) => steps.left.push_back(UndoStep::Put(taken.clone())),
                Entry::Structure(structure) => {
                    let deleted = structure.deleted.iter();
                    let named = deleted.map(|one| (one.record.id, one.reference.clone()));
                    steps.references.extend(named);
                    // What held rows has to be there before them.
                    steps.recreate(structure);
                    // What waited for the rows goes back before them.
                    if at > first_rows {
                        steps.changed(structure, &published);
                    }
                }
                Entry::Recognised(_)
                | Entry::Closed { .. }
                | Entry::Published { .. }
                | Entry::Completed
                | Entry::Undoing { .. }
                | Entry::Undone => {}
            }
        }
        steps
            .left
            .extend(sequences.into_iter().map(UndoStep::Single));
        for entry in ledger.iter().rev() {
            if let Entry::Structure(structure) = entry {
                steps.structure(structure, &published);
            }
        }
        steps
    }

    /// Rows of the job go at the newest entry that names them. Gives all rows of the job among them.
    fn remove(
        &mut self,
        own: &mut DigestsByTable,
        feature: Id,
        ids: impl Iterator<Item = Id>,
    ) -> HashSet<Id> {
        let Some(digests) = own.get_mut(&feature) else {
            return HashSet::new();
        };
        let (mut mine, mut rows) = (HashSet::new(), Vec::new());
        for id in ids {
            if let Some(digest) = digests.get_mut(&id) {
                mine.insert(id);
                if let Some(digest) = digest.take() {
                    rows.push(Removal {
                        id,
                        digest: Some(digest),
                    });
                }
            }
        }
        if !rows.is_empty() {
            self.left.push_back(UndoStep::Remove { feature, rows });
        }
        mine
    }

    fn restore(&mut self, feature: Id, rows: &[Updated], mine: &HashSet<Id>) {
        let rows = rows.iter().filter(|row| !mine.contains(&row.id));
        let rows: Vec<Updated> = rows.cloned().collect();
        if !rows.is_empty() {
            self.left.push_back(UndoStep::Restore { feature, rows });
        }
    }

    /// Records of which leaves were changed.
    fn changed(&mut self, structure: &WrittenStructure, published: &HashSet<&str>) {
        for changed in structure.changed.iter().rev() {
            let whole = changed.draft.is_none() || published.contains(&*changed.reference);
            self.back(changed, whole);
        }
    }

    /// A record becomes what it was before all changes of it.
    fn back(&mut self, changed: &Changed, whole: bool) {
        let of = (changed.after.kind, changed.after.id);
        // What comes back is not there yet, and comes as it was.
        let creates = self.left.iter_mut().find_map(|step| match step {
            UndoStep::Single(Change::Create(new)) => {
                let record = AnyRecord::of_new(new);
                ((record.kind, record.id) == of).then_some((new, record))
            }
            _ => None,
        });
        if let Some((new, record)) = creates {
            if let Some(mut before) = before(&record, changed).0.new_record() {
                if let (New::Feature(before), New::Feature(new)) = (&mut before, &*new) {
                    before.is_shared = new.is_shared;
                }
                *new = before;
            }
            return;
        }
        let known = self.left.iter_mut().find_map(|step| match step {
            UndoStep::Back(known, _) if (known.after.kind, known.after.id) == of => Some(known),
            _ => None,
        });
        match known {
            Some(known) => known.before = changed.before.clone(),
            None => self
                .left
                .push_back(UndoStep::Back(Box::new(changed.clone()), whole)),
        }
    }

    /// A table or a column that was taken away with what it held is created once more.
    fn recreate(&mut self, structure: &WrittenStructure) {
        if !has_rows(structure) {
            return;
        }
        let deleted = structure.deleted.iter();
        for mut new in deleted.filter_map(|based| based.record.new_record()) {
            if let New::Feature(feature) = &mut new {
                feature.is_shared = structure.shared.contains(&feature.id);
            }
            self.left.push_back(UndoStep::Single(Change::Create(new)));
        }
        for moved in &structure.sequences {
            let mut deleted = structure.deleted.iter();
            let of = deleted.find(|based| based.record.id == moved.column);
            if let Some(feature) = of.and_then(|based| based.record.parent) {
                // Where a store has moved it on already, it stays there.
                let change = Change::RewindSequence {
                    feature,
                    column: moved.column,
                    from: moved.from,
                    to: moved.to,
                };
                self.left.push_back(UndoStep::Single(change));
            }
        }
    }

    /// The first phase backwards: configs as they were, then what was created goes, newest first.
    fn structure(&mut self, structure: &WrittenStructure, published: &HashSet<&str>) {
        if !has_rows(structure) {
            let deleted = structure.deleted.iter().rev();
            let deleted = deleted.filter_map(|based| based.record.new_record());
            self.left.extend(deleted.map(|mut new| {
                if let New::Workflow(automation) = &mut new {
                    automation.draft = !structure.in_force.contains(&automation.id);
                }
                UndoStep::Single(Change::Create(new))
            }));
        }
        self.changed(structure, published);
        let restored = structure.replaced.iter().rev();
        let restored = restored.map(|replaced| Change::Restore {
            kind: replaced.kind,
            id: replaced.id,
            current: replaced.after.clone(),
            config: replaced.before.clone(),
        });
        let removed = structure.created.iter().rev();
        let removed = removed.map(|created| Change::Remove {
            kind: created.kind,
            id: created.id,
            force: false,
        });
        self.left
            .extend(restored.chain(removed).map(UndoStep::Single));
        let tables = structure.created.iter();
        let tables = tables.filter(|created| created.kind == RecordKind::Feature);
        self.created.extend(tables.map(|created| created.id));
    }

    /// The ref of a table that comes back.
    pub(super) fn reference(&self, feature: Id) -> String {
        let known = self.references.get(&feature);
        known.cloned().unwrap_or_else(|| feature.to_string())
    }

    /// How many rows and records are left.
    pub(super) fn weight(&self) -> usize {
        self.left.iter().map(UndoStep::weight).sum()
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// What is left, in order.
    pub(super) fn left(&self) -> impl Iterator<Item = &UndoStep> {
        self.left.iter()
    }

    /// Takes the next steps, of about so many rows and records.
    pub(super) fn take(&mut self, most: u64) -> Vec<UndoStep> {
        let mut room = usize::try_from(most).unwrap_or(usize::MAX);
        let mut taken = Vec::new();
        while room > 0
            && let Some(mut step) = self.left.pop_front()
        {
            if matches!(step, UndoStep::Cells { .. }) {
                // What was written together goes back together: rows may have changed their unique values among
                // each other.
                if step.weight() > room && !taken.is_empty() {
                    self.left.push_front(step);
                    break;
                }
            } else if step.weight() > room {
                joined(&mut taken, step.split(room));
                self.left.push_front(step);
                break;
            }
            room = room.saturating_sub(step.weight());
            joined(&mut taken, step);
        }
        taken
    }
}

/// The automation that a job put in force.
fn published(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Published { reference, .. } => Some(reference),
        _ => None,
    }
}

/// Rows of one table go together.
fn joined(taken: &mut Vec<UndoStep>, step: UndoStep) {
    match (taken.last_mut(), step) {
        (
            Some(UndoStep::Remove { feature, rows }),
            UndoStep::Remove {
                feature: next,
                rows: more,
            },
        ) if *feature == next => rows.extend(more),
        (_, step) => taken.push(step),
    }
}

/// The newest digest of every row that the job wrote, whatever wrote it last.
fn written(ledger: &[Entry]) -> DigestsByTable {
    let mut own = DigestsByTable::new();
    for entry in ledger {
        match entry {
            Entry::Rows(rows) => {
                let table = own.entry(rows.feature).or_default();
                table.extend(rows.rows.iter().map(|row| (row.id, Some(row.digest))));
            }
            Entry::Links(links) => {
                let table = own.entry(links.feature).or_default();
                table.extend(links.rows.iter().map(|row| (row.id, Some(row.digest))));
            }
            Entry::Updates(updates) => {
                let Some(table) = own.get_mut(&updates.feature) else {
                    continue;
                };
                for row in &updates.rows {
                    if let Some(digest) = table.get_mut(&row.id) {
                        *digest = Some(row.digest);
                    }
                }
            }
            Entry::Cells(cells) => {
                let Some(table) = own.get_mut(&cells.feature) else {
                    continue;
                };
                for row in &cells.rows {
                    if let (Some(known), Some(digest)) = (table.get_mut(&row.id), row.digest) {
                        *known = Some(digest);
                    }
                }
            }
            _ => {}
        }
    }
    own
}

/// Whether what was taken away held rows or cells: it went after the rows of the job.
fn has_rows(structure: &WrittenStructure) -> bool {
    let first = structure.deleted.first().map(|based| based.record.kind);
    matches!(first, Some(RecordKind::Feature | RecordKind::Column))
}

/// Whether an entry is about rows.
fn is_of_rows(entry: &Entry) -> bool {
    matches!(
        entry,
        Entry::Rows(_) | Entry::Links(_) | Entry::Updates(_) | Entry::Cells(_)
    )
}
