//! `tplkit automation`: definitions of automations outside packages, and the automations of a server.

mod find;
mod list;
mod remote;
mod run;
mod runs;
mod show;
mod start;
mod validate;
mod validate_args;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// Validate automations, run them against sample rows, and start those of a server.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Validate a definition", "tplkit automation validate automations/paid.json"),
    ("Run it against a sample row, without side effects", "tplkit automation run automations/paid.json --stub --row automations/order.json"),
]))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Validate(validate_args::ValidateArgs),
    Run(run::RunArgs),
    List(list::Args),
    Show(show::Args),
    Start(start::Args),
    Runs(runs::Args),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    match &args.command {
        Command::Validate(args) => validate::run(args, session),
        Command::Run(args) => run::run(args, session),
        Command::List(args) => list::run(args, session),
        Command::Show(args) => show::run(args, session),
        Command::Start(args) => start::run(args, session),
        Command::Runs(args) => runs::run(args, session),
    }
}
