//! Ctrl-C.

use super::exit::Exit;

/// Makes Ctrl-C end the process with the documented code.
///
/// Nothing needs undoing: files are replaced whole or not at all.
pub(crate) fn install() {
    // Without a handler the system's own still ends the process.
    ctrlc::set_handler(|| std::process::exit(Exit::Interrupted as i32)).ok();
}
