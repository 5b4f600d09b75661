//! `tplkit drift`: what people changed in what a template made.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use tplkit::client::{Client, Error};
use tplkit::printable;
use tplkit::upgrade::{Drift, RowsDrift};

use crate::cli::args::Form;
use crate::cli::candidates::Candidate;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{Connection, ServerArgs, subject};
use crate::cli::sections::section;
use crate::cli::session::Session;

/// Show what people changed in what a template made in a workspace.
///
/// What was applied last is compared with what is there. A template that was deleted since still has its
/// drift.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show what people changed", "tplkit drift sales-crm --workspace $WORKSPACE"),
    ("Fail when anything differs, cells of reference data included", "tplkit drift sales-crm --workspace $WORKSPACE --rows --exit-code"),
]))]
pub(crate) struct Args {
    /// The template: its id, or its name.
    #[arg(value_name = "TEMPLATE", required_unless_present = "target")]
    template: Option<PathBuf>,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Also show cells of reference data that differ; they count as drift.
    #[arg(long)]
    rows: bool,
    /// Of several separate copies, the one that this job belongs to.
    #[arg(long, value_name = "ID")]
    job: Option<String>,
    /// Exit with 1 when there is drift.
    #[arg(long)]
    exit_code: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut server = args.target.clone();
    let target = server.take_target(Path::new("."))?;
    let word = args.workspace.required(&target, &server)?;
    let subject = target.subject(args.template.as_deref())?;
    let subject = subject.to_string_lossy();
    let connection = Connection::open(&server, session)?;
    let client = &connection.client;
    let workspace = NamedWorkspace::find(client, &word)?.id.to_string();
    let template = template(client, &subject, &workspace)?;
    let found = client.drift(&workspace, &template, args.rows, args.job.as_deref());
    let found = found.map_err(not_applied)?;
    let drift = &found.record;
    let fails = args.exit_code && drift.drift;
    let text = match args.format {
        Form::Text => screen(&subject, drift),
        Form::Json => {
            let outcome = if fails { "findings" } else { "clean" };
            let members: Result<indexmap::IndexMap<&str, &RawValue>, _> =
                serde_json::from_str(found.document.get());
            let members: Vec<(&str, &RawValue)> = members.unwrap_or_default().into_iter().collect();
            document::write_raw(outcome, &members)
        }
    };
    write_result(&text, None)?;
    Ok(if fails { Exit::Findings } else { Exit::Done })
}

/// The id of a template: of one that was applied here, whether the catalog still has it or not, else of
/// one of the catalog.
fn template(client: &Client, word: &str, workspace: &str) -> Result<String, CliError> {
    if uuid::Uuid::try_parse(word).is_ok() {
        return Ok(word.to_owned());
    }
    let mut applied = BTreeSet::new();
    for page in client.applied(workspace) {
        let page = page.map_err(not_applied)?;
        let named = page.items.into_iter().map(|one| one.record);
        let named = named.filter(|one| one.name.as_deref() == Some(word));
        applied.extend(named.map(|one| one.template_id.to_string()));
    }
    let applied: Vec<String> = applied.into_iter().collect();
    match applied.as_slice() {
        [only] => Ok(only.clone()),
        [] => subject::template(client, word),
        several => Err(CliError::Candidates {
            message: format!(
                "`{}` names more than one template that was applied here",
                word.escape_debug()
            ),
            help: "give the id".to_owned(),
            candidates: several
                .iter()
                .map(|id| Candidate {
                    id: id.clone(),
                    name: Some(word.to_owned()),
                    ..Candidate::default()
                })
                .collect(),
            more: 0,
            path: None,
        }),
    }
}

fn not_applied(error: Error) -> CliError {
    if error.status() != Some(404) {
        return error.into();
    }
    CliError::Explained {
        source: Box::new(error),
        help: "this template was never applied to this workspace, all of it was undone, or you do not see the workspace; `tplkit status --workspace ID` lists what was applied".to_owned(),
    }
}

/// A drift on one screen.
fn screen(subject: &str, drift: &Drift) -> String {
    let semver = drift.base.semver.as_deref();
    let version = semver
        .map(|semver| format!(" {semver}"))
        .unwrap_or_default();
    let job = drift.base.job_id.map(|job| format!(", job {job}"));
    let verdict = if drift.drift { "drift" } else { "no drift" };
    let head = format!("{subject}{version}{}: {verdict}", job.unwrap_or_default());
    let mut out = printable::line(&head) + "\n";
    section(&mut out, "Changed", &drift.changed, |one| {
        let (kind, reference, path) = (one.kind.as_str(), &one.reference, &one.path);
        let (base, ours) = (one.base.write(), one.ours.write());
        format!("{kind} {reference} {path}: {base} -> {ours}")
    });
    section(&mut out, "Removed", &drift.removed, |one| {
        format!("{} {} ({})", one.kind.as_str(), one.reference, one.name)
    });
    section(&mut out, "Added", &drift.added, |one| {
        let (kind, name, label) = (one.kind.as_str(), &one.name, &one.label);
        format!("{kind} {name} ({label}) in {}", one.parent_ref)
    });
    let touched = drift.rows.iter();
    let touched: Vec<_> = touched
        .filter(|(_, rows)| **rows != RowsDrift::default())
        .collect();
    section(&mut out, "Rows", &touched, |(table, rows)| {
        let RowsDrift {
            added,
            deleted,
            changed,
        } = rows;
        format!("{table}  {added} added, {deleted} deleted, {changed} changed")
    });
    let cells = drift.cells.as_deref().unwrap_or_default();
    section(&mut out, "Cells", cells, |cell| {
        let (table, id, column) = (&cell.reference, cell.id, &cell.column);
        let (base, ours) = (cell.base.write(), cell.ours.write());
        format!("{table} {id} {column}: {base} -> {ours}")
    });
    if let Some(more) = drift.cells_more.filter(|more| *more > 0) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  and {more} more");
    }
    out
}
