//! Organizations: the tenants.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::auth::{Caller, Role};
use crate::json_schemas::{Config, UtcInstant};
use crate::paging::PageRequest;
use crate::refusal::{Code, Refusal};
use crate::store::{Row, Scope, Store, StoreError, Tx, Value};

/// A tenant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Organization {
    /// Id of the record.
    pub id: Uuid,
    /// Name for people.
    pub label: String,
    /// Whatever its administrators keep there.
    #[schemars(with = "Config")]
    pub config: Box<RawValue>,
    /// Most members that the organization may have; null means no limit.
    pub seats: Option<i64>,
    /// Most rows that the organization may hold; null means no limit.
    pub row_quota: Option<i64>,
    /// Most bytes that its files may have; null means no limit, and what others than owners and admins see.
    pub file_quota: Option<i64>,
    /// Bytes of its files; null for others than owners and admins.
    pub file_bytes: Option<i64>,
    /// When it was created.
    pub created_at: UtcInstant,
    /// When it last changed.
    pub updated_at: UtcInstant,
}

macro_rules! columns {
    () => {
        "id, label, config, seats, row_quota, created_at, updated_at, file_quota, file_bytes"
    };
}

impl Organization {
    fn read(row: &Row) -> Result<Organization, StoreError> {
        let config = RawValue::from_string(row.get(2)?);
        Ok(Organization {
            id: row.get(0)?,
            label: row.get(1)?,
            config: config.map_err(|error| StoreError::Internal(error.to_string()))?,
            seats: row.get(3)?,
            row_quota: row.get(4)?,
            file_quota: row.get(7)?,
            file_bytes: row.get(8)?,
            created_at: UtcInstant(row.get(5)?),
            updated_at: UtcInstant(row.get(6)?),
        })
    }

    /// As a member of it sees it.
    #[must_use]
    pub fn for_member(mut self, caller: &Caller) -> Organization {
        if caller
            .role_in(self.id)
            .is_none_or(|role| role < Role::Admin)
        {
            (self.file_quota, self.file_bytes) = (None, None);
        }
        self
    }
}

/// A page of the organizations that the scope sees, and one more if another page follows.
///
/// # Errors
/// Those of the store.
pub async fn page(tx: &mut Tx, page: &PageRequest) -> Result<Vec<Organization>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM organizations WHERE {tenant id} AND id > $1 ORDER BY id LIMIT $2"
    );
    let rows = tx
        .last(sql, &[page.from().into(), page.lookahead().into()])
        .await?;
    rows.iter().map(Organization::read).collect()
}

/// The organization of that id, if the scope sees it.
///
/// # Errors
/// Those of the store.
pub async fn by_id(tx: &mut Tx, id: Uuid) -> Result<Option<Organization>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM organizations WHERE {tenant id} AND id = $1"
    );
    let rows = tx.last(sql, &[id.into()]).await?;
    rows.first().map(Organization::read).transpose()
}

/// Whether the scope sees any organization.
///
/// # Errors
/// Those of the store.
pub async fn exist(tx: &mut Tx) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM organizations WHERE {tenant id} LIMIT 1";
    Ok(!tx.last(sql, &[]).await?.is_empty())
}

/// In a statement: the instant of a change at the time of that parameter. It comes after the one before, without a lock
/// that others who name the organization would wait for.
macro_rules! rises {
    ($now:literal) => {
        concat!(
            "CASE WHEN updated_at < ",
            $now,
            " THEN ",
            $now,
            " ELSE updated_at + 1 END"
        )
    };
}

/// What changes of an organization.
#[derive(Debug)]
pub struct Change {
    /// Which one.
    pub id: Uuid,
    /// For people.
    pub label: Option<String>,
    /// A JSON object, in place of what is there.
    pub config: Option<String>,
    /// The time.
    pub now: i64,
}

/// Changes an organization that the scope sees.
///
/// # Errors
/// Those of the store.
pub async fn update(tx: &mut Tx, change: &Change) -> Result<Option<Organization>, StoreError> {
    let Change { label, config, .. } = change;
    if label.is_none() && config.is_none() {
        return by_id(tx, change.id).await;
    }
    let sql = concat!(
        "UPDATE main.organizations SET label = coalesce($2, label), config = coalesce($3, config), ",
        "updated_at = ",
        rises!("$4"),
        " WHERE {tenant id} AND id = $1 RETURNING ",
        columns!()
    );
    let parameters = [
        change.id.into(),
        label.clone().into(),
        config.clone().into(),
        change.now.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    row.as_ref().map(Organization::read).transpose()
}

/// An organization that is to be.
#[derive(Debug)]
pub struct New {
    /// Of the record.
    pub id: Uuid,
    /// For people.
    pub label: String,
    /// How many members it may have; `None` is any number.
    pub seats: Option<i64>,
    /// How many rows it may have; `None` is any number.
    pub row_quota: Option<i64>,
    /// How many bytes its files may have; `None` is any number.
    pub file_quota: Option<i64>,
    /// The time.
    pub now: i64,
}

/// Creates an organization; no request does.
///
/// # Errors
/// Those of the store.
pub async fn create(store: &Store, new: New) -> Result<Organization, StoreError> {
    store
        .write(&Scope::Operator, new, |tx, new| Box::pin(insert(tx, new)))
        .await
}

async fn insert(tx: &mut Tx, new: &New) -> Result<Organization, StoreError> {
    let sql = concat!(
        "INSERT INTO main.organizations (id, label, config, seats, row_quota, created_at, ",
        "updated_at, file_quota) VALUES ($1, $2, $3, $4, $5, $6, $6, $7) RETURNING ",
        columns!()
    );
    let parameters = [
        new.id.into(),
        new.label.as_str().into(),
        "{}".into(),
        new.seats.into(),
        new.row_quota.into(),
        new.now.into(),
        new.file_quota.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    let row = row.ok_or_else(|| StoreError::Internal("nothing was inserted".to_owned()))?;
    Organization::read(&row)
}

/// How much of something an organization may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Any number.
    Unlimited,
    /// So many. What is there already stays.
    AtMost(i64),
}

/// The limits of an organization that change; nothing is said of those that stay.
#[derive(Debug, Clone, Copy)]
pub struct NewLimits {
    /// Which one.
    pub organization: Uuid,
    /// How many members it may have.
    pub seats: Option<Limit>,
    /// How many rows it may have.
    pub rows: Option<Limit>,
    /// How many bytes its files may have.
    pub file_bytes: Option<Limit>,
    /// The time.
    pub now: i64,
}

/// Sets limits of an organization; no request does.
///
/// # Errors
/// 404 where there is no such organization.
pub async fn set_limits(store: &Store, limits: NewLimits) -> Result<Organization, Refusal> {
    let set: Result<Option<Organization>, StoreError> = store
        .write(&Scope::Operator, limits, |tx, limits| {
            Box::pin(update_limits(tx, *limits))
        })
        .await;
    set?.ok_or_else(|| {
        let id = limits.organization;
        let detail = format!("There is no organization {id} in this store.");
        Refusal::new(Code::NotFound, detail)
    })
}

async fn update_limits(tx: &mut Tx, limits: NewLimits) -> Result<Option<Organization>, StoreError> {
    let sql = concat!(
        "UPDATE main.organizations SET seats = CASE WHEN $2 THEN $3 ELSE seats END, ",
        "row_quota = CASE WHEN $4 THEN $5 ELSE row_quota END, ",
        "file_quota = CASE WHEN $6 THEN $7 ELSE file_quota END, updated_at = ",
        rises!("$8"),
        " WHERE id = $1 RETURNING ",
        columns!()
    );
    let mut parameters: Vec<Value> = vec![limits.organization.into()];
    for limit in [limits.seats, limits.rows, limits.file_bytes] {
        let most = match limit {
            Some(Limit::AtMost(most)) => Some(most),
            Some(Limit::Unlimited) | None => None,
        };
        let set: [Value; 2] = [limit.is_some().into(), most.into()];
        parameters.extend(set);
    }
    parameters.push(limits.now.into());
    let row = tx.first(sql, &parameters).await?;
    row.as_ref().map(Organization::read).transpose()
}

/// The name of an organization.
#[derive(Debug)]
pub struct Label {
    /// Of the organization.
    pub id: Uuid,
    /// For people.
    pub label: String,
}

/// The names of all organizations that the scope sees.
///
/// # Errors
/// Those of the store.
pub async fn labels(tx: &mut Tx) -> Result<Vec<Label>, StoreError> {
    let sql = "SELECT id, label FROM organizations WHERE {tenant id} ORDER BY id";
    let rows = tx.last(sql, &[]).await?;
    let label = |row: &Row| {
        Ok(Label {
            id: row.get(0)?,
            label: row.get(1)?,
        })
    };
    rows.iter().map(label).collect()
}
