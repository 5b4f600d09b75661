//! What would be lost of what the package does not have any more (`upgrade` 3.4.3, 3.5.5): the rows of tables,
//! and the filled cells of columns. Of what is to go it notes that the plan saw exactly this.

use std::collections::HashMap;

use crate::apply::{Approved, HELD, Refusal};
use crate::problem::Code;
use crate::rows::Cell;
use crate::upgrade::{LeftRecord, SeenLeaves};
use crate::workspace::ledger::HeldDigest;
use crate::workspace::{AnyRecord, Id, Lookup, RecordKind, Structure};

/// Rows that are read at once.
const ROWS_PER_READ: usize = 1000;

/// Counts them. Gives a refusal for each that is to go although nothing allows to lose it.
pub(super) async fn count<T: Lookup + Sync>(
    target: &T,
    destination: &Structure,
    approved: &mut Approved,
) -> Result<Vec<Refusal>, T::Error> {
    let Some(upgrade) = approved.upgrade.as_deref_mut() else {
        return Ok(Vec::new());
    };
    let mut of_tables: HashMap<Id, Vec<&mut LeftRecord>> = HashMap::new();
    for left in &mut upgrade.left {
        let feature = match left.kind {
            RecordKind::Feature => Some(left.id),
            RecordKind::Column => {
                let column = AnyRecord::find(destination, left.kind, left.id);
                column.and_then(|column| column.parent)
            }
            _ => None,
        };
        if let Some(feature) = feature {
            of_tables.entry(feature).or_default().push(left);
        }
    }
    for (feature, mut all) in of_tables {
        read_left(target, feature, &mut all, &mut upgrade.seen).await?;
    }
    let refused = upgrade.left.iter().filter(|left| {
        let mut refs = upgrade.destructive.iter();
        left.delete && refs.any(|reference| *reference == left.reference)
    });
    Ok(refused.map(refusal).collect())
}

/// Reads a table once.
async fn read_left<T: Lookup + Sync>(
    target: &T,
    feature: Id,
    all: &mut [&mut LeftRecord],
    seen: &mut SeenLeaves,
) -> Result<(), T::Error> {
    let mut held = vec![HeldDigest::default(); all.len()];
    for left in all.iter_mut() {
        match left.kind {
            RecordKind::Feature => left.rows = Some(0),
            _ => left.cells = Some(0),
        }
    }
    let mut last = None;
    loop {
        // What goes is everybody's.
        let rows = target.with_hidden(feature, last, ROWS_PER_READ).await?;
        let Some(end) = rows.last() else {
            for (left, held) in all.iter().zip(held).filter(|(left, _)| left.delete) {
                seen.add(&left.reference, HELD, &held.value());
            }
            return Ok(());
        };
        last = Some(end.row.id);
        for (left, held) in all.iter_mut().zip(&mut held) {
            for row in rows.iter().map(|one| &one.row) {
                match left.kind {
                    RecordKind::Feature => held.add_row(row.id, &row.data),
                    _ => held.add_cell(row.id, &left.name, &row.data),
                }
            }
            if let Some(count) = &mut left.rows {
                *count += rows.len() as u64;
            }
            if let Some(count) = &mut left.cells {
                let cells = rows.iter().filter_map(|one| one.row.data.cell(&left.name));
                let filled = cells.filter(|cell| !Cell::new(cell).is_empty());
                *count += filled.count() as u64;
            }
        }
    }
}

fn refusal(left: &LeftRecord) -> Refusal {
    let counted = |count: u64, one: &str, more: &str| {
        format!("{count} {}", if count == 1 { one } else { more })
    };
    let lost = match (left.rows, left.cells) {
        (Some(rows), _) => counted(rows, "row", "rows"),
        (_, cells) => counted(cells.unwrap_or_default(), "cell", "cells"),
    };
    let reference = &left.reference;
    let detail = format!(
        "`decisions.{reference}`: without the {} {:?} {lost} would be lost. Allow it (`allowDestructive`), or leave it.",
        left.kind.noun(),
        left.label
    );
    Refusal {
        cells: left.cells,
        rows: left.rows,
        ..Refusal::about(Code::Destructive, reference, detail)
    }
}
