//! Why rows were not written, and how a client is shown it.

use super::Faults;
use super::table::Table;
use super::unique_reservations::Conflict;
use crate::refusal::{Code, Fault, Refusal};
use crate::store::StoreError;

/// What is wrong with a cell whose file is of another workspace, or kept from the writer, or none.
pub(crate) const NO_FILE: &str = "names no file of this workspace";

/// Why rows were not written. The transaction is to be left.
#[derive(Debug, thiserror::Error)]
pub enum RowRefusal {
    /// Values of unique columns are taken.
    #[error("values are taken already")]
    Conflict(Vec<(usize, String)>),
    /// The organization has as many rows as it may have.
    #[error("the organization has as many rows as it may have")]
    Quota,
    /// The sequence of that column has no number left.
    #[error("a sequence is used up")]
    UsedUp(String),
    /// Cells name files that the writer does not see: positions of rows, and names of columns.
    #[error("cells name files that are not there")]
    Files(Vec<(usize, String)>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RowRefusal {
    pub(super) fn conflict(table: &Table, taken: &[Conflict]) -> RowRefusal {
        let name = |taken: &Conflict| table.columns[taken.column].name().to_owned();
        RowRefusal::Conflict(taken.iter().map(|taken| (taken.row, name(taken))).collect())
    }

    /// What is wrong with the files of a part of rows, by their positions among all.
    pub(super) fn placed(self, positions: &[usize]) -> RowRefusal {
        match self {
            RowRefusal::Files(cells) => {
                let cells = cells.into_iter();
                let placed = cells.filter_map(|(at, column)| Some((*positions.get(at)?, column)));
                RowRefusal::Files(placed.collect())
            }
            other => other,
        }
    }

    /// The refusal as a client sees it; in a batch it says which rows.
    pub fn refusal(self, batch: bool) -> Refusal {
        let taken = match self {
            RowRefusal::Conflict(taken) => taken,
            RowRefusal::Quota => {
                return Refusal::new(
                    Code::QuotaExceeded,
                    "The organization has as many rows as it may have; delete some, or ask the operator of the server \
                     to raise its quota (`admin set-quota`).",
                );
            }
            RowRefusal::UsedUp(column) => {
                let detail = format!(
                    "The sequence of the column {column} is used up, so its empty cells get no number; send a number \
                     that no row has, or use a new column for the numbers."
                );
                let mut refusal = Refusal::new(Code::Conflict, detail);
                refusal.column = Some(column);
                return refusal;
            }
            RowRefusal::Files(cells) => {
                let mut faults = Faults::new(batch);
                for (row, column) in cells {
                    faults.push(row, &format!("data.{column}"), NO_FILE);
                }
                return faults.finish().err().unwrap_or_else(Refusal::not_found);
            }
            RowRefusal::Store(error) => return error.into(),
        };
        let column = taken.first().map_or("", |(_, column)| column);
        let refusal = Refusal::repeated(column);
        let prefix = |row: usize, separator| {
            if batch {
                format!("rows[{row}]{separator}")
            } else {
                String::new()
            }
        };
        let errors = taken.iter().map(|(row, column)| Fault {
            path: format!("{}data.{column}", prefix(*row, ".")),
            code: Code::UniqueViolation.as_str(),
            message: format!("{}the value is already in another row", prefix(*row, ": ")),
        });
        let detail = refusal.detail().to_owned();
        let first = taken.first().map_or(0, |(row, _)| *row);
        refusal
            .with_detail(prefix(first, ": ") + &detail)
            .with_errors(errors.collect())
    }
}

impl From<RowRefusal> for Refusal {
    fn from(refused: RowRefusal) -> Refusal {
        refused.refusal(false)
    }
}
