//! Ctrl-C, and the other signals that ask a command to end: SIGTERM, SIGHUP.

use super::exit::Exit;
use super::interrupt_message;

/// Makes them end the process with the documented code.
///
/// Nothing needs undoing: files are replaced whole or not at all.
pub(crate) fn install() {
    #[cfg(target_os = "linux")]
    hangup::keep_ignored();
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

/// A hang-up that the command is to outlive (`nohup`). Elsewhere it ends the command: without
/// `unsafe` it cannot be read there whether a signal is ignored.
#[cfg(target_os = "linux")]
mod hangup {
    use nix::sys::signal::{SigSet, Signal};

    /// A handler takes the place of what ignores a signal; one that every thread blocks reaches none. Later threads block
    /// what the first one does.
    pub(super) fn keep_ignored() {
        if is_ignored() {
            let mut hangup = SigSet::empty();
            hangup.add(Signal::SIGHUP);
            hangup.thread_block().ok();
        }
    }

    /// As the system says of this process: a mask in hexadecimal digits, in which the first signal is the lowest bit.
    fn is_ignored() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 1 == 1)
    }
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
