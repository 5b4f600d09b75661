//! Compares the results of two packages.
//!
//! Items are matched by name and kind, never by uid or position, so uids, times, suffixes of refs,
//! layout and the order of lists make no difference. References are compared by the name of their
//! target. The config of an item is its final one, including update steps. In: two texts. Out: a
//! [`Diff`], which [`text`] and [`markdown`] show to people and which serializes for programs. It
//! does not check packages.

mod flat;
mod item;
mod names;
mod render;
mod row;
mod rows;

use std::collections::HashMap;

use serde::{Serialize, Serializer};

use item::{ComparedItem, Side};
pub use render::{markdown, text};
pub use rows::{RowChange, RowsDiff};

use crate::json::validate;
use crate::package::canonical::{self, CanonicalError};

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// Items that were added, removed or changed, by kind.
    pub changes: Vec<Change>,
    /// Differences of rows, by table; nothing when rows were not to be compared.
    pub rows: Option<Vec<RowsDiff>>,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// Only the second package has it.
    Added,
    /// Only the first one has it.
    Removed,
    /// Both have it, and it differs.
    Changed,
}

/// An item that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What became of it.
    pub change_kind: ChangeKind,
    /// What it is.
    pub kind: ThingKind,
    /// Its name; of what belongs to a table or module, with that before a dot.
    pub name: String,
    /// Its name for people.
    pub label: Option<String>,
    /// What differs in it; empty when it was added or removed.
    pub fields: Vec<FieldChange>,
}

/// A value that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// Dotted path inside the item.
    pub path: String,
    /// Its JSON in the first package.
    #[serde(serialize_with = "as_value")]
    pub old: Option<String>,
    /// Its JSON in the second package.
    #[serde(serialize_with = "as_value")]
    pub new: Option<String>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ThingKind {
    /// Catalog fields and other members of the manifest.
    Catalog,
    /// A table.
    Feature,
    /// A column.
    Column,
    /// A view.
    View,
    /// A module.
    Module,
    /// A navigation entry.
    Rail,
    /// An automation.
    Workflow,
    /// A step of an automation.
    Step,
    /// The workspace's config.
    Workspace,
    /// Rows of a table: how many, and how they can be matched.
    Rows,
    /// A dependency.
    Dependency,
    /// A value that could not be carried over.
    Unresolved,
    /// A secret that was cleared.
    Redacted,
    /// A plan step that is none of these.
    #[default]
    Other,
}

impl ThingKind {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            ThingKind::Catalog => "catalog",
            ThingKind::Feature => "feature",
            ThingKind::Column => "column",
            ThingKind::View => "view",
            ThingKind::Module => "module",
            ThingKind::Rail => "rail",
            ThingKind::Workflow => "workflow",
            ThingKind::Step => "step",
            ThingKind::Workspace => "workspace",
            ThingKind::Rows => "rows",
            ThingKind::Dependency => "dependency",
            ThingKind::Unresolved => "unresolved",
            ThingKind::Redacted => "redacted",
            ThingKind::Other => "other",
        }
    }
}

/// A text that cannot be compared.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct DiffError {
    /// Whether it is the second one.
    pub second: bool,
    /// Why.
    pub error: CanonicalError,
}

impl Diff {
    /// Compares two packages; their rows too when `rows` is set.
    ///
    /// ```
    /// let text = include_str!("../../examples/crm.json");
    /// let other = text.replace("\"label\": \"Companies\"", "\"label\": \"Firms\"");
    /// let diff = tplkit::diff::Diff::of(text, &other, true)?;
    /// assert!(!diff.is_empty());
    /// assert!(tplkit::diff::Diff::of(text, text, true)?.is_empty());
    /// # Ok::<(), tplkit::diff::DiffError>(())
    /// ```
    pub fn of(first: &str, second: &str, rows: bool) -> Result<Diff, DiffError> {
        let read = |text, second| {
            let read = canonical::read(text).and_then(|(doc, _)| {
                // Rows stay unread in the tree; whoever reads them relies on this.
                validate(text)?;
                Ok(doc)
            });
            read.map_err(|error| DiffError { second, error })
        };
        let (first, second) = (read(first, false)?, read(second, true)?);
        let (first, second) = (Side::read(first.root()), Side::read(second.root()));
        Ok(Diff {
            changes: changes(&first, &second),
            rows: rows.then(|| rows::compare(&first, &second)),
        })
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.rows.as_ref().is_none_or(Vec::is_empty)
    }
}

fn changes(first: &Side<'_>, second: &Side<'_>) -> Vec<Change> {
    let in_second = by_key(second);
    let in_first = by_key(first);
    let mut changes = Vec::new();
    for item in &first.items {
        match in_second.get(&item.key()) {
            None => changes.push(alone(ChangeKind::Removed, item)),
            Some(other) => {
                let fields = fields(item, other);
                if !fields.is_empty() {
                    changes.push(Change {
                        fields,
                        ..alone(ChangeKind::Changed, other)
                    });
                }
            }
        }
    }
    let added = second.items.iter();
    let added = added.filter(|item| !in_first.contains_key(&item.key()));
    changes.extend(added.map(|item| alone(ChangeKind::Added, item)));
    // Stable: within a kind the items of the first package come first, in their order.
    changes.sort_by_key(|change| change.kind);
    changes
}

fn by_key<'s>(side: &'s Side<'_>) -> HashMap<(ThingKind, &'s str), &'s ComparedItem> {
    side.items.iter().map(|item| (item.key(), item)).collect()
}

fn alone(change_kind: ChangeKind, item: &ComparedItem) -> Change {
    Change {
        change_kind,
        kind: item.kind,
        name: item.name.clone(),
        label: item.label.clone(),
        fields: Vec::new(),
    }
}

fn fields(old: &ComparedItem, new: &ComparedItem) -> Vec<FieldChange> {
    let mut changes = flat::changes(&old.fields, &new.fields);
    // Of an order only what both have can differ: what was added or removed is reported on its own.
    for (path, before) in &old.orders {
        let Some(after) = new.orders.get(path) else {
            continue;
        };
        let common = |one: &[String], other: &[String]| -> Vec<String> {
            one.iter()
                .filter(|id| other.contains(id))
                .cloned()
                .collect()
        };
        let (before, after) = (common(before, after), common(after, before));
        if before != after {
            let list = |ids: &[String]| serde_json::to_string(ids).ok();
            changes.push(FieldChange {
                path: path.clone(),
                old: list(&before),
                new: list(&after),
            });
        }
    }
    changes
}

/// JSON as a value, or as text where a number would lose digits.
#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn as_value<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let value = text.as_ref().map(|text| {
        let value = serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
        let written = value.to_string();
        if written == *text {
            value
        } else {
            serde_json::Value::String(text.clone())
        }
    });
    value.serialize(serializer)
}
