//! A row that a job takes away and may have to put back.

use serde::{Deserialize, Serialize};

use super::{Id, RowData, StoredRow};

/// A row with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptRow {
    /// The row.
    pub id: Id,
    /// Its cells.
    pub data: RowData,
    /// To whom it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Id>,
    /// When it was created, in microseconds; nothing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// When it was changed last, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<i64>,
}

impl KeptRow {
    /// A row of which no more is known than what it holds.
    pub fn of(row: StoredRow) -> KeptRow {
        KeptRow {
            id: row.id,
            data: row.data,
            created_by: None,
            created_at: None,
            updated_at: None,
        }
    }
}
