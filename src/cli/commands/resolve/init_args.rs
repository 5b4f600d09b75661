//! The arguments of `tplkit resolve init`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use super::destination::DestinationArgs;
use crate::cli::args::Form;
use crate::cli::examples::examples;
use crate::cli::remote::ServerArgs;
use crate::cli::source::is_stdin;
use crate::cli::upgrade_args::ServerUpgradeArgs;

/// Write a resolutions file: the proposals of the package, with reasons, uses and choices.
///
/// With `--upgrade` it holds what an upgrade asks: each conflict with its three values and the line that
/// decides it.
///
/// On a terminal the command prompts for every dependency. Elsewhere, and with `--no-input`, what
/// only a person can decide is a comment in the file.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Write a resolutions file without prompts", "tplkit resolve init event-planning.json --no-input -o events.toml"),
    ("Write down what an upgrade asks", "tplkit resolve init crm.json --workspace $WORKSPACE --upgrade --no-input -o decisions.toml"),
    ("Propose tables and views of a workspace on the server", "tplkit resolve init event-planning.json --workspace $WORKSPACE --no-input -o events.toml --force"),
]))]
pub(crate) struct Args {
    /// The package (a file, an unpacked folder, `-` for standard input), or a template by id or name.
    #[arg(value_name = "PKG|TEMPLATE")]
    pub(super) package: PathBuf,
    #[command(flatten)]
    pub(super) place: DestinationArgs,
    #[command(flatten)]
    pub(super) upgrade: ServerUpgradeArgs,
    /// Never prompt.
    #[arg(long)]
    pub(super) no_input: bool,
    /// Write to this file, which must not exist yet, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long, requires = "output")]
    pub(super) force: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    pub(super) format: Form,
    #[command(flatten)]
    pub(super) target: ServerArgs,
}

/// Whether the command can prompt.
pub(super) fn can_prompt(args: &Args) -> bool {
    !args.no_input
        && args.format == Form::Text
        && !is_stdin(&args.package)
        && io::stdin().is_terminal()
        && io::stderr().is_terminal()
}
