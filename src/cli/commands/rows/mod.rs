//! `tplkit rows`: rows of tables on a server.

mod list;
mod progress;
mod table;

pub(super) use progress::Progress;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// Read rows from a server.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the rows of a table", "tplkit rows list orders"),
    ("Write them as CSV", "tplkit rows list orders --format csv > orders.csv"),
]))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let Command::List(args) = &args.command;
    list::run(args, session)
}
