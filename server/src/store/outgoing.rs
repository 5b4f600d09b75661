//! A statement as it leaves for a store, without a store: for tests of what is composed.

use super::sql_log::tests::placeholders;
use super::sql_log::type_of;
use super::translate::translate;
use super::{Dialect, Isolation, Scope, Value};

/// A statement as it leaves for a store.
#[derive(Debug)]
pub(crate) struct OutgoingStatement {
    /// Its text.
    pub(crate) text: String,
    /// The types of the parameters that it was given.
    pub(crate) given: Vec<&'static str>,
    /// The types of those that the scope adds behind them.
    pub(crate) added: Vec<&'static str>,
    /// Whether PostgreSQL plans it for its parameters, each time.
    pub(crate) anew: bool,
    /// Whether its response may end before all rows are read, because it is too large.
    pub(crate) bounded: bool,
}

impl OutgoingStatement {
    /// What leaves of a composed statement for this scope.
    ///
    /// # Panics
    /// When it is not a statement, or names a parameter that it does not have.
    pub(crate) fn of(
        composed: &str,
        parameters: &[Value],
        dialect: Dialect,
        scope: &Scope,
    ) -> OutgoingStatement {
        let given = parameters.len();
        let statement = translate(composed, given, dialect, scope, Isolation::BOTH);
        let statement = statement.expect("a statement");
        let added: Vec<Value> = match scope {
            Scope::Caller(visible) => {
                let added = statement.added.iter();
                added.map(|added| added.value(visible)).collect()
            }
            Scope::OperatorOf(organization) => vec![(*organization).into(); statement.added.len()],
            Scope::Authentication | Scope::Operator => Vec::new(),
        };
        let last = placeholders(&statement.text).last().copied();
        assert!(last <= Some(given + added.len()), "{}", statement.text);
        OutgoingStatement {
            given: parameters.iter().map(type_of).collect(),
            added: added.iter().map(type_of).collect(),
            anew: statement.anew && dialect == Dialect::Postgres,
            bounded: statement.most.is_some(),
            text: statement.text,
        }
    }
}
