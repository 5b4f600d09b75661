//! Finds the rows that made a batch fail; only those are left out (`rest` 6.5).
//!
//! In: a refused batch. Out: the refused rows, in the order of the package. The result is that of
//! writing row by row, in fewer units. Unstorable values and duplicates are found without dividing
//! the batch.

use std::collections::HashMap;
use std::ops::Range;

use super::Run;
use super::row_outcome::{PartRefusal, RowOutcome};
use super::table::TableInsertion;
use super::tally::FailedRow;
use crate::apply::ApplyError;
use crate::package::payload::RawRow;
use crate::problem::Code;
use crate::workspace::{Refused, Target};

/// How often a batch is divided at the row that the store names. After that it is halved: a batch of
/// which most rows are refused would be written again for each of them.
const MAX_POINTED_SPLITS: u32 = 8;

/// The parts of a batch that are still to be entered, in order.
#[derive(Debug)]
pub(super) struct BatchParts {
    /// The next one last.
    open: Vec<Range<usize>>,
    pointed: u32,
}

impl BatchParts {
    /// A whole batch.
    pub(super) fn of(rows: usize) -> BatchParts {
        BatchParts {
            open: std::iter::once(0..rows).collect(),
            pointed: 0,
        }
    }

    pub(super) fn next(&mut self) -> Option<Range<usize>> {
        self.open.pop()
    }

    /// Divides a part: around a row that is likely to be at fault, or in the middle.
    pub(super) fn split(&mut self, part: Range<usize>, row: Option<usize>) {
        let at = row
            .map(|row| part.start + row)
            .filter(|at| part.contains(at));
        let cuts = match at.filter(|_| self.pointed < MAX_POINTED_SPLITS) {
            Some(at) => {
                self.pointed += 1;
                [at, at + 1]
            }
            None => [part.start + part.len() / 2; 2],
        };
        let parts = [part.start..cuts[0], cuts[0]..cuts[1], cuts[1]..part.end];
        let parts = parts.into_iter().rev().filter(|part| !part.is_empty());
        self.open.extend(parts);
    }
}

/// The rows of a part that cannot be written.
pub(super) struct PartFailures<'r, 'a> {
    source: &'r [RawRow<'a>],
    /// The position of the first row of the part.
    pub(super) first: usize,
    /// One by one.
    pub(super) rows: Vec<FailedRow>,
    /// Those for which there is no room, by their places in the part.
    pub(super) no_room: Vec<usize>,
    /// Whether the store was asked which values exist already.
    looked_up: bool,
}

impl<'r, 'a> PartFailures<'r, 'a> {
    pub(super) fn new(source: &'r [RawRow<'a>], first: usize) -> PartFailures<'r, 'a> {
        PartFailures {
            source,
            first,
            rows: Vec::new(),
            no_room: Vec::new(),
            looked_up: false,
        }
    }

    /// Adds the row at that place of the part.
    fn push(&mut self, at: usize, code: Code, column: Option<&str>, why: &str) {
        let position = self.first + at;
        let uid = self
            .source
            .get(at)
            .map(|row| row.uid.decoded().into_owned());
        let place = match column {
            Some(column) => format!("rows[{position}].data.{column}"),
            None => format!("rows[{position}]"),
        };
        self.rows.push(FailedRow {
            position,
            uid: uid.filter(|uid| !uid.is_empty()),
            code,
            column: column.map(str::to_owned),
            message: format!("{place}: {why}"),
        });
    }
}

/// What follows from a refusal.
pub(super) enum SplitDecision {
    /// These rows are at fault, by their places in the part; the others may enter.
    Failed(Vec<usize>),
    /// The part has to be divided, perhaps around that row.
    Divide(Option<usize>),
}

/// Numbers the rows that enter; gives their places. A row that was left out because an earlier one has
/// its key enters where that one failed.
pub(super) fn number(outcomes: &mut [RowOutcome]) -> Vec<usize> {
    let mut instead: HashMap<usize, usize> = HashMap::new();
    let mut entrants = Vec::new();
    for at in 0..outcomes.len() {
        if let RowOutcome::Same(other) = outcomes[at] {
            let other = instead.get(&other).copied().unwrap_or(other);
            outcomes[at] = if matches!(outcomes[other], RowOutcome::Failed) {
                instead.insert(other, at);
                RowOutcome::Enters(0)
            } else {
                RowOutcome::Same(other)
            };
        }
        if matches!(outcomes[at], RowOutcome::Enters(_)) {
            outcomes[at] = RowOutcome::Enters(entrants.len());
            entrants.push(at);
        }
    }
    entrants
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Finds out which rows a refusal is about.
    pub(super) async fn refused(
        &mut self,
        entering: &TableInsertion<'a>,
        entrants: &[usize],
        why: PartRefusal,
        failed: &mut PartFailures<'_, 'a>,
    ) -> Result<SplitDecision, ApplyError<T::Error>> {
        let refused = match why {
            PartRefusal::Unfit(unfit) => {
                let mut at_fault = Vec::new();
                for (which, fault) in unfit {
                    let (at, why) = (entrants[which], fault.reason.to_string());
                    failed.push(at, Code::ValidationFailed, Some(&fault.column), &why);
                    at_fault.push(at);
                }
                return Ok(SplitDecision::Failed(at_fault));
            }
            PartRefusal::Contended => {
                let why = "others moved a sequence on all the time; resume the job";
                for at in entrants {
                    failed.push(*at, Code::Conflict, None, why);
                }
                return Ok(SplitDecision::Failed(entrants.to_vec()));
            }
            PartRefusal::Refused(refused) => refused,
        };
        if refused.code == Code::UniqueViolation && !std::mem::replace(&mut failed.looked_up, true)
        {
            let taken = self.taken(entering, entrants).await?;
            for (at, column) in &taken {
                failed.push(*at, Code::UniqueViolation, Some(column), REPEATED);
            }
            if !taken.is_empty() {
                let taken = taken.into_iter().map(|(at, _)| at);
                return Ok(SplitDecision::Failed(taken.collect()));
            }
        }
        Ok(self.at_fault(entrants, &refused, failed))
    }

    /// Goes by what the store says.
    fn at_fault(
        &mut self,
        entrants: &[usize],
        refused: &Refused,
        failed: &mut PartFailures<'_, 'a>,
    ) -> SplitDecision {
        let column = refused.column.as_deref();
        // Without its table no row of it can be written.
        let all = refused.code == Code::NotFound && refused.row.is_none();
        match entrants {
            [_] if refused.code == Code::QuotaExceeded => {
                self.full = Some(refused.message.clone());
                SplitDecision::Failed(Vec::new())
            }
            [at] => {
                let why = match refused.code {
                    Code::UniqueViolation => REPEATED,
                    _ => &refused.message,
                };
                failed.push(*at, refused.code, column, why);
                SplitDecision::Failed(vec![*at])
            }
            entrants if all => {
                for at in entrants {
                    failed.push(*at, refused.code, column, &refused.message);
                }
                SplitDecision::Failed(entrants.to_vec())
            }
            entrants => {
                SplitDecision::Divide(refused.row.and_then(|row| entrants.get(row)).copied())
            }
        }
    }

    /// The rows of the batch whose values are in rows of the destination already, by their places,
    /// with the first such column.
    async fn taken(
        &mut self,
        entering: &TableInsertion<'a>,
        entrants: &[usize],
    ) -> Result<Vec<(usize, String)>, ApplyError<T::Error>> {
        let rows = entering.batch.stored();
        let mut taken: Vec<Option<String>> = vec![None; rows.len()];
        for slot in &entering.columns.all {
            let column = &slot.work.column;
            if !column.is_unique() {
                continue;
            }
            let cells = rows.iter().enumerate();
            let cells = cells.filter(|(at, _)| taken[*at].is_none());
            let (places, values): (Vec<usize>, Vec<String>) = cells
                .filter_map(|(at, row)| Some((at, row.data.cell(&column.name)?.to_owned())))
                .unzip();
            let taken_values = self
                .target
                .taken(entering.feature, &column.name, &values)
                .await;
            let taken_values = taken_values.map_err(ApplyError::store("looking values up"))?;
            for (at, _) in places
                .into_iter()
                .zip(taken_values)
                .filter(|(_, taken)| *taken)
            {
                taken[at] = Some(column.name.clone());
            }
        }
        let taken = taken.into_iter().enumerate();
        Ok(taken
            .filter_map(|(which, column)| Some((*entrants.get(which)?, column?)))
            .collect())
    }
}

/// Why a row with a repeated value is refused, whatever the store says.
const REPEATED: &str = "the column is unique, and the value is already in another row";
