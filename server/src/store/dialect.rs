//! The two stores in so far as their SQL differs, and what of a scope decides about the text of a statement.

use super::Scope;
use super::scope_ids::{Id, Ids};

/// The view of the rows for whom the sole organization, or the one table, decides alone: nothing is looked at
/// that an index of rows does not have. Others see none.
pub(super) const WHOLE_ROWS: &str = "security_whole_rows";

/// The two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The embedded one.
    Sqlite,
    /// The one for scale.
    Postgres,
}

/// What of a scope decides about the text of a statement; the rest of it are parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent questions about a scope, each with a word in the text"
)]
pub(super) struct Shape {
    role: &'static str,
    /// Whether it is about one organization, as that of a caller who belongs to one: a plain comparison, which stores plan best.
    pub(super) one: bool,
    /// Whether workspaces are kept from the caller.
    pub(super) hidden: bool,
    /// Whether the caller sees only the own rows of some features.
    pub(super) guarded: bool,
    /// Whether a run works for the caller.
    pub(super) run: bool,
    /// Whether the caller is an administrator of the platform.
    pub(super) platform: bool,
    /// Whether it is about one table alone.
    pub(super) only: bool,
    /// Whether every row is visible: of the only organization, or of the one table.
    pub(super) whole: bool,
}

impl Shape {
    pub(super) fn of(scope: &Scope) -> Shape {
        let none = Shape {
            role: scope.role(),
            one: false,
            hidden: false,
            guarded: false,
            run: false,
            platform: false,
            only: false,
            whole: false,
        };
        let Scope::Caller(visible) = scope else {
            return Shape {
                one: matches!(scope, Scope::OperatorOf(_)),
                ..none
            };
        };
        Shape {
            one: visible.organizations.len() == 1,
            hidden: !visible.hidden.is_empty(),
            guarded: !visible.guarded.is_empty(),
            run: visible.run.is_some(),
            platform: visible.platform,
            only: visible.only.is_some(),
            whole: visible.is_whole(),
            ..none
        }
    }

    /// Whether the scope is about one such id.
    pub(super) fn is_about(self, id: Id) -> bool {
        match id {
            Id::OnlyWorkspace => self.only,
            Id::OnlyFeature => self.only && self.whole,
            Id::Caller | Id::Run => false,
        }
    }

    /// Whether the caller may have some of these.
    pub(super) fn has(self, ids: Ids) -> bool {
        match ids {
            Ids::Hidden => self.hidden,
            Ids::Guarded => self.guarded,
            Ids::Organizations | Ids::Administered | Ids::Workspaces => true,
        }
    }
}

impl Dialect {
    /// The parameter of that number.
    pub(super) fn parameter(self, index: usize) -> String {
        match self {
            Dialect::Sqlite => format!("?{index}"),
            Dialect::Postgres => format!("${index}"),
        }
    }

    /// A column, or what stands for one, as a mark names it.
    pub(super) fn column(self, name: &str) -> String {
        let mut column = String::with_capacity(name.len());
        push(&mut column, name, self);
        column
    }

    /// The column is one of the ids of the parameter of that number.
    pub(super) fn one_of(self, column: &str, index: usize) -> String {
        match self {
            Dialect::Sqlite => format!("{column} IN rarray(?{index})"),
            Dialect::Postgres => format!("{column} = ANY (${index})"),
        }
    }

    /// The column is none of the ids of the parameter of that number.
    pub(super) fn none_of(self, column: &str, index: usize) -> String {
        match self {
            Dialect::Sqlite => format!("{column} NOT IN rarray(?{index})"),
            // A form of which PostgreSQL has no opinion: it takes `<> ALL` of a list that it does not know
            // for ten values, which is to say for nearly nothing where there are few different ones.
            Dialect::Postgres => format!("NOT coalesce({column} = ANY (${index}), true)"),
        }
    }
}

/// Copies text; SQLite knows numbered parameters as `?1`.
pub(super) fn push(out: &mut String, text: &str, dialect: Dialect) {
    match dialect {
        Dialect::Postgres => out.push_str(text),
        Dialect::Sqlite => out.push_str(&text.replace('$', "?")),
    }
}
