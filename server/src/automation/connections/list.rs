//! Connections as members see them: name and kind, never the address.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::ConnectionKind;
use crate::json_schemas::UtcInstant;
use crate::paging::PageRequest;
use crate::store::{Row, StoreError, Tx};

/// A server that automations may call, without its address and secret.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Connection")]
pub struct ConnectionRecord {
    /// Id of the record.
    pub id: Uuid,
    /// The organization.
    pub organization_id: Uuid,
    /// Name by which automations call it.
    pub name: String,
    /// What it leads to.
    pub kind: ConnectionKind,
    /// When it was created.
    pub created_at: UtcInstant,
}

impl ConnectionRecord {
    /// Reads a row of id, organization, name, kind and time.
    pub(super) fn read(row: &Row) -> Result<ConnectionRecord, StoreError> {
        let kind: String = row.get(3)?;
        let kind = ConnectionKind::parse(&kind)
            .ok_or_else(|| StoreError::Internal(format!("{kind} is not a kind of connection")))?;
        Ok(ConnectionRecord {
            id: row.get(0)?,
            organization_id: row.get(1)?,
            name: row.get(2)?,
            kind,
            created_at: UtcInstant(row.get(4)?),
        })
    }
}

/// A page of an organization's connections, of one kind or of all, and one more if another page follows.
///
/// # Errors
/// Those of the store.
pub async fn page(
    tx: &mut Tx,
    organization: Uuid,
    kind: Option<&str>,
    page: &PageRequest,
) -> Result<Vec<ConnectionRecord>, StoreError> {
    macro_rules! list {
        ($which:literal) => {
            concat!(
                "SELECT id, organization_id, name, kind, created_at FROM connections \
                 WHERE {tenant organization_id} AND organization_id = $1 AND id > $2 ",
                $which,
                " ORDER BY id LIMIT $3"
            )
        };
    }
    let mut parameters = vec![
        organization.into(),
        page.from().into(),
        page.lookahead().into(),
    ];
    parameters.extend(kind.map(Into::into));
    let sql = match kind {
        None => list!(""),
        Some(_) => list!("AND kind = $4"),
    };
    let rows = tx.last(sql, &parameters).await?;
    rows.iter().map(ConnectionRecord::read).collect()
}

/// The connection of that id, as far as the scope sees it.
///
/// # Errors
/// Those of the store.
pub async fn by_id(tx: &mut Tx, id: Uuid) -> Result<Option<ConnectionRecord>, StoreError> {
    let sql = "SELECT id, organization_id, name, kind, created_at FROM connections \
         WHERE {tenant organization_id} AND id = $1";
    let row = tx.first(sql, &[id.into()]).await?;
    row.as_ref().map(ConnectionRecord::read).transpose()
}
