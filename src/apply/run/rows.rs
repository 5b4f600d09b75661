//! One batch: which of its rows enter, and the unit that writes them.

use std::collections::HashMap;

use foldhash::quality::FixedState;

use super::Run;
use super::batch::{Surroundings, identities, points_home};
use super::close::Pending;
use super::columns::{Columns, Key};
use super::known::KnownRow;
use super::table::Entering;
use crate::apply::{ApplyError, LinkWork, Mode};
use crate::package::payload::RawRow;
use crate::problem::Code;
use crate::rows::{Cell, equal, hash};
use crate::workspace::ledger::{Entry, Moved, Rows};
use crate::workspace::{Change, CommitError, Id, Refused, StoredRow, Target};

/// How often a batch is written again because somebody else moved a sequence.
const ATTEMPTS: usize = 100;

/// What becomes of a row of the package.
#[derive(Debug)]
pub(super) enum Fate {
    /// It enters, as that row of the batch.
    Enters(usize),
    /// It was written before; what it holds now is only looked up for links.
    Written(KnownRow, Option<StoredRow>),
    /// The destination has its key.
    Existing(StoredRow),
    /// That row of the package has its key.
    Same(usize),
    /// It does not enter.
    Out,
}

/// Why no row of a batch was written.
struct Failure {
    code: Code,
    message: String,
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// The rows from position `first` on.
    pub(super) async fn enter(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        first: usize,
    ) -> Result<(), ApplyError<T::Error>> {
        self.done += rows.len() as u64;
        let mut fates = self.fates(entering, rows, first).await?;
        let told = entering.pointed_at.map(|table| self.targets.told(table));
        let entrants: Vec<usize> = (0..rows.len())
            .filter(|at| matches!(fates[*at], Fate::Enters(_)))
            .collect();
        if !entrants.is_empty()
            && let Err(failure) = self
                .write(entering, rows, first, (&entrants, &fates, told))
                .await?
        {
            let copies = fates.iter().filter(|fate| matches!(fate, Fate::Same(_)));
            let failed = (entrants.len() + copies.count()) as u64;
            let table = self.tally.table(entering.reference);
            table.failed = Some(table.failed.unwrap_or_default() + failed);
            let last = first + rows.len() - 1;
            self.tally.error(
                entering.reference,
                first,
                last,
                failure.code,
                failure.message,
            );
            for fate in &mut fates {
                if matches!(fate, Fate::Enters(_) | Fate::Same(_)) {
                    *fate = Fate::Out;
                }
            }
        }
        let table = self.tally.table(entering.reference);
        for fate in &fates {
            match fate {
                Fate::Written(..) => table.skipped += 1,
                Fate::Existing(_) | Fate::Same(_) => table.existing += 1,
                Fate::Enters(_) | Fate::Out => {}
            }
        }
        if let Some((table, from)) = entering.pointed_at.zip(told) {
            // Perhaps in the belief that they would enter.
            self.targets.take_back(table, from);
            self.tell_all(table, entering, rows, &fates);
        }
        for (at, row) in rows.iter().enumerate() {
            let pending = match &fates[at] {
                Fate::Enters(new) => {
                    let new = &entering.batch.rows[*new];
                    new.deferred.then_some((new.id, new.digest, false))
                }
                Fate::Written(known, _) => (known.open && points_home(row, entering.reference))
                    .then_some((known.id, known.digest, known.settled.is_some())),
                _ => None,
            };
            let pending = pending.map(|(id, digest, again)| Pending {
                position: first + at,
                start: row.start,
                id,
                digest,
                again,
            });
            entering.pending.extend(pending);
        }
        Ok(())
    }

    /// Tells the targets of links what became of rows.
    fn tell_all(
        &mut self,
        table: usize,
        entering: &Entering<'a>,
        rows: &[RawRow<'a>],
        fates: &[Fate],
    ) {
        self.targets.reserve(rows.len());
        for (at, row) in rows.iter().enumerate() {
            self.tell(table, entering, row, fates, at);
        }
    }

    /// Tells the targets of links what became of a row.
    fn tell(
        &mut self,
        position: usize,
        entering: &Entering<'a>,
        row: &RawRow<'a>,
        fates: &[Fate],
        at: usize,
    ) {
        let mut fate = &fates[at];
        if let Fate::Same(other) = fate {
            fate = &fates[*other];
        }
        let stored = |stored: &StoredRow| stored.data.clone();
        let (id, data) = match fate {
            Fate::Enters(new) => (entering.batch.rows[*new].id, None),
            Fate::Existing(row) | Fate::Written(_, Some(row)) => (row.id, Some(stored(row))),
            _ => (Id::nil(), None),
        };
        let of = entering.wanted.len();
        self.targets
            .enter(position, row.uid, row.start, id, |wanted| {
                match (fate, &data) {
                    (Fate::Enters(new), _) => entering.batch.value(*new, wanted, of),
                    (_, Some(data)) => {
                        let slot = &entering.columns.all[entering.wanted[wanted]];
                        data.cell(&slot.work.column.name)
                    }
                    _ => None,
                }
            });
    }

    async fn fates(
        &mut self,
        entering: &Entering<'a>,
        rows: &[RawRow<'a>],
        first: usize,
    ) -> Result<Vec<Fate>, ApplyError<T::Error>> {
        let feature = entering.feature;
        let mut fates: Vec<Fate> = {
            let known = self.known.rows(entering.uid, feature);
            let positions = first..first + rows.len();
            let fate = |at| match known(at) {
                Some(known) => Fate::Written(known, None),
                None => Fate::Out,
            };
            positions.map(fate).collect()
        };
        if entering.pointed_at.is_some() {
            let ids: Vec<Id> = fates.iter().filter_map(written).collect();
            if !ids.is_empty() {
                let found = self.target.fetch(feature, &ids).await;
                let found = found.map_err(ApplyError::store("reading rows"))?;
                let written = fates.iter_mut().filter_map(|fate| match fate {
                    Fate::Written(_, row) => Some(row),
                    _ => None,
                });
                written.zip(found).for_each(|(slot, row)| *slot = row);
            }
        }
        match entering.mode {
            Mode::None => {}
            Mode::All => {
                let unknown = fates.iter_mut().filter(|fate| matches!(fate, Fate::Out));
                for (new, fate) in unknown.enumerate() {
                    *fate = Fate::Enters(new);
                }
            }
            Mode::MissingByKey { column } => {
                self.by_key(entering, rows, column, &mut fates).await?;
            }
        }
        Ok(fates)
    }

    /// Leaves out the rows whose key the destination, or an earlier row, has. Values are compared
    /// as they are: `1` is not `"1"`, `a` is not `A`.
    async fn by_key(
        &mut self,
        entering: &Entering<'a>,
        rows: &[RawRow<'a>],
        column: &str,
        fates: &mut [Fate],
    ) -> Result<(), ApplyError<T::Error>> {
        let slot = entering.columns.named(column);
        let key = |row: &RawRow<'a>| {
            let raw = entering.columns.cell(row.data, slot?)?;
            (raw != "null").then_some(raw)
        };
        let asked: Vec<(usize, &str)> = rows
            .iter()
            .enumerate()
            .filter(|(at, _)| matches!(fates[*at], Fate::Out))
            .filter_map(|(at, row)| Some((at, key(row)?)))
            .collect();
        let values: Vec<String> = asked.iter().map(|(_, raw)| (*raw).to_owned()).collect();
        let mut found = Vec::new();
        if let Some(slot) = slot
            && !values.is_empty()
        {
            let name = &entering.columns.all[slot].work.column.name;
            let matching = self.target.matching(entering.feature, name, &values).await;
            found = matching.map_err(ApplyError::store("looking keys up"))?;
        }
        let state = FixedState::default();
        let mut earlier: HashMap<u64, Vec<(usize, &str)>> = HashMap::new();
        for ((at, raw), found) in asked.into_iter().zip(found) {
            if let Some(row) = found {
                fates[at] = Fate::Existing(row);
                continue;
            }
            let holders = earlier.entry(hash(&state, Cell::new(raw))).or_default();
            match holders.iter().find(|(_, other)| equal(other, raw)) {
                Some((other, _)) => fates[at] = Fate::Same(*other),
                None => holders.push((at, raw)),
            }
        }
        let unknown = fates.iter_mut().filter(|fate| matches!(fate, Fate::Out));
        for (new, fate) in unknown.enumerate() {
            *fate = Fate::Enters(new);
        }
        Ok(())
    }

    /// For every identity that cells of links into mapped tables hold, in order, whether the
    /// destination has it.
    pub(super) async fn found(
        &mut self,
        columns: &Columns<'a>,
        rows: impl Iterator<Item = (&str, Option<&str>)>,
    ) -> Result<Vec<bool>, ApplyError<T::Error>> {
        let looked_up =
            |slot: usize| matches!(columns.all[slot].work.link, LinkWork::Identity { .. });
        if !(0..columns.all.len()).any(looked_up) {
            return Ok(Vec::new());
        }
        let mut asked: Vec<(usize, String)> = Vec::new();
        for (data, refs) in rows {
            for (key, raw) in columns.cells(data) {
                let Key::Column(slot) = key else { continue };
                let name = &columns.all[slot].work.package_name;
                let mut refs = refs.into_iter().flat_map(crate::rows::members);
                if looked_up(slot) && !refs.any(|(key, _)| key.is(name)) {
                    asked.extend(identities(raw).map(|value| (slot, value.to_owned())));
                }
            }
        }
        let mut found = vec![false; asked.len()];
        for slot in (0..columns.all.len()).filter(|slot| looked_up(*slot)) {
            let LinkWork::Identity { feature, column } = &columns.all[slot].work.link else {
                continue;
            };
            let of = |(at, (of, _)): (usize, &(usize, String))| (*of == slot).then_some(at);
            let places: Vec<usize> = asked.iter().enumerate().filter_map(of).collect();
            if places.is_empty() {
                continue;
            }
            let values: Vec<String> = places.iter().map(|at| asked[*at].1.clone()).collect();
            let matching = self.target.matching(*feature, column, &values).await;
            let matching = matching.map_err(ApplyError::store("looking links up"))?;
            for (at, row) in places.into_iter().zip(matching) {
                found[at] = row.is_some();
            }
        }
        Ok(found)
    }

    /// Writes the rows that enter, all or none.
    async fn write(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        first: usize,
        (entrants, fates, told): (&[usize], &[Fate], Option<usize>),
    ) -> Result<Result<(), Failure>, ApplyError<T::Error>> {
        let entrant = |at: &usize| (rows[*at].data, rows[*at].refs);
        let found = self
            .found(&entering.columns, entrants.iter().map(entrant))
            .await?;
        for _ in 0..ATTEMPTS {
            self.sequences(entering).await?;
            if let Err(failure) = self.text(entering, rows, first, entrants, &found) {
                return Ok(Err(failure));
            }
            self.settle(entering, rows, (entrants, fates, told), &found);
            let (changes, sequences) = changes(entering);
            let settled = entering.batch.settled();
            let linked = settled.iter().map(|row| u64::from(row.cells)).sum();
            let settles = !settled.is_empty();
            let entry = Entry::Rows(Rows {
                uid: entering.uid.to_owned(),
                feature: entering.feature,
                rows: entering.batch.recorded(),
                emptied: entering.batch.emptied(&entering.columns),
                sequences,
                settled,
            });
            let unit = self.unit("rows", changes, entry);
            match self.try_commit(unit).await {
                Ok(()) => {
                    for counter in &mut entering.batch.sequences {
                        counter.stands = counter.stands.max(counter.next);
                    }
                    self.tally
                        .inserted(entering.reference, entrants.len() as u64);
                    let table = self.tally.table(entering.reference);
                    super::tally::add(&mut table.linked, linked);
                    entering.settled |= settles;
                    self.tally
                        .emptied(entering.uid, &entering.columns, &entering.batch.emptied);
                    return Ok(Ok(()));
                }
                Err(CommitError::Refused(refused)) => {
                    // Perhaps another job took numbers of the sequence meanwhile.
                    entering.asked = refused.code != Code::Conflict;
                    if !self.sequences(entering).await? {
                        return Ok(Err(Failure::refused(&refused, entering, first)));
                    }
                }
                Err(error) => {
                    let doing = format!("writing rows of {:?}", entering.reference);
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
        Ok(Err(Failure {
            code: Code::Conflict,
            message: "others moved a sequence on all the time; resume the job".to_owned(),
        }))
    }

    /// Links of the rows to rows of the same table, as far as those are there or enter along with them:
    /// either all of this is written or nothing.
    fn settle(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        (entrants, fates, told): (&[usize], &[Fate], Option<usize>),
        found: &[bool],
    ) {
        let Some((table, from)) = entering.pointed_at.zip(told) else {
            return;
        };
        if !entering.batch.rows.iter().any(|new| new.deferred) {
            return;
        }
        self.targets.take_back(table, from);
        self.tell_all(table, entering, rows, fates);
        let Entering {
            batch,
            columns,
            wanted,
            reference,
            ..
        } = entering;
        let with = Surroundings {
            columns,
            own: reference,
            wanted,
            targets: &self.targets,
            found,
            minter: &self.approved.minter,
        };
        for (at, row) in entrants.iter().enumerate() {
            batch.settle(at, &rows[*row], with);
        }
    }

    fn text(
        &self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        first: usize,
        entrants: &[usize],
        found: &[bool],
    ) -> Result<(), Failure> {
        let Entering {
            batch,
            columns,
            wanted,
            reference,
            first_ordinal,
            ..
        } = entering;
        batch.begin(columns.all.len());
        let with = Surroundings {
            columns,
            own: reference,
            wanted,
            targets: &self.targets,
            found,
            minter: &self.approved.minter,
        };
        for at in entrants {
            let position = first + at;
            let ordinal = u32::try_from(position).unwrap_or(u32::MAX);
            let ordinal = first_ordinal.saturating_add(ordinal);
            let pushed = batch.push(&rows[*at], position, ordinal, with);
            pushed.map_err(|fault| Failure {
                code: Code::ValidationFailed,
                message: format!("rows[{position}].{fault}"),
            })?;
        }
        Ok(())
    }
}

fn written(fate: &Fate) -> Option<Id> {
    match fate {
        Fate::Written(known, _) => Some(known.id),
        _ => None,
    }
}

/// The rows of a batch and the sequences that they moved on.
fn changes(entering: &Entering<'_>) -> (Vec<Change>, Vec<Moved>) {
    let feature = entering.feature;
    let mut changes = vec![Change::InsertRows {
        feature,
        rows: entering.batch.stored(),
    }];
    let mut sequences = Vec::new();
    for counter in &entering.batch.sequences {
        if counter.next > counter.stands {
            let moved = Moved {
                column: entering.columns.all[counter.slot].work.column.id,
                from: counter.stands,
                to: counter.next,
            };
            changes.push(Change::MoveSequence {
                feature,
                column: moved.column,
                from: moved.from,
                to: moved.to,
            });
            sequences.push(moved);
        }
    }
    (changes, sequences)
}

impl Failure {
    fn refused(refused: &Refused, entering: &Entering<'_>, first: usize) -> Failure {
        let row = refused.row.and_then(|row| entering.batch.rows.get(row));
        let place = match (row.map(|row| row.position), &refused.column) {
            (Some(position), Some(column)) => {
                let mut columns = entering.columns.all.iter();
                let slot = columns.find(|slot| slot.work.column.name == *column);
                let name = slot.map_or(column, |slot| &slot.work.package_name);
                format!("rows[{position}].data.{name}: ")
            }
            (Some(position), None) => format!("rows[{position}]: "),
            (None, _) => format!("rows[{first}] and what follows: "),
        };
        Failure {
            code: refused.code,
            message: place + &refused.message,
        }
    }
}
