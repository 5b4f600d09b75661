//! Grammars of the format as regular expressions (ECMA-262).

use crate::definitions::ReferenceKind;

/// `u_` and a version 4 UUID.
pub(super) const UID: &str =
    "^u_[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$";

/// A UUID of any version.
pub(super) const UUID: &str =
    "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$";

/// A declared ref; readers tolerate the dollar.
pub(super) const DECLARATION: &str =
    r"^\$?(?:[fcvrmw]|connection|timerprofile)_[0-9A-Za-z][0-9A-Za-z_-]*$";

/// An RFC 3339 instant with a zone.
pub(super) const INSTANT: &str =
    r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$";

/// A technical name: no `: , . { } "`, no control characters, no space at either end.
pub(super) const NAME: &str = r#"^[^\s:,.{}"\u0000-\u001f\u007f-\u009f](?:[^:,.{}"\u0000-\u001f\u007f-\u009f]{0,61}[^\s:,.{}"\u0000-\u001f\u007f-\u009f])?$"#;

/// The id of an automation step.
pub(super) const STEP_ID: &str = "^stp_[0-9A-Za-z]{12}$";

/// A time of the day.
pub(super) const TIME: &str = "^(?:[01][0-9]|2[0-3]):[0-5][0-9]$";

/// A declared ref that begins with `prefix`.
pub(super) fn declaration(prefix: &str) -> String {
    format!(r"^\$?{prefix}_[0-9A-Za-z][0-9A-Za-z_-]*$")
}

/// A used ref that begins with `prefix`, or nothing where a report says that it was emptied.
pub(super) fn used(prefix: &str) -> String {
    format!(r"^(?:\${prefix}_[0-9A-Za-z][0-9A-Za-z_-]*)?$")
}

/// What refs of a kind begin with; nothing for kinds that have no refs.
pub(super) fn prefix(kind: ReferenceKind) -> Option<&'static str> {
    match kind {
        ReferenceKind::Feature => Some("f"),
        ReferenceKind::Column => Some("c"),
        ReferenceKind::View => Some("v"),
        ReferenceKind::Rail => Some("r"),
        ReferenceKind::Module | ReferenceKind::Channel => Some("m"),
        ReferenceKind::Workflow | ReferenceKind::WorkflowV2 => Some("w"),
        ReferenceKind::Connection => Some("connection"),
        ReferenceKind::TimerProfile => Some("timerprofile"),
        ReferenceKind::File | ReferenceKind::Mailbox | ReferenceKind::User => None,
    }
}
