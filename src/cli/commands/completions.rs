//! `tplkit completions`: scripts for shells.

use std::path::PathBuf;

use clap_complete::Shell;
use clap_complete::env::Shells;

use super::completion;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;

/// Write the completion script of a shell.
///
/// The script asks `tplkit` itself, so it offers what is there: rules, profiles, the targets of
/// `tplkit.toml`, the refs of the package that is named before.
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

/// Package managers put the script of zsh into a folder of `fpath`. There it is a function that zsh loads, and
/// runs, at the first completion; without this that one would offer nothing.
const AUTOLOADED: &str = r#"
if [ "$funcstack[1]" = _tplkit ]; then _clap_dynamic_completer_tplkit "$@"; fi
"#;

pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&args.shell.to_string()) {
        // Writing to a Vec cannot fail.
        let _ = shell.write_registration(
            completion::VARIABLE,
            "tplkit",
            "tplkit",
            "tplkit",
            &mut script,
        );
    }
    if args.shell == Shell::Zsh {
        script.extend_from_slice(AUTOLOADED.as_bytes());
    }
    write_result(&String::from_utf8_lossy(&script), args.output.as_deref())?;
    Ok(Exit::Done)
}
