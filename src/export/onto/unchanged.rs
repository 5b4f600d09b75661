//! Whether a package differs from the earlier one in anything but the time: then that stays, too.

use std::borrow::Cow;

/// The package as it would be written if nothing had changed.
#[derive(Debug)]
pub(in crate::export) struct Before<'p> {
    /// The earlier package, in canonical form.
    pub(in crate::export) text: Cow<'p, str>,
    /// The new one around its rows, with the time of the earlier one.
    pub(in crate::export) pieces: Vec<String>,
}
