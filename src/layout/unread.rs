//! Rows of a folder that are not JSON: what stands for them in its text.
//!
//! A line of rows that cannot be read has its finding (J001). The row is there all the same, so
//! that no rule counts one less, or takes the next one for it.

/// What stands for such a row: a value that is no row, of which nothing more can be known.
pub(super) const UNREAD_ROW: &str = "0";
