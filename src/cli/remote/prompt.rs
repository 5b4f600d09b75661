//! Reads what only a person knows: prompts on a terminal, standard input elsewhere.

use std::fmt;
use std::io::{self, IsTerminal as _, Read as _};

use dialoguer::theme::Theme;
use dialoguer::{Error, Input, Password};
use serde_json::Value;
use tplkit::client::Secret;

use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::interrupt;
use crate::cli::output::print_note;
use crate::cli::prompt_error::prompt_error;

/// No secret is longer, and no file is read whole by mistake.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// How to do without prompts.
const HELP: &str = "give it on the command line: `--help` says how";

/// Whether the command can prompt.
pub(crate) fn terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a line.
pub(crate) fn prompt_line(prompt: &str, may_be_empty: bool) -> Result<String, CliError> {
    let entered: Result<String, Error> = Input::new()
        .with_prompt(prompt)
        .allow_empty(may_be_empty)
        .interact_text();
    entered.map_err(|Error::IO(error)| prompt_error(&error, HELP))
}

/// Prompts for a confirmation: `y` or `yes`, and Enter. Every other line is a no.
///
/// A key alone is no response: keys that were typed ahead are those of the next command.
pub(crate) fn confirm(question: &str) -> Result<(), CliError> {
    let entered: Result<String, Error> = Input::with_theme(&YesOrNo)
        .with_prompt(question)
        .allow_empty(true)
        .interact_text();
    match entered {
        Ok(line) if is_yes(&line) => Ok(()),
        Ok(_) => Err(CliError::Declined),
        Err(Error::IO(error)) => Err(prompt_error(&error, HELP)),
    }
}

/// How a confirmation is shown.
struct YesOrNo;

impl Theme for YesOrNo {
    fn format_input_prompt(
        &self,
        to: &mut dyn fmt::Write,
        question: &str,
        _default: Option<&str>,
    ) -> fmt::Result {
        write!(to, "{question} [y/N] ")
    }

    fn format_input_prompt_selection(
        &self,
        to: &mut dyn fmt::Write,
        question: &str,
        line: &str,
    ) -> fmt::Result {
        let word = if is_yes(line) { "yes" } else { "no" };
        write!(to, "{question} {word}")
    }
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Shows what cannot be taken back, and prompts for a confirmation. Without a terminal, or with
/// `--format json`, it fails and demands `--yes`.
pub(crate) fn agree(
    form: Form,
    shown: &str,
    document: Value,
    question: &str,
) -> Result<(), CliError> {
    print_note(shown);
    if form == Form::Text && terminal() {
        return confirm(question);
    }
    Err(CliError::Unconfirmed {
        why: unprompted(form),
        losses: Box::new(document),
    })
}

/// Why there is no prompt.
pub(crate) fn unprompted(form: Form) -> &'static str {
    if form == Form::Json && terminal() {
        "`--format json` does not prompt"
    } else {
        "not a terminal"
    }
}

/// Asks for something that is not shown while it is typed.
pub(crate) fn secret(prompt: &str) -> Result<Secret, CliError> {
    let entered = interrupt::keeping_echo(|| Password::new().with_prompt(prompt).interact());
    entered
        .map(Secret::new)
        .map_err(|Error::IO(error)| prompt_error(&error, HELP))
}

/// A secret from standard input, without the end of its line; asked for when that is a terminal.
pub(crate) fn stdin_secret(what: &str) -> Result<Secret, CliError> {
    if terminal() {
        return secret(what);
    }
    let mut text = String::new();
    let read = io::stdin()
        .lock()
        .take(MAX_SECRET_BYTES)
        .read_to_string(&mut text);
    read.map_err(|source| CliError::Read {
        path: "-".into(),
        source,
    })?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        return Err(CliError::Usage {
            message: format!("standard input holds no {}", what.to_lowercase()),
            help: "pipe it in, for example from a file or a password manager".to_owned(),
        });
    }
    Ok(Secret::new(text))
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_a_whole_yes_is_one() {
        for line in ["y", "Y", "yes", "YES", " yes "] {
            assert!(is_yes(line), "{line}");
        }
        for line in [
            "",
            "n",
            "no",
            "yy",
            "maybe",
            "why?",
            "tplkit apply crm.json",
        ] {
            assert!(!is_yes(line), "{line}");
        }
    }
}
