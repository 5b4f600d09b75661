//! What people do to a workspace between two jobs.

use tplkit::check::Checked;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::State;
use tplkit::workspace::{Id, RecordKind, RowData, StoredRow};

use crate::seeds::Dice;

/// Rows and records that a job made go, here and there.
pub(crate) fn delete(dice: &mut Dice, ledger: &[Entry], state: &mut State) {
    for entry in ledger {
        match entry {
            Entry::Structure(structure) => {
                for made in &structure.created {
                    if dice.below(12) == 0 {
                        remove(made.kind, made.id, state);
                    }
                }
            }
            Entry::Rows(written) => {
                let Some(rows) = state.rows.get_mut(&written.feature) else {
                    continue;
                };
                rows.retain(|row| {
                    let ours = written.rows.iter().any(|one| one.id == row.id);
                    !ours || dice.below(6) > 0
                });
            }
            _ => {}
        }
    }
    state.rows.retain(|_, rows| !rows.is_empty());
}

fn remove(kind: RecordKind, id: Id, state: &mut State) {
    let structure = &mut state.structure;
    match kind {
        RecordKind::Feature => {
            let gone = structure.features.extract_if(.., |one| one.id == id);
            for column in gone.flat_map(|one| one.columns) {
                state.sequences.remove(&column.id);
            }
            state.rows.remove(&id);
        }
        RecordKind::Column => {
            for feature in &mut structure.features {
                feature.columns.retain(|one| one.id != id);
            }
            state.sequences.remove(&id);
        }
        RecordKind::View => {
            for feature in &mut structure.features {
                feature.views.retain(|one| one.id != id);
            }
        }
        RecordKind::Workflow => structure.automations.retain(|one| one.id != id),
        RecordKind::Module => structure.modules.retain(|one| one.id != id),
        RecordKind::Rail => {
            for module in &mut structure.modules {
                module.rails.retain(|one| one.id != id);
            }
        }
        RecordKind::Workspace => {}
    }
}

/// Fills tables that a job made and left empty with some of the package's own rows.
pub(crate) fn fill(
    dice: &mut Dice,
    package: &Checked<'_>,
    ledger: &[Entry],
    state: &mut State,
) -> bool {
    let mut filled = false;
    let mut number = 0xF111_0000_u128;
    for entry in &package.payloads {
        let Some(feature) = made(ledger, &entry.feature_ref) else {
            continue;
        };
        let there = state.structure.feature(feature).is_some();
        if !there || state.rows.contains_key(&feature) || dice.below(4) == 0 {
            continue;
        }
        let mut rows = Vec::new();
        for row in entry.rows() {
            number += 1;
            if dice.below(2) == 0 {
                let id = Id::from_u128(number);
                let data = RowData::parse(row.data).unwrap();
                rows.push(StoredRow { id, data });
            }
        }
        if !rows.is_empty() {
            filled = true;
            state.rows.insert(feature, rows);
        }
    }
    filled
}

/// The table that a ledger says was made for a ref.
pub(crate) fn made(ledger: &[Entry], reference: &str) -> Option<Id> {
    let structures = ledger.iter().filter_map(|entry| match entry {
        Entry::Structure(structure) => Some(structure),
        _ => None,
    });
    let created = structures.flat_map(|structure| &structure.created);
    let mut named =
        created.filter(|one| one.reference == reference && one.kind == RecordKind::Feature);
    named.next_back().map(|one| one.id)
}
