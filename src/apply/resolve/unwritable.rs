//! Records that no workspace takes, although a check has nothing against the package. They are refused before there is a
//! job (`rest` 6.3).
//!
//! In: what the first phase does, and the destination. Out: one refusal for each of them.

use std::collections::{HashMap, HashSet};

use crate::apply::{Refusal, StructureWork};
use crate::definitions::Definitions;
use crate::finding::suggest::short_text;
use crate::json::{Object, Value};
use crate::package::size::MOST_LABEL;
use crate::problem::Code;
use crate::workspace::{AnyRecord, Change, Column, Id, New, RecordKind, Structure};

/// The refusals, in the order in which the records would be written.
pub(super) fn refusals(
    work: &StructureWork,
    destination: &Structure,
    definitions: &Definitions,
) -> Vec<Refusal> {
    let created = work.changes.iter().filter_map(|change| match change {
        Change::Create(New::Column { column, .. }) => Some((column.id, column)),
        _ => None,
    });
    let tables = destination.features.iter().chain(&destination.shared);
    let there = tables.flat_map(|table| table.columns.iter().map(|column| (column.id, column)));
    let columns: HashMap<Id, &Column> = there.chain(created).collect();
    let faults = work.changes.iter().filter_map(|change| match change {
        Change::Create(New::Column { column, .. }) => ColumnForm::of(column).fault(definitions),
        Change::Create(New::Workflow(made)) => name_fault(made.id, &made.name),
        Change::Configure {
            kind: RecordKind::Column,
            id,
            config,
        } => {
            let column = ColumnForm::of(columns.get(id).copied()?);
            let config = config.as_object();
            ColumnForm { config, ..column }.fault(definitions)
        }
        Change::Update { to, .. } | Change::Draft { to, .. } => match to.kind {
            RecordKind::Column => ColumnForm::of_record(to).fault(definitions),
            RecordKind::Workflow => name_fault(to.id, &to.name),
            _ => None,
        },
        _ => None,
    });
    // A column that is created and configured is one.
    let mut known = HashSet::new();
    let faults = faults.filter(|fault| known.insert(fault.id));
    faults
        .map(|fault| {
            let reference = reference(work, fault.id);
            let named = reference.map_or_else(String::new, |name| format!(" (`{name}`)"));
            let Fault { what, why, .. } = fault;
            let detail = format!("{what}{named} {why}. Correct the package.");
            Refusal::of_package(Code::ValidationFailed, reference, detail)
        })
        .collect()
}

/// Why a record cannot be.
struct Fault {
    id: Id,
    /// What people know it by.
    what: String,
    why: String,
}

/// A column as it would be.
struct ColumnForm<'c> {
    id: Id,
    label: &'c str,
    column_type: &'c str,
    component: &'c str,
    config: Option<&'c Object>,
}

impl<'c> ColumnForm<'c> {
    fn of(column: &'c Column) -> ColumnForm<'c> {
        ColumnForm {
            id: column.id,
            label: &column.label,
            column_type: &column.column_type,
            component: &column.default_component,
            config: Some(&column.config),
        }
    }

    fn of_record(column: &'c AnyRecord) -> ColumnForm<'c> {
        ColumnForm {
            id: column.id,
            label: column.label.as_deref().unwrap_or_default(),
            column_type: column.own_type.as_deref().unwrap_or_default(),
            component: column.component.as_deref().unwrap_or_default(),
            config: column.config.as_object(),
        }
    }

    /// An identity of numbers is counted, and one of texts is not (`rest` 3.5).
    fn fault(&self, definitions: &Definitions) -> Option<Fault> {
        let declared = definitions.column_types.get(self.column_type)?;
        let id_type = self.config.and_then(|config| config.get("idType"));
        let counted = id_type.and_then(Value::as_str) == Some("sequence");
        let numbers = declared.storage.is_number();
        let expected = match (self.component, numbers, counted) {
            ("id", true, false) => "`sequence`",
            ("id", false, true) => "`uuid`, or absent",
            _ => return None,
        };
        Some(Fault {
            id: self.id,
            what: format!("the column {:?}", self.label),
            why: format!(
                "is an identity of the type {}, so that its `config.idType` has to be {expected}",
                self.column_type
            ),
        })
    }
}

/// The name of an automation has as many characters as a label at most.
fn name_fault(id: Id, name: &str) -> Option<Fault> {
    let length = name.chars().count();
    (length > MOST_LABEL).then(|| Fault {
        id,
        what: format!("the automation {:?}", short_text(name)),
        why: format!("has a name of {length} characters; at most {MOST_LABEL} can be stored"),
    })
}

/// The ref that stands for a record.
fn reference(work: &StructureWork, id: Id) -> Option<&str> {
    let entry = &work.entry;
    let created = entry.created.iter().map(|made| (made.id, &made.reference));
    let changed = entry.changed.iter();
    let changed = changed.map(|changed| (changed.after.id, &changed.reference));
    let replaced = entry.replaced.iter().map(|one| (one.id, &one.reference));
    let mut all = created.chain(changed).chain(replaced);
    let found = all.find(|(known, _)| *known == id);
    found.map(|(_, reference)| reference.as_str())
}
