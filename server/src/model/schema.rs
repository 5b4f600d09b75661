//! The whole visible model, nested, without rows.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use uuid::Uuid;

use super::document;
use super::kind::{COLUMN, FEATURE, KindDescription, VIEW, WORKSPACE};
use super::record::Record;
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx, Value};

/// The visible workspaces with their tables, columns and views.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Schema {
    /// The visible workspaces.
    workspaces: Vec<Workspace>,
    /// Whether a cap cut something off.
    truncated: bool,
}

/// A workspace with its tables.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "SchemaWorkspace")]
struct Workspace {
    #[schemars(flatten, with = "document::Workspace")]
    record: Record,
    /// Its tables.
    features: Vec<Feature>,
}

/// A table with its columns and views.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "SchemaFeature")]
struct Feature {
    #[schemars(flatten, with = "document::Feature")]
    record: Record,
    /// Its columns, in display order.
    #[schemars(with = "Vec<document::Column>")]
    columns: Vec<Record>,
    /// Its views, in order.
    #[schemars(with = "Vec<document::View>")]
    views: Vec<Record>,
}

impl Serialize for Workspace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.record.members(&mut map)?;
        map.serialize_entry("features", &self.features)?;
        map.end()
    }
}

impl Serialize for Feature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.record.members(&mut map)?;
        map.serialize_entry("columns", &self.columns)?;
        map.serialize_entry("views", &self.views)?;
        map.end()
    }
}

/// Reads the model, of one workspace or of all that the caller sees, up to so many features and
/// columns. Features are cut first, by id; columns by feature, so that what is there has its place.
///
/// # Errors
/// 404 for a workspace that cannot be seen.
pub async fn read(
    tx: &mut Tx,
    workspace: Option<Uuid>,
    most_features: usize,
    most_columns: usize,
) -> Result<Schema, Refusal> {
    let part = usize::from(workspace.is_none());
    let parameters = |more: &[Value]| -> Vec<Value> {
        let workspace = workspace.map(Value::from);
        workspace.into_iter().chain(more.iter().cloned()).collect()
    };
    let look = |most: usize| Value::Int(i64::try_from(most + 1).unwrap_or(i64::MAX));
    let statement = &WORKSPACE.statements().model[part];
    let workspaces = records(tx, &WORKSPACE, statement, &parameters(&[])).await?;
    if workspace.is_some() && workspaces.is_empty() {
        return Err(Refusal::not_found());
    }
    let statement = &FEATURE.statements().model[part];
    let bounds = parameters(&[look(most_features)]);
    let mut features = records(tx, &FEATURE, statement, &bounds).await?;
    let mut truncated = features.len() > most_features;
    features.truncate(most_features);
    let (mut columns, mut views) = (Vec::new(), Vec::new());
    if let Some(last) = features.last() {
        let statement = &COLUMN.statements().model[part];
        let bounds = parameters(&[last.id.into(), look(most_columns)]);
        columns = records(tx, &COLUMN, statement, &bounds).await?;
        let statement = &VIEW.statements().model[part];
        let rows = tx.last(statement, &parameters(&[last.id.into()])).await?;
        let all = rows.iter().map(|row| Record::read(&VIEW, row));
        views = all.collect::<Result<_, StoreError>>()?;
    }
    if columns.len() > most_columns {
        truncated = true;
        columns.truncate(most_columns);
        // What comes behind the last column would look as if it had none.
        let last = columns.last().map_or(Uuid::nil(), Record::parent);
        features.retain(|feature| feature.id <= last);
    }
    Ok(Schema {
        workspaces: nest(workspaces, features, columns, views),
        truncated,
    })
}

async fn records(
    tx: &mut Tx,
    kind: &'static KindDescription,
    statement: &'static str,
    parameters: &[Value],
) -> Result<Vec<Record>, StoreError> {
    let rows = tx.query(statement, parameters).await?;
    rows.iter().map(|row| Record::read(kind, row)).collect()
}

fn nest(
    workspaces: Vec<Record>,
    features: Vec<Record>,
    columns: Vec<Record>,
    views: Vec<Record>,
) -> Vec<Workspace> {
    let mut columns = by_parent(columns);
    let mut views = by_parent(views);
    let mut tables: HashMap<Uuid, Vec<Feature>> = HashMap::new();
    for record in features {
        tables.entry(record.workspace()).or_default().push(Feature {
            columns: columns.remove(&record.id).unwrap_or_default(),
            views: views.remove(&record.id).unwrap_or_default(),
            record,
        });
    }
    let workspaces = workspaces.into_iter();
    let nested = workspaces.map(|record| Workspace {
        features: tables.remove(&record.id).unwrap_or_default(),
        record,
    });
    nested.collect()
}

fn by_parent(records: Vec<Record>) -> HashMap<Uuid, Vec<Record>> {
    let mut found: HashMap<Uuid, Vec<Record>> = HashMap::new();
    for record in records {
        found.entry(record.parent()).or_default().push(record);
    }
    found
}
