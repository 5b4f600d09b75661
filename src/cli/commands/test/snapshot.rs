//! What a test reported before: the file `NAME.snap` next to it.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;
use tplkit::apply::Report;
use tplkit::package_tests::TestFailure;

use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::output::write_data;

/// Compares a report with the snapshot, when there is one; with `update` it is written.
pub(super) fn compare(
    test: &Path,
    report: &Report,
    update: bool,
) -> Result<Option<TestFailure>, CliError> {
    let path = test.with_extension("snap");
    let text = normalized(report);
    if update {
        write_data(&text, Some(&path))?;
        return Ok(None);
    }
    let before = match fs::read_to_string(&path) {
        Ok(before) => before,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(CliError::Read { path, source }),
    };
    if before.replace("\r\n", "\n") == text {
        return Ok(None);
    }
    let (expected, found) = (json(&before), json(&text));
    Ok(Some(TestFailure {
        path: "snapshot".to_owned(),
        expected,
        found,
    }))
}

fn json(text: &str) -> tplkit::json::Value {
    tplkit::json::Value::parse(text).unwrap_or_else(|_| text.into())
}

/// The report without ids and times.
fn normalized(report: &Report) -> String {
    let mut value = document::of(report);
    clean(&mut value);
    // A value always serializes.
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}

fn clean(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !matches!(key.as_str(), "id" | "job_id"));
            members.values_mut().for_each(clean);
        }
        Value::Array(elements) => elements.iter_mut().for_each(clean),
        Value::String(text) => {
            let is_id = text.len() == 36 && uuid::Uuid::try_parse(text).is_ok();
            if is_id {
                "(id)".clone_into(text);
            } else if text.parse::<jiff::Timestamp>().is_ok() {
                "(time)".clone_into(text);
            }
        }
        _ => {}
    }
}
