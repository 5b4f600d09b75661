//! Previews rows and links.
//!
//! The executor runs on a target that stores nothing, so a plan and the report of its apply agree
//! row by row, refusals included.

use indexmap::IndexMap;
use sha2::Digest as _;

use super::digest::Digest;
use super::dry_run::DryRun;
use super::{PreviewInput, RowsPreview};
use crate::apply::run::{self, CellConflicts, TableCounts};
use crate::apply::{ApplyError, Approved, Refusal};
use crate::problem::Code;
use crate::workspace::{Lookup, Structure};

/// The rows by the ref of their table, or why nothing can be said of them.
pub(super) type Counts = Result<(IndexMap<String, RowsPreview>, CellConflicts), Refusal>;

/// Counts the rows of all tables.
pub(super) async fn count<T: Lookup + Sync>(
    target: &T,
    input: PreviewInput<'_, '_>,
    destination: &Structure,
    approved: &Approved,
    digest: &mut Digest,
) -> Result<Counts, T::Error> {
    let payloads = &input.package.payloads;
    let read = run::columns_read(approved, payloads);
    let mut dry = DryRun::new(target, destination, approved, read).await?;
    let counted = run::count(
        &mut dry,
        approved,
        payloads,
        input.past(),
        input.definitions,
    );
    let (counted, conflicts) = match counted.await {
        Ok(counted) => counted,
        Err(ApplyError::Store { source, .. }) => return Err(source),
        Err(error) => {
            let code = match &error {
                ApplyError::Refused { code, .. } => *code,
                _ => Code::Conflict,
            };
            return Ok(Err(Refusal::new(code, error.to_string())));
        }
    };
    digest.read(&dry.lookups_digest());
    let rows: IndexMap<String, RowsPreview> = counted
        .into_iter()
        .map(|(reference, counted)| {
            let undecided = conflicts.counts.get(&reference).copied();
            (reference, preview(counted, undecided.unwrap_or_default()))
        })
        .collect();
    digest.read(&format!("{rows:?}"));
    let written = conflicts.written.clone().finalize();
    digest.read(&format!("{written:?} {:?}", conflicts.first));
    Ok(Ok((rows, conflicts)))
}

fn preview(counted: TableCounts, conflicts: u64) -> RowsPreview {
    RowsPreview {
        insert: counted.table.inserted,
        existing: counted.table.existing,
        skipped: counted.table.skipped,
        dropped_links: counted.dropped_links,
        failed: counted.table.failed,
        update: counted.table.updated,
        left: counted.table.left,
        kept: counted.table.kept,
        conflicts,
        reasons: counted.reasons,
    }
}
