//! `tplkit man`: manual pages, and the reference page that is made from the same declarations.

use std::io;
use std::path::PathBuf;

use clap::Command;

use super::command_line;
use crate::cli::candidates::of_words;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::reference_page;
use crate::cli::word_match::unknown_word;

/// Write the manual page of the tool or of one command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Write the manual page of a command", "tplkit man check -o tplkit-check.1"),
    ("Write the manual page of the tool", "tplkit man -o tplkit.1"),
]))]
pub(crate) struct Args {
    /// The command [default: the whole tool].
    command: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write `docs/CLI.md` instead.
    #[arg(long, hide = true)]
    markdown: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut root = command_line::command();
    root.build();
    if args.markdown {
        write_result(&reference_page::markdown(&root), args.output.as_deref())?;
        return Ok(Exit::Done);
    }
    let command = match &args.command {
        None => root,
        Some(name) => root
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| unknown(name, &root))?,
    };
    let page = page(command).map_err(CliError::Output)?;
    write_result(&page, args.output.as_deref())?;
    Ok(Exit::Done)
}

fn unknown(name: &str, root: &Command) -> CliError {
    let message = format!("there is no command `{}`", name.escape_debug());
    let known = of_words(root.get_subcommands().map(Command::get_name));
    unknown_word(message, name, &known, "`tplkit help` lists the commands")
}

fn page(command: Command) -> io::Result<String> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(command).render(&mut bytes)?;
    let page = String::from_utf8_lossy(&bytes);
    Ok(page.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n"))
}
