//! Links that follow the rows that they point at (`upgrade` 3.3.2): an upgrade changes what a row holds in the column
//! that links show, so what stands for it in link cells changes with it. Otherwise these would point at nothing.
//!
//! Only cells follow that show what the row held before, and of which the package says that they point at it: what
//! people wrote elsewhere is theirs.

mod cells;
mod write;

use std::collections::{HashMap, HashSet};

use super::BATCH;
use super::rows::always_changed;
use crate::apply::run::Run;
use crate::apply::run::columns::Columns;
use crate::apply::run::ledger_state::LedgerState;
use crate::apply::run::targets::RowLocation;
use crate::apply::{ApplyError, LinkWork, TableWork, row_refs};
use crate::package::payload::RawRow;
use crate::workspace::ledger::{CellsPart, Entry, RowDigest};
use crate::workspace::{Id, RowData, Target, UnfilteredRow};

/// How often rows are read again after a concurrent change.
const MAX_ATTEMPTS: usize = 20;

/// A table whose links may follow.
struct Linking<'a> {
    work: &'a TableWork,
    feature: Id,
    columns: Columns<'a>,
    /// The columns of which cells of rows that others wrote follow; nothing for all.
    fresh: Option<HashSet<Id>>,
}

/// A row that points at rows which this job has changed.
#[derive(Clone)]
struct LinkingRow<'a> {
    id: Id,
    row: RawRow<'a>,
    /// Where it is in the entry.
    position: usize,
    /// Whether this job has inserted it.
    own: bool,
    /// What it held when it was written last, where that is known.
    digest: Option<RowDigest>,
    /// Its cells whose base is another than the package says, and those of them that are not compared.
    stays: Option<RowData>,
    not_compared: Vec<String>,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Notes what rows of a table held before an earlier attempt at this job changed them.
    pub(super) async fn changed_before(
        &mut self,
        position: usize,
        work: &TableWork,
    ) -> Result<(), ApplyError<T::Error>> {
        let before = self.ledger_state.take_before(&work.uid);
        if !self.targets.is_wanted(position) {
            return Ok(());
        }
        let places = before.iter().map(|(uid, _)| {
            let written = crate::json::write_string(uid);
            let inner = written.get(1..written.len() - 1).unwrap_or_default();
            self.targets.named(row_refs::text(inner))
        });
        let places: Vec<Option<RowLocation>> = places.collect();
        let unread = self.targets.unread(places.iter().flatten().copied());
        self.read_rows(&unread).await?;
        // Of several entries about a row the first tells what it held at first.
        for ((_, before), place) in before.iter().zip(places).rev() {
            if let Some(place) = place {
                self.targets.note_past(place, before);
            }
        }
        Ok(())
    }

    /// Lets all links follow.
    pub(super) async fn follow(&mut self) -> Result<(), ApplyError<T::Error>> {
        let mut own = None;
        // A link may show a link, so there may be as many rounds as there are tables.
        for _ in 0..=self.approved.tables.len() {
            let changed = self.targets.take_changed();
            if changed.is_empty() {
                break;
            }
            if own.is_none() {
                let ledger = self.target.ledger().await;
                let ledger = ledger.map_err(ApplyError::store("reading the ledger"))?;
                own = Some(OwnRows::of(ledger));
            }
            for work in &self.approved.tables {
                if let (Some(own), Some(feature)) = (&own, work.feature) {
                    self.follow_table(work, feature, own, &changed).await?;
                }
            }
        }
        Ok(())
    }

    async fn follow_table(
        &mut self,
        work: &'a TableWork,
        feature: Id,
        own: &OwnRows,
        changed: &HashSet<RowLocation>,
    ) -> Result<(), ApplyError<T::Error>> {
        let is_link = |link: &LinkWork| matches!(link, LinkWork::Refs | LinkWork::Identity { .. });
        let links = work.compared.iter().any(|column| is_link(&column.link));
        let Some(entry) = self.payloads.get(work.entry).filter(|_| links) else {
            return Ok(());
        };
        let points = |row: &RawRow<'a>| {
            let refs = row.refs.into_iter().flat_map(row_refs::all_row_refs);
            let mut places = refs.filter_map(|row| self.targets.find(row));
            places.any(|place| changed.contains(&place))
        };
        let pointing = entry.rows().enumerate().filter(|(_, row)| points(row));
        let pointing: Vec<(usize, RawRow<'a>)> = pointing.collect();
        if pointing.is_empty() {
            return Ok(());
        }
        let whole = self.approved.base_rows.reference.contains(&work.uid);
        let linking = Linking {
            work,
            feature,
            columns: Columns::new(&work.compared, self.definitions),
            fresh: (!whole).then(|| self.fresh_columns()),
        };
        self.ledger_state
            .recognise(entry, feature, &work.earlier_names);
        let rows = self.linking_rows(work, feature, own, pointing);
        self.ledger_state.forget_others(&work.uid);
        for rows in rows.chunks(BATCH) {
            self.follow_rows(&linking, rows).await?;
        }
        Ok(())
    }

    /// Those of the rows that are at the destination.
    fn linking_rows(
        &self,
        work: &TableWork,
        feature: Id,
        own: &OwnRows,
        rows: Vec<(usize, RawRow<'a>)>,
    ) -> Vec<LinkingRow<'a>> {
        let others = self.ledger_state.others(&work.uid, feature);
        let inserted = own.state.rows(&work.uid, feature);
        let rows = rows.into_iter().filter_map(|(position, row)| {
            let (known, is_own) = match inserted(position) {
                Some(known) => (known, true),
                None => (others(position)?, false),
            };
            let (digest, says) = match own.merged.get(&known.id) {
                Some((digest, follows)) if *follows || !is_own => (*digest, &own.state),
                Some(_) => (Some(known.digest), &own.state),
                None => (Some(known.digest), &self.ledger_state),
            };
            Some(LinkingRow {
                id: known.id,
                row,
                position,
                own: is_own,
                digest,
                stays: says.stays(known.id).cloned(),
                not_compared: says.not_compared(known.id),
            })
        });
        rows.collect()
    }

    /// Lets the links of rows follow.
    async fn follow_rows(
        &mut self,
        linking: &Linking<'a>,
        rows: &[LinkingRow<'a>],
    ) -> Result<(), ApplyError<T::Error>> {
        let unread = self
            .targets
            .unread_by(rows.iter().filter_map(|row| row.row.refs));
        self.read_rows(&unread).await?;
        let mut open = rows.to_vec();
        for attempt in 1..=MAX_ATTEMPTS {
            let mut again = Vec::new();
            let mut left = open.as_slice();
            while !left.is_empty() {
                let ids: Vec<Id> = left.iter().map(|row| row.id).collect();
                let stored = self.target.fetch(linking.feature, &ids).await;
                let stored = stored.map_err(ApplyError::store("reading rows"))?;
                // Of large rows not all are there at once.
                let (part, rest) = left.split_at(stored.len().clamp(1, left.len()));
                let stored = self.with_hidden(linking.feature, &ids, stored).await?;
                let mut following = Vec::new();
                for (row, stored) in part.iter().zip(stored) {
                    let Some(UnfilteredRow {
                        row: stored,
                        hidden,
                    }) = stored
                    else {
                        continue;
                    };
                    if let Some(follows) = self.following(linking, row, &stored, hidden) {
                        let seen = Some(&stored).filter(|_| !hidden);
                        self.note_before(row.row.uid, seen);
                        following.push(follows);
                    }
                }
                again.extend(self.write_following(linking, following).await?);
                left = rest;
            }
            if again.is_empty() {
                break;
            }
            open = again;
            if attempt == MAX_ATTEMPTS {
                for row in &open {
                    self.does_not_follow(&linking.work.feature_ref, row, &always_changed());
                }
            }
        }
        Ok(())
    }
}

/// What the ledger of this job says of rows.
struct OwnRows {
    state: LedgerState,
    /// What rows held when their cells were written last, nothing where people had changed others of them; and whether
    /// links only followed then.
    merged: HashMap<Id, (Option<RowDigest>, bool)>,
}

impl OwnRows {
    fn of(ledger: Vec<Entry>) -> OwnRows {
        let mut merged = HashMap::new();
        for entry in &ledger {
            if let Entry::Cells(cells) = entry {
                let rows = cells.rows.iter();
                let follows = cells.part == CellsPart::Links;
                merged.extend(rows.map(|row| (row.id, (row.digest, follows))));
            }
        }
        OwnRows {
            state: LedgerState::read(&[], ledger),
            merged,
        }
    }
}
