//! The record of a template: its query and its response.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::document::Visibility;
use crate::json_schemas::{Manifest, UtcInstant};
use crate::refusal::Refusal;
use crate::store::{Row, StoreError, Tx};

/// A package in the catalog, without its contents.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Template")]
pub(crate) struct Record {
    /// Id of the record.
    pub(crate) id: Uuid,
    /// The organization.
    pub(crate) organization_id: Uuid,
    /// Technical name.
    pub(crate) name: Option<String>,
    /// Name for people.
    pub(crate) label: Option<String>,
    /// One paragraph for the catalog.
    pub(crate) description: Option<String>,
    /// Heading in the catalog.
    pub(crate) category: Option<String>,
    /// How much the package holds.
    #[schemars(extend("enum" = ["organization", "workspace", "module", "feature", null]))]
    pub(crate) scope: Option<String>,
    /// Who sees it.
    #[schemars(with = "Visibility")]
    pub(crate) visibility: String,
    /// Version of the package.
    pub(crate) semver: Option<String>,
    /// Words to find it by.
    pub(crate) tags: Vec<String>,
    /// Version of the package format.
    #[schemars(extend("enum" = [1, 2]))]
    pub(crate) template_version: i64,
    /// When it was created.
    pub(crate) created_at: UtcInstant,
    /// When it last changed.
    pub(crate) updated_at: UtcInstant,
}

/// A package in the catalog, with its manifest.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TemplateWhole")]
pub(crate) struct Template {
    #[serde(flatten)]
    record: Record,
    /// What it holds.
    #[schemars(with = "Manifest")]
    manifest: Box<RawValue>,
}

macro_rules! columns {
    () => {
        "id, organization_id, name, label, description, category, scope, visibility, semver, tags, \
         template_version, created_at, updated_at"
    };
}
pub(super) use columns;

/// Where the manifest stands when it is asked for behind the columns above.
const MANIFEST: usize = 13;

impl Record {
    /// Reads a row of the columns above.
    pub(super) fn read(row: &Row) -> Result<Record, StoreError> {
        let tags: String = row.get(9)?;
        Ok(Record {
            id: row.get(0)?,
            organization_id: row.get(1)?,
            name: row.get(2)?,
            label: row.get(3)?,
            description: row.get(4)?,
            category: row.get(5)?,
            scope: row.get(6)?,
            visibility: row.get(7)?,
            semver: row.get(8)?,
            tags: serde_json::from_str(&tags).map_err(|error| internal(&error))?,
            template_version: row.get(10)?,
            created_at: UtcInstant(row.get(11)?),
            updated_at: UtcInstant(row.get(12)?),
        })
    }
}

impl Template {
    pub(super) fn read(row: &Row) -> Result<Template, StoreError> {
        let manifest = RawValue::from_string(row.get(MANIFEST)?);
        Ok(Template {
            record: Record::read(row)?,
            manifest: manifest.map_err(|error| internal(&error))?,
        })
    }
}

pub(super) fn internal(error: &dyn std::error::Error) -> StoreError {
    StoreError::Internal(error.to_string())
}

/// The template of that id, as far as the caller sees it.
///
/// # Errors
/// 404 for what is missing or hidden.
pub(crate) async fn find(tx: &mut Tx, id: Uuid) -> Result<Record, Refusal> {
    // One's own is found while machines of others are away.
    if tx.is_distributed() {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM templates WHERE {tenant organization_id} AND id = $1"
        );
        if let Some(row) = tx.first(sql, &[id.into()]).await? {
            return Ok(Record::read(&row)?);
        }
    }
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM templates WHERE {catalog organization_id visibility} AND id = $1 {across catalog}"
    );
    let row = tx.first(sql, &[id.into()]).await?;
    Ok(Record::read(&row.ok_or_else(Refusal::not_found)?)?)
}

/// Sees to it that a template is there until the transaction ends: one of the caller's organizations is not removed
/// before that.
///
/// # Errors
/// 404 for what is missing or hidden.
pub(crate) async fn hold(tx: &mut Tx, id: Uuid) -> Result<(), Refusal> {
    let record = find(tx, id).await?;
    let sql = "SELECT id FROM templates WHERE {tenant organization_id} AND organization_id = $1 AND id = $2 \
         {share templates}";
    let at = [record.organization_id.into(), id.into()];
    if tx.first(sql, &at).await?.is_some() {
        return Ok(());
    }
    // It is somebody else's, or it has gone while this waited.
    find(tx, id).await.map(drop)
}

/// A template of an organization, and nobody changes it until the transaction ends. Gives the manifest, too.
///
/// # Errors
/// 404 for what is missing, hidden, or not the caller's to change.
pub(super) async fn lock(
    tx: &mut Tx,
    organization: Uuid,
    id: Uuid,
) -> Result<(Record, String), Refusal> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        ", manifest FROM templates WHERE {promoting organization_id} AND organization_id = $1 AND id = $2 {lock}"
    );
    let at = [organization.into(), id.into()];
    let row = tx.first(sql, &at).await?;
    let row = row.ok_or_else(Refusal::not_found)?;
    Ok((Record::read(&row)?, row.get(MANIFEST)?))
}
