//! `tplkit job cancel`: stops a job.

use serde_json::json;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_progress::summary;
use crate::cli::job_titles::Names;
use crate::cli::output::write_result;
use crate::cli::remote::{self, Connection, ServerArgs};
use crate::cli::session::Session;

/// Cancel a job that has not ended.
///
/// What it has written stays: `job resume` continues the job, `job undo` removes what it wrote. On
/// a terminal the command prompts first; elsewhere it needs `--yes`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Cancel a job", "tplkit job cancel $JOB --yes"),
    ("Cancel a job, and print it as JSON", "tplkit job cancel $JOB --yes --format json"),
]))]
pub(super) struct Args {
    /// Id of the job.
    #[arg(value_name = "ID")]
    job: String,
    /// Do not prompt.
    #[arg(short, long)]
    yes: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let mut open = None;
    if !args.yes {
        // One that has ended has nothing to lose: the server says so.
        open = Some(super::of_id(&args.job, client.job(&args.job))?.record)
            .filter(|job| job.ended().is_none());
    }
    if let Some(job) = open {
        let progress = job.progress.as_ref();
        let progress = progress.map(|at| format!("\n  {} of {} done", at.done, at.total));
        let text = format!(
            "{}{}\nWhat it has written stays.",
            summary(&job, &Names::of_job(client, &job, session)),
            progress.unwrap_or_default()
        );
        let document = json!({"status": job.status});
        remote::agree(args.format, &text, document, "Cancel it?")?;
    }
    let job = super::of_id(&args.job, client.cancel(&args.job))?;
    let id = &args.job;
    let text = match args.format {
        Form::Text => format!("Job {id} is cancelled.\n"),
        Form::Json => document::write_raw("clean", &[("job", &*job.document)]),
    };
    write_result(&text, None)?;
    session.note(format!(
        "`tplkit job resume {id}` goes on where it stopped, `tplkit job undo {id}` takes away what it wrote"
    ));
    Ok(Exit::Done)
}
