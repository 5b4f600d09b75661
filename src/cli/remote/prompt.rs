//! Reads what only a person knows: prompts on a terminal, standard input elsewhere.

use std::io::{self, IsTerminal as _, Read as _};

use dialoguer::console::Term;
use dialoguer::{Confirm, Error, Input, Password};
use serde_json::Value;
use tplkit::client::Secret;

use crate::cli::args::Form;
use crate::cli::error::CliError;
use crate::cli::interrupt;
use crate::cli::output::print_note;

/// No secret is longer, and no file is read whole by mistake.
const MAX_SECRET_BYTES: u64 = 64 << 10;

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
    entered.map_err(|Error::IO(error)| stopped(&error))
}

/// Prompts for a confirmation; the default is no.
pub(crate) fn confirm(question: &str) -> Result<(), CliError> {
    let entered = Confirm::new()
        .with_prompt(question)
        .default(false)
        .interact();
    match entered {
        Ok(true) => Ok(()),
        Ok(false) => Err(CliError::Declined),
        Err(Error::IO(error)) => {
            // The question has hidden it, and Ctrl-C is a key of the question.
            Term::stderr().show_cursor().ok();
            Err(stopped(&error))
        }
    }
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
        losses: Box::new(document),
    })
}

/// Asks for something that is not shown while it is typed.
pub(crate) fn secret(prompt: &str) -> Result<Secret, CliError> {
    let entered = interrupt::keeping_echo(|| Password::new().with_prompt(prompt).interact());
    entered
        .map(Secret::new)
        .map_err(|Error::IO(error)| stopped(&error))
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

fn stopped(error: &io::Error) -> CliError {
    if error.kind() == io::ErrorKind::Interrupted {
        return CliError::Interrupted;
    }
    CliError::Usage {
        message: format!("cannot prompt: {error}"),
        help: "give it on the command line: `--help` says how".to_owned(),
    }
}
