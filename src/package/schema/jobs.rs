//! What an apply says: the plan before it, the report after it.

use serde_json::{Value, json};

use super::members::{count, id, kind, list, object, reference, text};
use super::upgrades;
use crate::problem::Code;

fn by_ref(description: &str, table: &Value) -> Value {
    json!({"description": description, "type": "object", "additionalProperties": table})
}

fn code() -> Value {
    let codes = Code::ALL.map(Code::as_str).to_vec();
    json!({"description": "Stable code of the reason.", "type": "string", "enum": codes})
}

fn renamed() -> Value {
    let fields = vec![
        ("kind", kind()),
        ("ref", reference()),
        ("from", text("Its name in the package.")),
        ("to", text("Its name at the destination.")),
    ];
    object("Something whose name was taken.", fields, &[])
}

fn dropped_key() -> Value {
    let fields = vec![
        ("ref", reference()),
        ("path", text("Dotted path inside the args of its step.")),
    ];
    object(
        "A config key that the definitions do not have.",
        fields,
        &[],
    )
}

fn unresolved() -> Value {
    let fields = vec![
        (
            "uid",
            text("uid of the item, of the rows item, or of the step that brought rows."),
        ),
        (
            "path",
            text("Dotted path inside the args of its step; `rows[].data.<column>`, `rows[]`."),
        ),
        ("kind", text("Kind of reference, or `rows`.")),
        (
            "form",
            json!({"description": "How the field holds it.", "type": "string", "enum": ["uuid", "name", "uuidOrName"]}),
        ),
        ("sourceLabel", text("Label of the target at the source.")),
        ("reason", text("Why it could not be carried over.")),
        ("action", text("What was done with the field.")),
        ("count", count("Rows concerned.")),
        ("ref", text("The dependency that was skipped.")),
        (
            "required",
            json!({"description": "The skipped dependency was required, or the column whose files did not travel.", "const": true}),
        ),
        (
            "source",
            json!({"description": "The package said so itself.", "const": "package"}),
        ),
    ];
    object(
        "A field, or the cells of a column, that could not be carried over.",
        fields,
        &["sourceLabel", "count", "ref", "required", "source"],
    )
}

fn stays_draft() -> Value {
    let because = object(
        "A place that somebody has to complete first.",
        vec![
            ("path", text("Dotted path inside the args of its step.")),
            (
                "reason",
                text(
                    "The reason of an unresolved entry, `redacted`, `secret_empty`, `workflow_moved`, or the code of the validator.",
                ),
            ),
        ],
        &[],
    );
    let because = list(
        "What has to be entered, one entry for each place.",
        &because,
    );
    object(
        "An automation that was live at the source and stays a draft.",
        vec![
            ("ref", reference()),
            ("name", text("Its name.")),
            ("because", because),
        ],
        &[],
    )
}

fn redacted() -> Value {
    object(
        "A secret that the export cleared.",
        vec![
            ("ref", reference()),
            ("name", text("Name of its record at the destination.")),
            ("path", text("Dotted path inside the args of its step.")),
            ("reason", text("What the package says about it.")),
        ],
        &[],
    )
}

fn not_carried() -> Value {
    let value = |description: &str| json!({"description": description});
    object(
        "A value of the package that is left out, because what it belongs to is there.",
        vec![
            ("kind", text("What it belongs to, or `rows`.")),
            ("ref", reference()),
            (
                "path",
                json!({"description": "Dotted path; `rows[].data.<column>` for cells; null for a whole record.", "type": ["string", "null"]}),
            ),
            (
                "base",
                value("The value that was applied last; not of cells."),
            ),
            ("theirs", value("The value of the package; not of cells.")),
            ("count", count("How many cells.")),
            (
                "required",
                json!({"description": "The cells name files, and the column is required.", "const": true}),
            ),
        ],
        &["base", "theirs", "count", "required"],
    )
}

fn destination_column() -> Value {
    text("The column at fault, as the destination names it.")
}

/// The report of a job.
pub(super) fn report() -> Value {
    let table = object(
        "What became of the rows of one table.",
        vec![
            ("inserted", count("Written by this pass.")),
            (
                "updated",
                count("Changed by steps of the plan or by an upgrade."),
            ),
            (
                "kept",
                count("Cells that stay as people made them, where there are some."),
            ),
            (
                "left",
                count("Rows that the package no longer has, where there are some."),
            ),
            ("skipped", count("Written by an earlier pass.")),
            ("existing", count("Left out by the rows mode.")),
            ("failed", count("Rows that could not be written.")),
            (
                "errors_more",
                count("Entries of `errors` that are left out, because there are too many."),
            ),
            (
                "linked",
                count("Cells that point at rows of the same table, where there are some."),
            ),
            (
                "recorded",
                count("Ids in the ledger, which an undo removes, where there are some."),
            ),
        ],
        &["linked", "recorded", "kept", "left"],
    );
    let error = object(
        "A row that could not be written, or the rest of a table when a quota is used up.",
        vec![
            ("ref", text("The ref of the table.")),
            (
                "first",
                count(
                    "Position of the row in its payload entry, from 0; for a quota that of the first row.",
                ),
            ),
            (
                "last",
                count("The same position; for a quota that of the table's last row."),
            ),
            ("code", code()),
            (
                "message",
                text("What is wrong, with the row and the column of the destination."),
            ),
            ("column", destination_column()),
            ("rowUid", text("uid of the row in the package.")),
        ],
        &["column", "rowUid"],
    );
    object(
        "The report.",
        vec![
            (
                "rows",
                by_ref("By the ref of a table: what became of its rows.", &table),
            ),
            ("published", count("Automations that went live.")),
            (
                "not_published",
                list(
                    "Automations that stay drafts until somebody completes them.",
                    &stays_draft(),
                ),
            ),
            (
                "unresolved",
                list("Everything that could not be carried over.", &unresolved()),
            ),
            ("renamed", list("Things that got another name.", &renamed())),
            (
                "dropped_keys",
                list("Config keys that were dropped.", &dropped_key()),
            ),
            ("errors", list("Rows that could not be written.", &error)),
            (
                "structure_updated",
                count("Leaves of records that an upgrade changed."),
            ),
            (
                "not_carried",
                list(
                    "What the package says and the destination did not get.",
                    &not_carried(),
                ),
            ),
            ("base", upgrades::base()),
            (
                "decided",
                count("Leaves, cells and records that somebody decided."),
            ),
            ("kept", upgrades::kept()),
            ("left", upgrades::left()),
            ("unused", upgrades::unused()),
            ("moved", upgrades::moved()),
            ("undo_left", upgrades::undo_left()),
        ],
        &["base", "unused", "moved", "undo_left"],
    )
}

/// What an apply would do.
pub(super) fn preview() -> Value {
    let named = |description: &str, last: (&'static str, Value)| {
        let name = ("name", text("Its name at the destination."));
        object(
            description,
            vec![("kind", kind()), ("ref", reference()), name, last],
            &[],
        )
    };
    let refusal = object(
        "A reason why it cannot be applied as asked.",
        vec![
            ("code", code()),
            (
                "ref",
                json!({"description": "The ref that it is about; null where there is none.", "type": ["string", "null"]}),
            ),
            ("detail", text("What is wrong and what to do.")),
            ("cells", count("How many filled cells would be lost.")),
            ("rows", count("How many rows would be lost.")),
        ],
        &["cells", "rows"],
    );
    let replaced = object(
        "A config that would be replaced.",
        vec![
            ("kind", kind()),
            ("ref", reference()),
            ("id", id()),
            (
                "before",
                json!({"description": "The config now: an object, or the list of a navigation entry.", "type": ["object", "array"]}),
            ),
            (
                "after",
                json!({"description": "The config then; `(new) <name>` stands for the id of what would be created.", "type": ["object", "array"]}),
            ),
        ],
        &[],
    );
    let reason = object(
        "Why rows of a table are refused.",
        vec![
            ("code", code()),
            ("column", destination_column()),
            ("count", count("How many rows.")),
        ],
        &["column"],
    );
    let table = object(
        "What would become of the rows of one table.",
        vec![
            ("insert", count("Written.")),
            ("existing", count("Left out by the rows mode.")),
            ("skipped", count("Written by an earlier job.")),
            (
                "dropped_links",
                count("Link cells that would become empty."),
            ),
            ("update", count("Rows that are there and get other cells.")),
            ("left", count("Rows that the package no longer has.")),
            ("kept", count("Cells that stay as people made them.")),
            ("conflicts", count("Cells that somebody has to decide.")),
            ("failed", count("Refused, so that they stay out.")),
            ("reasons", list("Why rows are refused.", &reason)),
        ],
        &[],
    );
    let live = object(
        "An automation that would go live.",
        vec![("ref", reference()), ("name", text("Its name."))],
        &[],
    );
    let mut created = named(
        "A record that would be created.",
        ("label", text("Its label.")),
    );
    created["properties"]["again"] = json!({
        "description": "People removed it, and it is created once more.",
        "const": true,
    });
    let bound = named("A record that an earlier job made.", ("id", id()));
    let mut members = vec![
        (
            "digest",
            json!({"description": "Sent back as `plan`, it holds an apply to this response.", "type": "string", "pattern": "^[0-9a-f]{64}$"}),
        ),
        (
            "refusals",
            list(
                "Why it cannot be applied as asked; then nothing else is known.",
                &refusal,
            ),
        ),
        ("create", list("What would be created, in order.", &created)),
        (
            "bind",
            list(
                "What an earlier job made and this one would bind to.",
                &bound,
            ),
        ),
        ("rename", list("What would get another name.", &renamed())),
        (
            "replaced_configs",
            list("Configs that would be replaced.", &replaced),
        ),
        (
            "dropped_keys",
            list("Config keys that would be dropped.", &dropped_key()),
        ),
        (
            "rows",
            by_ref(
                "By the ref of a table: what would become of its rows.",
                &table,
            ),
        ),
        ("go_live", list("Automations that would go live.", &live)),
        (
            "stays_draft",
            list("Automations that would stay drafts.", &stays_draft()),
        ),
        (
            "not_carried",
            list(
                "What the package brings for things that an apply leaves as they are.",
                &not_carried(),
            ),
        ),
        (
            "redacted",
            list("Secrets that somebody has to enter.", &redacted()),
        ),
    ];
    members.extend(upgrades::plan());
    object("The plan.", members, &["conflicts_more"])
}
