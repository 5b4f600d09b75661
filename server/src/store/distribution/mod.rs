//! How the tables lie in a database of several nodes, and what statements owe to that.
//!
//! Each table has its [`Placement`](super::Placement) in the module `policy`. A database that is distributed by organizations sends a
//! statement to the node that has the organization which the statement names; what names none is sent to all nodes, and
//! much of SQL is refused then. `rules.rs` says what that means for a statement. The tests of the server put every
//! statement to it that they send to PostgreSQL, so that each is fit for such a database, whether there is one at hand
//! or not; programs that are released do not.

#[cfg(any(test, feature = "row-security-off"))]
mod rules;
#[cfg(any(test, feature = "row-security-off"))]
mod sql;
#[cfg(any(test, feature = "row-security-off"))]
mod translated;

#[cfg(any(test, feature = "row-security-off"))]
pub use translated::{TranslatedStatement, translated_statements};

/// Puts a statement in PostgreSQL's words to the rules; `across` says that it may read the rows of many organizations.
///
/// # Errors
/// What is wrong with it.
#[cfg(any(test, feature = "row-security-off"))]
pub(super) fn check(text: &str, across: bool) -> Result<(), String> {
    let bound = rules::check(text, across)?;
    translated::remember(text, bound);
    Ok(())
}

/// Why a statement may read the rows of many organizations: the words of the mark `{across WHY}`.
pub(super) const REASONS: [(&str, &str); 5] = [
    (
        "sign-in",
        "authentication finds out whose a credential is, and which organizations that person belongs to",
    ),
    (
        "queue",
        "a worker or a task looks for what is due, whosever it is, and takes it up by its organization",
    ),
    ("catalog", "templates for everybody are read by everybody"),
    (
        "id",
        "a caller or a job names a record by its id alone, and its organization is read before anything else",
    ),
    (
        "operator",
        "an administrator at the machine acts on all organizations",
    ),
];

/// Whether statements are put to the rules.
pub(super) const IN_TESTS: bool = cfg!(any(test, feature = "row-security-off"));
/// The word of statements that are a test's own, and are not.
pub(super) const OF_A_TEST: &str = "test";
