//! Policies as SQL functions of a connection: they evaluate conditions ([`ColumnValues`]) on a row for the scope
//! of the running transaction.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

use super::{PREFIX, RowSecurity};
use crate::store::policy::{
    Allows, ColumnValues, Evaluation, ReadRestriction, Rows, Rule, TablePolicy,
};
use crate::store::{Scope, Visible};

/// What is asked of the rows of a table, in SQL, with `@` for the row.
#[derive(Debug)]
pub(super) struct RowPredicates {
    /// Whether it may be read.
    pub(super) read: String,
    /// Whether it may be changed as it is.
    pub(super) change: String,
    /// Whether it may become so.
    pub(super) becomes: String,
    /// Whether it may be added or removed.
    pub(super) write: String,
}

impl RowSecurity {
    /// Makes the functions for a table, and says how they are called. `sole` is a condition that holds of
    /// rows of which the caller sees every one.
    pub(super) fn predicates(
        &self,
        connection: &Connection,
        table: &'static TablePolicy,
        sole: &str,
    ) -> Result<RowPredicates> {
        let write = match table.caller.rows {
            // Who sees every row is not asked about each of them: `sole` has one response for a whole
            // statement, and it is an id to compare with. Compared by `IS`: a question that came to nothing
            // would let a trigger pass.
            Rows::Where(_, Evaluation::OnceForOrganization) => {
                format!("({sole} OR {})", self.policy(connection, table)?)
            }
            _ => self.policy(connection, table)?,
        };
        let (mut read, mut change, mut becomes) = (write.clone(), write.clone(), write.clone());
        let also = |predicate: &mut String, other: String| {
            *predicate = format!("({predicate} OR {other})");
        };
        for exception in table.exceptions {
            let name = format!("{PREFIX}{}_{}", exception.name, table.name);
            match exception.allows {
                Allows::Read(rule) => also(&mut read, self.exception(connection, &name, rule)?),
                Allows::Change { from, into } => {
                    let changed = format!("{name}_into");
                    also(&mut change, self.exception(connection, &name, from)?);
                    also(&mut becomes, self.exception(connection, &changed, into)?);
                }
            }
        }
        if let Some(restriction) = table.read_restriction {
            read = format!(
                "({read} AND {})",
                self.read_restriction(connection, table.name, restriction)?
            );
        }
        Ok(RowPredicates {
            read,
            change,
            becomes,
            write,
        })
    }

    /// The policy of a table for each who asks. The operator passes everywhere: what goes with a row that
    /// is removed is asked about here, too, while the foreign keys of PostgreSQL ask nobody.
    fn policy(&self, connection: &Connection, table: &'static TablePolicy) -> Result<String> {
        let (caller, authentication) = (&table.caller.rows, &table.authentication.rows);
        let columns = columns(rules(caller));
        let behind = columns.len();
        let columns = [columns, self::columns(rules(authentication))].concat();
        let name = format!("{PREFIX}sees_{}", table.name);
        self.function(connection, &name, &columns, move |scope, row| match scope {
            Scope::Operator | Scope::OperatorOf(_) => true,
            Scope::Authentication => passes(authentication, None, &Columns { row, first: behind }),
            Scope::Caller(visible) => passes(caller, Some(visible), &Columns { row, first: 0 }),
        })
    }

    /// What callers see. Whoever else reads the table sees all of it.
    fn read_restriction(
        &self,
        connection: &Connection,
        table: &str,
        restriction: ReadRestriction,
    ) -> Result<String> {
        let name = format!("{PREFIX}reads_{table}");
        let rule = restriction.own;
        let own = self.function(
            connection,
            &name,
            rule.columns,
            move |scope, row| match scope {
                Scope::Operator | Scope::OperatorOf(_) | Scope::Authentication => true,
                Scope::Caller(visible) => {
                    let columns = Columns { row, first: 0 };
                    rule.condition.holds(Some(visible), &columns)
                }
            },
        )?;
        Ok(format!("({own} OR {})", restriction.is_led_to(table)))
    }

    /// What callers may do beyond the policy.
    fn exception(&self, connection: &Connection, name: &str, rule: Rule) -> Result<String> {
        self.function(
            connection,
            name,
            rule.columns,
            move |scope, row| match scope {
                Scope::Caller(visible) => {
                    let columns = Columns { row, first: 0 };
                    rule.condition.holds(Some(visible), &columns)
                }
                Scope::Authentication | Scope::Operator | Scope::OperatorOf(_) => false,
            },
        )
    }

    fn function(
        &self,
        connection: &Connection,
        name: &str,
        columns: &[&str],
        asks: impl Fn(&Scope, &Context<'_>) -> bool + Send + 'static,
    ) -> Result<String> {
        let security = self.clone();
        let count = i32::try_from(columns.len()).unwrap_or(i32::MAX);
        connection.create_scalar_function(name, count, FunctionFlags::SQLITE_UTF8, move |row| {
            Ok(security.with_scope(|scope| asks(scope, row)))
        })?;
        let columns: Vec<String> = columns.iter().map(|column| format!("@{column}")).collect();
        Ok(format!("{name}({})", columns.join(", ")))
    }

    /// The condition, with `@` for the row, that a row is of the organization of which the caller sees every
    /// one; where the scope is about one table, that it is of that one. Nothing is looked at that an index of
    /// rows does not have.
    pub(super) fn sole(&self, connection: &Connection) -> Result<String> {
        // Nobody's: no id is empty.
        let organization = self.steady(connection, "sole_organization", |visible| {
            let sole = visible.and_then(Visible::sole_organization);
            Some(sole.map_or(Vec::new(), |id| id.as_bytes().to_vec()))
        })?;
        let feature = self.steady(connection, "sole_feature", |visible| {
            let feature = visible.and_then(|visible| visible.only)?.feature;
            feature.map(|id| id.as_bytes().to_vec())
        })?;
        Ok(format!(
            "(@organization_id IS {organization} AND @feature_id IS coalesce({feature}, @feature_id))"
        ))
    }

    /// Makes a function of the caller alone, and says how it is called. It gives one response as long as a
    /// statement runs, which is all that SQLite makes of `SQLITE_DETERMINISTIC`.
    fn steady(
        &self,
        connection: &Connection,
        name: &str,
        of: impl Fn(Option<&Visible>) -> Option<Vec<u8>> + Send + 'static,
    ) -> Result<String> {
        let security = self.clone();
        let name = format!("{PREFIX}{name}");
        let steady = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        connection.create_scalar_function(&*name, 0, steady, move |_| {
            Ok(security.lock(|running| match &running.scope {
                Some(Scope::Caller(visible)) => of(Some(visible)),
                _ => of(None),
            }))
        })?;
        Ok(format!("{name}()"))
    }
}

/// The columns of a row that a function was called with.
struct Columns<'a> {
    row: &'a Context<'a>,
    /// The position of the first one.
    first: usize,
}

impl Columns<'_> {
    fn get(&self, column: usize) -> ValueRef<'_> {
        self.row.get_raw(self.first + column)
    }
}

impl ColumnValues for Columns<'_> {
    fn id(&self, column: usize) -> Option<&[u8; 16]> {
        match self.get(column) {
            ValueRef::Blob(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }

    fn is_word(&self, column: usize, word: &str) -> bool {
        self.get(column) == ValueRef::Text(word.as_bytes())
    }

    fn is_true(&self, column: usize) -> bool {
        self.get(column) == ValueRef::Integer(1)
    }
}

fn rules(rows: &'static Rows) -> &'static [Rule] {
    match rows {
        Rows::None | Rows::All => &[],
        Rows::Where(rules, _) => rules,
    }
}

fn columns(rules: &[Rule]) -> Vec<&'static str> {
    let columns = rules.iter().flat_map(|rule| rule.columns);
    columns.copied().collect()
}

fn passes(rows: &Rows, visible: Option<&Visible>, columns: &Columns<'_>) -> bool {
    let rules = match rows {
        Rows::None => return false,
        Rows::All => return true,
        Rows::Where(rules, _) => rules,
    };
    let mut first = columns.first;
    rules.iter().all(|rule| {
        let columns = Columns {
            row: columns.row,
            first,
        };
        first += rule.columns.len();
        rule.condition.holds(visible, &columns)
    })
}
