//! Output after Ctrl-C and its like: the JSON document on stdout, and how to return to remote work that
//! continues.

use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::output::print_note;

/// Words of a command whose work goes on elsewhere.
pub(crate) struct InterruptMessage {
    /// For people, to stderr.
    pub(crate) note: String,
    /// The document, if one was asked for.
    pub(crate) document: Option<String>,
}

struct State {
    /// The document of any command.
    usual: Option<String>,
    left: Option<InterruptMessage>,
    /// Whether a result is in flight: there is one document, not two.
    begun: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    usual: None,
    left: None,
    begun: false,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has this document written if the command is stopped before its own.
pub(crate) fn set_document(document: String) {
    state().usual = Some(document);
}

/// Has these words said if the command is stopped from now on; nothing takes them back.
pub(crate) fn leave(words: Option<InterruptMessage>) {
    state().left = words;
}

/// A result is about to be written.
pub(super) fn begin() {
    state().begun = true;
}

/// Prints it. Later results wait for the end of the process.
pub(super) fn say() {
    let state = state();
    let (note, own) = match &state.left {
        Some(words) => (Some(&words.note), words.document.as_ref()),
        None => (None, None),
    };
    if let Some(note) = note {
        print_note(note);
    }
    if let Some(document) = own.or(state.usual.as_ref()).filter(|_| !state.begun) {
        let mut stdout = io::stdout().lock();
        stdout.write_all(document.as_bytes()).ok();
        stdout.flush().ok();
    }
    std::mem::forget(state);
}
