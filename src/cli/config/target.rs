//! `[targets.NAME]`: a workspace on a server, and what is applied to it.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tplkit::apply::RowsMode;
use tplkit::finding::suggest;

use super::{Config, Configs, NAME};
use crate::cli::candidates::Candidate;
use crate::cli::error::CliError;
use crate::cli::resolutions;
use crate::cli::toml_file::TomlFile;

/// What one target says. Each flag of the same name goes first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    /// Address of the server.
    pub(crate) url: Option<String>,
    /// The workspace to work on: its id, name or label, or `ORG/NAME`.
    pub(crate) workspace: Option<String>,
    /// What is applied: a package, or a template by id or name.
    pub(crate) template: Option<PathBuf>,
    /// Decisions about dependencies.
    pub(crate) resolutions: Option<PathBuf>,
    /// Which rows of which table are written.
    pub(crate) rows: Vec<(String, RowsMode)>,
}

/// Reads the table of targets.
pub(super) fn read<'t>(
    file: &TomlFile<'t>,
    targets: &DeTable<'t>,
) -> Result<IndexMap<String, Target>, CliError> {
    let targets = targets.iter().map(|(name, target)| {
        let target = one(file, file.table(target)?)?;
        Ok((name.get_ref().to_string(), target))
    });
    targets.collect()
}

fn one<'t>(file: &TomlFile<'t>, table: &DeTable<'t>) -> Result<Target, CliError> {
    file.refuse_unknown_keys(
        table,
        &["url", "workspace", "template", "resolutions", "rows"],
    )?;
    let string = |key: &str| table.get(key).map(|value| file.string(value)).transpose();
    let workspace = table.get("workspace").map(|value| {
        let word = file.string(value)?;
        if word.is_empty() {
            let why = "name a workspace: its id, name or label, or `ORG/NAME`";
            return Err(file.wrong(value.span().start, why));
        }
        Ok(word)
    });
    Ok(Target {
        url: string("url")?,
        workspace: workspace.transpose()?,
        template: string("template")?.map(|word| subject(&file.path, word)),
        resolutions: file.file_at(table, "resolutions")?,
        rows: match table.get("rows") {
            None => Vec::new(),
            Some(rows) => rows_of(file, rows)?,
        },
    })
}

/// A path is relative to the file; a template of the catalog is a word.
fn subject(file: &Path, word: String) -> PathBuf {
    let path = file.parent().unwrap_or(Path::new("")).join(&word);
    let is_path = word.contains(['/', '\\']) || word.to_ascii_lowercase().ends_with(".json");
    if is_path || path.exists() {
        path
    } else {
        PathBuf::from(word)
    }
}

/// A table `ref = mode`, or a list of `REF=MODE` as `--rows` takes it; each table once.
fn rows_of<'t>(
    file: &TomlFile<'t>,
    rows: &Spanned<DeValue<'t>>,
) -> Result<Vec<(String, RowsMode)>, CliError> {
    let mut modes: Vec<(String, RowsMode)> = Vec::new();
    let mut add = |word: &str, at: &Spanned<DeValue<'t>>| -> Result<(), CliError> {
        let start = at.span().start;
        let mode = resolutions::mode_of_table(word).map_err(|why| file.wrong(start, why))?;
        if modes.iter().any(|(table, _)| *table == mode.0) {
            let why = format!("`{}` has a mode already", mode.0.escape_debug());
            return Err(file.wrong(start, why));
        }
        modes.push(mode);
        Ok(())
    };
    if let DeValue::Table(table) = rows.get_ref() {
        table.iter().try_for_each(|(table, mode)| {
            let word = file.string(mode)?;
            add(&format!("{}={word}", table.get_ref()), mode)
        })?;
    } else {
        for word in file.list(rows)? {
            add(&file.string(word)?, word)?;
        }
    }
    Ok(modes)
}

impl Target {
    /// The package or template: the one of the command line, else the one here.
    ///
    /// # Errors
    /// Neither names one.
    pub(crate) fn subject(&self, word: Option<&Path>) -> Result<PathBuf, CliError> {
        let subject = word.or(self.template.as_deref()).map(Path::to_owned);
        subject.ok_or_else(|| CliError::Usage {
            message: "no package and no template is named".to_owned(),
            help: "name one, or give `template` in the target".to_owned(),
        })
    }
}

impl Config {
    /// The target of that name.
    ///
    /// # Errors
    /// There is none; the error names what is there.
    pub(crate) fn target(&self, name: &str) -> Result<&Target, CliError> {
        self.targets.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.targets.keys().map(String::as_str).collect();
            let near = suggest::help(name, names);
            let candidates = self.targets.iter().map(|(name, target)| Candidate {
                id: name.clone(),
                name: Some(name.clone()),
                label: target.workspace.clone().or_else(|| target.url.clone()),
                ..Candidate::default()
            });
            CliError::Candidates {
                message: format!(
                    "`{}` has no target `{}`",
                    tplkit::printable::path(&self.path),
                    name.escape_debug()
                ),
                help: near.unwrap_or_else(|| format!("write a table `[targets.{name}]`")),
                candidates: candidates.collect(),
                more: 0,
                path: Some(self.path.clone()),
            }
        })
    }
}

/// The target that `--target` names, in the file nearest to `from`.
///
/// # Errors
/// There is no file, or none of that name in it.
pub(crate) fn target(name: &str, from: &Path) -> Result<Target, CliError> {
    match Configs::default().of(from)? {
        Some(config) => config.target(name).cloned(),
        None => Err(CliError::Usage {
            message: format!("`--target` names a table of a `{NAME}`, and there is none"),
            help: format!("write a `{NAME}` with a table `[targets.{name}]`"),
        }),
    }
}
