//! What plans and reports say of an upgrade, and how a request decides about one.

use serde_json::{Value, json};

use super::members::{count, id, kind, list, object, reference, text};
use super::pattern;

fn value(description: &str) -> Value {
    json!({"description": description})
}

fn path() -> Value {
    json!({"description": "Path of the leaf; null for a whole record.", "type": ["string", "null"]})
}

/// What an upgrade starts from.
pub(super) fn base() -> Value {
    let nullable =
        |description: &str| json!({"description": description, "type": ["string", "null"]});
    let mut schema = object(
        "What an upgrade goes out from; null without one.",
        vec![
            (
                "job_id",
                nullable("The job; null where the package was named."),
            ),
            ("semver", nullable("The version of its package.")),
        ],
        &[],
    );
    schema["type"] = json!(["object", "null"]);
    schema
}

fn update() -> Value {
    object(
        "A leaf that becomes something else.",
        vec![
            ("kind", kind()),
            ("ref", reference()),
            ("id", id()),
            ("path", text("Path of the leaf.")),
            (
                "base",
                value("The value that was applied last, where people had changed it."),
            ),
            (
                "before",
                value("The value before; null where there is none."),
            ),
            ("after", value("The value after; null where it goes.")),
        ],
        &["base"],
    )
}

/// Something that somebody has to decide.
fn conflict() -> Value {
    object(
        "Something that somebody has to decide.",
        vec![
            (
                "code",
                json!({"description": "Why.", "type": "string", "enum": [
                    "changed", "name_taken", "removed_here", "type_change_loses", "required_empty", "unique_repeated", "invalid_together",
                ]}),
            ),
            ("kind", text("What it belongs to, or `rows`.")),
            ("ref", reference()),
            (
                "id",
                json!({"description": "Its id; of a cell that of the row; of a removed record the one it had.", "type": ["string", "null"]}),
            ),
            ("path", path()),
            ("base", value("The value that was applied last.")),
            ("theirs", value("The value of the package.")),
            ("ours", value("The value at the destination.")),
            ("uid", text("uid of the row in the package.")),
            (
                "count",
                count("How many cells do not fit, or are of rows that are not shown."),
            ),
            ("places", list("The first rows that do not fit.", &id())),
            (
                "leaves",
                list(
                    "Leaves of which one has to be decided otherwise.",
                    &text("The path of a leaf."),
                ),
            ),
            (
                "absent",
                list(
                    "Sides without a value.",
                    &json!({"type": "string", "enum": ["base", "theirs", "ours"]}),
                ),
            ),
            (
                "ours_digest",
                text("The digest of `ours`, where that is too long to be shown."),
            ),
        ],
        &["uid", "count", "places", "leaves", "absent", "ours_digest"],
    )
}

/// What stays as people made it.
pub(super) fn kept() -> Value {
    let one = object(
        "Something that stays as people made it.",
        vec![
            ("kind", kind()),
            ("ref", reference()),
            ("id", id()),
            ("path", path()),
            ("base", value("The value that was applied last.")),
            ("ours", value("The value at the destination.")),
            (
                "because",
                json!({"description": "Why.", "type": "string", "enum": ["unchanged_in_package", "removed_here", "forbidden", "decided"]}),
            ),
        ],
        &[],
    );
    list("What stays as people made it.", &one)
}

/// What the package no longer has.
pub(super) fn left() -> Value {
    let one = object(
        "A record that the package no longer has.",
        vec![
            ("kind", kind()),
            ("ref", reference()),
            ("id", id()),
            ("name", text("Its name at the destination.")),
            ("label", text("Its label.")),
            ("rows", count("Rows of a table.")),
            ("cells", count("Filled cells of a column.")),
            (
                "delete",
                json!({"description": "Whether it goes, because somebody decided so.", "type": "boolean"}),
            ),
        ],
        &["rows", "cells"],
    );
    list("What the package no longer has, and stays.", &one)
}

/// Decisions that did nothing.
pub(super) fn unused() -> Value {
    let one = object(
        "A decision that did nothing.",
        vec![
            ("ref", reference()),
            ("path", text("Path; `*` for the word for a ref.")),
        ],
        &[],
    );
    list("Decisions that did nothing.", &one)
}

fn stays(description: &str) -> Value {
    object(
        description,
        vec![
            ("kind", kind()),
            ("ref", reference()),
            ("uid", text("uid of a row in the package.")),
            ("id", id()),
            ("path", text("Path of the leaf.")),
            ("column", text("Column of a cell.")),
            ("count", count("How many cells of rows that are not shown.")),
        ],
        &["kind", "uid", "id", "path", "column", "count"],
    )
}

/// What people changed after the plan.
pub(super) fn moved() -> Value {
    let one = stays("Something that people changed after the plan was made: it stays.");
    list("What people changed after the plan was made.", &one)
}

/// What an undo left.
pub(super) fn undo_left() -> Value {
    let one = stays("Something that people changed after the job: its undo left it.");
    list("What the undo left as people made it after the job.", &one)
}

/// The members of a plan.
pub(super) fn plan() -> Vec<(&'static str, Value)> {
    let rename = object(
        "A record that may be another one under a new name.",
        vec![
            ("kind", kind()),
            ("ref", reference()),
            ("from", text("Its ref in what was applied last.")),
            ("id", id()),
        ],
        &[],
    );
    vec![
        ("base", base()),
        (
            "update",
            list("Leaves that would become something else.", &update()),
        ),
        (
            "conflicts",
            list("What somebody has to decide first.", &conflict()),
        ),
        (
            "conflicts_more",
            count("Cells to decide that are left out of `conflicts`."),
        ),
        ("kept", kept()),
        ("left", left()),
        (
            "renames",
            list("What may be something else under a new name.", &rename),
        ),
        ("unused", unused()),
    ]
}

/// The members of a request.
pub(super) fn request() -> Vec<(&'static str, Value)> {
    let side = json!({"type": "string", "enum": ["ours", "theirs"]});
    let ours = json!({"description": "The value of the destination that it was made against."});
    let absent = json!({"description": "The destination had none.", "const": true});
    let words = [
        "ours", "theirs", "rename", "adopt", "create", "delete", "leave",
    ];
    let both = json!({"required": ["ours", "absent"]});
    let decision = |words: &[&str]| {
        json!({
            "description": "A word, or a value in the words of the package.",
            "oneOf": [
                {"type": "string", "enum": words},
                {
                    "type": "object",
                    "required": ["take"],
                    "properties": {"take": side, "ours": ours, "absent": absent},
                    "additionalProperties": false,
                    "not": both,
                },
                {
                    "type": "object",
                    "required": ["value"],
                    "properties": {"value": {}, "ours": ours, "absent": absent},
                    "additionalProperties": false,
                    "not": both,
                },
            ],
        })
    };
    // A word for a whole thing stands at no leaf.
    let [whole, leaf] = [&words[..], &words[..2]].map(decision);
    let declaration = pattern::DECLARATION
        .trim_start_matches('^')
        .trim_end_matches('$');
    vec![
        (
            "upgrade",
            json!({"description": "Whether what was applied before is brought to what the package says.", "type": "boolean", "default": false}),
        ),
        (
            "allowDowngrade",
            json!({"description": "For an upgrade: whether the package may be of a lower version.", "type": "boolean", "default": false}),
        ),
        (
            "allowDestructive",
            json!({"description": "For an upgrade: whether decisions may lose cells and rows.", "type": "boolean", "default": false}),
        ),
        (
            "baseJob",
            json!({"description": "For an upgrade: the job that it starts from; the newest one without it.", "type": "string", "format": "uuid"}),
        ),
        (
            "conflicts",
            json!({"description": "For an upgrade: what is taken where both sides changed something and no decision says otherwise.", "allOf": [side]}),
        ),
        (
            "decisions",
            json!({
                "description": "For an upgrade: what is decided, by ref and by path.",
                "type": "object",
                "propertyNames": {"pattern": format!("^(?:{declaration}|workspace)$")},
                "additionalProperties": {
                    "oneOf": [
                        {"type": "string", "enum": words},
                        {"type": "object", "properties": {"*": whole}, "additionalProperties": leaf},
                    ],
                },
            }),
        ),
    ]
}
