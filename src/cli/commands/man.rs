//! `tplkit man`: manual pages, and the reference page that is made from the same declarations.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use clap::{Arg, Command};

use super::command_line;
use crate::cli::candidates::of_words;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
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
        write_result(&markdown(&root), args.output.as_deref())?;
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

/// Headings of options that many commands share. The reference prints each once.
const SHARED: [(&str, &str); 2] = [
    ("Everywhere", "every command"),
    ("Server", "every command that uses a server"),
];

/// Options that many commands take in the same words, as this command declares them.
const REPEATED: (&str, [&str; 2]) = ("status", ["workspace", "format"]);

/// An option that many commands take in the same words. The reference prints it once.
struct RepeatedOption {
    /// As the help of a command shows it, without a heading.
    entry: String,
    /// The commands that take it, without the name of the tool.
    commands: Vec<String>,
}

/// The reference of all commands: their own help, without the options that they share.
fn markdown(root: &Command) -> String {
    let mut out = String::from(
        "# Command line reference\n\n\
         Generated from the program's own declarations by a test; `UPDATE=1 cargo test --test cli` regenerates it.\n\n\
         A test runs every example that needs no server, in a copy of the folder `examples`. `$WORKSPACE`, `$JOB` and `$TEMPLATE` stand for \
         ids, which `tplkit api GET /v1/workspaces`, `tplkit job list` and `tplkit template list` show.\n\n\
         ## Shared options\n",
    );
    for (heading, whose) in SHARED {
        let options = options(of_heading(root, heading));
        // Writing to a String cannot fail.
        let _ = write!(out, "\nOf {whose}:\n\n```text\n{options}\n```\n");
    }
    let mut repeated = repeated_options(root);
    let mut sections = String::new();
    section(&mut sections, root, "tplkit", &mut repeated);
    for RepeatedOption { entry, commands } in repeated {
        let commands = commands.join("`, `");
        let _ = write!(
            out,
            "\nOf `{commands}`:\n\n```text\nOptions:\n{entry}\n```\n"
        );
    }
    out + &sections
}

/// These options as a help shows them, under their heading.
fn options(arguments: Vec<Arg>) -> String {
    let group = Command::new("tplkit")
        .disable_help_flag(true)
        .args(arguments)
        .help_template("{all-args}");
    help(group)
}

fn repeated_options(root: &Command) -> Vec<RepeatedOption> {
    let (command, names) = REPEATED;
    let command = root.find_subcommand(command);
    let arguments = command.into_iter().flat_map(Command::get_arguments);
    arguments
        .filter(|argument| names.contains(&argument.get_id().as_str()))
        .map(|argument| RepeatedOption {
            entry: options(vec![argument.clone()])
                .trim_start_matches("Options:\n")
                .to_owned(),
            commands: Vec::new(),
        })
        .collect()
}

/// The options with that heading, of the first command that has them.
fn of_heading(command: &Command, heading: &str) -> Vec<Arg> {
    let own = command.get_arguments();
    let own = own.filter(|argument| argument.get_help_heading() == Some(heading));
    let own: Vec<Arg> = own.cloned().collect();
    if !own.is_empty() {
        return own;
    }
    let mut inner = command.get_subcommands();
    let found =
        inner.find_map(|inner| Some(of_heading(inner, heading)).filter(|it| !it.is_empty()));
    found.unwrap_or_default()
}

fn section(out: &mut String, command: &Command, name: &str, repeated: &mut [RepeatedOption]) {
    let shared = |argument: &Arg| {
        let heading = argument.get_help_heading();
        SHARED.iter().any(|(one, _)| heading == Some(*one)) || argument.get_id() == "help"
    };
    let own = command.clone().bin_name(name);
    let own = own.mut_args(|argument| {
        let hidden = argument.is_hide_set() || shared(&argument);
        argument.hide(hidden)
    });
    let mut text = help(own);
    for option in &mut *repeated {
        if let Some(rest) = without(&text, &option.entry) {
            text = rest;
            let words = name.strip_prefix("tplkit ").unwrap_or(name);
            option.commands.push(words.to_owned());
        }
    }
    let _ = write!(out, "\n## {name}\n\n```text\n{text}\n```\n");
    for inner in command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
    {
        let name = format!("{name} {}", inner.get_name());
        section(out, inner, &name, repeated);
    }
}

/// A help without that option, and without its heading where no other option is under it. Nothing if the help does
/// not show the option.
fn without(help: &str, entry: &str) -> Option<String> {
    let (before, after) = help.split_once(entry)?;
    if !(after.is_empty() || after.starts_with("\n\n")) {
        // Only the beginning of a longer text.
        return None;
    }
    let next = after.strip_prefix("\n\n");
    if let Some(next) = next.filter(|next| next.starts_with(' ')) {
        return Some(format!("{before}{next}"));
    }
    let before = before.trim_end();
    let (rest, last) = before.rsplit_once('\n')?;
    let is_heading = last.ends_with(':') && !last.starts_with(' ');
    let before = if is_heading { rest.trim_end() } else { before };
    Some(format!("{before}{after}"))
}

fn help(command: Command) -> String {
    let help = command.term_width(100).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}
