//! A sequence column while rows are written.

/// Where a sequence stands, and which number it gives next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counter {
    /// The position of its column.
    pub(super) slot: usize,
    /// Where the store has it.
    pub(super) stands: u64,
    /// The next number.
    pub(super) next: u64,
    /// No empty cell gets a number below this one: rows of the package hold those.
    pub(super) floor: u64,
}
