//! Reads resolutions files, and describes what they leave undecided.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use tplkit::apply::{Refusal, Request, RowsMode};
use tplkit::finding::render::counted;
use tplkit::printable;

use super::args::Form;
use super::error::CliError;
use super::exit::Exit;
use super::output::{folded, write_result};
use super::{document, source};

/// Reads a file: JSON in the form of an apply body, or TOML as `resolve init` writes it.
pub(crate) fn read(path: Option<&Path>) -> Result<Request, CliError> {
    let Some(path) = path else {
        return Ok(Request::default());
    };
    let text = source::read_text(path)?;
    let read = if text.trim_start().starts_with('{') {
        Request::from_json(&text)
    } else {
        Request::from_toml(&text)
    };
    read.map_err(|refusals| CliError::Resolutions {
        path: path.to_owned(),
        refusals,
    })
}

/// A rows mode on the command line: `MODE` for every table, or `REF=MODE`.
pub(crate) fn rows_mode(word: &str) -> Result<(Option<String>, RowsMode), String> {
    let (table, mode) = match word.split_once('=') {
        Some((table, mode)) => (Some(table), mode),
        None => (None, word),
    };
    let mode = RowsMode::parse(mode).ok_or_else(|| {
        "give `all`, `missingByKey` or `none`, or `REF=` and one of them".to_owned()
    })?;
    let table = table.map(|table| table.strip_prefix('$').unwrap_or(table).to_owned());
    Ok((table, mode))
}

/// The same for one table.
pub(crate) fn mode_of_table(word: &str) -> Result<(String, RowsMode), String> {
    match rows_mode(word)? {
        (Some(table), mode) if !table.is_empty() => Ok((table, mode)),
        _ => Err("name the table, too: `REF=MODE`".to_owned()),
    }
}

/// Refuses modes of which a table has more than one: nobody can tell which is meant. No name means every table.
pub(crate) fn refuse_repeated<'t>(
    flag: &str,
    tables: impl Iterator<Item = Option<&'t str>>,
) -> Result<(), CliError> {
    let mut known = HashSet::new();
    for table in tables {
        if !known.insert(table) {
            let table = table.map(|table| format!("`{}`", table.escape_debug()));
            let table = table.unwrap_or_else(|| "every table".to_owned());
            return Err(CliError::Usage {
                message: format!("`{flag}` gives {table} more than one mode"),
                help: "give it one".to_owned(),
            });
        }
    }
    Ok(())
}

/// Says why a package cannot be applied as asked.
pub(crate) fn refuse(path: &Path, refusals: &[Refusal], form: Form) -> Result<Exit, CliError> {
    let text = match form {
        Form::Text => folded(&text(path, refusals)),
        Form::Json => document::write(
            "findings",
            &json!({"path": path.to_string_lossy(), "refusals": refusals}),
        ),
    };
    write_result(&text, None)?;
    Ok(Exit::Findings)
}

fn text(path: &Path, refusals: &[Refusal]) -> String {
    let mut out = format!(
        "`{}` cannot be applied as asked: {}\n",
        printable::path(path),
        counted(refusals.len(), "refusal")
    );
    for refusal in refusals {
        let about = refusal.reference.as_deref().unwrap_or_default();
        // Writing to a String cannot fail.
        let why = printable::line(&refusal.detail);
        let _ = write!(out, "\n{} {about}\n  {why}\n", refusal.code);
    }
    out
}

#[cfg(test)]
mod tests {
    use tplkit::apply::RowsMode;

    use super::mode_of_table;

    #[test]
    fn a_mode_is_that_of_a_table() {
        let found = mode_of_table("$f_notes=all").expect("a mode");
        assert_eq!(found.0, "f_notes");
        assert!(matches!(found.1, RowsMode::All));
        for word in ["all", "=all", "$=all", "f_notes=some"] {
            assert!(mode_of_table(word).is_err(), "{word}");
        }
    }
}
