//! Visits texts of a step that the definitions do not declare and that are called like secrets: they stand below unknown
//! keys, or in the config of an unknown step.
//!
//! In: a step that may change. Out: each text with its path in the step. A validator warns of an unknown key, no more, so
//! what was moved or misspelt is kept, and is as secret as where it belongs. Values of declared fields stay out: a run
//! uses them.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::secret_names::{is_token, names, plain};
use crate::definitions::{Definitions, Field, FieldType, Fields};
use crate::json::{Object, Value};

/// Takes a path and the text there.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&str, &mut String);

/// A visit of the steps of one graph.
pub(super) struct UndeclaredSecrets<'w> {
    definitions: &'w Definitions,
    /// What secrets are called. Most graphs have no unknown key.
    names: OnceCell<HashSet<String>>,
}

impl<'w> UndeclaredSecrets<'w> {
    pub(super) fn new(definitions: &'w Definitions) -> UndeclaredSecrets<'w> {
        UndeclaredSecrets {
            definitions,
            names: OnceCell::new(),
        }
    }

    /// Shows those of a step. Steps in its branches are visited on their own.
    pub(super) fn each(&self, step: &mut Object, visit: Visit<'_>) {
        let key = step.get("key").and_then(Value::as_str);
        let declared = key.and_then(|key| self.definitions.steps.get(key));
        let declared = declared.map(|step| &step.config);
        for (name, value) in step {
            match (name.as_str(), declared) {
                ("key" | "id" | "name", _) => {}
                ("config", Some(declared)) => self.fields(name, declared, value, visit),
                ("config", None) => self.below(name, value, visit),
                _ => self.member(name, name, value, visit),
            }
        }
    }

    fn fields(&self, place: &str, declared: &Fields, value: &mut Value, visit: Visit<'_>) {
        let Value::Object(members) = value else {
            return self.below(place, value, visit);
        };
        for (name, value) in members {
            let place = format!("{place}.{name}");
            match declared.get(name) {
                Some(field) => self.inside(&place, field, value, visit),
                None => self.member(&place, name, value, visit),
            }
        }
    }

    fn inside(&self, place: &str, field: &Field, value: &mut Value, visit: Visit<'_>) {
        if field.kind == FieldType::Steps {
            if !matches!(value, Value::List(_)) {
                self.below(place, value, visit);
            }
            return;
        }
        if let (Some(element), Value::List(elements)) = (&field.items, &mut *value) {
            for (at, value) in elements.iter_mut().enumerate() {
                self.inside(&format!("{place}[{at}]"), element, value, visit);
            }
        }
        if let Some(declared) = &field.fields
            && matches!(value, Value::Object(_))
        {
            self.fields(place, declared, value, visit);
        }
    }

    /// A member that nothing declares.
    fn member(&self, place: &str, name: &str, value: &mut Value, visit: Visit<'_>) {
        let names = self.names.get_or_init(|| names(self.definitions));
        if names.contains(&plain(name)) {
            texts(place, value, visit);
        } else {
            self.below(place, value, visit);
        }
    }

    fn below(&self, place: &str, value: &mut Value, visit: Visit<'_>) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    self.member(&format!("{place}.{name}"), name, value, visit);
                }
            }
            Value::List(elements) => {
                for (at, value) in elements.iter_mut().enumerate() {
                    self.below(&format!("{place}[{at}]"), value, visit);
                }
            }
            _ => {}
        }
    }
}

/// Shows every text of a value that is called like a secret.
fn texts(place: &str, value: &mut Value, visit: Visit<'_>) {
    match value {
        Value::String(text) if !is_token(text) => visit(place, text),
        Value::Object(members) => {
            for (name, value) in members {
                texts(&format!("{place}.{name}"), value, visit);
            }
        }
        Value::List(elements) => {
            for (at, value) in elements.iter_mut().enumerate() {
                texts(&format!("{place}[{at}]"), value, visit);
            }
        }
        _ => {}
    }
}
