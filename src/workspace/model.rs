//! The records of a workspace, except rows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Id;
use crate::json::{Object, Value};
use crate::rows::{Declaration, Identity};

/// Everything that a reader sees of a workspace but its rows, with what it may refer to outside.
///
/// Lists stand in display order: columns, views, modules and rails by `order`, then by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Structure {
    /// What belongs to the organization as a whole.
    pub organization: Organization,
    /// The workspace itself.
    pub workspace: Workspace,
    /// Its modules, rails inside.
    pub modules: Vec<Module>,
    /// Its tables, columns and views inside.
    pub features: Vec<Feature>,
    /// Its automations.
    pub automations: Vec<Automation>,
    /// Automations of the earlier format, which can only be pointed at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_automations: Vec<Named>,
    /// Tables of other workspaces of the organization that every workspace may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<Feature>,
    /// Whether the caller may not change the row access of existing tables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_access_stays: bool,
    /// Ids of files and people that automations name, and that are deleted or hidden from the reader. An id that is not
    /// listed may or may not exist.
    #[serde(skip)]
    pub unseen: BTreeSet<Id>,
}

/// Named records of the organization. A list is absent when the reader cannot tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Organization {
    /// Id of the organization.
    pub id: Id,
    /// Connections, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<Vec<Connection>>,
    /// Channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<Channel>>,
    /// Timer profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_profiles: Option<Vec<Named>>,
}

/// A connection: configs name it, so it has no id here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connection {
    /// Name, unique in the organization.
    pub name: String,
    /// Kind: `smtp`, `http`, `llm` or `timer`.
    pub kind: String,
}

/// A channel. A direct conversation has no name and cannot be mapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Channel {
    /// Id of the channel.
    pub id: Id,
    /// Name for people; none for a direct conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name for people, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Something known by id and name only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Named {
    /// Id of the record.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Name for people, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workspace {
    /// Id of the workspace.
    pub id: Id,
    /// Technical name.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Config, as the definitions declare it for workspaces.
    #[serde(default)]
    pub config: Object,
}

/// A module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Module {
    /// Id of the module.
    pub id: Id,
    /// Technical name, unique in the workspace.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Name of its icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Position in the workspace, ascending.
    pub order: i64,
    /// Config, as the definitions declare it for modules.
    #[serde(default)]
    pub config: Object,
    /// Its navigation entries.
    #[serde(default)]
    pub rails: Vec<Rail>,
}

/// A navigation entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rail {
    /// Id of the navigation entry.
    pub id: Id,
    /// Technical name, unique in the module.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Position in the module, ascending.
    pub order: i64,
    /// What it shows: a list of objects.
    #[serde(default)]
    pub config: Vec<Object>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Feature {
    /// Id of the table.
    pub id: Id,
    /// Technical name, unique in the workspace.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Config, as the definitions declare it for tables.
    #[serde(default)]
    pub config: Object,
    /// Whether every workspace of the organization may use it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shared: bool,
    /// Its columns.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Its views.
    #[serde(default)]
    pub views: Vec<View>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Column {
    /// Id of the column.
    pub id: Id,
    /// Technical name, the key in row data, unique in the table.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Its type in the definitions.
    #[serde(rename = "type")]
    pub column_type: String,
    /// Its component in the definitions.
    pub default_component: String,
    /// Position in the table, ascending.
    pub order: i64,
    /// Config, as the definitions declare it for the column type.
    #[serde(default)]
    pub config: Object,
}

/// A view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct View {
    /// Id of the view.
    pub id: Id,
    /// Technical name, unique in the table.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Its type in the definitions.
    #[serde(rename = "type")]
    pub view_type: String,
    /// Position among the views of the table, ascending.
    pub order: i64,
    /// Config, as the definitions declare it for the view type.
    #[serde(default)]
    pub config: Object,
}

/// An automation: the version in force (active, else newest published, else newest draft).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Automation {
    /// Identity of the automation, not of a version.
    pub id: Id,
    /// Name for people, free text.
    pub name: String,
    /// Its trigger, as in a package.
    pub trigger_config: Object,
    /// Its steps, as in a package.
    pub graph_config: Object,
    /// Whether it has an active version.
    #[serde(default)]
    pub active: bool,
    /// Whether no version of it was ever published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draft: bool,
    /// Whether it has a draft next to a published version.
    #[serde(skip)]
    pub has_draft: bool,
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum RecordKind {
    /// A workspace.
    Workspace,
    /// A table.
    Feature,
    /// A column.
    Column,
    /// A view.
    View,
    /// An automation.
    Workflow,
    /// A module.
    Module,
    /// A navigation entry.
    Rail,
}

impl RecordKind {
    /// What people call it.
    pub const fn noun(self) -> &'static str {
        match self {
            RecordKind::Feature => "table",
            RecordKind::Workflow => "automation",
            RecordKind::Rail => "navigation entry",
            _ => self.as_str(),
        }
    }

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<RecordKind> {
        const ALL: [RecordKind; 7] = [
            RecordKind::Workspace,
            RecordKind::Feature,
            RecordKind::Column,
            RecordKind::View,
            RecordKind::Workflow,
            RecordKind::Module,
            RecordKind::Rail,
        ];
        ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The word in plans, previews and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            RecordKind::Workspace => "workspace",
            RecordKind::Feature => "feature",
            RecordKind::Column => "column",
            RecordKind::View => "view",
            RecordKind::Workflow => "workflow",
            RecordKind::Module => "module",
            RecordKind::Rail => "rail",
        }
    }
}

impl Automation {
    /// Both configs, as they are replaced together.
    pub fn config(&self) -> Value {
        let members = [
            ("triggerConfig", &self.trigger_config),
            ("graphConfig", &self.graph_config),
        ];
        let members = members.map(|(key, config)| (key.to_owned(), config.clone().into()));
        Value::Object(Object::from_iter(members))
    }
}

impl Structure {
    /// The table of that id, of this workspace or shared.
    pub fn feature(&self, id: Id) -> Option<&Feature> {
        self.features
            .iter()
            .chain(&self.shared)
            .find(|feature| feature.id == id)
    }
}

impl Feature {
    /// The column of that id.
    pub fn column(&self, id: Id) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// The column of that technical name.
    pub fn column_named(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl Column {
    /// Whether it holds the identity of rows, minted when a row comes without.
    pub fn is_identity(&self) -> bool {
        self.default_component == "id"
    }

    /// Whether an empty identity cell gets the next number instead of a UUID.
    pub fn is_sequence(&self) -> bool {
        self.is_identity()
            && self
                .config
                .get("idType")
                .and_then(crate::json::Value::as_str)
                == Some("sequence")
    }

    /// Whether no two rows hold the same value.
    pub fn is_unique(&self) -> bool {
        self.is_identity() || self.flag("unique")
    }

    /// Whether the cell must not be empty.
    pub fn is_required(&self) -> bool {
        self.flag("required")
    }

    fn flag(&self, key: &str) -> bool {
        self.config.get(key).and_then(crate::json::Value::as_bool) == Some(true)
    }
}

impl<'c> From<&'c Column> for Declaration<'c> {
    fn from(column: &'c Column) -> Declaration<'c> {
        let identity = column.is_identity().then(|| {
            if column.is_sequence() {
                Identity::Sequence
            } else {
                Identity::Uuid
            }
        });
        Declaration {
            name: &column.name,
            column_type: &column.column_type,
            config: &column.config,
            required: column.is_required(),
            identity,
        }
    }
}
