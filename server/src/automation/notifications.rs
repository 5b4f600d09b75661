//! Lists the notifications of a caller, newest first, and takes all of them out of a store.
//!
//! Only the addressee reads a notification to a person; every member reads those to a channel or to
//! the organization.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::json_schemas::UtcInstant;
use crate::paging::{BoundedRecords, PageRequest};
use crate::store::{Row, StoreError, Tx, bounded_records};

/// A message that an automation sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Notification {
    /// Id of the record.
    pub id: Uuid,
    /// The organization.
    organization_id: Uuid,
    /// Whom it was sent to.
    #[schemars(extend("enum" = ["channel", "user", "organization"]))]
    scope_type: String,
    /// The channel or person it was sent to.
    scope_id: Option<Uuid>,
    /// One line.
    title: String,
    /// Text of the message.
    body: String,
    /// The run that sent it.
    run_id: Uuid,
    /// The step that sent it.
    step_id: String,
    /// When it was created.
    created_at: UtcInstant,
}

impl Notification {
    fn read(row: &Row) -> Result<Notification, StoreError> {
        Ok(Notification {
            organization_id: row.get(0)?,
            id: row.get(1)?,
            scope_type: row.get(2)?,
            scope_id: row.get(3)?,
            title: row.get(4)?,
            body: row.get(5)?,
            run_id: row.get(6)?,
            step_id: row.get(7)?,
            created_at: UtcInstant(row.get(8)?),
        })
    }
}

/// A page of the notifications of a caller, and one more if another page follows. It ends early where they are large.
///
/// # Errors
/// Those of the store.
pub async fn notification_page(
    tx: &mut Tx,
    page: &PageRequest,
) -> Result<BoundedRecords<Notification>, StoreError> {
    let sql = "SELECT organization_id, id, scope_type, scope_id, title, body, run_id, step_id, created_at \
         FROM notifications WHERE {tenant organization_id} AND id < $1 \
         AND (scope_type <> 'user' OR {caller scope_id}) ORDER BY id DESC LIMIT $2 {bounded}";
    // Ids rise with time.
    let before = page.after.unwrap_or(Uuid::max());
    let rows = tx
        .last(sql, &[before.into(), page.lookahead().into()])
        .await?;
    bounded_records(rows, Notification::read)
}

/// A notification as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentNotification {
    /// One line.
    pub title: String,
    /// Text of the message.
    pub body: String,
    /// `channel`, `user` or `organization`.
    pub scope_type: String,
    /// The channel or person it was sent to.
    pub scope_id: Option<Uuid>,
}

/// Takes all notifications out of the store, the oldest first.
///
/// # Errors
/// Those of the store.
pub async fn take_notifications(tx: &mut Tx) -> Result<Vec<SentNotification>, StoreError> {
    let sql =
        "SELECT title, body, scope_type, scope_id FROM notifications ORDER BY id {across operator}";
    let rows = tx.query(sql, &[]).await?;
    let read = |row: &Row| {
        Ok(SentNotification {
            title: row.get(0)?,
            body: row.get(1)?,
            scope_type: row.get(2)?,
            scope_id: row.get(3)?,
        })
    };
    let sent = rows.iter().map(read).collect::<Result<_, StoreError>>()?;
    let sql = "DELETE FROM main.notifications {across operator}";
    tx.query(sql, &[]).await?;
    Ok(sent)
}
