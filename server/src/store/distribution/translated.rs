//! Remembers the statements that this process has put into PostgreSQL's words, for tests that look at their plans.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::rules::Bound;

/// A statement as it leaves for PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslatedStatement {
    /// Its text.
    pub text: String,
    /// Whether it is about one organization.
    pub is_of_one: bool,
}

static ALL: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());

pub(super) fn remember(text: &str, bound: Bound) {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.insert(text.to_owned(), bound == Bound::One);
}

/// Those of this process, each once.
#[must_use]
pub fn translated_statements() -> Vec<TranslatedStatement> {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.iter().map(|(text, is_of_one)| TranslatedStatement {
        text: text.clone(),
        is_of_one: *is_of_one,
    });
    all.collect()
}
