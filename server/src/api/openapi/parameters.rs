//! Query parameters, by name.

use serde_json::{Value, json};
use tplkit::package::model::{Scope, Visibility, WireWord};
use tplkit::rows::query::{MOST_BYTES, MOST_FILTERS, number_operators, text_operators};

use crate::automation::connections::ConnectionKind;
use crate::files::name::MOST_NAME;
use crate::rows::Validate;
use crate::rows::query::MOST_COUNTED;

/// The parameter that a component describes, as the document has it.
pub(super) fn query(component: &str) -> Option<Value> {
    let boolean = || json!({"type": "boolean", "default": false});
    let id = || json!({"type": "string", "format": "uuid"});
    let word = |words: &[&str], default: &str| json!({"type": "string", "enum": words, "default": default});
    let filters = filters();
    let (name, schema, description) = match component {
        "cursor" => (
            "cursor",
            json!({"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}),
            "`next_cursor` of the page before.",
        ),
        "limit" => (
            "limit",
            json!({"type": "integer", "minimum": 1, "maximum": 200, "default": 25}),
            "How many records a page may hold. It ends early, at 8 MiB, where they are large: follow `next_cursor`.",
        ),
        "force" => (
            "force",
            boolean(),
            "Removes what it still holds along with it.",
        ),
        "force_file" => (
            "force",
            boolean(),
            "Deletes it although something uses it; cells keep its id as text.",
        ),
        "unused" => (
            "unused",
            boolean(),
            "Deletes it only if it is as it was created and no job that you see has applied it; else 409 `not_empty`.",
        ),
        "into_workspace" => ("workspace_id", id(), "Where the file is to be."),
        "name" => (
            "name",
            json!({"type": "string", "minLength": 1, "maxLength": MOST_NAME}),
            "The name of the file; required unless the body is a form, whose `filename` it replaces.",
        ),
        "attached" => (
            "attached",
            json!({"type": "boolean"}),
            "Only files that something uses, or only those that nothing does.",
        ),
        "inline" => (
            "inline",
            boolean(),
            "Lets a browser show it in place of saving it: pictures, sound, films, PDF and plain text alone.",
        ),
        "link_organization" => ("organization", id(), "As the link has it."),
        "by" => ("by", id(), "As the link has it."),
        "expires" => (
            "expires",
            json!({"type": "integer", "minimum": 1}),
            "As the link has it.",
        ),
        "link_inline" => (
            "inline",
            json!({"type": "boolean", "const": true}),
            "As the link has it.",
        ),
        "signature" => (
            "signature",
            json!({"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}),
            "As the link has it.",
        ),
        "active" => (
            "active",
            json!({"type": "boolean"}),
            "Only versions that fire, or only those that do not.",
        ),
        // A list of an organization's records needs it; elsewhere the parent is a filter.
        "of_organization" => ("organization_id", id(), "Whose records."),
        "for_organization" => ("organization_id", id(), "Whose; in the body or here."),
        "into_organization" => (
            "organization_id",
            id(),
            "Whose catalog; who has one organization may leave it out.",
        ),
        "organization_id" | "workspace_id" | "module_id" | "feature_id" => {
            (component, id(), "Only what belongs to this one.")
        }
        "filter" => (
            "filter",
            json!({"type": "array", "maxItems": MOST_FILTERS, "items": {
                "type": "string", "maxLength": MOST_BYTES, "pattern": "^[^:]+:[^:]+:",
            }}),
            filters.as_str(),
        ),
        "match" => (
            "match",
            word(&["all", "any"], "all"),
            "Whether all filters have to hold, or any.",
        ),
        "sort" => (
            "sort",
            json!({"type": "string", "minLength": 1}),
            "`column`, or `-column` for descending. A cursor belongs to one sort.",
        ),
        "fields" => (
            "fields",
            json!({"type": "string", "minLength": 1}),
            "Keys of `data` to return, separated by commas.",
        ),
        "op" => (
            "op",
            json!({"type": "string", "enum": ["count", "sum", "avg"]}),
            "What to work out; `sum` and `avg` look at the first 10,000 matching rows.",
        ),
        "column" => (
            "column",
            json!({"type": "string", "minLength": 1}),
            "The key of `data` to work it out of; `sum` and `avg` need it.",
        ),
        "count_limit" => (
            "limit",
            json!({"type": "integer", "minimum": 1, "maximum": MOST_COUNTED}),
            "How far a `count` goes: `result` is at most this, and `at_least` shows whether there are more rows. Without it a count is exact.",
        ),
        "validate" => (
            "validate",
            word(&Validate::WORDS, "on"),
            "`strict` refuses unknown keys, too; `off` refuses nothing but repeated values.",
        ),
        "merge" => (
            "merge",
            boolean(),
            "Merges into the present data instead of replacing it; null removes a key.",
        ),
        "kind" => (
            "kind",
            json!({"type": "string", "enum": ConnectionKind::ALL.map(ConnectionKind::as_str)}),
            "Only connections of this kind.",
        ),
        "scope" => (
            "scope",
            json!({"type": "string", "enum": words::<Scope>()}),
            "Only templates that hold this much.",
        ),
        "visibility" => (
            "visibility",
            json!({"type": "string", "enum": words::<Visibility>()}),
            "Only templates that are visible so.",
        ),
        "drift_rows" => (
            "rows",
            boolean(),
            "Shows cells of reference data that differ, and counts them as drift.",
        ),
        "job" => (
            "job",
            id(),
            "Any job of the line that is compared; without it, that of the newest job.",
        ),
        "format" => (
            "format",
            word(&["generated", "legacy"], "generated"),
            "The shape; `legacy` is deprecated.",
        ),
        _ => return None,
    };
    let mut parameter =
        json!({"name": name, "in": "query", "description": description, "schema": schema});
    let required = [
        "op",
        "of_organization",
        "into_workspace",
        "link_organization",
        "by",
        "expires",
        "signature",
    ];
    if required.contains(&component) {
        parameter["required"] = true.into();
    }
    if name == "filter" {
        parameter["explode"] = true.into();
    }
    Some(parameter)
}

fn words<T: WireWord>() -> Vec<&'static str> {
    T::ALL.iter().map(|word| word.word()).collect()
}

fn filters() -> String {
    let all = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
    format!(
        "`column:op:value`, repeatable. Text: {}. Numbers: {}. `not.` before an operator negates it.",
        all(&mut text_operators()),
        all(&mut number_operators()),
    )
}
