//! Where tables lie in a database of several nodes.

/// Where the rows of a table lie in a database of several nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// With the other rows of their organization: this column names it, and leads every key.
    Organization(&'static str),
    /// On the node that statements are sent to, unknown to Citus and as quick as without it: what finds out who asks,
    /// and what is of no organization.
    Coordinator,
    /// There, and known to Citus: a transaction that writes it and an organization is committed on both nodes or on
    /// neither.
    CoordinatorJointly,
}

impl Placement {
    /// The column by which rows are assigned to nodes.
    #[must_use]
    pub fn column(self) -> Option<&'static str> {
        match self {
            Placement::Organization(column) => Some(column),
            Placement::Coordinator | Placement::CoordinatorJointly => None,
        }
    }

    /// Whether its rows lie on the node that statements are sent to.
    #[must_use]
    pub fn is_coordinator(self) -> bool {
        self.column().is_none()
    }
}
