//! Plan steps: the tool decides about ref and args.

use serde_json::{Value, json};

use super::pattern;
use super::shapes::Defs;
use crate::package::Tool;

/// The words of all tools.
pub(super) fn tools() -> Vec<&'static str> {
    Tool::ALL.iter().map(|tool| tool.as_str()).collect()
}

/// For each tool: whether its steps declare a ref, and what they take.
pub(super) fn step(defs: &mut Defs<'_>) -> Vec<Value> {
    let condition = |tool: Tool| {
        let args = defs.reference(tool.args());
        let then = match tool.letter().filter(|_| tool.is_create()) {
            Some(letter) => json!({
                "required": ["ref"],
                "properties": {"ref": {"pattern": pattern::declaration(letter)}, "args": args},
            }),
            None => json!({"properties": {"ref": false, "args": args}}),
        };
        json!({
            "if": {"required": ["tool"], "properties": {"tool": {"const": tool.as_str()}}},
            "then": then,
        })
    };
    Tool::ALL.into_iter().map(condition).collect()
}
