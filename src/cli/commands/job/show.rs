//! `tplkit job show`: one job with its report.

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_progress::{summary, text};
use crate::cli::job_titles::Names;
use crate::cli::output::{folded, write_result};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;

/// Show a job with its report.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Show a job", "tplkit job show $JOB"),
    ("Show it as JSON, for a program", "tplkit job show $JOB --format json"),
]))]
pub(super) struct Args {
    /// Id of the job.
    #[arg(value_name = "ID")]
    job: String,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let job = super::of_id(&args.job, connection.client.job(&args.job))?;
    let out = match args.format {
        Form::Text => {
            let why = job.record.failure().map(|why| format!("\n{why}\n"));
            let why = why.unwrap_or_default();
            let report = text(&connection.client, &job);
            let names = Names::of_job(&connection.client, &job.record, session);
            folded(&format!("{}\n{report}{why}", summary(&job.record, &names)))
        }
        Form::Json => document::write_raw("clean", &[("job", &*job.document)]),
    };
    write_result(&out, None)?;
    Ok(Exit::Done)
}
