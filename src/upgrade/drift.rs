//! Drift: what differs from the base in what a template made (`upgrade` 4.1). It is the rule for one leaf
//! with a package that says what the base says.
//!
//! Goes in: the records of the base with their refs, and the destination. Comes out: leaves that
//! differ, records that went, and records that came in. Rows are the business of [`crate::apply`].

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::document::{BaseView, shorten};
use super::key::Key;
use super::leaf::{Leaf, Sides, leaves, order_path};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::reference::WORKSPACE;
use crate::workspace::{AnyRecord, Id, RecordKind, Structure};

/// What people changed in what a template made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Drift {
    /// The template.
    pub template_id: Id,
    /// What was applied last.
    pub base: BaseView,
    /// Whether anything counts as drift.
    pub drift: bool,
    /// Leaves that are not as they were applied.
    pub changed: Vec<ChangedLeaf>,
    /// Records that are not there any more; what went with its parent is one with it.
    pub removed: Vec<RemovedRecord>,
    /// Columns, views and navigation entries that people added to tables and modules of the template.
    pub added: Vec<AddedRecord>,
    /// By the ref of each table: what became of its rows.
    #[serde(default)]
    pub rows: IndexMap<String, RowsDrift>,
    /// The first 1,000 cells of reference data that differ, when they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Vec<CellDrift>>,
    /// How many more cells there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells_more: Option<u64>,
}

/// What became of records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StructureDrift {
    /// Leaves that are not as they were applied.
    pub changed: Vec<ChangedLeaf>,
    /// Records that are not there any more; what went with its parent is one with it.
    pub removed: Vec<RemovedRecord>,
    /// Columns, views and navigation entries that people added to tables and modules of the template.
    pub added: Vec<AddedRecord>,
}

impl StructureDrift {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty() && self.added.is_empty()
    }
}

/// A leaf that is not as it was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DriftChange")
)]
pub struct ChangedLeaf {
    /// What it belongs to.
    pub kind: RecordKind,
    /// Its ref; `workspace` for the workspace.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its id.
    pub id: Id,
    /// The path of the leaf.
    pub path: String,
    /// What was applied; null when there was no value.
    pub base: Value,
    /// What the destination has.
    pub ours: Value,
}

/// A record that is not there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DriftRemoval")
)]
pub struct RemovedRecord {
    /// What it was.
    pub kind: RecordKind,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its name.
    pub name: String,
}

/// A record that people added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DriftAddition")
)]
pub struct AddedRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Its id.
    pub id: Id,
    /// The ref of what it is in.
    pub parent_ref: String,
    /// Its name.
    pub name: String,
    /// What it is called.
    pub label: String,
}

/// What became of the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DriftTable")
)]
pub struct RowsDrift {
    /// Rows that the template did not bring.
    pub added: u64,
    /// Rows that it brought and that are not there any more.
    pub deleted: u64,
    /// Rows that it brought and that hold something else.
    pub changed: u64,
}

/// A cell that is not as it was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DriftCell")
)]
pub struct CellDrift {
    /// The ref of the table.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The uid of the row in the package.
    pub uid: String,
    /// The id of the row.
    pub id: Id,
    /// The column.
    pub column: String,
    /// What was applied.
    pub base: Value,
    /// What the destination has.
    pub ours: Value,
}

/// A template that was applied to a workspace, once for each line of jobs that continue one another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AppliedTemplate {
    /// The template.
    pub template_id: Id,
    /// Its name.
    pub name: Option<String>,
    /// What it is called.
    pub label: Option<String>,
    /// The first job of the line.
    pub line: Id,
    /// The version that was applied last.
    pub semver: Option<String>,
    /// The job that applied it.
    pub job_id: Id,
    /// When its newest job was completed.
    #[cfg_attr(feature = "schemas", schemars(extend("format" = "date-time")))]
    pub applied_at: String,
    /// The version in the catalog, when its package is another one and not lower.
    pub newer: Option<String>,
    /// Whether records drifted.
    pub drift: bool,
    /// How many secrets of its automations somebody still has to enter.
    pub secrets_missing: u64,
}

/// A record of a base.
#[derive(Debug, Clone, Copy)]
pub struct DriftBase<'b> {
    /// Its ref.
    pub reference: &'b str,
    /// The record as it was applied.
    pub record: &'b AnyRecord,
}

/// Compares the records of a base with a workspace. `current` knows of which of them the
/// package is that was applied last: only those have an order among each other. `drafted` gives for a record of the workspace
/// what the line made of it, where that waits in a draft.
pub fn drifted(
    base: &[DriftBase<'_>],
    destination: &Structure,
    current: &dyn Fn(&str) -> bool,
    drafted: &dyn Fn(AnyRecord) -> AnyRecord,
    definitions: &Definitions,
) -> StructureDrift {
    let pairs = base.iter().map(|DriftBase { reference, record }| {
        let here = match record.kind {
            RecordKind::Workspace => Some(AnyRecord::of_workspace(&destination.workspace)),
            kind => AnyRecord::find(destination, kind, record.id),
        };
        let here = here.map(drafted);
        RecordPair {
            reference,
            base: record,
            ours: here.filter(|here| here.parent == record.parent),
        }
    });
    let mut pairs: Vec<RecordPair<'_>> = pairs.collect();
    let gone = RemovedRecords::of(&pairs, destination);
    let known: HashSet<Id> = base.iter().map(|based| based.record.id).collect();
    let mut drift = StructureDrift::default();
    for pair in &pairs {
        match &pair.ours {
            Some(ours) => {
                let changed = changed_leaves(pair, ours, &gone, definitions);
                drift.changed.extend(changed);
                drift.added.extend(added(pair, destination, &known));
            }
            None if !gone.holds(pair.base.parent) => drift.removed.push(RemovedRecord {
                kind: pair.base.kind,
                reference: pair.reference.to_owned(),
                name: pair.base.name.clone(),
            }),
            None => {}
        }
    }
    pairs.retain(|pair| current(pair.reference) || pair.reference == WORKSPACE);
    drift.changed.extend(orders(&pairs, destination));
    drift
}

/// A record of the base, and as it is.
struct RecordPair<'b> {
    reference: &'b str,
    base: &'b AnyRecord,
    ours: Option<AnyRecord>,
}

/// Records of the base that are not there any more.
struct RemovedRecords {
    ids: HashSet<Id>,
    /// Names of columns by their tables, and whether people have a column of that name there.
    columns: HashMap<(Id, String), bool>,
}

impl RemovedRecords {
    fn of(pairs: &[RecordPair<'_>], destination: &Structure) -> RemovedRecords {
        let gone = || pairs.iter().filter(|pair| pair.ours.is_none());
        let columns = gone().filter(|pair| pair.base.kind == RecordKind::Column);
        let columns = columns.filter_map(|pair| {
            let (table, name) = (pair.base.parent?, &pair.base.name);
            let living = destination.feature(table)?.column_named(name);
            let is_known = |id| pairs.iter().any(|pair| pair.base.id == id);
            // What another one of the base is called by now names that on either side.
            let is_taken = living.is_some_and(|living| is_known(living.id));
            (!is_taken).then(|| ((table, name.clone()), living.is_some()))
        });
        RemovedRecords {
            ids: gone().map(|pair| pair.base.id).collect(),
            columns: columns.collect(),
        }
    }

    fn holds(&self, id: Option<Id>) -> bool {
        id.is_some_and(|id| self.ids.contains(&id))
    }

    /// Whether an element of a list of references names one: by its id, or a column of the table by its
    /// name. `here` says that the list is the destination's: in that a name which people gave again is theirs.
    fn names(&self, element: &Value, table: Option<Id>, here: bool) -> bool {
        let Some(text) = element.as_str() else {
            return false;
        };
        self.holds(Id::try_parse(text).ok())
            || table.is_some_and(|table| {
                let again = self.columns.get(&(table, text.to_owned()));
                again.is_some_and(|again| !(here && *again))
            })
    }
}

fn changed_leaves(
    pair: &RecordPair<'_>,
    ours: &AnyRecord,
    gone: &RemovedRecords,
    definitions: &Definitions,
) -> Vec<ChangedLeaf> {
    // What people added counts too, so that their side says which keys there are.
    let sides = Sides {
        base: pair.base,
        theirs: ours,
        ours,
    };
    let icon = Key::Icon.to_string();
    let mut all: Vec<Leaf> = leaves(sides, definitions);
    // What the package does not give is not a leaf.
    all.retain(|leaf| leaf.path != icon);
    if pair.base.icon.is_some() {
        all.push(Leaf {
            path: icon,
            keys: vec![Key::Icon],
            list: false,
        });
    }
    let changed = all.into_iter().filter_map(|leaf| {
        let [mut base, _, mut ours] = sides.values(&leaf, definitions);
        if leaf.list {
            // An element whose record is gone is left out on either side.
            let before = base.clone();
            for (side, here) in [(&mut base, false), (&mut ours, true)] {
                if let Value::List(elements) = side {
                    elements.retain(|element| !gone.names(element, pair.base.parent, here));
                }
            }
            let none = |side: &Value| side.as_list().unwrap_or_default().is_empty();
            if base != before && none(&base) && none(&ours) {
                return None;
            }
        }
        (base != ours).then(|| ChangedLeaf {
            kind: pair.base.kind,
            reference: pair.reference.to_owned(),
            id: pair.base.id,
            path: leaf.path,
            base: shorten(base),
            ours: shorten(ours),
        })
    });
    changed.collect()
}

/// What is in a table or module and not of the base.
fn added(pair: &RecordPair<'_>, destination: &Structure, known: &HashSet<Id>) -> Vec<AddedRecord> {
    let kinds: &[RecordKind] = match pair.base.kind {
        RecordKind::Feature => &[RecordKind::Column, RecordKind::View],
        RecordKind::Module => &[RecordKind::Rail],
        _ => &[],
    };
    let inside = |kind: &RecordKind| AnyRecord::siblings(destination, *kind, Some(pair.base.id));
    let inside = kinds.iter().flat_map(inside);
    let added = inside.filter(|record| !known.contains(&record.id));
    added
        .map(|record| AddedRecord {
            kind: record.kind,
            id: record.id,
            parent_ref: pair.reference.to_owned(),
            label: record.called().to_owned(),
            name: record.name,
        })
        .collect()
}

/// Siblings that stand in another order: one leaf of their parent, by position and not by number.
fn orders(pairs: &[RecordPair<'_>], destination: &Structure) -> Vec<ChangedLeaf> {
    let workspace = destination.workspace.id;
    let mut changed = Vec::new();
    changed.extend(order(
        RecordKind::Workspace,
        WORKSPACE,
        workspace,
        pairs,
        destination,
    ));
    let inner = |pair: &&RecordPair<'_>| pair.ours.is_some() && pair.reference != WORKSPACE;
    for pair in pairs.iter().filter(inner) {
        let parent = pair.base;
        changed.extend(order(
            parent.kind,
            pair.reference,
            parent.id,
            pairs,
            destination,
        ));
    }
    changed
}

fn order(
    kind: RecordKind,
    reference: &str,
    id: Id,
    pairs: &[RecordPair<'_>],
    destination: &Structure,
) -> Option<ChangedLeaf> {
    let (children, within) = match kind {
        RecordKind::Workspace if reference == WORKSPACE => (RecordKind::Module, None),
        RecordKind::Module => (RecordKind::Rail, Some(id)),
        RecordKind::Feature => (RecordKind::Column, Some(id)),
        _ => return None,
    };
    let path = order_path(children)?;
    let here = AnyRecord::siblings(destination, children, within);
    let names: HashMap<Id, &str> = here.iter().map(|one| (one.id, one.name.as_str())).collect();
    // Of what has no position in the package none is a leaf.
    let mut base: Vec<(i64, Id)> = pairs
        .iter()
        .filter(|pair| pair.base.kind == children && pair.base.parent == within)
        .filter_map(|pair| Some((pair.base.order?, pair.base.id)))
        .filter(|(_, id)| names.contains_key(id))
        .collect();
    // Of equal positions the record comes first that was recorded first.
    base.sort_by_key(|(order, _)| *order);
    let base: Vec<Id> = base.into_iter().map(|(_, id)| id).collect();
    let ours = here.iter().map(|one| one.id);
    let ours: Vec<Id> = ours.filter(|id| base.contains(id)).collect();
    if base == ours {
        return None;
    }
    let called = |all: &[Id]| {
        let names = all.iter().filter_map(|id| names.get(id).copied());
        Value::List(names.map(Value::from).collect())
    };
    Some(ChangedLeaf {
        kind,
        reference: reference.to_owned(),
        id,
        path: path.to_owned(),
        base: called(&base),
        ours: called(&ours),
    })
}
