//! Channels: named places in an organization where automations tell people something.

use serde::Serialize;
use uuid::Uuid;

use super::connections::no_organization;
use crate::context::rfc3339;
use crate::http::problem::{Code, Problem};
use crate::store::{Scope, Store, StoreError, Tx};

/// A channel.
#[derive(Debug, Clone, Serialize)]
pub struct Channel {
    /// Of the record.
    pub id: Uuid,
    /// Whose it is.
    pub organization_id: Uuid,
    /// Technical name.
    pub name: String,
    /// When it was created.
    pub created_at: String,
}

/// A channel that is to be.
#[derive(Debug)]
pub struct NewChannel {
    /// Of the record.
    pub id: Uuid,
    /// Whose it is.
    pub organization: Uuid,
    /// Technical name.
    pub name: String,
    /// The time.
    pub now: i64,
}

/// Creates a channel.
///
/// # Errors
/// A name that is none or is taken, an organization that is not there.
pub async fn create_channel(store: &Store, new: NewChannel) -> Result<Channel, Problem> {
    if let Some(why) = tplkit::package::name::fault(&new.name) {
        return Err(Problem::fault("--name", why.to_string()));
    }
    store
        .write(&Scope::Operator, new, |tx, new| Box::pin(insert(tx, new)))
        .await
}

async fn insert(tx: &mut Tx, new: &NewChannel) -> Result<Channel, Problem> {
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
            created_at: rfc3339(new.now),
        }),
        Err(StoreError::Reference) => Err(no_organization()),
        Err(StoreError::Unique { .. }) => Err(Problem::new(
            Code::Conflict,
            format!("The organization has a channel {} already.", new.name),
        )),
        Err(error) => Err(error.into()),
    }
}
