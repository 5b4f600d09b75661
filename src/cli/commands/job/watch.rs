//! `tplkit job watch`: waits for the end of a job.

use std::cell::Cell;

use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::job_progress::{
    OutcomeReport, Poll, WATCH_TIMEOUT, WaitOptions, conclude, follow_by,
};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::resume_hint::{self, ResumeHint};
use crate::cli::session::Session;

/// Wait for the end of a job, and report how it ended.
///
/// Watching changes nothing: the job runs with or without this command. For a job that is being
/// undone or was undone, the command waits for the end of the undo and exits with 0.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Wait for the end of a job", "tplkit job watch $JOB"),
    ("Wait ten minutes at most, and fail when something was not carried over", "tplkit job watch $JOB --wait 10m --fail-on-unresolved"),
]))]
pub(super) struct Args {
    /// Id of the job.
    #[arg(value_name = "ID")]
    job: String,
    #[command(flatten)]
    waiting: WaitOptions,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let way = ResumeHint::Job(args.job.clone());
    // Of a job that nobody has seen nothing goes on.
    let seen = Cell::new(false);
    let poll = Poll::new(session, args.waiting.limit()).patient(WATCH_TIMEOUT);
    let followed = follow_by(&poll, client, &args.job, session, || {
        seen.set(true);
        resume_hint::leave(&way, args.format);
    });
    let followed = followed.map_err(|error| match error {
        error if seen.get() => way.of(error),
        CliError::Remote(error) => super::unknown(&args.job, *error),
        error => error,
    })?;
    let reported = OutcomeReport {
        members: &[],
        form: args.format,
        undo: true,
        id_shown: false,
    };
    conclude(client, &args.job, followed, &args.waiting, &reported)
}
