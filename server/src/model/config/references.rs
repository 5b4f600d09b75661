//! Checks the references of a config: each target has to exist, be visible, and be in the same
//! workspace.
//!
//! All three faults have the same message.

use std::collections::{BTreeMap, BTreeSet};

use tplkit::definitions::ReferenceKind;
use uuid::Uuid;

use super::validate::{Reference, ReferencedTable};
use crate::ids::{self, WorkspaceKey};
use crate::model::kind::RecordKind;
use crate::model::record::Record;
use crate::model::referenced;
use crate::refusal::{Fault, Refusal};
use crate::store::Tx;

const ABSENT: &str = "names nothing in this workspace that can be referred to";

/// The kinds of records that configs refer to by id.
const KINDS: [ReferenceKind; 5] = [
    ReferenceKind::Feature,
    ReferenceKind::View,
    ReferenceKind::Module,
    ReferenceKind::Rail,
    ReferenceKind::WorkflowV2,
];

/// Fields of every row, which views may name next to the columns.
const BUILTIN: [&str; 3] = ["id", "created_at", "updated_at"];

/// Looks the references of a config up. An empty one names nothing, which is legal.
pub(super) async fn check(
    tx: &mut Tx,
    record: &Record,
    references: &[Reference],
    faults: &mut Vec<Fault>,
) -> Result<(), Refusal> {
    let filled: Vec<&Reference> = references
        .iter()
        .filter(|reference| !reference.text.is_empty())
        .collect();
    if filled.is_empty() {
        return Ok(());
    }
    let found = records(tx, record, &filled).await?;
    let mut known: Vec<(&Reference, Option<Uuid>)> = Vec::new();
    for reference in filled {
        if reference.kind == ReferenceKind::Column {
            let table = match &reference.table {
                ReferencedTable::Own => Some(own_table(record)),
                // What is wrong with the field that names the table is reported there.
                ReferencedTable::Named(text) => {
                    let id = ids::uuid(text);
                    id.filter(|id| found.contains(&(ReferenceKind::Feature, *id)))
                }
                ReferencedTable::Unknown => None,
            };
            known.push((reference, table));
            continue;
        }
        match ids::uuid(&reference.text) {
            None => faults.push(Fault::new(&reference.path, "is not a UUID")),
            Some(id) if !found.contains(&(reference.kind, id)) => {
                faults.push(Fault::new(&reference.path, ABSENT));
            }
            Some(_) => {}
        }
    }
    columns(tx, record, &known, faults).await
}

/// The table whose columns a config names as its own.
fn own_table(record: &Record) -> Uuid {
    match record.kind.what {
        RecordKind::Feature => record.id,
        _ => record.parent(),
    }
}

/// Those of the records that are named and can be.
async fn records(
    tx: &mut Tx,
    record: &Record,
    references: &[&Reference],
) -> Result<BTreeSet<(ReferenceKind, Uuid)>, Refusal> {
    let mut found = BTreeSet::new();
    for kind in KINDS {
        let of_kind = references.iter().filter(|reference| reference.kind == kind);
        let ids: BTreeSet<Uuid> = of_kind
            .filter_map(|reference| ids::uuid(&reference.text))
            .collect();
        let ids: Vec<Uuid> = ids.into_iter().collect();
        let place = WorkspaceKey {
            organization: record.organization(),
            workspace: record.workspace(),
        };
        let there = referenced::existing(tx, place, kind, &ids).await?;
        found.extend(there.into_iter().map(|id| (kind, id)));
    }
    Ok(found)
}

async fn columns(
    tx: &mut Tx,
    record: &Record,
    references: &[(&Reference, Option<Uuid>)],
    faults: &mut Vec<Fault>,
) -> Result<(), Refusal> {
    let tables: BTreeSet<Uuid> = references.iter().filter_map(|(_, table)| *table).collect();
    let tables: Vec<Uuid> = tables.into_iter().collect();
    let names = referenced::column_names(tx, record.organization(), &tables).await?;
    let names: BTreeMap<Uuid, Vec<String>> = tables.into_iter().zip(names).collect();
    for (reference, table) in references {
        let Some(names) = table.and_then(|table| names.get(&table)) else {
            continue;
        };
        let builtin = matches!(reference.table, ReferencedTable::Own)
            && record.kind.what == RecordKind::View
            && BUILTIN.contains(&reference.text.as_str());
        if !builtin && !names.contains(&reference.text) {
            let fault = Fault::new(&reference.path, "names no column of that table");
            faults.push(fault);
        }
    }
    Ok(())
}
