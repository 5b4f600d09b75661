//! The rows of payloads: streamed, checked cell by cell, linked.
//!
//! The tree of a package leaves `rows` lists unread. Here each is read once, strictly, by a
//! [`reader`] that records cells and allocates nothing per row; [`cells`] checks them; links
//! between tables are recorded as hashes and checked by [`links`] after all entries. Entries are
//! independent until then, so they run on several threads. Rows with findings are read again as a
//! tree ([`reparse`]).
//!
//! In: the facts about the manifest. Out: [`RowsOutcome`], the same for any number of threads; or
//! the first syntax error of the file, possibly inside a list that the tree skipped.

mod cells;
mod context;
mod entry;
mod form;
mod index;
mod layout;
mod links;
mod reader;
mod reparse;
mod repeats;
mod row;
mod row_text;
mod scan_result;
mod secret_scan;

#[cfg(test)]
mod tests;

use self::context::RowsContext;
use self::layout::Layout;
use self::links::Entries;
use self::scan_result::ScanResult;
use super::facts::Facts;
use super::parallel::run_parallel;
use crate::finding::{Finding, Place};
use crate::json::{Doc, Node, SyntaxError, validate};

/// What the rows of a package came to.
#[derive(Debug, Default)]
pub(crate) struct RowsOutcome {
    /// Findings of the rules J002, J005 to J007, J009, I001, I002, R001 to R027 and X003, in no
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

/// Reads and checks all rows of a file.
///
/// # Errors
/// The first syntax error of the whole file, when any list of rows is not JSON.
pub(crate) fn check_rows(
    facts: &Facts<'_>,
    doc: &Doc<'_>,
    threads: usize,
) -> Result<RowsOutcome, SyntaxError> {
    let text = doc.text();
    let context = &RowsContext::new(facts);
    let layouts = layouts(context, doc);
    // Random keys: nobody can write a file whose values collide.
    let state = foldhash::quality::RandomState::default();
    let results = run_parallel(layouts.len(), threads, |index| {
        cells::read(text, &layouts[index], &state)
    });
    let results: Result<Vec<ScanResult>, SyntaxError> = results.into_iter().collect();
    // The tree trusts what it jumps over, so an error in one list can make it misread what
    // follows: only a plain pass knows which error is the first.
    let mut results = results.map_err(|error| validate(text).err().unwrap_or(error))?;
    let linked = {
        let entries = Entries::new(text, context, &state, &layouts, &results);
        run_parallel(layouts.len(), threads, |index| entries.check(index))
    };
    let mut outcome = RowsOutcome::default();
    entry::check(context, &layouts, &results, &mut outcome);
    for (result, linked) in results.iter_mut().zip(linked) {
        outcome.findings.append(&mut result.findings);
        outcome.findings.extend(linked);
        outcome.tenant_places.append(&mut result.tenants);
    }
    Ok(outcome)
}

/// Every entry, and every list of rows that belongs to none, in order of appearance.
fn layouts<'c>(context: &RowsContext<'c>, doc: &'c Doc<'c>) -> Vec<Layout<'c>> {
    let entries = context
        .payloads
        .into_iter()
        .flat_map(Node::elements)
        .filter(|entry| entry.is_object());
    let mut layouts: Vec<Layout<'c>> = entries.map(|entry| Layout::new(context, entry)).collect();
    Layout::connect(&mut layouts, context);
    let known: Vec<Node<'c>> = layouts.iter().filter_map(|layout| layout.rows).collect();
    layouts.extend(
        doc.unread_lists()
            .filter(|list| !known.contains(list))
            .map(Layout::unbound),
    );
    layouts
}
