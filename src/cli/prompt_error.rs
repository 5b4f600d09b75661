//! The error of a prompt that ended without a response.

use std::io;

use dialoguer::console::Term;

use crate::cli::error::CliError;

/// The error of a prompt; `help` is another way to give what it is for. Ctrl-C is an interrupt.
pub(crate) fn prompt_error(error: &io::Error, help: &str) -> CliError {
    if error.kind() == io::ErrorKind::Interrupted {
        return CliError::Interrupted;
    }
    CliError::Usage {
        message: format!("cannot prompt: {error}"),
        help: help.to_owned(),
    }
}

/// Like [`prompt_error`], for a list of choices: that hides the cursor, and this shows it again.
pub(crate) fn choice_error(error: &io::Error, help: &str) -> CliError {
    Term::stderr().show_cursor().ok();
    prompt_error(error, help)
}
