//! Links that nobody touched since their row was written, although nobody can tell any more what they held then
//! (`upgrade` 3.4.5, 4.1): people deleted the row that they point at, or gave it another value.
//!
//! The ledger has a sum over all cells of a row as it was written last. Where the cells of which more is known account
//! for the whole difference to what the row holds now, the links are as they were.

use super::columns::Slot;
use crate::apply::{LinkWork, LinkedValue};
use crate::rows::equal;
use crate::workspace::RowData;
use crate::workspace::ledger::{ColumnDigest, RowDigest};

/// So many uncertain cells are tried in all combinations; further ones count as untouched.
const MAX_COMBINED_CELLS: usize = 10;

/// What a cell held when its row was written last.
#[derive(Debug, Clone, Copy)]
pub(super) enum WrittenCell<'c> {
    /// This.
    Known(&'c str),
    /// This, or what it holds now.
    Uncertain(&'c str),
}

impl<'c> WrittenCell<'c> {
    /// A cell of a column by what the base says and what it holds.
    pub(super) fn of(slot: &Slot<'_>, base: &'c str, ours: &'c str) -> WrittenCell<'c> {
        let work = slot.work;
        if slot.rule.identity.is_some() {
            return WrittenCell::Known(ours);
        }
        let shows_rows = is_link(slot) || work.linked_value != LinkedValue::AsPackaged;
        if shows_rows || work.package_name.is_empty() {
            WrittenCell::Uncertain(base)
        } else {
            WrittenCell::Known(base)
        }
    }
}

/// Whether cells of a column are links that the package brings.
pub(super) fn is_link(slot: &Slot<'_>) -> bool {
    matches!(slot.work.link, LinkWork::Refs | LinkWork::Identity { .. })
}

/// The uncertain cells of a row that differ from what they may have held and are untouched all the same, by their places
/// in `cells`: names of columns and what is known of each. None where the sum does not tell.
pub(super) fn untouched(
    written: RowDigest,
    stored: &RowData,
    cells: &[(&str, WrittenCell<'_>)],
) -> Vec<usize> {
    let holds = |column: &str| stored.cell(column).unwrap_or("null");
    let differs = |(column, cell): &(&str, WrittenCell<'_>)| match cell {
        WrittenCell::Known(_) => false,
        WrittenCell::Uncertain(base) => !equal(base, holds(column)),
    };
    // Of a row that people had changed before the ledger spoke of it there is no sum.
    if written == RowDigest::default() || !cells.iter().any(differs) {
        return Vec::new();
    }
    let mut sum = RowDigest::of(stored);
    let mut uncertain: Vec<UncertainCell> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        match cell {
            (column, WrittenCell::Known(base)) => {
                sum = sum.plus(change(column, holds(column), base));
            }
            (column, WrittenCell::Uncertain(base)) if differs(cell) => {
                uncertain.push(UncertainCell {
                    at: Some(at),
                    change: change(column, holds(column), base),
                });
            }
            (_, WrittenCell::Uncertain(_)) => {}
        }
    }
    // Cells of columns that nobody asks about may be people's.
    for (column, ours) in stored.cells() {
        let column = column.decoded();
        if !cells.iter().any(|(known, _)| *known == column) {
            uncertain.push(UncertainCell {
                at: None,
                change: change(&column, ours, "null"),
            });
        }
    }
    let tried = uncertain.len().min(MAX_COMBINED_CELLS);
    let combinations = 1_usize << tried;
    let is_touched = |combination: usize, at: usize| at < tried && (combination >> at) & 1 == 1;
    let then = |combination: &usize| {
        let touched = uncertain.iter().enumerate().take(tried);
        let touched = touched.filter(|(at, _)| is_touched(*combination, *at));
        touched.fold(sum, |sum, (_, cell)| sum.plus(cell.change)) == written
    };
    let Some(combination) = (0..combinations).find(then) else {
        return Vec::new();
    };
    let same = uncertain.iter().enumerate();
    let same = same.filter(|(at, _)| !is_touched(combination, *at));
    same.filter_map(|(_, cell)| cell.at).collect()
}

/// A cell that may hold what it held.
struct UncertainCell {
    /// Its place; none for a column that is not needed.
    at: Option<usize>,
    /// What becomes of the sum where it was the other value.
    change: RowDigest,
}

/// What becomes of a sum where a cell holds another value.
fn change(column: &str, from: &str, to: &str) -> RowDigest {
    let column = ColumnDigest::of(column);
    RowDigest::default().without(column, from).with(column, to)
}

#[cfg(test)]
mod tests {
    use super::WrittenCell::{Known, Uncertain};
    use super::untouched;
    use crate::workspace::RowData;
    use crate::workspace::ledger::RowDigest;

    const WRITTEN: &str = r#"{"name":"a","cat":"7","boss":"b"}"#;

    fn of(now: &str, boss: &str) -> Vec<usize> {
        let digest = RowDigest::of(&RowData::parse(WRITTEN).expect("cells"));
        let now = RowData::parse(now).expect("cells");
        let cells = [
            ("name", Known("\"a\"")),
            ("cat", Uncertain("null")),
            ("boss", Uncertain(boss)),
        ];
        untouched(digest, &now, &cells)
    }

    #[test]
    fn links_are_untouched_where_other_cells_account_for_the_difference() {
        let known = "\"b\"";
        assert_eq!(of(WRITTEN, known), [1]);
        assert_eq!(of(r#"{"name":"x","cat":"7","boss":"b"}"#, known), [1]);
        assert_eq!(
            of(r#"{"cat":"7","boss":"b","own":1,"more":[2]}"#, known),
            [1]
        );
        // People have changed the other link, which is known.
        assert_eq!(of(r#"{"name":"x","cat":"7","boss":"c"}"#, known), [1]);
        // The row of the other link has another value now.
        assert_eq!(of(r#"{"name":"x","cat":"7","boss":"b"}"#, "\"c\""), [1, 2]);
    }

    #[test]
    fn links_that_people_changed_are_not_untouched() {
        let known = "\"b\"";
        assert!(of(r#"{"name":"a","cat":"8","boss":"b"}"#, known).is_empty());
        assert!(of(r#"{"name":"x","boss":"b"}"#, known).is_empty());
        // Of two that are not known either may be the one.
        assert!(of(r#"{"cat":"7","boss":"c"}"#, "null").is_empty());
        let now = RowData::parse(WRITTEN).expect("cells");
        let cells = [("cat", Uncertain("null"))];
        assert!(untouched(RowDigest::default(), &now, &cells).is_empty());
    }

    #[test]
    fn nothing_tells_where_people_had_filled_a_cell_of_their_own_that_holds_something_else_now() {
        let written = RowData::parse(r#"{"cat":"7","own":1}"#).expect("cells");
        let now = RowData::parse(r#"{"cat":"7","own":2}"#).expect("cells");
        let cells = [("cat", Uncertain("null"))];
        assert!(untouched(RowDigest::of(&written), &now, &cells).is_empty());
        // The same without that change.
        assert_eq!(untouched(RowDigest::of(&written), &written, &cells), [0]);
    }
}
