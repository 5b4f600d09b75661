//! Which index a statement goes along.

/// Which index a statement is to go along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexChoice {
    /// What the store thinks best.
    Either,
    /// That of the filters.
    Filters,
    /// That of the sort.
    Sort,
    /// None: the rows are known by their ids.
    Ids,
}

impl IndexChoice {
    /// Whether rows are sorted apart from the order of any index.
    pub(super) fn sorts_apart(self) -> bool {
        matches!(self, IndexChoice::Filters | IndexChoice::Ids)
    }
}
