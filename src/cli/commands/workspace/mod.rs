//! `tplkit workspace`: the workspaces that may be seen, and the one that commands work on by default.

mod list;
mod use_default;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// List workspaces, and keep the one that commands work on.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the workspaces that you may see", "tplkit workspace list"),
    ("Work on one from now on", "tplkit workspace use coffee_shop"),
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
