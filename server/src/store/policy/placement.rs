//! Where tables lie in a database of several nodes.

/// Where the rows of a table lie in a database of several nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// With the other rows of their organization: this column names it, and leads every key.
    Organization(&'static str),
    /// Spread by this column, which leads every key; apart from the rows of organizations.
    Spread(&'static str),
    /// All of them on every node: what rows of all organizations refer to.
    Everywhere,
    /// On the node that statements are sent to, which keeps what has no organization yet.
    Coordinator,
}

impl Placement {
    /// The column by which rows are assigned to nodes.
    #[must_use]
    pub fn column(self) -> Option<&'static str> {
        match self {
            Placement::Organization(column) | Placement::Spread(column) => Some(column),
            Placement::Everywhere | Placement::Coordinator => None,
        }
    }
}
