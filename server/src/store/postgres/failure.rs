//! What can go wrong with a statement.

use tokio_postgres::error::SqlState;

use super::wire::WireError;
use crate::store::StoreError;

/// Why a statement has no result.
pub(super) enum Failure {
    /// Nothing came back, and the host does not respond.
    Silence,
    /// Nothing came back for longer than a statement may take, and the host responds.
    Overdue,
    /// The share of the transaction has no place.
    NoPlace,
    Pool(StoreError),
    Statement(tokio_postgres::Error),
    /// Of a read that took one message each way.
    Wire(WireError),
}

impl Failure {
    /// Whether the transaction takes no writes, by itself or because the database takes none.
    pub(super) fn refuses_writes(&self) -> bool {
        let refused = SqlState::READ_ONLY_SQL_TRANSACTION;
        match self {
            Failure::Statement(error) => error.code() == Some(&refused),
            Failure::Wire(WireError::Database(error)) => error.code == refused.code(),
            _ => false,
        }
    }
}

impl From<WireError> for Failure {
    fn from(error: WireError) -> Failure {
        Failure::Wire(error)
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        Failure::Statement(error)
    }
}
