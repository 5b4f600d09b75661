//! The whole command line: words in, a request out; and its declaration, for help, manual pages and completions.

use std::ffi::OsString;
use std::io;

use anstream::ColorChoice;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser};

use super::{Command, completion};
use crate::cli::args::{Global, MAX_HELP_COLUMNS, STYLES};
use crate::cli::candidates::{Candidate, closest, of_words};
use crate::cli::command_groups;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::output::terminal_width;

/// Checks template packages and applies them to the workspaces of a server.
///
/// Results go to standard output, everything else to standard error.
///
/// Exit codes: 0 done or clean, 1 findings, refused by the server, or a job failed, 2 usage or
/// unreadable file, 4 not signed in or not allowed, 5 server not reachable, 6 a plan or workspace that
/// moved, nothing was written, 68 applied but not everything was carried over, 69 a job still runs, 101 a
/// bug, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "tplkit", version, styles = STYLES, max_term_width = MAX_HELP_COLUMNS, infer_long_args = false)]
#[command(after_long_help = examples(&[
    ("Check a package", "tplkit check crm.json"),
    ("Apply it to a workspace in memory, apply it again, and undo it", "tplkit simulate crm.json"),
    ("Show what it would do to a workspace on the server", "tplkit plan crm.json --workspace $WORKSPACE"),
]))]
pub(crate) struct Request {
    /// Options that every command has.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Understands the words of a command line.
pub(crate) fn parse(words: &[OsString]) -> Result<Request, CliError> {
    let matches = command().try_get_matches_from(words);
    let matches = match matches.as_ref().map_err(help_flag) {
        Err(Some(flag)) => command().try_get_matches_from(as_help_of_help(words, &flag))?,
        _ => matches?,
    };
    Ok(<Request as clap::FromArgMatches>::from_arg_matches(
        &matches,
    )?)
}

/// The flag in `help --help`, which clap takes for the name of a command.
fn help_flag(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if ["--help", "-h"].contains(&word.as_str()) => {
            Some(word.clone())
        }
        _ => None,
    }
}

/// `help help` in place of `help --help`.
fn as_help_of_help(words: &[OsString], flag: &str) -> Vec<OsString> {
    let word = |word: &OsString| match word {
        word if *word == *flag => "help".into(),
        word => word.clone(),
    };
    words.iter().map(word).collect()
}

/// The whole command line, for help, manual pages and completions.
pub(crate) fn command() -> clap::Command {
    let width = terminal_width(&io::stdout()).unwrap_or(MAX_HELP_COLUMNS);
    command_groups::grouped(
        completion::with_values(Request::command()),
        width.min(MAX_HELP_COLUMNS),
    )
}

/// The commands that an unknown one could have been; none for other errors.
pub(crate) fn known_commands(error: &clap::Error) -> Vec<Candidate> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return Vec::new();
    };
    // The usage says whose command it would have been: `Usage: tplkit template <COMMAND>`.
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    let mut inner = &Request::command();
    for name in usage.split_whitespace().skip(2) {
        match inner.find_subcommand(name) {
            Some(found) => inner = found,
            None => break,
        }
    }
    let commands = inner.get_subcommands().filter(|one| !one.is_hide_set());
    closest(word, &of_words(commands.map(clap::Command::get_name)))
}

/// Whether texts by clap are coloured, before it knows the options.
pub(crate) fn colour(words: &[OsString]) -> ColorChoice {
    let chosen = |when: &str| {
        words.windows(2).any(|pair| pair == ["--color", when])
            || words.iter().any(|word| *word == *format!("--color={when}"))
    };
    match () {
        () if chosen("always") => ColorChoice::Always,
        () if chosen("never") => ColorChoice::Never,
        () => ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_declaration_is_consistent() {
        super::command().debug_assert();
    }
}
