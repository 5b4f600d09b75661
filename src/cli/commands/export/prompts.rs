//! Prompts for the selection. Rows beyond the limits of a payload are not offered.

use dialoguer::{Error, MultiSelect};
use serde::Deserialize;
use tplkit::client::{Client, Request};
use tplkit::export::{RowsSelection, Selection};
use tplkit::finding::render::counted;
use tplkit::package::size::MOST_ROWS;
use tplkit::workspace::{Feature, Id, Structure};

use crate::cli::error::CliError;
use crate::cli::prompt_error::choice_error;
use crate::cli::session::Session;

/// How to choose without prompts.
const HELP: &str = "give `--no-input`, and choose with flags";

/// Asks for tables, modules and automations, then for the tables whose rows travel.
pub(super) fn selection(
    client: &Client,
    structure: &Structure,
    session: &Session,
) -> Result<Selection, CliError> {
    let tables: Vec<(Id, String)> = structure
        .features
        .iter()
        .map(|one| (one.id, format!("{} ({})", one.label, one.name)))
        .collect();
    let features = pick("Tables", &tables, true)?;
    let modules = structure.modules.iter();
    let modules: Vec<(Id, String)> = modules
        .map(|one| (one.id, format!("{} ({})", one.label, one.name)))
        .collect();
    let modules = pick("Modules", &modules, true)?;
    let automations = structure.automations.iter();
    let automations: Vec<(Id, String)> =
        automations.map(|one| (one.id, one.name.clone())).collect();
    let workflows = pick("Automations", &automations, true)?;
    let chosen = structure
        .features
        .iter()
        .filter(|one| features.contains(&one.id));
    let rows = rows(client, chosen, session)?;
    Ok(Selection {
        features: Some(features),
        modules: Some(modules),
        workflows: Some(workflows),
        rows: RowsSelection::Some(rows),
        ..Selection::default()
    })
}

fn rows<'s>(
    client: &Client,
    tables: impl Iterator<Item = &'s Feature>,
    session: &Session,
) -> Result<Vec<Id>, CliError> {
    let mut offered = Vec::new();
    for table in tables {
        let count = count(client, table.id)?;
        if count > MOST_ROWS as u64 {
            session.note(format!(
                "{} has {count} rows: more than the {MOST_ROWS} that a payload should hold, so they stay",
                table.label
            ));
        } else if count > 0 {
            let rows = counted(usize::try_from(count).unwrap_or(usize::MAX), "row");
            offered.push((table.id, format!("{}: {rows}", table.label)));
        }
    }
    pick("Rows", &offered, false)
}

/// How many rows a table has.
fn count(client: &Client, table: Id) -> Result<u64, CliError> {
    /// An aggregate; for a count both members say the same.
    #[derive(Deserialize)]
    struct RowCount {
        rows_considered: u64,
    }
    let path = format!("/v1/features/{table}/rows:aggregate");
    let counted: RowCount = client.read(&Request::get(path).with("op", "count"))?;
    Ok(counted.rows_considered)
}

fn pick(prompt: &str, things: &[(Id, String)], all: bool) -> Result<Vec<Id>, CliError> {
    if things.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<&String> = things.iter().map(|(_, words)| words).collect();
    let chosen = MultiSelect::new()
        .with_prompt(format!("{prompt} (space chooses, return goes on)"))
        .items(&words)
        .defaults(&vec![all; words.len()])
        .interact()
        .map_err(|Error::IO(error)| choice_error(&error, HELP))?;
    let ids = chosen.into_iter().filter_map(|at| things.get(at));
    Ok(ids.map(|(id, _)| *id).collect())
}
