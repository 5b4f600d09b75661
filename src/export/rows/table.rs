//! The facts of a table before its rows are read, and its report afterwards.

use std::borrow::Cow;
use std::collections::HashSet;

use super::key::Candidate;
use super::split::Columns;
use super::uids::Uids;
use super::values::Values;
use crate::context::Ids;
use crate::definitions::{AbsentTarget, Definitions, Storage};
use crate::export::leak;
use crate::export::onto::{Identities, PreviousPackage};
use crate::export::record::Records;
use crate::export::selection::SelectedRecords;
use crate::json::path::push_dotted;
use crate::json::{Object, Value};
use crate::package::model::{
    Action, DataClass, Item, ItemKind, PayloadEntry, Reason, Unresolved, UnresolvedForm,
    UnresolvedKind,
};
use crate::rows::{Cell, elements, file_id};
use crate::workspace::{Column, Feature, Id};

/// A table whose rows travel.
#[derive(Debug)]
pub(in crate::export) struct ExportedTable {
    /// The table at the source.
    pub(in crate::export) feature: Id,
    /// Its label.
    pub(in crate::export) label: String,
    pub(super) reference: String,
    item: String,
    parent: String,
    data_class: DataClass,
    pub(super) columns: Vec<Slot>,
    pub(super) names: Columns,
    /// The rows' uids, in order.
    pub(super) uids: Uids,
    /// What the first reading saw of the rows.
    pub(super) stamp: u64,
    pub(super) key: Option<usize>,
    /// The key column that an earlier package had.
    pub(super) earlier_key: Option<usize>,
    /// Whether an earlier package has the same rows in the same order, as far as that is known here.
    pub(super) unchanged: bool,
}

/// A column.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) name: String,
    /// It is the automatic identity, which never travels.
    pub(super) automatic: bool,
    /// Some row holds a cell.
    pub(super) carried: bool,
    /// Its cells may name files, or rows by their files.
    pub(super) file: bool,
    /// Options that are emptied in its config: they hold an id, or read as a ref.
    lost_options: Vec<String>,
    /// Rows whose cell names a file or holds such an option, neither of which travels.
    pub(super) emptied: u64,
    pub(super) link: Option<Link>,
    pub(super) candidate: Option<Candidate>,
    /// Rows by their cell, when links hold its values.
    pub(super) values: Option<Values>,
}

/// Where the cells of a column point.
#[derive(Debug)]
pub(super) enum Link {
    /// At rows that travel: the table, and its column whose values they hold.
    Rows { table: usize, column: usize },
    /// At rows that do not travel, which is reported.
    Lost {
        reason: Reason,
        label: Option<String>,
        /// Rows with a cell that is not empty.
        count: u64,
    },
}

/// The tables whose rows travel.
pub(in crate::export) fn tables(
    chosen: &SelectedRecords<'_>,
    records: &Records<'_>,
    definitions: &Definitions,
    previous: Option<&PreviousPackage<'_>>,
    identities: &Identities<'_>,
    ids: &mut dyn Ids,
) -> Vec<ExportedTable> {
    let linked = linked(chosen, definitions);
    let mut tables: Vec<ExportedTable> = Vec::new();
    for feature in &chosen.rows {
        let record = records.known.travelling.get(&feature.id);
        let Some(record) = record.and_then(|record| records.list.get(*record)) else {
            continue;
        };
        let slot = |column: &Column| {
            let automatic = column.is_identity() && column.name == "id";
            let link = link(records, chosen, definitions, column);
            // The row that a file names in a link has no name at the destination. A cell that has to be filled stays,
            // or its row would not enter.
            let is_required = column.config.get("required") == Some(&Value::Bool(true));
            let linked = match link {
                Some(Link::Rows { table, column }) if !is_required => {
                    chosen.rows[table].columns.get(column)
                }
                _ => None,
            };
            let shown = || [Some(column), linked].into_iter().flatten();
            Slot {
                name: column.name.clone(),
                automatic,
                carried: false,
                file: shown().any(|column| holds_files(definitions, column)),
                lost_options: shown()
                    .flat_map(|column| lost_options(definitions, column))
                    .collect(),
                emptied: 0,
                link,
                candidate: Candidate::of(definitions, column).filter(|_| !automatic),
                values: None,
            }
        };
        let label = record.args.get("label").and_then(Value::as_str);
        let mut columns: Vec<Slot> = feature.columns.iter().map(slot).collect();
        let entry = previous.and_then(|previous| previous.rows(&record.reference));
        let key = entry.and_then(|entry| entry.key_column.as_deref());
        let known = |slot: &Slot| Some(slot.name.as_str()) == key && !slot.automatic;
        let earlier_key = columns.iter().position(known);
        if let Some(slot) = earlier_key.and_then(|key| columns.get_mut(key)) {
            slot.candidate = Some(Candidate::earlier(slot.candidate.take()));
        }
        tables.push(ExportedTable {
            feature: feature.id,
            label: label.and_then(leak::label).unwrap_or_default(),
            reference: record.reference.clone(),
            item: identities
                .rows_item(&record.reference)
                .unwrap_or_else(|| ids.uid()),
            parent: record.uid.clone(),
            data_class: if linked.contains(&feature.id) {
                DataClass::Reference
            } else {
                DataClass::Transactional
            },
            columns,
            names: Columns::new(feature.columns.iter().map(|column| column.name.clone())),
            uids: Uids::default(),
            stamp: 0,
            key: None,
            earlier_key,
            unchanged: true,
        });
    }
    let links = tables.iter().flat_map(|table| &table.columns);
    let wanted: Vec<(usize, usize)> = links
        .filter_map(|slot| match slot.link {
            Some(Link::Rows { table, column }) => Some((table, column)),
            _ => None,
        })
        .collect();
    for (table, column) in wanted {
        tables[table].columns[column].values.get_or_insert_default();
    }
    tables
}

fn holds_files(definitions: &Definitions, column: &Column) -> bool {
    let declared = definitions.column_types.get(&column.column_type);
    declared.is_some_and(|declared| declared.file)
}

/// The options of a column that do not come through.
fn lost_options(definitions: &Definitions, column: &Column) -> Vec<String> {
    let declared = definitions.column_types.get(&column.column_type);
    let storage = declared.map(|declared| declared.storage);
    if !matches!(storage, Some(Storage::Option | Storage::Options)) {
        return Vec::new();
    }
    let options = column.config.get("options").and_then(Value::as_list);
    let options = options.unwrap_or_default().iter().filter_map(Value::as_str);
    let lost = options.filter(|option| leak::of(option).is_some());
    lost.map(str::to_owned).collect()
}

fn is_link(definitions: &Definitions, column: &Column) -> bool {
    let declared = definitions.column_types.get(&column.column_type);
    declared.is_some_and(|declared| declared.link)
}

/// The table that a link column leads to.
fn target(column: &Column) -> Option<Id> {
    let id = column
        .config
        .get("linkedFeatureId")
        .and_then(Value::as_str)?;
    Id::try_parse(id).ok()
}

/// Tables that a column of another table of the package links to.
fn linked(chosen: &SelectedRecords<'_>, definitions: &Definitions) -> HashSet<Id> {
    let links = chosen.features.iter().flat_map(|table| {
        let links = table
            .columns
            .iter()
            .filter(|column| is_link(definitions, column));
        links
            .filter_map(target)
            .filter(|target| *target != table.id)
    });
    links.collect()
}

fn link(
    records: &Records<'_>,
    chosen: &SelectedRecords<'_>,
    definitions: &Definitions,
    column: &Column,
) -> Option<Link> {
    if !is_link(definitions, column) {
        return None;
    }
    let lost = |reason, table: Option<&Feature>| {
        let label = table.and_then(|table| leak::label(&table.label));
        Some(Link::Lost {
            reason,
            label,
            count: 0,
        })
    };
    let linked = target(column).and_then(|id| records.known.feature(&id.to_string()));
    let Some(linked) = linked else {
        return lost(Reason::TargetGone, None);
    };
    if !records.known.travelling.contains_key(&linked.id) {
        // A dependency decides about the cells when it is decided about itself.
        let declared = definitions.column_types.get(&column.column_type)?;
        let field = declared.config.get("linkedFeatureId");
        let reference = field.and_then(|field| field.reference.as_ref());
        let depends = reference.is_none_or(|one| one.absent_target == AbsentTarget::Dependency);
        return if depends {
            None
        } else {
            lost(Reason::NoRefMinted, Some(linked))
        };
    }
    let table = chosen.rows.iter().position(|one| one.id == linked.id);
    let Some(table) = table else {
        return lost(Reason::TargetWithoutRows, Some(linked));
    };
    let name = column
        .config
        .get("linkedValueColumn")
        .and_then(Value::as_str);
    let position = |name: &str| linked.columns.iter().position(|column| column.name == name);
    match name.and_then(position) {
        Some(column) => Some(Link::Rows { table, column }),
        None => lost(Reason::TargetGone, Some(linked)),
    }
}

impl ExportedTable {
    /// Whether an earlier package has the same rows in the same order, as far as that is known.
    pub(in crate::export) fn unchanged(&self) -> bool {
        self.unchanged
    }

    /// How many rows it has.
    pub(in crate::export) fn count(&self) -> u64 {
        u64::try_from(self.uids.len()).unwrap_or(u64::MAX)
    }

    /// Its rows item.
    pub(in crate::export) fn item(&self) -> Item {
        Item {
            uid: self.item.clone(),
            kind: ItemKind::Rows,
            reference: None,
            label: self.label.clone(),
            parent: Some(self.parent.clone()),
            count: Some(self.count()),
            data_class: Some(self.data_class),
            step_ids: None,
            unknown: Object::new(),
        }
    }

    /// Its payload entry without the rows.
    pub(in crate::export) fn head(&self) -> PayloadEntry {
        let carried = self.columns.iter().filter(|slot| slot.travels());
        let key = self.key.and_then(|key| self.columns.get(key));
        PayloadEntry {
            feature_ref: self.reference.clone(),
            item_uid: self.item.clone(),
            count: self.count(),
            key_column: key.map(|slot| slot.name.clone()),
            key_unique: key.is_some(),
            columns: carried.map(|slot| slot.name.clone()).collect(),
            rows: Vec::new(),
            unknown: Object::new(),
        }
    }

    /// One entry per column whose links lead nowhere, or whose files stay.
    pub(in crate::export) fn unresolved(&self) -> impl Iterator<Item = Unresolved> {
        self.columns.iter().filter_map(|slot| {
            let (reason, action, label, count) = match &slot.link {
                Some(Link::Lost {
                    reason,
                    label,
                    count,
                }) => (*reason, Action::Kept, label.clone(), *count),
                _ => (Reason::NotExportable, Action::Emptied, None, slot.emptied),
            };
            let mut path = "rows[].data".to_owned();
            push_dotted(&mut path, &slot.name);
            (count > 0).then(|| Unresolved {
                uid: self.item.clone(),
                path,
                kind: UnresolvedKind::Rows,
                form: UnresolvedForm::Uuid,
                source_label: label,
                reason,
                action,
                count: Some(count),
                unknown: Object::new(),
            })
        })
    }
}

/// Whether a cell is a list in which a file is named.
fn lists_file(cell: &str) -> bool {
    let list = cell.starts_with('[').then(|| Value::parse(cell));
    let Some(Ok(Value::List(list))) = list else {
        return false;
    };
    list.iter().any(|value| file_id(&value.write()).is_some())
}

impl Slot {
    /// A cell as it travels.
    pub(super) fn travelling<'r>(&self, cell: &'r str) -> Cow<'r, str> {
        self.left_of(cell).unwrap_or(Cow::Borrowed(cell))
    }

    /// What is left of a cell that does not travel as it is.
    pub(super) fn left_of(&self, cell: &str) -> Option<Cow<'static, str>> {
        if self.names_file(cell) {
            return Some(Cow::Borrowed("null"));
        }
        if self.lost_options.is_empty() {
            return None;
        }
        match Cell::new(cell) {
            Cell::String(_) => self.is_lost(cell).then_some(Cow::Borrowed("null")),
            Cell::List(list) => {
                let all = elements(list).count();
                let left: Vec<&str> = elements(list).filter(|one| !self.is_lost(one)).collect();
                (left.len() < all).then(|| Cow::Owned(format!("[{}]", left.join(","))))
            }
            _ => None,
        }
    }

    /// Whether a cell, or an element of it, is an option that does not travel.
    fn is_lost(&self, cell: &str) -> bool {
        let Cell::String(text) = Cell::new(cell) else {
            return false;
        };
        self.lost_options.iter().any(|lost| text.is(lost))
    }

    /// Whether a cell names a file. That of a link may name several rows.
    fn names_file(&self, cell: &str) -> bool {
        self.file && (file_id(cell).is_some() || self.link.is_some() && lists_file(cell))
    }

    /// Whether its cells travel.
    pub(super) fn travels(&self) -> bool {
        self.carried && !self.automatic
    }
}
