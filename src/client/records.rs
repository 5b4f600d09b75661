//! Records of responses, with the members that commands need. Members that the specification does
//! not promise may be missing; unknown ones are ignored.

use serde::{Deserialize, Serialize};

/// Who a credential belongs to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Me {
    /// `user` or `api_key`.
    pub kind: String,
    /// Of the user or the key.
    pub id: String,
    /// Of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Where it may act.
    #[serde(default)]
    pub organizations: Vec<Membership>,
    /// Of a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

/// An organization and a role in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Membership {
    /// Of the organization.
    pub id: String,
    /// For people.
    pub label: String,
    /// `owner`, `admin`, `editor` or `viewer`.
    pub role: String,
}

/// What a server says of itself.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Health {
    /// `ok`.
    #[serde(default)]
    pub status: Option<String>,
    /// Of the server.
    #[serde(default)]
    pub version: Option<String>,
}

/// An organization.
#[derive(Debug, Clone, Deserialize)]
pub struct Organization {
    /// Its id.
    pub id: String,
    /// For people.
    #[serde(default)]
    pub label: Option<String>,
}

/// A channel.
#[derive(Debug, Clone, Deserialize)]
pub struct Channel {
    /// Its id.
    pub id: String,
    /// For people; several may have the same.
    pub name: String,
}

/// A connection, or a timer profile.
#[derive(Debug, Clone, Deserialize)]
pub struct Connection {
    /// Its id.
    pub id: String,
    /// By which automations name it.
    pub name: String,
    /// `smtp`, `http`, `llm` or `timer`.
    pub kind: String,
}

/// A workspace.
#[derive(Debug, Clone, Deserialize)]
pub struct Workspace {
    /// Its id.
    pub id: String,
    /// Whose it is.
    #[serde(default)]
    pub organization_id: Option<String>,
    /// The technical name.
    #[serde(default)]
    pub name: Option<String>,
    /// For people.
    #[serde(default)]
    pub label: Option<String>,
}

/// A table.
#[derive(Debug, Clone, Deserialize)]
pub struct Feature {
    /// Its id.
    pub id: String,
    /// Where it is.
    #[serde(default)]
    pub workspace_id: Option<String>,
    /// The technical name.
    #[serde(default)]
    pub name: Option<String>,
    /// For people.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether other workspaces may use it.
    #[serde(default)]
    pub is_shared: bool,
    /// When it was created.
    #[serde(default)]
    pub created_at: Option<String>,
}

/// A column.
#[derive(Debug, Clone, Deserialize)]
pub struct Column {
    /// Its id.
    pub id: String,
    /// The key in the data of rows.
    pub name: String,
    /// For people.
    #[serde(default)]
    pub label: Option<String>,
    /// One of the definitions.
    #[serde(default, rename = "type")]
    pub column_type: Option<String>,
    /// Whatever its type has.
    #[serde(default)]
    pub config: serde_json::Value,
}
