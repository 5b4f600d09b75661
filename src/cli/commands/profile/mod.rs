//! `tplkit profile`: the servers that are known on this machine, and the one that commands use.

mod list;
mod use_default;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// List profiles, and choose the one that commands use.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the profiles", "tplkit profile list"),
    ("Use one from now on", "tplkit profile use default"),
]))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Use(use_default::Args),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    match &args.command {
        Command::List(args) => list::run(args, session),
        Command::Use(args) => use_default::run(args, session),
    }
}
