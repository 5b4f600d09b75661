//! The form of a migration: one number and name, and a text for each of the two stores.

/// A migration of this program.
pub(super) struct Migration {
    pub(super) number: i64,
    pub(super) name: &'static str,
    /// The text that SQLite takes.
    pub(super) sqlite: &'static str,
    /// The text that PostgreSQL takes.
    pub(super) postgres: &'static str,
}
