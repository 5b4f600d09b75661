//! `tplkit template`: the catalog of a server.

mod delete;
mod list;
mod promote;
mod pull;
mod push;
mod show;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// Manage the template catalog of a server.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("List the templates", "tplkit template list"),
    ("Push a package to the catalog", "tplkit template push crm.json"),
]))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Push(push::Args),
    Pull(pull::Args),
    Promote(promote::Args),
    Delete(delete::Args),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    match &args.command {
        Command::List(args) => list::run(args, session),
        Command::Show(args) => show::run(args, session),
        Command::Push(args) => push::run(args, session),
        Command::Pull(args) => pull::run(args, session),
        Command::Promote(args) => promote::run(args, session),
        Command::Delete(args) => delete::run(args, session),
    }
}
