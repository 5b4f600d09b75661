//! The trigger and the graph of an automation in a body.

use schemars::JsonSchema;
use tplkit::json::{Object, Value as Json};

use crate::json_body::Fields;
use crate::json_schemas::{Graph, Trigger};

/// What a body says of an automation.
#[derive(Debug, Default, JsonSchema)]
pub(super) struct DefinitionParts {
    /// What starts it.
    #[schemars(rename = "trigger_config", with = "Option<Trigger>")]
    pub(super) trigger: Option<Json>,
    /// What it does.
    #[schemars(rename = "graph_config", with = "Option<Graph>")]
    pub(super) graph: Option<Json>,
}

impl DefinitionParts {
    /// Takes both; what is not an object is refused.
    pub(super) fn take(fields: &mut Fields) -> DefinitionParts {
        let mut half = |name: &str| {
            if let object @ Json::Object(_) = fields.take(name)? {
                return Some(object);
            }
            fields.refuse(name, "has to be an object");
            None
        };
        DefinitionParts {
            trigger: half("trigger_config"),
            graph: half("graph_config"),
        }
    }

    /// The trigger. None at all is one without a type, about which the validator has its own words.
    pub(super) fn trigger(&self) -> Json {
        let empty = || Json::Object(Object::new());
        self.trigger.clone().unwrap_or_else(empty)
    }

    /// The graph. None at all is one without steps.
    pub(super) fn graph(&self) -> Json {
        let empty = || Json::Object(Object::new());
        self.graph.clone().unwrap_or_else(empty)
    }
}
