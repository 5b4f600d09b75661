//! `tplkit job list`: lists the visible jobs.

use serde_json::value::RawValue;
use tplkit::client::{Job, WithDocument};

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_progress::summary;
use crate::cli::output::write_result;
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;

/// List the jobs that you may see, or those of one workspace.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List all jobs", "tplkit job list"),
    ("List the jobs of a workspace", "tplkit job list --workspace $WORKSPACE"),
]))]
pub(super) struct Args {
    /// Only jobs of this workspace.
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let mut jobs: Vec<WithDocument<Job>> = Vec::new();
    for page in connection.client.jobs(args.workspace.as_deref()) {
        jobs.extend(page?.items);
    }
    let text = match args.format {
        Form::Text => {
            let lines = jobs.iter().map(|job| summary(&job.record) + "\n");
            let lines: String = lines.collect();
            if lines.is_empty() {
                session.note("There is no job that you may see.");
            }
            lines
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
