//! The requested rows mode of each table.

use super::refusals::unknown;
use super::steps::used_in;
use crate::apply::{Mode, Refusal, Request, RowsMode};
use crate::check::Checked;
use crate::package::Tool;
use crate::package::payload::RawEntry;
use crate::problem::Code;

/// Checks the rows modes of a request.
pub(super) fn check(package: &Checked<'_>, request: &Request, refusals: &mut Vec<Refusal>) {
    let mut known: Vec<&str> = package
        .payloads
        .iter()
        .map(|entry| entry.feature_ref.as_str())
        .collect();
    for step in &package.manifest.plan.steps {
        let table = match step.tool {
            Tool::CreateFeature => step.reference.as_deref(),
            tool if tool.is_row_tool() => used_in(&step.args, "featureId"),
            _ => None,
        };
        known.extend(table.filter(|table| !known.contains(table)));
    }
    for (reference, mode) in &request.rows_modes {
        if !known.contains(&reference.as_str()) {
            let what = "is not a table of this package that rows enter";
            refusals.push(unknown(reference, what, known.iter().copied()));
            continue;
        }
        let entry = package
            .payloads
            .iter()
            .find(|entry| entry.feature_ref == *reference);
        if request.include_rows && *mode == RowsMode::MissingByKey && entry.and_then(key).is_none()
        {
            refusals.push(Refusal::about(
                Code::RowsModeWithoutKey,
                reference,
                format!(
                    "the rows of `{reference}` have no verified key (`keyColumn` with `keyUnique: true`), so that nobody can tell which of them are missing. Take `all` or `none`."
                ),
            ));
        }
    }
}

/// The verified key of a table.
fn key<'e>(entry: &'e RawEntry<'_>) -> Option<&'e str> {
    entry.key_column.as_deref().filter(|_| entry.key_unique)
}

/// Which rows of an entry enter, after the request was checked.
pub(super) fn of(request: &Request, entry: &RawEntry<'_>) -> Mode {
    let mode = request.rows_modes.get(&entry.feature_ref).copied();
    match (request.include_rows, mode.unwrap_or_default(), key(entry)) {
        (true, RowsMode::All, _) => Mode::All,
        (true, RowsMode::MissingByKey, Some(column)) => Mode::MissingByKey {
            column: column.to_owned(),
        },
        _ => Mode::None,
    }
}

/// Whether rows of that table are written at all.
pub(super) fn writes(request: &Request, feature_ref: &str) -> bool {
    request.include_rows && request.rows_modes.get(feature_ref) != Some(&RowsMode::None)
}
