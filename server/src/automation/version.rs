//! One version of an automation: its row and its response.

use schemars::JsonSchema;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::secrets;
use crate::json_schemas::{Graph, Trigger, UtcInstant};
use crate::store::{Row, StoreError};

/// A version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Whose it is.
    pub organization: Uuid,
    /// Where the automation stands.
    pub workspace: Uuid,
    /// The automation that it is a version of.
    pub workflow: Uuid,
    /// Its own id.
    pub id: Uuid,
    /// Rises with every version of the automation.
    pub version: i64,
    /// The version that was in force when it was begun.
    pub base_version: Option<i64>,
    /// For people.
    pub name: String,
    /// Whether it was never published.
    pub is_draft: bool,
    /// Whether it fires.
    pub is_active: bool,
    /// JSON text.
    pub trigger_config: String,
    /// JSON text, its secrets as they are kept: responses mask them.
    pub graph_config: String,
    /// In microseconds.
    pub created_at: i64,
    /// Who published it, if it is not a draft.
    pub publisher: Option<Uuid>,
}

/// The columns that [`Version::read`] reads, in order.
macro_rules! columns {
    () => {
        "organization_id, workspace_id, workflow_id, id, version, base_version, name, is_draft, \
         is_active, trigger_config, graph_config, created_at, publisher"
    };
}
pub(super) use columns;

impl Version {
    pub(super) fn read(row: &Row) -> Result<Version, StoreError> {
        Ok(Version {
            organization: row.get(0)?,
            workspace: row.get(1)?,
            workflow: row.get(2)?,
            id: row.get(3)?,
            version: row.get(4)?,
            base_version: row.get(5)?,
            name: row.get(6)?,
            is_draft: row.get(7)?,
            is_active: row.get(8)?,
            trigger_config: row.get(9)?,
            graph_config: row.get(10)?,
            created_at: row.get(11)?,
            publisher: row.get(12)?,
        })
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).map_err(S::Error::custom);
        let masked = secrets::masked(&self.graph_config);
        let graph = masked.as_deref().unwrap_or(&self.graph_config);
        let view = VersionView {
            id: self.id,
            workflow_id: self.workflow,
            workspace_id: self.workspace,
            name: &self.name,
            version: self.version,
            base_version: self.base_version,
            is_draft: self.is_draft,
            is_active: self.is_active,
            trigger_config: raw(&self.trigger_config)?,
            graph_config: raw(graph)?,
            created_at: UtcInstant(self.created_at),
        };
        view.serialize(serializer)
    }
}

/// One version of an automation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WorkflowVersion")]
pub(crate) struct VersionView<'a> {
    /// Id of the record.
    id: Uuid,
    /// The automation.
    workflow_id: Uuid,
    /// The workspace.
    workspace_id: Uuid,
    /// Name for people.
    name: &'a str,
    /// Number of the version, rising.
    version: i64,
    /// The version that this draft was made from.
    base_version: Option<i64>,
    /// Whether it is a draft.
    is_draft: bool,
    /// Whether it fires.
    is_active: bool,
    /// What starts it.
    #[schemars(with = "Trigger")]
    trigger_config: Box<RawValue>,
    /// What it does, secrets masked.
    #[schemars(with = "Graph")]
    graph_config: Box<RawValue>,
    /// When it was created.
    created_at: UtcInstant,
}
