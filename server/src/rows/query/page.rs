//! Fills a page: as many rows as requested, or fewer when they are large.
//!
//! Rows are read in parts, each within the store's bound, and released once written. So a page
//! needs memory for its own text and one part only.

use tplkit::rows::query::Sort;

use super::CursorPosition;
use super::composer::SIZES;
use super::cursor::SortKey;
use super::fields::project;
use super::list_request::RowListRequest;
use crate::refusal::Refusal;
use crate::rows::{StoredRow, Table, write_row};
use crate::store::{BOUND, Row};

/// How large a row is of which a page may have too many.
const LARGE_ROW_BYTES: usize = BOUND / 201;
/// What is around the data of a row, with the comma between two.
const ROW_FRAME_BYTES: usize = 192;

/// A page that is being filled.
pub(super) struct Page<'l> {
    listing: &'l RowListRequest,
    /// Where the documents of the rows go.
    out: &'l mut String,
    /// Where they begin there.
    start: usize,
    count: usize,
    last: Option<StoredRow>,
    /// Whether it is known that another page follows.
    more: bool,
    /// Whether it is known that none does.
    ended: bool,
    /// The largest row of the last part.
    largest: usize,
    /// How many rows the next part may have.
    part: usize,
    data: String,
}

impl<'l> Page<'l> {
    /// An empty one. `expected` is how large the rows were when this table was read last.
    pub(super) fn new(
        listing: &'l RowListRequest,
        out: &'l mut String,
        expected: usize,
    ) -> Page<'l> {
        Page {
            listing,
            start: out.len(),
            out,
            count: 0,
            last: None,
            more: false,
            ended: false,
            largest: 0,
            part: part(expected),
            data: String::new(),
        }
    }

    /// Whether no further part is needed.
    pub(super) fn is_done(&self) -> bool {
        self.more || self.ended
    }

    /// How many rows to ask for: those that may still come, and one more, which says whether another page
    /// follows.
    pub(super) fn lookahead(&self) -> i64 {
        let most = usize::try_from(self.listing.page.lookahead()).unwrap_or(0);
        let left = most.saturating_sub(self.count);
        i64::try_from(left.min(self.part)).unwrap_or(1)
    }

    /// Behind which row of the table the next part begins, if this page has one already.
    pub(super) fn behind(&self, table: &Table) -> Option<CursorPosition> {
        let last = self.last.as_ref()?;
        Some(CursorPosition::of_row(&self.listing.sort, table, last))
    }

    /// Takes what was found when so many rows were asked for.
    pub(super) fn take(&mut self, rows: Vec<Row>, limit: i64) -> Result<(), Refusal> {
        let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let bytes: usize = rows.iter().map(Row::bytes).sum();
        if self.count == 0 && self.listing.fields.is_none() {
            self.out
                .reserve(bytes.min(BOUND) + rows.len() * ROW_FRAME_BYTES);
        }
        self.largest = 0;
        for row in rows {
            self.largest = self.largest.max(row.bytes());
            // The row that another page begins with is as good as unread.
            if !self.more {
                self.add(StoredRow::read_from(&row, 1)?);
            }
        }
        // A part that reached its bound may have left rows unread.
        self.ended = !self.more && found < limit && bytes <= BOUND;
        self.part = part(self.largest);
        Ok(())
    }

    fn add(&mut self, row: StoredRow) {
        let limit = usize::try_from(self.listing.page.limit).unwrap_or(0);
        if self.count >= limit {
            self.more = true;
            return;
        }
        let shown = match &self.listing.fields {
            None => &row.data,
            Some(keys) => {
                self.data.clear();
                project(&mut self.data, &row.data, keys);
                &self.data
            }
        };
        let size = self.out.len() - self.start + shown.len() + ROW_FRAME_BYTES;
        if self.count > 0 && size > BOUND {
            self.more = true;
            return;
        }
        if self.count > 0 {
            self.out.push(',');
        }
        let head = row.head(self.listing.filter.feature);
        write_row(self.out, head, shown);
        self.count += 1;
        self.last = Some(row);
    }

    /// The size of its rows, for later readers of the table; nothing when none is large.
    pub(super) fn expect(&self) -> Option<usize> {
        large(self.largest)
    }

    /// The cursor of the page behind, if one follows.
    pub(super) fn next_cursor(self, table: &Table) -> Option<String> {
        let row = self.last.filter(|_| self.more)?;
        let place = CursorPosition::of(&self.listing.sort, table, &row);
        Some(self.listing.page.cursor(row.id, &place.bytes()))
    }
}

/// The size of a row, where a page may have too many of such rows.
pub(super) fn large(size: usize) -> Option<usize> {
    (size > LARGE_ROW_BYTES).then_some(size)
}

/// How many rows of that size stay below the bound. A number that statements have as a limit: the store
/// looks for no more than it is asked for.
fn part(size: usize) -> usize {
    let fit = i64::try_from(BOUND / size.max(1)).unwrap_or(i64::MAX);
    let part = SIZES.iter().rfind(|size| **size <= fit + 1);
    let part = *part.unwrap_or(&SIZES[0]);
    usize::try_from(part).unwrap_or(1)
}

impl CursorPosition {
    /// The place of a row that is at hand: with its text, however long.
    fn of_row(sort: &Sort, table: &Table, row: &StoredRow) -> CursorPosition {
        let place = CursorPosition::of(sort, table, row);
        match (&place.at, sort.column.key()) {
            (SortKey::Long(_), Some(key)) => CursorPosition {
                id: row.id,
                at: SortKey::of_cell(&row.data, key),
                order: place.order,
            },
            _ => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGE_ROW_BYTES, part};
    use crate::store::BOUND;

    #[test]
    fn parts_are_as_large_as_rows_allow() {
        for (size, rows) in [
            (0, 201),
            (1000, 201),
            (LARGE_ROW_BYTES, 201),
            (2 * LARGE_ROW_BYTES, 101),
            (BOUND / 5, 6),
            (BOUND / 2, 2),
            (BOUND, 2),
            (10 * BOUND, 2),
        ] {
            assert_eq!(part(size), rows, "{size}");
        }
    }
}
