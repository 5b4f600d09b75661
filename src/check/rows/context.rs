//! The declarations about rows in the manifest.

use std::borrow::Cow;

use crate::check::facts::{Facts, Item, PackageTable, Version};
use crate::json::Node;
use crate::maps::{HashMap, HashSet};
use crate::package::format::EXPORT_REASONS;
use crate::package::reference::undollared;

/// The part of the facts that rows are held against.
#[derive(Debug)]
pub(super) struct RowsContext<'c> {
    /// The `payloads` of the envelope, when it is a list: only then can an entry be missing.
    pub(super) payloads: Option<Node<'c>>,
    /// The rows items in order.
    pub(super) items: Vec<RowsItem<'c>>,
    /// Indices of the items by uid, of those that have one.
    by_uid: HashMap<&'c str, usize>,
    /// Indices of the rows items that no entry names.
    unnamed: Vec<usize>,
    /// Tables of the plan and of dependencies, columns in table order with effective config.
    pub(super) tables: &'c [PackageTable<'c>],
    /// Indices of the tables by ref.
    by_reference: HashMap<&'c str, usize>,
    /// Technical names of their columns by ref.
    column_names: HashMap<&'c str, &'c str>,
    /// What `unresolved` excuses; `None` when the package has no such layer, which excuses
    /// everything.
    reported: Option<ReportedPaths<'c>>,
    /// How the manifest is read.
    pub(super) version: Version,
    /// Whether the items can be read, so that an unknown uid is known to be wrong.
    pub(super) items_known: bool,
}

/// A rows item of the manifest.
#[derive(Debug)]
pub(super) struct RowsItem<'c> {
    /// The item.
    pub(super) node: Node<'c>,
    /// Its uid, `""` when it has none.
    pub(super) uid: &'c str,
    /// The table that it brings rows for.
    pub(super) table: TableOf<'c>,
}

/// The table of a rows item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableOf<'c> {
    /// The ref (without dollar) of the item that `parent` names.
    Known(&'c str),
    /// The item has no `parent`: the entry names a dependency.
    NoParent,
    /// `parent` leads nowhere or to no table; other rules say so.
    Broken,
}

impl<'c> TableOf<'c> {
    /// The ref, when it is known.
    pub(super) fn reference(self) -> Option<&'c str> {
        match self {
            TableOf::Known(table) => Some(table),
            _ => None,
        }
    }
}

/// The path of all cells of all columns.
const EVERY_COLUMN: &str = "rows[]";

/// Paths that `unresolved` excuses.
#[derive(Debug, Default)]
struct ReportedPaths<'c> {
    /// Those of entries about a rows item, by its uid.
    by_uid: HashMap<&'c str, Vec<Cow<'c, str>>>,
    /// Those of entries that do not say whom they are about: they may be about any rows item.
    anybodys: Vec<Cow<'c, str>>,
}

impl<'c> RowsContext<'c> {
    /// Reads it from the facts.
    pub(super) fn new(facts: &'c Facts<'c>) -> RowsContext<'c> {
        let items = facts.items.iter().filter(|item| item.is_rows());
        let items = items.map(|item| rows_item(facts, item));
        let items: Vec<RowsItem<'c>> = items.chain(version_1_items(facts)).collect();
        let payloads = facts.payloads().filter(|payloads| payloads.is_array());
        let tables = facts.tables.iter().flat_map(|table| &table.columns);
        let columns = tables.filter_map(|column| Some((column.reference?, column.name)));
        let uids = items.iter().map(|item| item.uid).enumerate();
        RowsContext {
            payloads,
            unnamed: unnamed(&items, payloads),
            by_uid: first_of(
                uids.filter(|(_, uid)| !uid.is_empty())
                    .map(|(at, uid)| (uid, at)),
            ),
            by_reference: first_of(facts.tables.iter().map(|table| table.reference).zip(0..)),
            column_names: first_of(columns),
            items,
            tables: &facts.tables,
            reported: facts.layer("unresolved").is_some().then(|| reported(facts)),
            version: facts.version,
            items_known: facts.uids_are_known(),
        }
    }

    /// The rows item that an entry is meant for: the one that it names, or, where the entry's
    /// `itemUid` or the item's uid cannot be read, the one of its table that no entry names.
    pub(super) fn item_of(&self, entry: Node<'_>) -> Option<usize> {
        self.named_by(entry).or_else(|| {
            let uid = entry.get_str("itemUid");
            let table = undollared(entry.get_str("featureRef")?);
            let fits = |item: &RowsItem<'_>| {
                (uid.is_none() || item.uid.is_empty())
                    && match item.table {
                        TableOf::Known(known) => known == table,
                        TableOf::NoParent => true,
                        TableOf::Broken => false,
                    }
            };
            let mut unnamed = self.unnamed.iter().copied();
            unnamed.find(|index| fits(&self.items[*index]))
        })
    }

    /// The rows item whose uid an entry has.
    pub(super) fn named_by(&self, entry: Node<'_>) -> Option<usize> {
        self.by_uid.get(entry.get_str("itemUid")?).copied()
    }

    /// The rows item of a table.
    pub(super) fn item_of_table(&self, reference: &str) -> Option<usize> {
        self.items
            .iter()
            .position(|item| item.table.reference() == Some(reference))
    }

    /// The table of that ref (without dollar).
    pub(super) fn table(&self, reference: &str) -> Option<&'c PackageTable<'c>> {
        self.table_index(reference).map(|index| &self.tables[index])
    }

    /// The index of that table.
    pub(super) fn table_index(&self, reference: &str) -> Option<usize> {
        self.by_reference.get(reference).copied()
    }

    /// The technical name of the column of that ref (without dollar).
    pub(super) fn column_name(&self, reference: &str) -> Option<&'c str> {
        self.column_names.get(reference).copied()
    }

    /// Whether `unresolved` says that links of that column lead to a table without rows.
    pub(super) fn is_reported(&self, item: Option<usize>, column: &str) -> bool {
        let Some(reported) = &self.reported else {
            return true;
        };
        // An entry of no item (R024) has nowhere to report anything.
        let Some(item) = item else { return true };
        let own = reported.by_uid.get(self.items[item].uid);
        let mut paths = own.into_iter().flatten().chain(&reported.anybodys);
        let mut path = "rows[].data".to_owned();
        crate::json::path::push_dotted(&mut path, column);
        paths.any(|known| **known == *path || **known == *EVERY_COLUMN)
    }
}

/// A map in which the first value of each key stays.
fn first_of<'c, V>(pairs: impl Iterator<Item = (&'c str, V)>) -> HashMap<&'c str, V> {
    let mut map = HashMap::default();
    for (key, value) in pairs {
        map.entry(key).or_insert(value);
    }
    map
}

/// Indices of the items whose uid no entry has.
fn unnamed(items: &[RowsItem<'_>], payloads: Option<Node<'_>>) -> Vec<usize> {
    let entries = payloads.into_iter().flat_map(Node::elements);
    let named: HashSet<&str> = entries
        .filter_map(|entry| entry.get_str("itemUid"))
        .collect();
    let unnamed = |item: &RowsItem<'_>| item.uid.is_empty() || !named.contains(item.uid);
    let items = items.iter().enumerate();
    items
        .filter(|(_, item)| unnamed(item))
        .map(|(index, _)| index)
        .collect()
}

fn rows_item<'c>(facts: &'c Facts<'c>, item: &Item<'c>) -> RowsItem<'c> {
    let parent = item.parent.and_then(|uid| facts.item(uid));
    let table = parent
        .filter(|parent| parent.kind == Some("feature"))
        .and_then(|parent| parent.reference);
    let table = match table {
        Some(table) => TableOf::Known(table),
        None if item.node.get("parent").is_none() => TableOf::NoParent,
        None => TableOf::Broken,
    };
    RowsItem {
        node: item.node,
        uid: item.uid,
        table,
    }
}

/// Version 1 knows no items (J007); a promotion counts what is there all the same.
fn version_1_items<'c>(facts: &'c Facts<'c>) -> impl Iterator<Item = RowsItem<'c>> {
    let list = facts.manifest.get("items");
    let list = list.filter(|_| facts.version == Version::One);
    let items = list.into_iter().flat_map(Node::elements);
    items
        .filter(|item| item.get_str("kind") == Some("rows"))
        .map(|node| RowsItem {
            node,
            uid: node.get_str("uid").unwrap_or_default(),
            table: TableOf::Broken,
        })
}

/// Entries with the reason `tabela_alvo_sem_linhas`, and `rows[]` with any: it covers every column.
fn reported<'c>(facts: &'c Facts<'c>) -> ReportedPaths<'c> {
    let mut reported = ReportedPaths::default();
    for entry in &facts.unresolved {
        let Some(path) = entry.path.map(of_every_row) else {
            continue;
        };
        // A misspelt reason (U001, U003) surely means the one that belongs here.
        let reason = entry.node.get_str("reason");
        let known = reason.is_some_and(|reason| EXPORT_REASONS.contains(&reason));
        let every_column = *path == *EVERY_COLUMN;
        if known && !every_column && reason != Some("tabela_alvo_sem_linhas") {
            continue;
        }
        match entry.uid {
            Some(uid) if !facts.is_about_nobody(entry) => {
                reported.by_uid.entry(uid).or_default().push(path);
            }
            _ => reported.anybodys.push(path),
        }
    }
    reported
}

/// A path into rows without the index of a single one (U006): `rows[3].data.c` is `rows[].data.c`.
fn of_every_row(path: &str) -> Cow<'_, str> {
    match path.strip_prefix("rows[").map(|rest| rest.split_once(']')) {
        None | Some(Some(("", _))) => Cow::Borrowed(path),
        Some(Some((_, rest))) => Cow::Owned(format!("{EVERY_COLUMN}{rest}")),
        Some(None) => Cow::Borrowed(EVERY_COLUMN),
    }
}
