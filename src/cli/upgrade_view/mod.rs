//! What an upgrade does and asks, shown to people: conflicts first.
//!
//! | Module | What |
//! |---|---|
//! | `text` | the parts of a plan as text |
//! | `markdown` | a plan as a comment on a pull request |
//! | `decision` | the lines of a resolutions file that decide conflicts |
//! | `prompts` | conflicts asked about on a terminal |

mod decision;
mod markdown;
mod prompts;
mod text;

use indexmap::IndexMap;
use tplkit::json::Value;
use tplkit::upgrade::{Conflict, LeftRecord};
use tplkit::workspace::RecordKind;

pub(crate) use decision::{decision_path, decisions_file};
pub(crate) use markdown::markdown;
pub(crate) use prompts::{PromptOutcome, decide_conflicts};
pub(crate) use text::{not_carried, upgrade};

/// Entries by the record that they belong to, in the order of their first.
fn by_record<T>(
    entries: &[T],
    record: impl Fn(&T) -> (String, String),
) -> IndexMap<(String, String), Vec<&T>> {
    let mut groups: IndexMap<(String, String), Vec<&T>> = IndexMap::new();
    for entry in entries {
        groups.entry(record(entry)).or_default().push(entry);
    }
    groups
}

/// A value in a line; what is null is not there.
fn inline_value(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        value => value.write(),
    }
}

/// The three sides of a conflict as they are shown; nothing of a conflict about a whole record.
fn sides(conflict: &Conflict) -> Option<[(&'static str, String); 3]> {
    conflict.path.as_ref()?;
    let side = |name: &'static str, value: &Value| {
        let absent = conflict.absent.iter().any(|absent| absent == name);
        let value = if absent {
            "(none)".to_owned()
        } else {
            value.write()
        };
        (name, value)
    };
    Some([
        side("base", &conflict.base),
        side("theirs", &conflict.theirs),
        side("ours", &conflict.ours),
    ])
}

/// What a conflict is about: `column "Price"`, `rows of "Teas"`.
fn about(conflict: &Conflict, label: Option<&str>) -> String {
    let noun = RecordKind::parse(&conflict.kind).map_or("rows", RecordKind::noun);
    match label {
        Some(label) if noun == "rows" => format!("rows of {label:?}"),
        Some(label) => format!("{noun} {label:?}"),
        None => noun.to_owned(),
    }
}

/// Whether a record goes, and what goes with it.
fn goes(left: &LeftRecord) -> String {
    if !left.delete {
        return String::new();
    }
    let counted = |count: u64, noun| {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        tplkit::finding::render::counted(count, noun)
    };
    match (left.rows, left.cells) {
        (Some(rows), _) => format!(": goes with {}", counted(rows, "row")),
        (_, Some(cells)) => format!(": goes with {}", counted(cells, "cell")),
        _ => ": goes".to_owned(),
    }
}

/// How many cells a conflict is about, and which rows are the first; empty when it does not count.
fn counted_cells(conflict: &Conflict) -> String {
    let Some(count) = conflict.count else {
        return match conflict.leaves.as_slice() {
            [] => String::new(),
            leaves => format!(": {}", leaves.join(", ")),
        };
    };
    let noun = if conflict.kind == "rows" {
        "hidden cell"
    } else {
        "cell"
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let count = tplkit::finding::render::counted(count, noun);
    let places: Vec<String> = conflict.places.iter().map(ToString::to_string).collect();
    if places.is_empty() {
        format!(": {count}")
    } else {
        format!(": {count}, in rows {}", places.join(", "))
    }
}
