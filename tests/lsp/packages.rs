//! Packages for conversations.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases")
}

/// A valid fixture, as its bytes are.
pub(crate) fn valid(name: &str) -> String {
    fs::read_to_string(cases().join("valid").join(format!("{name}.json"))).expect("fixture")
}

/// A valid fixture, indented.
pub(crate) fn indented(name: &str) -> String {
    let value: Value =
        serde_json::from_str(valid(name).trim_start_matches('\u{feff}')).expect("JSON");
    serde_json::to_string_pretty(&value).expect("JSON")
}

/// Line and column (ASCII text) of the `nth` place where `part` stands, `skip` characters into it.
pub(crate) fn place(text: &str, part: &str, nth: usize, skip: usize) -> (usize, usize) {
    let found = text.match_indices(part).nth(nth);
    let (at, _) = found.unwrap_or_else(|| panic!("{part:?} does not stand there {nth} times"));
    let before = &text[..at + skip];
    let line = before.matches('\n').count();
    (
        line,
        before.len() - before.rfind('\n').map_or(0, |at| at + 1),
    )
}

/// Makes edits of the protocol in a text, columns as bytes, without the code under test.
pub(crate) fn edited(text: &str, edits: &[Value]) -> String {
    let offset = |at: &Value| {
        let line = usize::try_from(at["line"].as_u64().expect("line")).expect("fits");
        let column = usize::try_from(at["character"].as_u64().expect("column")).expect("fits");
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + column
    };
    let mut spans: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let text = edit["newText"].as_str().expect("text");
            (offset(&range["start"]), offset(&range["end"]), text)
        })
        .collect();
    spans.sort_unstable();
    let mut out = text.to_owned();
    for (start, end, new) in spans.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

/// The edits of one document in a `WorkspaceEdit` of either form.
pub(crate) fn edits_of(edit: &Value, uri: &str) -> Vec<Value> {
    if let Some(edits) = edit["changes"][uri].as_array() {
        return edits.clone();
    }
    let changes = edit["documentChanges"].as_array().expect("changes");
    let of = changes
        .iter()
        .filter(|change| change["textDocument"]["uri"] == uri);
    of.flat_map(|change| change["edits"].as_array().expect("edits").clone())
        .collect()
}
