//! `tplkit man`: manual pages, and the reference page that is made from the same declarations.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use clap::Command;

use crate::cli::args;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;

/// Write the manual page of the tool, or of one of its commands.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command; the whole tool when none is named.
    command: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write `docs/CLI.md` instead.
    #[arg(long, hide = true)]
    markdown: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut root = args::command();
    root.build();
    if args.markdown {
        write_result(&markdown(&root), args.output.as_deref())?;
        return Ok(Exit::Done);
    }
    let command = match &args.command {
        None => root,
        Some(name) => root
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| CliError::Usage {
                message: format!("there is no command `{name}`"),
                help: "`tplkit help` lists the commands".to_owned(),
            })?,
    };
    let page = page(command).map_err(CliError::Output)?;
    write_result(&page, args.output.as_deref())?;
    Ok(Exit::Done)
}

fn page(command: Command) -> io::Result<String> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(command).render(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The reference of all commands, as their own help tells it.
fn markdown(root: &Command) -> String {
    let mut out = String::from(
        "# Command line reference\n\n\
         Made from the program's own declarations by a test; `UPDATE=1 cargo test --test cli` writes it anew.\n",
    );
    section(&mut out, root, "tplkit");
    out
}

fn section(out: &mut String, command: &Command, name: &str) {
    let mut command = command.clone().term_width(100).bin_name(name);
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "\n## {name}\n\n```text\n{}\n```\n",
        help.join("\n").trim_end()
    );
    for inner in command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
    {
        section(out, inner, &format!("{name} {}", inner.get_name()));
    }
}
