//! `tplkit job`: the jobs that apply templates.

mod cancel;
mod list;
mod resume;
mod show;
mod undo;
mod watch;

use tplkit::client::Error;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// Show, watch, resume, cancel and undo the jobs that apply templates.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List your jobs", "tplkit job list"),
    ("Show the report of a job", "tplkit job show $JOB"),
]))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Watch(watch::Args),
    Resume(resume::Args),
    Cancel(cancel::Args),
    Undo(undo::Args),
}

/// What a server knows of a job, or the error that there is none.
fn of_id<T>(id: &str, found: Result<T, Error>) -> Result<T, CliError> {
    found.map_err(|error| unknown(id, error))
}

/// A refused look at a job. What no id can be is not a job either, whatever the server finds wrong with it.
fn unknown(id: &str, error: Error) -> CliError {
    let is_id = uuid::Uuid::try_parse(id).is_ok();
    match error.status() {
        Some(404 | 422) if !is_id => CliError::NoJob { id: id.to_owned() },
        _ => error.into(),
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    match &args.command {
        Command::List(args) => list::run(args, session),
        Command::Show(args) => show::run(args, session),
        Command::Watch(args) => watch::run(args, session),
        Command::Resume(args) => resume::run(args, session),
        Command::Cancel(args) => cancel::run(args, session),
        Command::Undo(args) => undo::run(args, session),
    }
}
