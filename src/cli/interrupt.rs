//! Ctrl-C.

#[cfg(feature = "client")]
use std::sync::{Mutex, PoisonError};

use super::exit::Exit;

/// What is said when somebody stops a command whose work goes on elsewhere.
#[cfg(feature = "client")]
pub(crate) struct LastWords {
    /// For people, to stderr.
    pub(crate) note: String,
    /// The document that stdout owes, if one was asked for.
    pub(crate) document: Option<String>,
}

#[cfg(feature = "client")]
static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

/// Has these words said if the command is stopped from now on; nothing takes them back. Whoever
/// writes the document of a command takes them back first, so that there are never two.
#[cfg(feature = "client")]
pub(crate) fn leave(words: Option<LastWords>) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// Makes Ctrl-C end the process with the documented code.
///
/// Nothing needs undoing: files are replaced whole or not at all.
pub(crate) fn install() {
    // Without a handler the system's own still ends the process.
    ctrlc::set_handler(|| {
        #[cfg(all(unix, feature = "client"))]
        echo::restore();
        // A question that is left unanswered has hidden it.
        if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
            dialoguer::console::Term::stderr().show_cursor().ok();
        }
        #[cfg(feature = "client")]
        say();
        std::process::exit(Exit::Interrupted as i32)
    })
    .ok();
}

#[cfg(feature = "client")]
fn say() {
    // Held until the process ends: nobody else writes a document any more.
    let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(words) = words.as_ref() {
        super::output::print_note(&words.note);
        if let Some(document) = &words.document {
            super::output::print_stdout(document).ok();
        }
    }
    std::mem::forget(words);
}

/// Asks for something that is not shown while it is typed, so that what is typed after Ctrl-C is.
#[cfg(feature = "client")]
pub(crate) fn keeping_echo<T>(ask: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    echo::keep();
    let answer = ask();
    #[cfg(unix)]
    echo::forget();
    answer
}

/// The settings of the terminal before a question changed them.
#[cfg(all(unix, feature = "client"))]
mod echo {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

    static KEPT: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn keep() {
        set(tcgetattr(io::stdin()).ok());
    }

    pub(super) fn forget() {
        set(None);
    }

    pub(super) fn restore() {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(settings) = kept {
            tcsetattr(io::stdin(), OptionalActions::Now, &settings).ok();
        }
    }

    fn set(settings: Option<Termios>) {
        *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }
}
