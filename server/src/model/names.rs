//! Names of records.

use crate::refusal::{Code, Refusal};

/// 409 for a name that another record has.
pub(super) fn name_taken(name: &str) -> Refusal {
    Refusal::new(Code::Conflict, format!("The name {name} is taken here."))
}
