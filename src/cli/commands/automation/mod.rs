//! `tplkit automation`: definitions of automations outside packages.

mod remote;
mod run;
mod validate;

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// Work on automation definitions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Validate(validate::ValidateArgs),
    Run(run::RunArgs),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    match &args.command {
        Command::Validate(args) => validate::run(args, session),
        Command::Run(args) => run::run(args, session),
    }
}
