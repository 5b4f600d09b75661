//! Records of responses, with the members that commands need. Ids are UUIDs as text. Members that the
//! specification does not promise may be missing; unknown ones are ignored.

use serde::{Deserialize, Serialize};

/// The user or the API key that a credential belongs to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Me {
    /// `user` or `api_key`.
    pub kind: String,
    /// UUID of the user or the API key.
    pub id: String,
    /// E-mail address, of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The organizations in which it has a role.
    #[serde(default)]
    pub organizations: Vec<Membership>,
    /// Scopes, of an API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

/// An organization and a role in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Membership {
    /// UUID of the organization.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// `owner`, `admin`, `editor` or `viewer`.
    pub role: String,
}

/// The health of a server.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Health {
    /// `ok` when the server is healthy.
    #[serde(default)]
    pub status: Option<String>,
    /// Version of the server.
    #[serde(default)]
    pub version: Option<String>,
}

/// An organization.
#[derive(Debug, Clone, Deserialize)]
pub struct Organization {
    /// UUID of the organization.
    pub id: String,
    /// Name for people.
    #[serde(default)]
    pub label: Option<String>,
}

/// A channel.
#[derive(Debug, Clone, Deserialize)]
pub struct Channel {
    /// UUID of the channel.
    pub id: String,
    /// Name for people, not unique.
    pub name: String,
}

/// A connection, or a timer profile.
#[derive(Debug, Clone, Deserialize)]
pub struct Connection {
    /// UUID of the connection or the timer profile.
    pub id: String,
    /// The name that automations use.
    pub name: String,
    /// Kind: `smtp`, `http`, `llm` or `timer`.
    pub kind: String,
}

/// A workspace.
#[derive(Debug, Clone, Deserialize)]
pub struct Workspace {
    /// UUID of the workspace.
    pub id: String,
    /// UUID of its organization.
    #[serde(default)]
    pub organization_id: Option<String>,
    /// Technical name.
    #[serde(default)]
    pub name: Option<String>,
    /// Name for people.
    #[serde(default)]
    pub label: Option<String>,
}

/// A table.
#[derive(Debug, Clone, Deserialize)]
pub struct Feature {
    /// UUID of the table.
    pub id: String,
    /// UUID of its workspace.
    #[serde(default)]
    pub workspace_id: Option<String>,
    /// Technical name.
    #[serde(default)]
    pub name: Option<String>,
    /// Name for people.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether other workspaces may use it.
    #[serde(default)]
    pub is_shared: bool,
    /// When it was created, in RFC 3339.
    #[serde(default)]
    pub created_at: Option<String>,
}

/// A column.
#[derive(Debug, Clone, Deserialize)]
pub struct Column {
    /// UUID of the column.
    pub id: String,
    /// Technical name, the key in row data.
    pub name: String,
    /// Name for people.
    #[serde(default)]
    pub label: Option<String>,
    /// Its type in the definitions.
    #[serde(default, rename = "type")]
    pub column_type: Option<String>,
    /// Config, as the definitions declare it for the column type.
    #[serde(default)]
    pub config: serde_json::Value,
}
