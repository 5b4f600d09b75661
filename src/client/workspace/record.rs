//! Records of the model from responses. Members that the specification does not promise may be
//! missing, and get a default.

use std::collections::HashSet;

use serde::Deserialize;

use crate::json::{Object, Value};
use crate::package::name;
use crate::workspace::Id;

/// A workspace, a module, a rail, a table, a column or a view.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Record {
    pub(super) id: Id,
    #[serde(default)]
    pub(super) organization_id: Option<Id>,
    #[serde(default)]
    pub(super) workspace_id: Option<Id>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    pub(super) icon: Option<String>,
    #[serde(default)]
    pub(super) order: Option<i64>,
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) default_component: Option<String>,
    #[serde(default)]
    pub(super) is_shared: bool,
    #[serde(default)]
    config: Value,
}

/// A version of an automation.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Version {
    pub(super) workflow_id: Id,
    #[serde(default)]
    pub(super) workspace_id: Option<Id>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default, rename = "version")]
    pub(super) number: Option<i64>,
    #[serde(default)]
    pub(super) created_at: Option<String>,
    #[serde(default)]
    pub(super) is_draft: bool,
    #[serde(default)]
    pub(super) is_active: bool,
    #[serde(default)]
    pub(super) trigger_config: Object,
    #[serde(default)]
    pub(super) graph_config: Object,
}

/// Technical names that are taken among the children of one parent.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Name and label of a record. A server that has no technical names gets them derived from
    /// labels, as ours derives them.
    pub(super) fn of(&mut self, record: &Record, kind: &str) -> (String, String) {
        let label = record.label.as_ref().or(record.name.as_ref());
        let label = label.map_or_else(|| format!("{kind} {}", record.id), Clone::clone);
        if let Some(name) = &record.name {
            self.0.insert(name.clone());
            return (name.clone(), label);
        }
        let wanted = name::derive(&label, kind);
        let mut name = wanted.clone();
        let mut number = 2u32;
        while !self.0.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        (name, label)
    }
}

impl Record {
    /// The config as one object, whether or not it is in a list.
    pub(super) fn config(&self) -> Object {
        match &self.config {
            Value::Object(config) => config.clone(),
            Value::List(list) => match list.first() {
                Some(Value::Object(config)) => config.clone(),
                _ => Object::new(),
            },
            _ => Object::new(),
        }
    }

    /// The config as a list of objects, whether or not it is in one.
    pub(super) fn configs(&self) -> Vec<Object> {
        match &self.config {
            Value::Object(config) => vec![config.clone()],
            Value::List(list) => {
                let objects = list.iter().filter_map(|element| match element {
                    Value::Object(config) => Some(config.clone()),
                    _ => None,
                });
                objects.collect()
            }
            _ => Vec::new(),
        }
    }
}
