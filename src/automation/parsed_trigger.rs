//! A trigger as read, and what a row event waits for.

use super::declared_values::ConfigReading;
use crate::definitions::{self, Definitions};
use crate::json::Node;

const RECORD_EVENT: &str = "record.event";

/// A trigger as read.
#[derive(Debug, Default)]
pub(super) struct Trigger<'d, 'f> {
    /// Its object, when there is one.
    pub(super) node: Option<Node<'d>>,
    /// The declaration of its type. Nothing that follows from the trigger is checked without it.
    pub(super) declared: Option<&'f definitions::Trigger>,
    config: Option<Node<'d>>,
    pub(super) reading: ConfigReading<'d, 'f>,
}

/// What a `record.event` trigger waits for.
#[derive(Debug)]
pub(super) struct RecordWatch<'d> {
    /// The table, as written.
    pub(super) table: Node<'d>,
    config: Node<'d>,
}

impl<'d, 'f> Trigger<'d, 'f> {
    /// Reads a `triggerConfig`.
    pub(super) fn read(node: Option<Node<'d>>, definitions: &'f Definitions) -> Trigger<'d, 'f> {
        let node = node.filter(|node| node.is_object());
        let declared = node
            .and_then(|node| node.get_str("type"))
            .and_then(|name| definitions.triggers.get(name));
        let config = node
            .and_then(|node| node.get("config"))
            .filter(|config| config.is_object());
        let reading = match (config, declared) {
            (Some(config), Some(declared)) => ConfigReading::of(config, &declared.config),
            _ => ConfigReading::default(),
        };
        Trigger {
            node,
            declared,
            config,
            reading,
        }
    }

    /// The table watched, when a row event is awaited and its table is written as text.
    pub(super) fn watch(&self) -> Option<RecordWatch<'d>> {
        self.node
            .filter(|node| node.get_str("type") == Some(RECORD_EVENT))?;
        let config = self.declared.and(self.config)?;
        let table = config
            .get("featureId")
            .filter(|table| table.as_str().is_some())?;
        Some(RecordWatch { table, config })
    }
}

impl<'d> RecordWatch<'d> {
    /// Whether the mode (`created`, `updated`, `deleted`) is among the awaited ones.
    pub(super) fn awaits(&self, mode: &str) -> Option<Node<'d>> {
        self.config
            .get("modes")?
            .elements()
            .find(|awaited| awaited.as_str() == Some(mode))
    }

    /// The columns to which it is limited; `Some` and empty when to none.
    /// `None` when that cannot be reported.
    pub(super) fn columns(&self) -> Option<Vec<Node<'d>>> {
        match self.config.get("watchedColumns") {
            None => Some(Vec::new()),
            Some(list) if list.is_array() => Some(list.elements().collect()),
            Some(_) => None,
        }
    }
}
