//! `tplkit files`: files of workspaces, up and down.

mod cell;
mod find;
mod get;
mod list;
mod media_type;
mod part_file;
mod put;
mod rm;
mod safe_name;

use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::session::Session;

/// Upload, download, list and delete files of workspaces.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Upload a file", "tplkit files put photo.png --workspace $WORKSPACE"),
    ("List the files of all workspaces", "tplkit files list"),
]))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Put(put::Args),
    Get(get::Args),
    List(list::Args),
    Rm(rm::Args),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    match &args.command {
        Command::Put(args) => put::run(args, session),
        Command::Get(args) => get::run(args, session),
        Command::List(args) => list::run(args, session),
        Command::Rm(args) => rm::run(args, session),
    }
}
