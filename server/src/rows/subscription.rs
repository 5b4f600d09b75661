//! Automations that wait for events of the rows of a table.

use tplkit::json::Value as Json;
use uuid::Uuid;

use crate::store::{Row, StoreError};

/// An active version that waits for events of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The automation.
    pub workflow: Uuid,
    /// The number of its version.
    pub version: i64,
    modes: Vec<String>,
    /// Only changes of these; nothing for any change.
    columns: Option<Vec<String>>,
}

impl Subscription {
    /// Reads `workflow_id, version, modes, columns`.
    pub(crate) fn read(row: &Row) -> Result<Subscription, StoreError> {
        let modes: String = row.get(2)?;
        let columns: Option<String> = row.get(3)?;
        Ok(Subscription {
            workflow: row.get(0)?,
            version: row.get(1)?,
            modes: list(&modes),
            columns: columns.as_deref().map(list),
        })
    }

    /// Whether it waits for that mode.
    pub fn awaits(&self, mode: &str) -> bool {
        self.modes.iter().any(|known| known == mode)
    }

    /// Whether it waits for changes of some columns only.
    pub fn watches_columns(&self) -> bool {
        self.columns.is_some()
    }

    /// Whether it waits for a change of that column.
    pub fn watches(&self, column: &str) -> bool {
        let columns = self.columns.as_ref();
        columns.is_none_or(|columns| columns.iter().any(|known| known == column))
    }
}

fn list(text: &str) -> Vec<String> {
    let list = Json::parse(text).unwrap_or_default();
    let texts = list.as_list().unwrap_or_default().iter();
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}
