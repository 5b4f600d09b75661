//! Ids as text.

use uuid::Uuid;

/// An id in its one written form, in either case.
pub fn uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok())?
}
