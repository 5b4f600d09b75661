//! The document of a row. Its data is the stored text.

use uuid::Uuid;

use crate::context::rfc3339_to;
use crate::store::{Row, StoreError};

/// A row as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRow {
    /// Of the record.
    pub id: Uuid,
    /// In microseconds.
    pub created_at: i64,
    /// In microseconds.
    pub updated_at: i64,
    /// Its cells: one canonical JSON object.
    pub data: String,
}

impl StoredRow {
    /// Reads `id, created_at, updated_at, {text data}`.
    pub(crate) fn read(row: &Row) -> Result<StoredRow, StoreError> {
        StoredRow::read_from(row, 0)
    }

    /// Reads the same from a column on.
    pub(crate) fn read_from(row: &Row, first: usize) -> Result<StoredRow, StoreError> {
        Ok(StoredRow {
            id: row.get(first)?,
            created_at: row.get(first + 1)?,
            updated_at: row.get(first + 2)?,
            data: row.get(first + 3)?,
        })
    }

    /// What its document begins with.
    pub(super) fn head(&self, feature: Uuid) -> RowHead {
        RowHead {
            id: self.id,
            feature,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// The document.
    pub fn document(&self, feature: Uuid) -> Vec<u8> {
        let mut out = String::with_capacity(self.data.len() + 192);
        write_row(&mut out, self.head(feature), &self.data);
        out.into_bytes()
    }
}

/// What the document of a row begins with.
#[derive(Debug, Clone, Copy)]
pub struct RowHead {
    /// Its id.
    pub id: Uuid,
    /// The table that it is in.
    pub feature: Uuid,
    /// When it was created, in microseconds.
    pub created_at: i64,
    /// When it was changed last, in microseconds.
    pub updated_at: i64,
}

/// Appends the document of a row: its head and its data. Piece by piece: a page has many of them.
pub fn write_row(out: &mut String, head: RowHead, data: &str) {
    out.push_str("{\"id\":\"");
    write_id(out, head.id);
    out.push_str("\",\"feature_id\":\"");
    write_id(out, head.feature);
    out.push_str("\",\"created_at\":\"");
    rfc3339_to(out, head.created_at);
    out.push_str("\",\"updated_at\":\"");
    rfc3339_to(out, head.updated_at);
    out.push_str("\",\"data\":");
    out.push_str(data);
    out.push('}');
}

fn write_id(out: &mut String, id: Uuid) {
    out.push_str(id.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
}
