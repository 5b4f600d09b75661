//! `tplkit job list`: lists the visible jobs.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use serde_json::value::RawValue;
use tplkit::client::{Job, WithDocument};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_titles::Names;
use crate::cli::output::write_result;
use crate::cli::relative_time::moment;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::sections::columns;
use crate::cli::session::Session;

/// List the jobs that you may see, or those of one workspace.
///
/// Where a default workspace is kept, only its jobs are listed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List all jobs", "tplkit job list"),
    ("List the jobs of a workspace", "tplkit job list --workspace $WORKSPACE"),
]))]
pub(super) struct Args {
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// List the jobs of all workspaces, although a default workspace is kept.
    #[arg(long, conflicts_with = "workspace")]
    all: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut server = args.target.clone();
    let target = server.take_target(Path::new("."))?;
    let word = if args.all {
        None
    } else {
        args.workspace.word(&target, &server)?
    };
    let connection = Connection::open(&server, session)?;
    let client = &connection.client;
    let workspace = word.map(|word| NamedWorkspace::find(client, &word));
    let workspace = workspace.transpose()?;
    if let (Some(workspace), None) = (&workspace, &args.workspace.workspace)
        && args.format == Form::Text
    {
        session.note(format!(
            "note: the jobs of workspace {}; `--all` lists those of every workspace",
            workspace.title(client, session)
        ));
    }
    let id = workspace.map(|workspace| workspace.id.to_string());
    let mut jobs: Vec<WithDocument<Job>> = Vec::new();
    for page in client.jobs(id.as_deref()) {
        jobs.extend(page?.items);
    }
    let text = match args.format {
        Form::Text => {
            if jobs.is_empty() {
                session.note("There is no job that you may see.");
            }
            let records = jobs.iter().map(|job| &job.record);
            let names = Names::of_jobs(client, records.clone(), session);
            let lines = records.map(|job| line(job, &names));
            if io::stdout().is_terminal() {
                headed(lines, id.is_some())
            } else {
                columns(&lines.map(labelled).collect::<Vec<_>>())
            }
        }
        Form::Json => {
            let items: Vec<Box<RawValue>> = jobs.into_iter().map(|job| job.document).collect();
            let data = document::page(&items, None);
            document::write_raw("clean", &[("data", &*data)])
        }
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

/// Id, status, template, workspace, when it began, and who holds it.
type Line = [String; 6];

/// A job by what people call its template and its workspace.
fn line(job: &Job, names: &Names) -> Line {
    let or = |text: &Option<String>| printable::line(text.as_deref().unwrap_or("-"));
    let lock = job.locked_until().filter(|_| job.ended().is_none());
    let lock = lock.map(|until| format!("held until {}", printable::line(until)));
    [
        or(&job.id),
        printable::line(&job.status),
        names.title(job.template_id.as_deref()),
        names.title(job.workspace_id.as_deref()),
        moment(job.created_at.as_deref()),
        lock.unwrap_or_default(),
    ]
}

/// For programs, which look at one line at a time: it says what is what.
fn labelled([id, status, template, workspace, began, lock]: Line) -> Line {
    let template = format!("template {template}");
    let workspace = format!("workspace {workspace}");
    [id, status, template, workspace, began, lock]
}

/// For people, under a heading; a workspace that is known to them is not said again in each line.
fn headed(lines: impl Iterator<Item = Line>, known_workspace: bool) -> String {
    let heading = ["JOB", "STATUS", "TEMPLATE", "WORKSPACE", "STARTED", ""].map(str::to_owned);
    let lines: Vec<Line> = std::iter::once(heading).chain(lines).collect();
    if lines.len() == 1 {
        return String::new();
    }
    if !known_workspace {
        return columns(&lines);
    }
    let lines = lines.into_iter();
    let lines =
        lines.map(|[id, status, template, _, began, lock]| [id, status, template, began, lock]);
    columns(&lines.collect::<Vec<_>>())
}
