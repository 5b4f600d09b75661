//! `tplkit drift`: what people changed in what a template made.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use tplkit::client::{Client, Error};
use tplkit::printable;
use tplkit::upgrade::{Drift, RowsDrift};
use tplkit::workspace::Id;

use crate::cli::args::Form;
use crate::cli::candidates::Candidate;
use crate::cli::catalog::{self, PushTarget};
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::item_titles::ItemTitles;
use crate::cli::output::{folded, write_result};
use crate::cli::package_file::{self, File};
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs, called};
use crate::cli::remote::{Connection, ServerArgs, subject};
use crate::cli::sections::section;
use crate::cli::session::Session;
use crate::cli::source::is_stdin;
use crate::cli::word_match::Choices;

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
    /// The template: its id, or its name. A package (a file, an unpacked folder, `-` for standard input) means
    /// the template that a push of it would replace.
    #[arg(value_name = "PKG|TEMPLATE", required_unless_present = "target")]
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
    let target = server.take_target(args.template.as_deref().unwrap_or(Path::new(".")))?;
    let word = args.workspace.required(&target, &server, session)?;
    let subject = target.subject(args.template.as_deref())?;
    let source = if is_stdin(&subject) || subject::is_package(&subject) {
        Some(package_file::read(&subject)?)
    } else {
        None
    };
    let file = match source.as_ref().map(File::checked).transpose() {
        Ok(file) => file,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let connection = Connection::open(&server, session)?;
    let client = &connection.client;
    let named = NamedWorkspace::find(client, &word)?;
    let workspace = named.id.to_string();
    let template = match &file {
        Some(file) => replaced_by(file, client, &named)?,
        None => template(client, &subject.to_string_lossy(), &workspace)?,
    };
    let found = client.drift(&workspace, &template, args.rows, args.job.as_deref());
    let found = found.map_err(|error| match &args.job {
        Some(job) if error.status() == Some(404) && is_applied(client, &template, &workspace) => {
            unknown_job(error, job)
        }
        _ => not_applied(error),
    })?;
    let drift = &found.record;
    let fails = args.exit_code && drift.drift;
    let text = match args.format {
        Form::Text => {
            let heading = Heading {
                template: applied_title(client, &template, &named, session),
                workspace: named.title(client, session),
                job: drift.base.job_id.filter(|_| session.is_verbose()),
            };
            let titles = ItemTitles::of_template(client, &template);
            folded(&screen(&heading, drift, &titles))
        }
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

/// The id of the template that a push of the file would replace: what is applied of a file is applied as that.
fn replaced_by(
    file: &File<'_>,
    client: &Client,
    workspace: &NamedWorkspace,
) -> Result<String, CliError> {
    let organization = workspace.require(client)?.organization_id;
    match catalog::meant(client, organization.as_deref(), &file.package) {
        Ok(PushTarget::ById(candidate) | PushTarget::ByName(candidate)) => Ok(candidate.id),
        Ok(PushTarget::New) => {
            let name = file.package.manifest.catalog.name.as_deref();
            let deleted = deleted_since(name, client, &workspace.id.to_string())?;
            deleted.ok_or_else(|| CliError::Usage {
                message: format!(
                    "the catalog has no template of `{}`",
                    printable::path(file.path)
                ),
                help: "`tplkit status` lists what was applied to the workspace: name one of these"
                    .to_owned(),
            })
        }
        Err(CliError::Candidates {
            message,
            candidates,
            more,
            path,
            ..
        }) => Err(CliError::Candidates {
            message,
            help: "name the template by its id".to_owned(),
            candidates,
            more,
            path,
        }),
        Err(error) => Err(error),
    }
}

/// The id of the one template of a name that was applied here and that the catalog has no more. One that it still
/// has is not the package's: a push would replace it.
fn deleted_since(
    name: Option<&str>,
    client: &Client,
    workspace: &str,
) -> Result<Option<String>, CliError> {
    let Some(name) = name else { return Ok(None) };
    let mut named = all_applied(client, workspace)?
        .into_iter()
        .filter(|one| one.name.as_deref() == Some(name));
    let (Some(only), None) = (named.next(), named.next()) else {
        return Ok(None);
    };
    let template = client.template(&only.id);
    let deleted = template.is_err_and(|error| error.status() == Some(404));
    Ok(deleted.then_some(only.id))
}

/// The id of a template: of one that was applied here, whether the catalog still has it or not, else of
/// one of the catalog.
fn template(client: &Client, word: &str, workspace: &str) -> Result<String, CliError> {
    if uuid::Uuid::try_parse(word).is_ok() {
        return Ok(word.to_owned());
    }
    let applied = all_applied(client, workspace)?;
    let choices = Choices {
        noun: "template that was applied here",
        none: None,
        all: &applied,
        help: "`tplkit status` lists what was applied",
    };
    if choices.fits(word) {
        return Ok(choices.find(word)?.id.clone());
    }
    subject::template(client, word)
}

/// The templates that were applied here.
fn all_applied(client: &Client, workspace: &str) -> Result<Vec<Candidate>, CliError> {
    let mut applied: BTreeMap<String, Candidate> = BTreeMap::new();
    for page in client.applied(workspace) {
        let page = page.map_err(not_applied)?;
        for one in page.items.into_iter().map(|one| one.record) {
            let id = one.template_id.to_string();
            // Each of its separate copies is listed.
            applied.entry(id.clone()).or_insert(Candidate {
                id,
                name: one.name,
                label: one.label,
                semver: one.semver,
                ..Candidate::default()
            });
        }
    }
    Ok(applied.into_values().collect())
}

/// Whether a template was applied here; not where that cannot be found out.
fn is_applied(client: &Client, template: &str, workspace: &str) -> bool {
    let mut pages = client.applied(workspace);
    pages.any(|page| {
        page.is_ok_and(|page| {
            let mut items = page.items.into_iter();
            items.any(|one| one.record.template_id.to_string() == template)
        })
    })
}

fn unknown_job(error: Error, job: &str) -> CliError {
    CliError::Explained {
        source: Box::new(error),
        help: format!(
            "no job `{}` applied this template to this workspace; `tplkit job list --workspace ID` lists the jobs",
            job.escape_debug()
        ),
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

/// What a drift is of, as people call it.
struct Heading {
    template: String,
    workspace: String,
    /// The job that was applied last, for whoever wants to know more.
    job: Option<Id>,
}

/// What was applied, by its label; the catalog may not have it any more.
fn applied_title(
    client: &Client,
    template: &str,
    workspace: &NamedWorkspace,
    session: &Session,
) -> String {
    let mut pages = client.applied(&workspace.id.to_string());
    let found = pages.find_map(|page| {
        let mut entries = page.ok()?.items.into_iter().map(|one| one.record);
        entries.find(|one| one.template_id.to_string() == template)
    });
    let Some(found) = found else {
        return printable::line(template);
    };
    let more = session.is_verbose().then_some(template);
    called(
        found.label.as_deref(),
        found.name.as_deref(),
        template,
        more,
    )
}

/// A drift on one screen.
fn screen(heading: &Heading, drift: &Drift, titles: &ItemTitles) -> String {
    let semver = drift.base.semver.as_deref();
    let version = semver
        .map(|semver| format!(" {semver}"))
        .unwrap_or_default();
    let job = heading.job.map(|job| format!(", job {job}"));
    let job = job.unwrap_or_default();
    let verdict = if drift.drift { "drift" } else { "no drift" };
    let (template, workspace) = (&heading.template, &heading.workspace);
    let head = format!("{template}{version} in workspace {workspace}{job}: {verdict}");
    let mut out = printable::line(&head) + "\n";
    section(&mut out, "Changed", &drift.changed, |one| {
        let of = titles.with_kind(one.kind, &one.reference);
        let (base, ours) = (one.base.write(), one.ours.write());
        format!("{of} {}: {base} -> {ours}", one.path)
    });
    section(&mut out, "Removed", &drift.removed, |one| {
        format!(
            "{} ({})",
            titles.with_kind(one.kind, &one.reference),
            one.name
        )
    });
    section(&mut out, "Added", &drift.added, |one| {
        let (kind, name, label) = (one.kind.noun(), &one.name, &one.label);
        format!(
            "{kind} {label:?} ({name}) in {}",
            titles.of(&one.parent_ref)
        )
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
        let table = titles.of(table);
        format!("{table}  {added} added, {deleted} deleted, {changed} changed")
    });
    let cells = drift.cells.as_deref().unwrap_or_default();
    section(&mut out, "Cells", cells, |cell| {
        let (table, id, column) = (titles.of(&cell.reference), cell.id, &cell.column);
        let (base, ours) = (cell.base.write(), cell.ours.write());
        format!("{table} {id} {column}: {base} -> {ours}")
    });
    if let Some(more) = drift.cells_more.filter(|more| *more > 0) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  and {more} more");
    }
    out
}
