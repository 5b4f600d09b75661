//! Conditions: what policies and marks of statements ask about a row and about the caller.
//!
//! A condition names columns by position; its user binds names to them. It is rendered as a predicate
//! of a statement ([`statement`](super::statement)), as an expression of a PostgreSQL policy
//! ([`postgres`](super::postgres)), and evaluated on values ([`Condition::holds`]): on SQLite
//! (`sqlite/row_security`), and where the program has the row ([`Visible::sees_row`]).

use uuid::Uuid;

use crate::store::scope::Visible;
use crate::store::scope_ids::{Id, Ids};

/// A question about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Condition {
    /// The column is one of these ids.
    In(usize, Ids),
    /// The column is an id that is none of these. A scope that is about one table has no list of what is
    /// hidden, so there that holds of nothing.
    NotIn(usize, Ids),
    /// The column is this id.
    Is(usize, Id),
    /// The column is this word.
    Word(usize, &'static str),
    /// The column is the visibility of a template, and that is for everybody.
    ForEverybody(usize),
    /// The column is true.
    Flag(usize),
    /// Who asks is an administrator of the platform.
    Platform,
    /// Where the scope is about one such id, the column is that id; otherwise the other condition holds.
    Only(usize, Id, &'static Condition),
    /// At least one of these holds.
    Any(&'static [Condition]),
    /// All of these hold.
    All(&'static [Condition]),
}

/// The visibility of templates for their organization alone.
pub(super) const ORGANIZATION_ONLY: &str = "org";
/// The other ones.
pub(super) const FOR_EVERYBODY: [&str; 2] = ["system", "public"];

/// The setting of PostgreSQL that is `on` for administrators of the platform.
pub(in crate::store) const PLATFORM: &str = "tplkit.platform";

/// The columns of a row, by their positions.
pub(in crate::store) trait ColumnValues {
    /// The id in a column.
    fn id(&self, column: usize) -> Option<&[u8; 16]>;

    /// Whether a column is this word.
    fn is_word(&self, column: usize, word: &str) -> bool;

    /// Whether a column is true.
    fn is_true(&self, column: usize) -> bool;
}

impl Condition {
    /// Whether it holds of these columns, for a caller or for nobody in particular.
    pub(in crate::store) fn holds(
        &self,
        visible: Option<&Visible>,
        columns: &impl ColumnValues,
    ) -> bool {
        let listed = |column, ids: Ids| {
            let wanted = columns.id(column)?;
            let mut ids = ids.of(visible?).iter();
            Some(ids.any(|id| id.as_bytes() == wanted))
        };
        match *self {
            Condition::In(column, ids) => listed(column, ids) == Some(true),
            Condition::NotIn(_, Ids::Hidden)
                if visible.is_some_and(|visible| visible.only.is_some()) =>
            {
                false
            }
            Condition::NotIn(column, ids) => listed(column, ids) == Some(false),
            Condition::Only(column, id, other) => {
                match visible.and_then(|visible| id.of(visible)) {
                    Some(id) => columns.id(column) == Some(id.as_bytes()),
                    None => other.holds(visible, columns),
                }
            }
            Condition::Is(column, id) => {
                let id = visible.and_then(|visible| id.of(visible));
                id.is_some_and(|id| columns.id(column) == Some(id.as_bytes()))
            }
            Condition::Word(column, word) => columns.is_word(column, word),
            Condition::ForEverybody(column) => {
                let mut words = FOR_EVERYBODY.iter();
                words.any(|word| columns.is_word(column, word))
            }
            Condition::Flag(column) => columns.is_true(column),
            Condition::Platform => visible.is_some_and(|visible| visible.platform),
            Condition::Any(conditions) => conditions.iter().any(|one| one.holds(visible, columns)),
            Condition::All(conditions) => conditions.iter().all(|one| one.holds(visible, columns)),
        }
    }
}

/// Columns of ids alone.
impl<const N: usize> ColumnValues for [Option<Uuid>; N] {
    fn id(&self, column: usize) -> Option<&[u8; 16]> {
        self.get(column)?.as_ref().map(Uuid::as_bytes)
    }

    fn is_word(&self, _: usize, _: &str) -> bool {
        false
    }

    fn is_true(&self, _: usize) -> bool {
        false
    }
}
