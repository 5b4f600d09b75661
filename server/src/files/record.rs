//! The record of a file, as it is stored and as responses have it.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::storage::ObjectKey;
use crate::json_schemas::UtcInstant;
use crate::store::{Row, StoreError};

/// A file of a workspace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "FileRecord")]
pub struct File {
    /// Id of the record.
    pub id: Uuid,
    /// The organization.
    pub organization_id: Uuid,
    /// The workspace.
    pub workspace_id: Uuid,
    /// The name that its uploader gave it.
    pub name: String,
    /// The media type that its uploader gave it.
    pub content_type: String,
    /// Bytes.
    pub size: i64,
    /// SHA-256 of the bytes, in hexadecimal digits.
    pub sha256: String,
    /// When it was uploaded.
    pub created_at: UtcInstant,
    /// Who uploaded it: a user or an API key.
    pub created_by: Uuid,
    /// Where its bytes are.
    #[serde(skip)]
    pub object: Uuid,
}

/// What a file is read from.
macro_rules! columns {
    () => {
        "files.id, files.organization_id, files.workspace_id, files.name, files.content_type, files.size, \
         files.sha256, files.created_at, files.created_by, files.object_id"
    };
}

pub(super) use columns;

impl File {
    /// Where its bytes are.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.organization_id, &self.sha256, self.object)
    }

    /// The digest of its bytes.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = [0; 32];
        for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
            let digits = self.sha256.get(at..at + 2).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).unwrap_or(0);
        }
        digest
    }

    /// Reads a row of those columns.
    pub(super) fn read(row: &Row) -> Result<File, StoreError> {
        Ok(File {
            id: row.get(0)?,
            organization_id: row.get(1)?,
            workspace_id: row.get(2)?,
            name: row.get(3)?,
            content_type: row.get(4)?,
            size: row.get(5)?,
            sha256: hex(&row.get::<Vec<u8>>(6)?),
            created_at: UtcInstant(row.get(7)?),
            created_by: row.get(8)?,
            object: row.get(9)?,
        })
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| {
        [
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ]
    });
    digits.map(char::from).collect()
}
