//! Channels: named targets of an organization for the notifications of automations.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::connections::no_organization;
use super::names::name_fault;
use crate::json_schemas::UtcInstant;
use crate::paging::PageRequest;
use crate::refusal::Refusal;
use crate::store::{Row, Scope, Store, StoreError, Tx};

/// Where automations post notifications.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Channel {
    /// Id of the record.
    pub id: Uuid,
    /// The organization.
    pub organization_id: Uuid,
    /// Name for people; several channels may have the same.
    pub name: String,
    /// When it was created.
    pub created_at: UtcInstant,
}

impl Channel {
    fn read(row: &Row) -> Result<Channel, StoreError> {
        Ok(Channel {
            id: row.get(0)?,
            organization_id: row.get(1)?,
            name: row.get(2)?,
            created_at: UtcInstant(row.get(3)?),
        })
    }
}

/// A channel that is to be.
#[derive(Debug)]
pub struct NewChannel {
    /// Of the record.
    pub id: Uuid,
    /// Whose it is.
    pub organization: Uuid,
    /// For people.
    pub name: String,
    /// The time.
    pub now: i64,
}

/// Creates a channel as the administrator at the machine.
///
/// # Errors
/// A name that is none, an organization that is not there.
pub async fn create_channel(store: &Store, new: NewChannel) -> Result<Channel, Refusal> {
    if let Some(why) = name_fault(&new.name) {
        return Err(Refusal::fault("name", why));
    }
    store
        .write(&Scope::Operator, new, |tx, new| Box::pin(insert(tx, new)))
        .await
}

/// Adds a channel.
///
/// # Errors
/// An organization that is not there.
pub async fn insert(tx: &mut Tx, new: &NewChannel) -> Result<Channel, Refusal> {
    let sql = "INSERT INTO main.channels {into $1} (organization_id, id, name, created_at) \
         VALUES ($1, $2, $3, $4)";
    let parameters = [
        new.organization.into(),
        new.id.into(),
        new.name.as_str().into(),
        new.now.into(),
    ];
    match tx.query(sql, &parameters).await {
        Ok(_) => Ok(Channel {
            id: new.id,
            organization_id: new.organization,
            name: new.name.clone(),
            created_at: UtcInstant(new.now),
        }),
        Err(StoreError::Reference) => Err(no_organization()),
        Err(error) => Err(error.into()),
    }
}

/// A page of an organization's channels, and one more if another page follows.
///
/// # Errors
/// Those of the store.
pub async fn page(
    tx: &mut Tx,
    organization: Uuid,
    page: &PageRequest,
) -> Result<Vec<Channel>, StoreError> {
    let sql = "SELECT id, organization_id, name, created_at FROM channels \
         WHERE {tenant organization_id} AND organization_id = $1 AND id > $2 \
         ORDER BY id LIMIT $3";
    let parameters = [
        organization.into(),
        page.from().into(),
        page.lookahead().into(),
    ];
    let rows = tx.last(sql, &parameters).await?;
    rows.iter().map(Channel::read).collect()
}

/// The channel of that id, as far as the scope sees it.
///
/// # Errors
/// Those of the store.
pub async fn by_id(tx: &mut Tx, id: Uuid) -> Result<Option<Channel>, StoreError> {
    let sql = "SELECT id, organization_id, name, created_at FROM channels \
         WHERE {tenant organization_id} AND id = $1";
    let row = tx.first(sql, &[id.into()]).await?;
    row.as_ref().map(Channel::read).transpose()
}

/// Gives a channel another name.
///
/// # Errors
/// 404 when it has gone meanwhile.
pub async fn rename(tx: &mut Tx, channel: &Channel, name: &str) -> Result<Channel, Refusal> {
    let sql = "UPDATE main.channels SET name = $3 WHERE {tenant organization_id} \
         AND organization_id = $1 AND id = $2 RETURNING id, organization_id, name, created_at";
    let parameters = [
        channel.organization_id.into(),
        channel.id.into(),
        name.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    Ok(Channel::read(&row.ok_or_else(Refusal::not_found)?)?)
}

/// Removes a channel, whatever names it.
///
/// # Errors
/// 404 when it has gone meanwhile.
pub async fn remove(tx: &mut Tx, channel: &Channel) -> Result<(), Refusal> {
    let sql = "DELETE FROM main.channels WHERE {tenant organization_id} \
         AND organization_id = $1 AND id = $2 RETURNING id";
    let of = [channel.organization_id.into(), channel.id.into()];
    let removed = tx.first(sql, &of).await?;
    removed.map(drop).ok_or_else(Refusal::not_found)
}
