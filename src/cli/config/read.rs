//! Reads a `tplkit.toml` strictly: an unknown key is an error with its position.

use std::path::Path;

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tplkit::finding::selection::{Selection, Selector};

use super::{Config, NamedFile, target};
use crate::cli::error::CliError;
use crate::cli::source;
use crate::cli::toml_file::TomlFile;

/// What to do about a mistake.
const HELP: &str = "`tplkit schema config` shows what the file may hold";

pub(super) fn read(path: &Path) -> Result<Config, CliError> {
    let source = source::open(path)?;
    let bytes = source.bytes();
    let text = valid(bytes);
    let file = TomlFile {
        path: path.to_owned(),
        text: text.trim_start_matches('\u{feff}'),
        help: HELP,
    };
    if text.len() < bytes.len() {
        return Err(file.wrong(file.text.len(), "this byte is not UTF-8"));
    }
    let root = file.parse()?;
    let root = root.get_ref();
    file.refuse_unknown_keys(
        root,
        &[
            "select",
            "ignore",
            "warn",
            "deny",
            "baseline",
            "definitions",
            "targets",
        ],
    )?;
    let rules = |key: &str| rules(&file, root.get(key));
    Ok(Config {
        path: path.to_owned(),
        selection: Selection {
            select: rules("select")?,
            ignore: rules("ignore")?,
            warn: rules("warn")?,
            deny: rules("deny")?,
            beneath: None,
        },
        baseline: named_file(&file, root, "baseline")?,
        definitions: named_file(&file, root, "definitions")?,
        targets: match root.get("targets") {
            None => IndexMap::new(),
            Some(targets) => target::read(&file, file.table(targets)?)?,
        },
    })
}

/// As much of a file as is text.
fn valid(bytes: &[u8]) -> &str {
    let whole = std::str::from_utf8(bytes);
    whole.unwrap_or_else(|error| {
        std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
    })
}

/// Rules as the command line takes them: codes, prefixes, names and words.
fn rules<'t>(
    file: &TomlFile<'t>,
    list: Option<&Spanned<DeValue<'t>>>,
) -> Result<Vec<Selector>, CliError> {
    let words = list.map(|list| file.list(list)).transpose()?;
    let words = words.unwrap_or_default().into_iter();
    let read = words.map(|word| {
        let parsed = file.string(word)?.parse::<Selector>();
        parsed.map_err(|unknown| file.wrong(word.span().start, unknown.to_string()))
    });
    read.collect()
}

/// A file, with the place that names it.
fn named_file<'t>(
    file: &TomlFile<'t>,
    table: &DeTable<'t>,
    key: &str,
) -> Result<Option<NamedFile>, CliError> {
    let Some(path) = file.file_at(table, key)? else {
        return Ok(None);
    };
    let start = table.get(key).map_or(0, |value| value.span().start);
    let place = file.place(start);
    Ok(Some(NamedFile { path, place }))
}
