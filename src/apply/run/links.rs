//! Resolves a link cell to the value that is written.

use super::target_value::TargetValue;
use super::targets::Targets;
use crate::apply::row_refs::{RowRef, row_refs};
use crate::package::payload::RawRow;
use crate::rows::{Cell, canonical_to, elements, equal, members};

/// What became of a link cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkOutcome {
    /// It points at rows of the destination now.
    Whole,
    /// Some of its elements could not be distinguished and went.
    Short,
    /// A row that it points at is not at the destination: it is empty now.
    Dropped,
    /// It points at rows of its own table and is written when that is complete.
    Deferred,
}

/// Which links inside the table are meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum OwnLinks<'a> {
    /// Rows are entering: links to that table wait.
    Later(&'a str),
    /// The table is complete.
    Now,
}

/// Writes a cell that has refs as the destination holds it to the end of `out`. What is there
/// after anything but [`LinkOutcome::Whole`] and [`LinkOutcome::Short`] means nothing.
pub(super) fn link(
    out: &mut String,
    cell: &str,
    refs: &str,
    own: OwnLinks<'_>,
    shown: TargetValue<'_>,
    targets: &Targets<'_>,
) -> LinkOutcome {
    let waits = |row: &RowRef<'_>| matches!(own, OwnLinks::Later(table) if row.is_in(table));
    let Cell::List(list) = Cell::new(cell) else {
        // The shape of the value decides: one value points at one row.
        let mut rows = row_refs(refs);
        let Some(first) = rows.next() else {
            return LinkOutcome::Dropped;
        };
        if waits(&first) || rows.any(|row| waits(&row)) {
            return LinkOutcome::Deferred;
        }
        return match resolved(first, shown, targets) {
            Some(value) => {
                out.push_str(&value);
                LinkOutcome::Whole
            }
            None => LinkOutcome::Dropped,
        };
    };
    let rows: Vec<RowRef<'_>> = row_refs(refs).collect();
    if rows.iter().any(waits) {
        return LinkOutcome::Deferred;
    }
    let values = rows.iter().map(|row| resolved(*row, shown, targets));
    let Some(values) = values.collect::<Option<Vec<_>>>() else {
        return LinkOutcome::Dropped;
    };
    let count = elements(list).count();
    let places = if values.len() == count {
        Some((0..count).map(Some).collect())
    } else {
        aligned(list, &rows, targets)
    };
    let mut before = '[';
    let mut push = |value: &str| {
        out.push(std::mem::replace(&mut before, ','));
        canonical_to(out, value);
    };
    let outcome = if let Some(places) = places {
        for (element, place) in elements(list).zip(places) {
            match place.and_then(|place| values.get(place)) {
                Some(value) => push(value),
                None => push(element),
            }
        }
        LinkOutcome::Whole
    } else {
        for value in &values {
            push(value);
        }
        LinkOutcome::Short
    };
    out.push_str(if before == '[' { "[]" } else { "]" });
    outcome
}

/// Whether a cell points at any row of that table.
pub(super) fn points_at(refs: &str, table: &str) -> bool {
    row_refs(refs).any(|row| row.is_in(table))
}

fn resolved<'t>(
    row: RowRef<'_>,
    shown: TargetValue<'_>,
    targets: &'t Targets<'_>,
) -> Option<std::borrow::Cow<'t, str>> {
    targets.value(targets.find(row)?, row.column, shown)
}

/// For each element the row that it points at, or none: distinguished by what the rows hold in the
/// package. Nothing when they cannot be distinguished.
fn aligned(list: &str, rows: &[RowRef<'_>], targets: &Targets<'_>) -> Option<Vec<Option<usize>>> {
    let source = |row: &RowRef<'_>| targets.source_value(targets.find(*row)?, row.column?);
    let sources: Vec<&str> = rows.iter().map(source).collect::<Option<_>>()?;
    let mut next = 0;
    let places = elements(list).map(|element| {
        let here = sources
            .get(next)
            .is_some_and(|source| equal(element, source));
        next += usize::from(here);
        here.then(|| next - 1)
    });
    let places = places.collect();
    (next == sources.len()).then_some(places)
}

/// The identities that a cell of a link into a mapped table holds.
pub(super) fn identities(raw: &str) -> impl Iterator<Item = &str> {
    let parts = Cell::new(raw).parts(raw);
    parts.filter(|part| !Cell::new(part).is_empty())
}

/// Whether cells of a row point at rows of its own table.
pub(super) fn points_home(row: &RawRow<'_>, own: &str) -> bool {
    row.refs
        .is_some_and(|refs| members(refs).any(|(_, refs)| points_at(refs, own)))
}
