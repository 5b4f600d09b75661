//! `tplkit job`: the jobs that apply templates.

mod cancel;
mod list;
mod resume;
mod show;
mod undo;
mod watch;

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
