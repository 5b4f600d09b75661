//! Applying a package to a workspace.
//!
//! ```text
//! Checked + Request + Structure (+ ledger) → resolve → Approved → run → Report
//! ```
//!
//! `resolve` takes every decision before anything is written: which dependency is created, mapped
//! or skipped, the name and id of each record, which fields become empty, in which order tables are
//! filled. It reports everything that it cannot decide at once, as [`Refusal`]s. The executor
//! carries out an [`Approved`] and decides nothing; it can stop at any checkpoint and be started
//! again.

mod adopt;
mod approved;
mod drift;
mod error;
mod history;
mod init;
mod ledger_rows;
mod minter;
mod new_names;
mod preview;
mod refusal;
mod report;
mod request;
mod resolve;
mod row_base;
mod row_refs;
mod run;
mod suggest;
#[cfg(test)]
mod test_packages;
#[cfg(test)]
mod test_plan;
#[cfg(test)]
mod tests;
mod uids;
mod undo;

pub use adopt::{adopt, base_exists, base_resolutions, check_base, is_adopted, note_adopted};
use approved::HELD;
pub use approved::{
    Approved, BasePackageRows, BaseRows, Bound, ColumnWork, Dropped, HeldBack, LinkWork,
    LinkedValue, Mode, Publish, RowStep, RowStepWork, StructureWork, TableWork, UpgradeWork,
};
pub use drift::{DriftInput, base_automations, drift, structure_drift};
pub use error::ApplyError;
pub use history::{BasePackage, JobHistory, LegacyJob};
pub use init::{init, proposed};
pub use minter::Minter;
pub use preview::{
    Binding, Creation, Preview, PreviewInput, Publication, ReplacedConfig, RowsPreview,
    content_digest, decide_from, fresh, package_digest, preview, write_content,
};
pub use refusal::Refusal;
pub use report::{
    BatchError, DraftReason, DroppedKey, FailureReason, NotCarried, NotPublished, RedactedField,
    RenamedRecord, Report, TableReport, UnresolvedEntry,
};
pub use request::{Request, Resolution, Resolutions, RowsMode, UpgradeTerms};
pub use resolve::{ResolveInput, is_satisfied, resolve};
pub use row_base::{BasedRows, LineJob, RowBase, speaks_of_all};
pub use run::{run, run_from};
pub use suggest::{Candidate, Suggestion, suggest};
pub use undo::{TableLosses, UNDO_UNIT, UndoError, UndoProgress, forced, undo, undo_in_units};
