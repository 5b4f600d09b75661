//! Rows that earlier jobs wrote: cells that the package changed since the base (`upgrade` 3.4.5).
//!
//! Rows of the package and of the base are compared as they are written; only where they differ, or where
//! people changed the row at the destination, its cells are looked at one by one. What is written is
//! compared with what stands there once more by the store.

use std::collections::{HashMap, HashSet};

use super::columns::{Columns, Key};
use super::links::{LinkOutcome, OwnLinks, link};
use super::tally::{CellConflict, FailedRow};
use super::{BATCH, BATCH_BYTES, Run};
use crate::apply::{ApplyError, LinkWork, TableWork, UpgradeTerms, UpgradeWork};
use crate::json::path::split_dotted;
use crate::json::{Value, write_string_to};
use crate::package::payload::{RawEntry, RawRow};
use crate::problem::Code;
use crate::rows::{Cell, EntryFault, EntryReason, members};
use crate::upgrade::rule::{LeafOutcome, Place, unseen, verdict};
use crate::upgrade::{EVERYTHING, MovedLeaf, Take, TrackedDecisions};
use crate::workspace::ledger::{Cells, CellsOf, Entry, RowDigest};
use crate::workspace::{
    Change, CommitError, Id, RecordKind, RowData, RowWrite, StoredRow, Target, hidden_each,
};

/// How often rows are looked at anew because somebody changed one of them meanwhile.
const ATTEMPTS: usize = 20;

/// A row that may change.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    position: usize,
    id: Id,
    /// What it held when the ledger last knew that as its base.
    digest: RowDigest,
    theirs: RawRow<'a>,
    base: Option<RawRow<'a>>,
}

/// What a table is merged with.
struct Table<'a> {
    work: &'a TableWork,
    feature: Id,
    columns: Columns<'a>,
    /// The same, as rows of the base call them.
    base_columns: Columns<'a>,
    upgrade: Option<&'a UpgradeWork>,
    /// Whether all cells are compared; else those of new columns alone.
    whole: bool,
    /// Columns that this job creates, or has created before it was stopped.
    fresh: HashSet<Id>,
}

impl Table<'_> {
    fn is_fresh(&self, column: Id) -> bool {
        self.fresh.contains(&column)
    }
}

/// Where rows of the base stand in its text, by the rows that they became: there is one for each, so each is
/// read when it is its turn.
#[derive(Default)]
struct BaseRows<'a> {
    entries: Vec<&'a RawEntry<'a>>,
    places: HashMap<Id, [u32; 2]>,
}

impl<'a> BaseRows<'a> {
    /// Adds those of an entry; of several that are one row the last counts.
    fn add(&mut self, entry: &'a RawEntry<'a>, known: Vec<Option<Id>>) {
        // More do not fit into a text.
        let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let at = short(self.entries.len());
        self.entries.push(entry);
        let rows = entry.rows().zip(known);
        let rows = rows.filter_map(|(row, id)| Some((id?, [at, short(row.start)])));
        self.places.extend(rows);
    }

    /// What it says of a row.
    fn take(&mut self, row: Id) -> Option<RawRow<'a>> {
        let [entry, start] = self.places.remove(&row)?;
        self.entries.get(entry as usize)?.row(start as usize)
    }
}

/// A row as it is at the destination.
#[derive(Clone, Copy)]
struct Here<'s> {
    stored: &'s StoredRow,
    /// Whether people have changed it.
    edited: bool,
    /// Whether whoever the job is for does not see it.
    hidden: bool,
}

/// What becomes of the cells of a row.
#[derive(Debug, Default)]
struct Outcome {
    /// Whether whoever the job is for does not see the row.
    hidden: bool,
    /// Cells that are written: name, before, after.
    written: Vec<(String, String, String)>,
    /// Cells whose base is not what the package says: name, base.
    stays: Vec<(String, String)>,
    kept: u64,
    decided: u64,
    conflicts: Vec<(String, [Value; 3])>,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Merges the rows of all tables.
    pub(super) async fn merge(&mut self) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        let upgrade = approved.upgrade.as_deref();
        let nothing = UpgradeTerms::default();
        let terms = upgrade.map_or(&nothing, |upgrade| &upgrade.terms);
        let tracked = TrackedDecisions::new(&terms.decisions, terms.conflicts);
        // Without the package that was applied last a plain apply has nothing to tell.
        if approved.base_rows.cells && (upgrade.is_some() || !self.base.is_empty()) {
            self.merge_tables(&tracked).await?;
        }
        if let Some(upgrade) = upgrade {
            self.unused_decisions(&tracked, upgrade);
        }
        Ok(())
    }

    /// Lists decisions about cells that did nothing.
    fn unused_decisions(&mut self, tracked: &TrackedDecisions<'_>, upgrade: &UpgradeWork) {
        for (reference, path, _) in tracked.unused() {
            let segments = split_dotted(path);
            let unused = match segments.as_slice() {
                [rows, uid, _] if rows == "rows" => !self.ledger_state.is_decided(uid),
                [all] if all == EVERYTHING => {
                    upgrade.words.contains(reference) && !self.ledger_state.decided_any()
                }
                _ => false,
            };
            if unused {
                self.tally.unused_decision(reference, path);
            }
        }
    }

    async fn merge_tables(
        &mut self,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        let upgrade = approved.upgrade.as_deref();
        for work in &approved.tables {
            let Some(feature) = work.feature else {
                continue;
            };
            let Some(entry) = self.payloads.get(work.entry) else {
                continue;
            };
            let table = Table {
                work,
                feature,
                columns: Columns::new(&work.compared, self.definitions),
                base_columns: Columns::of_base(&work.compared, self.definitions),
                upgrade,
                whole: approved.base_rows.reference.contains(&work.uid),
                fresh: self.fresh_columns(),
            };
            self.merge_table(&table, entry, tracked).await?;
        }
        Ok(())
    }

    fn fresh_columns(&self) -> HashSet<Id> {
        let earlier = self.ledger_state.structures.iter();
        let all = earlier.chain([&self.approved.structure.entry]);
        let columns = all.flat_map(|done| &done.created);
        let columns = columns.filter(|made| made.kind == RecordKind::Column);
        columns.map(|made| made.id).collect()
    }

    async fn merge_table(
        &mut self,
        table: &Table<'a>,
        entry: &'a RawEntry<'a>,
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        // What was known of its rows was forgotten when it was complete.
        self.ledger_state.recognise(entry, table.feature);
        let mut base = self.base_rows(table);
        let mut columns = table.columns.all.iter();
        let fresh = columns.any(|slot| table.is_fresh(slot.work.column.id));
        let mut rows = entry.rows().enumerate();
        loop {
            let mut batch = self.candidates(table, &mut base, &mut rows);
            if batch.is_empty() {
                break;
            }
            if !table.whole && !fresh {
                // Those that a plain apply has left without cells of a column that it created.
                let late = |row: &Candidate<'_>| self.ledger_state.stays(row.id).is_some();
                batch.retain(|row| table.upgrade.is_some() && late(row));
                if batch.is_empty() {
                    continue;
                }
            }
            if table.upgrade.is_some() {
                self.merge_rows(table, &batch, tracked).await?;
            } else {
                self.leave_rows(table, &batch).await?;
            }
        }
        self.ledger_state.forget_others(&table.work.uid);
        if table.upgrade.is_some() {
            self.tally.table(&table.work.feature_ref).left += base.places.len() as u64;
        }
        Ok(())
    }

    /// Where the base says something of rows of a table.
    fn base_rows(&self, table: &Table<'a>) -> BaseRows<'a> {
        let mut base = BaseRows::default();
        for (reference, feature) in &self.approved.base_rows.tables {
            if *feature != table.feature {
                continue;
            }
            let entries = self.base.iter().copied();
            for entry in entries.filter(|entry| entry.feature_ref == *reference) {
                let known = self.ledger_state.known_in(entry, table.feature);
                base.add(entry, known);
            }
        }
        base
    }

    /// Notes cells that a plain apply leaves as they are although the package says something else than
    /// their base, which they keep.
    async fn leave_rows(
        &mut self,
        table: &Table<'a>,
        rows: &[Candidate<'a>],
    ) -> Result<(), ApplyError<T::Error>> {
        let mut cells = Vec::new();
        for row in rows {
            let before = self.ledger_state.stays(row.id).cloned();
            let Some(said) = row.base else { continue };
            let same = said.data == row.theirs.data && said.refs == row.theirs.refs;
            if same && before.is_none() {
                continue;
            }
            let (base, theirs) = (
                self.destination_cells(&table.base_columns, said).await?,
                self.destination_cells(&table.columns, row.theirs).await?,
            );
            let (Ok(base), Ok(theirs)) = (base, theirs) else {
                continue;
            };
            let mut stays: Vec<(&str, String)> = Vec::new();
            for ((slot, base), theirs) in table.columns.all.iter().zip(base).zip(theirs) {
                if slot.rule.identity.is_some() || slot.work.package_name.is_empty() {
                    continue;
                }
                let name = slot.work.column.name.as_str();
                let kept = before.as_ref().and_then(|before| before.cell(name));
                // Of transactional data the cells of new columns alone are brought, by an upgrade.
                if !table.whole && kept.is_none() && !table.is_fresh(slot.work.column.id) {
                    continue;
                }
                let base = kept.map_or(base, str::to_owned);
                if !crate::rows::equal(&base, &theirs) {
                    stays.push((name, base));
                    self.tally
                        .leaves_out(&table.work.feature_ref, &slot.work.package_name);
                }
            }
            let stays = object(stays.iter().map(|(name, base)| (*name, base.as_str())));
            if before.as_ref().map_or("{}", RowData::as_str) != stays.as_str() {
                cells.push(CellsOf {
                    id: row.id,
                    uid: Some(row.theirs.uid.decoded().into_owned()),
                    hidden: false,
                    before: RowData::trusted("{}"),
                    after: RowData::trusted("{}"),
                    digest: Some(row.digest),
                    stays,
                });
            }
        }
        if cells.is_empty() {
            return Ok(());
        }
        let entry = Entry::Cells(Cells {
            uid: table.work.uid.clone(),
            reference: table.work.feature_ref.clone(),
            feature: table.feature,
            kept: 0,
            decided: 0,
            rows: cells,
        });
        let unit = self.unit("rows", Vec::new(), entry);
        self.commit("noting cells that stay", unit).await
    }

    /// The next rows that are at the destination by what earlier jobs wrote, with what the base says of them:
    /// as many as are looked at together.
    fn candidates(
        &self,
        table: &Table<'a>,
        base: &mut BaseRows<'a>,
        rows: &mut impl Iterator<Item = (usize, RawRow<'a>)>,
    ) -> Vec<Candidate<'a>> {
        let known = self.ledger_state.others(&table.work.uid, table.feature);
        let (mut candidates, mut bytes) = (Vec::new(), 0);
        for (position, theirs) in rows {
            let Some(row) = known(position) else { continue };
            let base = base.take(row.id);
            if self.ledger_state.is_merged(row.id) {
                continue;
            }
            bytes += theirs.data.len();
            candidates.push(Candidate {
                position,
                id: row.id,
                digest: row.digest,
                theirs,
                base,
            });
            if candidates.len() == BATCH || bytes > BATCH_BYTES {
                break;
            }
        }
        candidates
    }

    async fn merge_rows(
        &mut self,
        table: &Table<'a>,
        rows: &[Candidate<'a>],
        tracked: &TrackedDecisions<'_>,
    ) -> Result<(), ApplyError<T::Error>> {
        let mut open: Vec<Candidate<'a>> = rows.to_vec();
        for _ in 0..ATTEMPTS {
            let mut again = Vec::new();
            let mut left = open.as_slice();
            while !left.is_empty() {
                let ids: Vec<Id> = left.iter().map(|row| row.id).collect();
                let stored = self.target.fetch(table.feature, &ids).await;
                let stored = stored.map_err(ApplyError::store("reading rows"))?;
                // Of large rows not all are there at once.
                let (part, rest) = left.split_at(stored.len().clamp(1, left.len()));
                let stored = self.with_hidden(table.feature, &ids, stored).await?;
                let outcomes = self.outcomes((table, tracked), part, stored).await?;
                again.extend(self.write_merged(table, outcomes).await?);
                left = rest;
            }
            if again.is_empty() {
                break;
            }
            open = again;
        }
        Ok(())
    }

    /// Rows that are there, and whether whoever the job is for does not see them: they are compared all the
    /// same.
    async fn with_hidden(
        &mut self,
        feature: Id,
        ids: &[Id],
        stored: Vec<Option<StoredRow>>,
    ) -> Result<Vec<Option<(StoredRow, bool)>>, ApplyError<T::Error>> {
        let missing = ids.iter().zip(&stored).filter(|(_, row)| row.is_none());
        let missing: Vec<Id> = missing.map(|(id, _)| *id).collect();
        let hidden = hidden_each(&*self.target, feature, &missing).await;
        let mut hidden = hidden
            .map_err(ApplyError::store("reading rows"))?
            .into_iter();
        let rows = stored.into_iter().map(|row| match row {
            Some(row) => Some((row, false)),
            None => hidden.next().flatten().map(|row| (row, true)),
        });
        Ok(rows.collect())
    }

    /// What becomes of rows that are there.
    async fn outcomes(
        &mut self,
        (table, tracked): (&Table<'a>, &TrackedDecisions<'_>),
        rows: &[Candidate<'a>],
        stored: Vec<Option<(StoredRow, bool)>>,
    ) -> Result<Vec<(Candidate<'a>, StoredRow, Outcome)>, ApplyError<T::Error>> {
        let mut outcomes = Vec::new();
        for (row, stored) in rows.iter().zip(stored) {
            // A row that people deleted stays deleted.
            let Some((stored, hidden)) = stored else {
                continue;
            };
            let edited = RowDigest::of(&stored.data) != row.digest;
            let same = row
                .base
                .is_some_and(|base| base.data == row.theirs.data && base.refs == row.theirs.refs);
            let stays = self.ledger_state.stays(row.id).is_some();
            if same && !edited && !stays {
                continue;
            }
            let here = Here {
                stored: &stored,
                edited,
                hidden,
            };
            let outcome = self.merge_outcome((table, tracked), *row, here);
            match outcome.await? {
                Ok(outcome) => outcomes.push((*row, stored, outcome)),
                Err(fault) => self.merge_unfit(table, *row, &fault),
            }
        }
        Ok(outcomes)
    }

    fn merge_unfit(&mut self, table: &Table<'a>, row: Candidate<'a>, fault: &EntryFault) {
        let failed = FailedRow {
            position: row.position,
            uid: Some(row.theirs.uid.decoded().into_owned()),
            code: Code::ValidationFailed,
            column: Some(fault.column.clone()),
            message: format!("rows[{}].{fault}", row.position),
        };
        self.tally.failed(&table.work.feature_ref, failed);
    }

    /// The cells of a row of a package as the destination holds them, by column; null where there are none.
    pub(super) async fn destination_cells(
        &mut self,
        columns: &Columns<'a>,
        row: RawRow<'a>,
    ) -> Result<Result<Vec<String>, EntryFault>, ApplyError<T::Error>> {
        let asked = std::iter::once((row.data, row.refs));
        let mut found = self.match_keys(columns, asked).await?.here.into_iter();
        let mut held = vec!["null".to_owned(); columns.all.len()];
        for (key, raw) in columns.cells(row.data) {
            let Key::Column(slot) = key else { continue };
            let column = &columns.all[slot];
            let empty = Cell::new(raw).is_empty();
            let mut refs = row.refs.into_iter().flat_map(members);
            let refs = refs.find(|(key, _)| key.is(column.name));
            let value = match (&column.work.link, refs) {
                (LinkWork::Refs | LinkWork::Identity { .. }, Some((_, refs))) => {
                    let mut value = String::new();
                    match link(&mut value, raw, refs, OwnLinks::Now, &self.targets) {
                        LinkOutcome::Whole | LinkOutcome::Short => value,
                        LinkOutcome::Dropped | LinkOutcome::Deferred => continue,
                    }
                }
                (LinkWork::Identity { .. }, None) => {
                    let count = super::links::identities(raw).count();
                    let gone = found.by_ref().take(count).filter(|here| !here).count() > 0;
                    if gone {
                        continue;
                    }
                    raw.to_owned()
                }
                (LinkWork::Skipped { .. } | LinkWork::Absent, _) if !empty => continue,
                _ => raw.to_owned(),
            };
            let mut out = String::new();
            match column.rule.write(&value, &mut out) {
                Ok(_) => held[slot] = out,
                Err(kind) => return Ok(Err(column.rule.fault(EntryReason::NotStorable(kind)))),
            }
        }
        Ok(Ok(held))
    }

    async fn merge_outcome(
        &mut self,
        (table, tracked): (&Table<'a>, &TrackedDecisions<'_>),
        row: Candidate<'a>,
        here: Here<'_>,
    ) -> Result<Result<Outcome, EntryFault>, ApplyError<T::Error>> {
        let Here {
            stored,
            edited,
            hidden,
        } = here;
        let theirs = match self.destination_cells(&table.columns, row.theirs).await? {
            Ok(held) => held,
            Err(fault) => return Ok(Err(fault)),
        };
        let base = match row.base {
            Some(base) => self
                .destination_cells(&table.base_columns, base)
                .await?
                .ok(),
            None => None,
        };
        let stays = self.ledger_state.stays(row.id).cloned();
        let mut outcome = Outcome {
            hidden,
            ..Outcome::default()
        };
        for (slot, theirs) in table.columns.all.iter().zip(&theirs) {
            let column = &slot.work.column;
            if slot.rule.identity.is_some() || slot.work.package_name.is_empty() {
                continue;
            }
            let ours = stored.data.cell(&column.name).unwrap_or("null");
            let kept = stays.as_ref().and_then(|stays| stays.cell(&column.name));
            // Also a column that a plain apply has created, and left empty in rows that were there.
            let late = !table.whole && kept.is_some_and(is_null);
            if late || table.is_fresh(column.id) {
                if is_null(ours) && !is_null(theirs) {
                    let name = column.name.clone();
                    outcome
                        .written
                        .push((name, ours.to_owned(), theirs.clone()));
                }
                continue;
            }
            if !table.whole {
                continue;
            }
            let said = base
                .as_ref()
                .and_then(|base| base.get(slot_at(table, &column.name)?));
            let based = match (kept, said) {
                (Some(kept), _) => kept,
                // What people did not touch is what was written.
                _ if !edited => ours,
                (None, Some(said)) => said,
                (None, None) => "null",
            };
            let values = [based, theirs, ours].map(value);
            let uid = row.theirs.uid.decoded();
            let mut path = String::new();
            for segment in ["rows", &*uid, &slot.work.package_name] {
                crate::json::path::push_dotted(&mut path, segment);
            }
            let place = Place {
                reference: &table.work.feature_ref,
                path: &path,
                list: false,
            };
            let verdict = if hidden {
                unseen(place.reference, &values, tracked)
            } else {
                verdict(place, &values, tracked, &Value::clone)
            };
            let [base, theirs, ours] = values;
            let name = column.name.clone();
            match verdict {
                LeafOutcome::Same => {}
                LeafOutcome::Kept { decided } => {
                    outcome.kept += 1;
                    outcome.decided += u64::from(decided);
                }
                LeafOutcome::Written(after) => {
                    outcome.decided += u64::from(base != ours || after != theirs);
                    let mut out = String::new();
                    if let Err(kind) = slot.rule.write(&after.write(), &mut out) {
                        let decided = tracked.takes(&table.work.feature_ref, &path);
                        if matches!(decided, Some(Take::Value(_))) {
                            self.tally.invalid_decision(&table.work.feature_ref, path);
                        }
                        let fault = slot.rule.fault(EntryReason::NotStorable(kind));
                        return Ok(Err(fault));
                    }
                    outcome.written.push((name, ours.write(), out));
                }
                LeafOutcome::Conflict => {
                    outcome.stays.push((name, base.write()));
                    outcome.conflicts.push((path, [base, theirs, ours]));
                }
            }
        }
        for (name, _, after) in &outcome.written {
            let slot = slot_at(table, name).map(|at| &table.columns.all[at]);
            if Cell::new(after).is_empty()
                && let Some(fault) = slot.and_then(|slot| slot.rule.missing())
            {
                return Ok(Err(fault));
            }
        }
        Ok(Ok(outcome))
    }

    /// Writes what rows come to. Gives those that have to be looked at anew.
    async fn write_merged(
        &mut self,
        table: &Table<'a>,
        mut outcomes: Vec<(Candidate<'a>, StoredRow, Outcome)>,
    ) -> Result<Vec<Candidate<'a>>, ApplyError<T::Error>> {
        outcomes.retain(|(row, _, outcome)| {
            let before = self.ledger_state.stays(row.id).is_some();
            let silent = outcome.written.is_empty() && outcome.stays.is_empty();
            if silent && !before {
                let kept = self.tally.table(&table.work.feature_ref);
                kept.kept += outcome.kept;
                self.tally.decided += outcome.decided;
            }
            !silent || before
        });
        while !outcomes.is_empty() {
            let unit = merged_unit(table, &outcomes);
            let unit = self.unit("rows", unit.0, unit.1);
            match self.try_commit(unit).await {
                Ok(()) => {
                    self.count_merged(table, &outcomes);
                    return Ok(Vec::new());
                }
                Err(CommitError::Refused(refused)) if refused.code == Code::NotEmpty => {
                    return Ok(outcomes.into_iter().map(|(row, ..)| row).collect());
                }
                Err(CommitError::Refused(refused)) => {
                    let writing: Vec<usize> = (0..outcomes.len())
                        .filter(|at| !outcomes[*at].2.written.is_empty())
                        .collect();
                    let at = match writing.as_slice() {
                        [] => return Ok(Vec::new()),
                        [one] => *one,
                        all => refused
                            .row
                            .and_then(|row| all.get(row).copied())
                            .unwrap_or(all[0]),
                    };
                    let (row, ..) = outcomes.remove(at);
                    let failed = FailedRow {
                        position: row.position,
                        uid: Some(row.theirs.uid.decoded().into_owned()),
                        code: refused.code,
                        column: refused.column.clone(),
                        message: format!("rows[{}]: {refused}", row.position),
                    };
                    self.tally.failed(&table.work.feature_ref, failed);
                }
                Err(error) => {
                    let doing = format!("changing rows of {:?}", table.work.feature_ref);
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
        Ok(Vec::new())
    }

    fn count_merged(
        &mut self,
        table: &Table<'a>,
        outcomes: &[(Candidate<'a>, StoredRow, Outcome)],
    ) {
        let reference = table.work.feature_ref.as_str();
        for (row, _, outcome) in outcomes {
            let counts = self.tally.table(reference);
            counts.updated += u64::from(!outcome.written.is_empty());
            counts.kept += outcome.kept;
            self.tally.decided += outcome.decided;
            self.tally.note(&(row.id, &outcome.written));
            if outcome.hidden {
                let cells = outcome.conflicts.len() as u64;
                if cells > 0 {
                    self.tally.hidden_conflicts(reference, cells);
                }
                continue;
            }
            let uid = row.theirs.uid.decoded();
            for (path, values) in &outcome.conflicts {
                let column = outcome_column(path);
                self.tally.conflict(CellConflict {
                    reference: reference.to_owned(),
                    moved: MovedLeaf {
                        kind: None,
                        reference: reference.to_owned(),
                        uid: Some(uid.clone().into_owned()),
                        id: Some(row.id),
                        path: None,
                        column: Some(column),
                        count: None,
                    },
                    path: path.clone(),
                    values: values.clone(),
                });
            }
        }
    }
}

/// The last segment of the path of a cell.
fn outcome_column(path: &str) -> String {
    crate::json::path::split_dotted(path)
        .pop()
        .unwrap_or_default()
}

fn slot_at(table: &Table<'_>, name: &str) -> Option<usize> {
    let mut all = table.columns.all.iter();
    all.position(|slot| slot.work.column.name == name)
}

fn is_null(cell: &str) -> bool {
    matches!(Cell::new(cell), Cell::Null)
}

fn value(cell: &str) -> Value {
    Value::parse(cell).unwrap_or_default()
}

/// Cells as one object.
pub(super) fn object<'c>(cells: impl Iterator<Item = (&'c str, &'c str)>) -> RowData {
    let mut out = String::from("{");
    for (name, cell) in cells {
        if out.len() > 1 {
            out.push(',');
        }
        write_string_to(&mut out, name);
        out.push(':');
        out.push_str(cell);
    }
    out.push('}');
    RowData::trusted(&out)
}

fn merged_unit(
    table: &Table<'_>,
    outcomes: &[(Candidate<'_>, StoredRow, Outcome)],
) -> (Vec<Change>, Entry) {
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    let mut seen: HashSet<Id> = HashSet::new();
    for (row, stored, outcome) in outcomes {
        let pairs = || outcome.written.iter();
        let before = object(pairs().map(|(name, before, _)| (name.as_str(), before.as_str())));
        let after = object(pairs().map(|(name, _, after)| (name.as_str(), after.as_str())));
        let now = RowDigest::of(&stored.data);
        let then = RowDigest::of(&stored.data.written(&after, false));
        let whole = outcome.stays.is_empty() && outcome.kept == 0;
        if !outcome.written.is_empty() && seen.insert(row.id) {
            rows.push(RowWrite {
                id: row.id,
                cells: after.clone(),
                replace: false,
                digest: Some(now),
            });
        }
        let stays = outcome.stays.iter();
        cells.push(CellsOf {
            id: row.id,
            uid: Some(row.theirs.uid.decoded().into_owned()),
            hidden: outcome.hidden,
            before,
            after,
            digest: whole.then_some(then),
            stays: object(stays.map(|(name, base)| (name.as_str(), base.as_str()))),
        });
    }
    let feature = table.feature;
    let changes = if rows.is_empty() {
        Vec::new()
    } else {
        vec![Change::UpdateRows { feature, rows }]
    };
    let entry = Entry::Cells(Cells {
        uid: table.work.uid.clone(),
        reference: table.work.feature_ref.clone(),
        feature,
        kept: outcomes.iter().map(|(.., one)| one.kept).sum(),
        decided: outcomes.iter().map(|(.., one)| one.decided).sum(),
        rows: cells,
    });
    (changes, entry)
}
