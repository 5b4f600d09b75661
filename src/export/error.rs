//! Why an export failed.

use std::io;

use crate::json::SyntaxError;
use crate::package::canonical::CanonicalError;
use crate::workspace::{Id, Source};

/// The result of reading a source of that kind.
pub type ExportResult<T, S> = Result<T, ExportError<<S as Source>::Error>>;

/// Why an export did not come to its end; `E` is how the source fails.
#[derive(Debug, thiserror::Error)]
pub enum ExportError<E: std::error::Error> {
    /// The workspace could not be read.
    #[error("the workspace could not be read: {0}")]
    Source(#[source] E),
    /// The package cannot be built.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The package could not be written.
    #[error("the package could not be written: {0}")]
    Write(#[source] io::Error),
}

/// Why a package cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The selection names what is not there.
    #[error("the workspace has no {}", listed(.0))]
    Unknown(Vec<UnknownId>),
    /// Rows were chosen of tables that were not.
    #[error("rows are chosen of tables that are not: {}", listed(.0))]
    RowsWithoutTable(Vec<Id>),
    /// Technical names that would be ids or refs in the package.
    #[error("names that hold an id or read as a ref cannot travel: {}", listed(.0))]
    UnfitNames(Vec<String>),
    /// A config or a cell is nested deeper than a package may be.
    #[error("{what}: {error}")]
    TooDeep {
        /// Whose it is.
        what: String,
        /// Where it ends.
        error: SyntaxError,
    },
    /// Rows differ between the two readings.
    #[error("the rows of {0} changed while they were read")]
    Changed(String),
    /// A text that the canonical writer refuses.
    #[error("{what}: {error}")]
    Unwritable {
        /// Whose it is.
        what: String,
        /// Why.
        error: CanonicalError,
    },
    /// The package contradicts itself: a mistake of this library.
    #[error("the exporter made a package that contradicts itself: {0}")]
    Broken(String),
}

/// An id of the selection that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownId {
    /// The list of the selection: `features`, `views`, `modules`, `rails`, `workflows`, `rows`.
    pub list: &'static str,
    /// The id.
    pub id: Id,
}

impl std::fmt::Display for UnknownId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.id, self.list)
    }
}

fn listed<T: ToString>(things: &[T]) -> String {
    let things: Vec<String> = things.iter().map(ToString::to_string).collect();
    things.join(", ")
}
