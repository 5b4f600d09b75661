//! `tplkit completions`: scripts for shells.

use std::path::PathBuf;

use clap_complete::Shell;

use super::command_line;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;

/// Write the completion script of a shell.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Write the completions of bash", "tplkit completions bash -o tplkit.bash"),
    ("Write the completions of fish", "tplkit completions fish -o tplkit.fish"),
]))]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut command_line::command(),
        "tplkit",
        &mut script,
    );
    write_result(&String::from_utf8_lossy(&script), args.output.as_deref())?;
    Ok(Exit::Done)
}
