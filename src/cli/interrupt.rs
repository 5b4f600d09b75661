//! Ctrl-C.

use super::exit::Exit;
use super::interrupt_message;

/// Makes Ctrl-C end the process with the documented code.
///
/// Nothing needs undoing: files are replaced whole or not at all.
pub(crate) fn install() {
    // Without a handler the system's own still ends the process.
    ctrlc::set_handler(|| {
        #[cfg(unix)]
        echo::restore();
        // A question that is left unanswered has hidden it.
        if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
            dialoguer::console::Term::stderr().show_cursor().ok();
        }
        interrupt_message::say();
        std::process::exit(Exit::Interrupted as i32)
    })
    .ok();
}

/// Asks for something that is not shown while it is typed, so that what is typed after Ctrl-C is.
pub(crate) fn keeping_echo<T>(ask: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    echo::keep();
    let response = ask();
    #[cfg(unix)]
    echo::forget();
    response
}

/// The settings of the terminal before a question changed them.
#[cfg(unix)]
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
