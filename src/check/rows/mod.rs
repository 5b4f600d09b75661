//! The rows of payloads: streamed, judged cell by cell, linked.
//!
//! The tree of a package leaves `rows` lists unread. Here each is read once, strictly, by a
//! [`reader`] that notes cells and allocates nothing per row; [`cells`] judges them; what only
//! the whole file can tell (links between tables) is noted as hashes and settled by [`links`]
//! when every entry has been read. Entries are independent until then, so they are spread over
//! threads. Rows that need words rather than a yes are read again as a tree ([`look`]).
//!
//! Goes in: [`RowsContext`], filled from the manifest. Comes out: [`RowsOutcome`], the same
//! whatever the number of threads; or the first syntax error of the file, which may well stand
//! inside a list that the tree jumped over.

mod cells;
mod entry;
mod harvest;
mod index;
mod layout;
mod links;
mod look;
mod reader;
mod repeats;
mod spread;
mod watch;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use self::harvest::Harvest;
use self::layout::Layout;
use self::links::Entries;
use super::facts::Table;
use super::finding::{Finding, Place};
use crate::json::{Doc, Kind, Node, SyntaxError, first_error};

/// What the manifest says about rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsContext<'c> {
    /// The file, parsed with its rows unread.
    pub(crate) doc: &'c Doc<'c>,
    /// The `payloads` of the envelope, when it is a list; `None` in a bare manifest.
    pub(crate) payloads: Option<Node<'c>>,
    /// Whether the file is an envelope with a `payloads` member, of whatever type: only then can
    /// an entry be missing.
    pub(crate) has_payloads: bool,
    /// The rows items in order; none in version 1.
    pub(crate) items: &'c [RowsItem<'c>],
    /// Tables of the plan and of dependencies, columns in table order with effective config.
    pub(crate) tables: &'c [Table<'c>],
    /// What `unresolved` says about links to tables without rows; `None` when the package has no
    /// such layer (version 1, layer missing), which excuses everything.
    pub(crate) reported: Option<&'c Reported<'c>>,
    /// How the manifest is read: 1 or 2.
    pub(crate) version: u8,
    /// How many threads may work.
    pub(crate) threads: usize,
}

/// A rows item of the manifest.
#[derive(Debug)]
pub(crate) struct RowsItem<'c> {
    /// The item.
    pub(crate) node: Node<'c>,
    /// Its uid, `""` when it has none.
    pub(crate) uid: &'c str,
    /// The table that it brings rows for.
    pub(crate) table: TableOf<'c>,
}

/// The table of a rows item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableOf<'c> {
    /// The ref (without dollar) of the item that `parent` names.
    Known(&'c str),
    /// The item has no `parent`: the entry names a dependency.
    NoParent,
    /// `parent` leads nowhere or to no table; other rules say so.
    Broken,
}

impl<'c> TableOf<'c> {
    fn known(self) -> Option<&'c str> {
        match self {
            TableOf::Known(table) => Some(table),
            _ => None,
        }
    }
}

/// Paths of `unresolved` entries that excuse links, by the uid of the rows item: those with the
/// reason `tabela_alvo_sem_linhas` (`rows[].data.<column>`), and `rows[]` with any reason.
pub(crate) type Reported<'c> = HashMap<&'c str, Vec<&'c str>>;

/// What the rows of a package came to.
#[derive(Debug, Default)]
pub(crate) struct RowsOutcome {
    /// Findings of the rules J002, J005 to J007, J009, I001, I002, R001 to R026 and X003, in no
    /// particular order but always the same.
    pub(crate) findings: Vec<Finding>,
    /// Where rows hold a tenant identifier: X004, or P002 in a promotion.
    pub(crate) tenant_places: Vec<(Place, String)>,
    /// Rows items without an entry: P003.
    pub(crate) without_payload: Vec<(Place, String)>,
    /// Rows items that do not count the rows of their entry: P004.
    pub(crate) count_mismatches: Vec<(Place, String)>,
    /// Entries of no rows item: P005.
    pub(crate) orphans: Vec<(Place, String)>,
}

/// Reads and judges all rows of a file.
///
/// # Errors
/// The first syntax error of the whole file, when any list of rows is not JSON.
pub(crate) fn check_rows(context: &RowsContext<'_>) -> Result<RowsOutcome, SyntaxError> {
    let text = context.doc.text();
    let layouts = layouts(context);
    // Random keys: nobody can write a file whose values collide.
    let state = foldhash::quality::RandomState::default();
    let harvests = spread::spread(layouts.len(), context.threads, |index| {
        cells::read(text, &layouts[index], &state)
    });
    let harvests: Result<Vec<Harvest>, SyntaxError> = harvests.into_iter().collect();
    // The tree trusts what it jumps over, so an error in one list can make it misread what
    // follows: only a plain pass knows which error is the first.
    let mut harvests = harvests.map_err(|error| first_error(text).unwrap_or(error))?;
    let linked = {
        let entries = Entries::new(text, context, &state, &layouts, &harvests);
        spread::spread(layouts.len(), context.threads, |index| entries.judge(index))
    };
    let mut outcome = RowsOutcome::default();
    entry::judge(context, &layouts, &harvests, &mut outcome);
    for (harvest, linked) in harvests.iter_mut().zip(linked) {
        outcome.findings.append(&mut harvest.findings);
        outcome.findings.extend(linked);
        outcome.tenant_places.append(&mut harvest.tenants);
    }
    Ok(outcome)
}

/// Every entry, and every list of rows that belongs to none, in order of appearance.
fn layouts<'c>(context: &RowsContext<'c>) -> Vec<Layout<'c>> {
    let entries = context.payloads.into_iter().flat_map(Node::elements).filter(|entry| entry.is_object());
    let mut layouts: Vec<Layout<'c>> = entries.map(|entry| Layout::new(context, entry)).collect();
    Layout::connect(&mut layouts, context);
    let known: Vec<Node<'c>> = layouts.iter().filter_map(|layout| layout.rows).collect();
    let lists = context.doc.all_nodes().filter(|node| matches!(node.kind(), Kind::Rows));
    layouts.extend(lists.filter(|list| !known.contains(list)).map(Layout::stray));
    layouts
}

impl<'c> RowsContext<'c> {
    /// The rows item that an entry names.
    fn item_of(&self, entry: Node<'_>) -> Option<&'c RowsItem<'c>> {
        let uid = entry.get_str("itemUid").filter(|uid| !uid.is_empty())?;
        self.items.iter().find(|item| item.uid == uid)
    }

    /// Whether `unresolved` says that links of that column lead to a table without rows.
    fn is_reported(&self, item: Option<&RowsItem<'_>>, column: &str) -> bool {
        let Some(reported) = self.reported else { return true };
        let Some(paths) = item.and_then(|item| reported.get(item.uid)) else { return false };
        let mut path = "rows[].data".to_owned();
        crate::json::path::push_dotted(&mut path, column);
        paths.iter().any(|known| *known == path || *known == "rows[]")
    }
}
