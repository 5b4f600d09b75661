//! The arguments of `tplkit automation validate`.

use std::path::PathBuf;

use crate::cli::args::Form;
use crate::cli::examples::examples;
use crate::cli::remote::ServerArgs;

/// Validate an automation definition as the API does before it saves one.
///
/// The file holds one object with `trigger_config` and `graph_config`. Warnings do not change the
/// exit code.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Validate a definition on this machine", "tplkit automation validate automations/paid.json"),
    ("Validate it with the tables of a workspace (exit code 1: there is no such table)", "tplkit automation validate automations/paid.json --remote --workspace $WORKSPACE"),
]))]
pub(super) struct ValidateArgs {
    /// The definition; `-` is standard input.
    pub(super) file: PathBuf,
    /// Check against the registry in this file, from another server, instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    pub(super) definitions: Option<PathBuf>,
    /// Let the server validate it: it knows the tables of the workspace. Nothing is saved.
    #[arg(long, conflicts_with = "definitions")]
    pub(super) remote: bool,
    /// The workspace of the automation [default: `workspace_id` in the file].
    ///
    /// Its id, name or label, or `ORG/NAME`; else that of the target, `TPLKIT_WORKSPACE`, or what `tplkit
    /// workspace use` keeps.
    #[arg(long, value_name = "ID|NAME", requires = "remote")]
    pub(super) workspace: Option<String>,
    /// Output format.
    #[arg(long, default_value = "text")]
    pub(super) format: Form,
    #[command(flatten)]
    pub(super) target: ServerArgs,
}
