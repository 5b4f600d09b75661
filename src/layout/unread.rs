//! Rows of a folder that are not JSON: what stands for them in its text.
//!
//! A line of rows that cannot be read has its finding (J001). The row is there all the same, so
//! that no rule counts one less, or takes the next one for it.

use super::Joined;
use super::splice::PieceSource;

/// What stands for such a row: a value that is no row, of which nothing more can be known.
pub(super) const UNREAD_ROW: &str = "0";

impl Joined {
    /// Whether what begins at that byte of the text stands for a row that is not JSON.
    pub fn is_unread_row(&self, at: usize) -> bool {
        self.part(at).is_some_and(|part| {
            let made = matches!(part.from, PieceSource::Made(_));
            made && part.at == at && self.text[at..self.end_of(part)] == *UNREAD_ROW
        })
    }
}
