//! One batch: which of its rows enter, and the unit that writes them.

use super::Run;
use super::close::Pending;
use super::compose::{Entrants, Failure};
use super::known::KnownRow;
use super::links::points_home;
use super::table::Entering;
use crate::apply::{ApplyError, Mode};
use crate::package::payload::RawRow;
use crate::problem::Code;
use crate::workspace::{CommitError, Id, StoredRow, Target};

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
        await_links(entering, rows, first, &fates);
        Ok(())
    }

    /// Tells the targets of links what became of rows.
    pub(super) fn tell_all(
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

    /// Writes the rows that enter, all or none.
    async fn write(
        &mut self,
        entering: &mut Entering<'a>,
        rows: &[RawRow<'a>],
        first: usize,
        (entrants, fates, told): Entrants<'_>,
    ) -> Result<Result<(), Failure>, ApplyError<T::Error>> {
        let entrant = |at: &usize| (rows[*at].data, rows[*at].refs);
        let found = self
            .found(&entering.columns, entrants.iter().map(entrant))
            .await?;
        for _ in 0..ATTEMPTS {
            self.sequences(entering).await?;
            let which = (entrants, fates, told);
            let (unit, brought) = match self.compose(entering, (rows, first), which, &found) {
                Ok(composed) => composed,
                Err(failure) => return Ok(Err(failure)),
            };
            match self.try_commit(unit).await {
                Ok(()) => {
                    entering.number_on();
                    entering.settled |= brought.settles;
                    self.told(entering, &brought);
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
}

/// Notes which rows have cells that wait for the table to be complete.
pub(super) fn await_links(
    entering: &mut Entering<'_>,
    rows: &[RawRow<'_>],
    first: usize,
    fates: &[Fate],
) {
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
}

fn written(fate: &Fate) -> Option<Id> {
    match fate {
        Fate::Written(known, _) => Some(known.id),
        _ => None,
    }
}
