//! `tplkit resolve`: decides what takes the place of a package's dependencies.

mod check;
mod destination;
mod init;
mod init_args;
mod prompts;
mod suggest;
mod upgrade;

use clap::Subcommand;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// Decide what takes the place of everything that a package uses and does not carry.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Write down the decisions that a package needs", "tplkit resolve init event-planning.json --no-input -o resolutions.toml"),
    ("Check that everything is decided", "tplkit resolve check crm.json"),
]))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init_args::Args),
    Check(check::Args),
    Suggest(suggest::Args),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    match &args.command {
        Command::Init(args) => init::run(args, session),
        Command::Check(args) => check::run(args, session),
        Command::Suggest(args) => suggest::run(args, session),
    }
}
