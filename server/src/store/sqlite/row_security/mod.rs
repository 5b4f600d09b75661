//! Row security for SQLite, which has none: the equivalent of PostgreSQL's policies, with temporary
//! views, temporary triggers and the authorizer on every connection. All of it is generated from
//! [`policy`](crate::store::policy).
//!
//! - Statements name tables without a schema, and a temporary view of that name hides the table. The
//!   view shows the rows that the scope of the running transaction may see.
//! - Writes go to `main.TABLE`, because views know neither UPSERT nor `changes()`. Triggers check every
//!   row: an invisible row is skipped, and a new row that would be invisible is an error that rolls
//!   back its statement.
//! - The full-text index is no table and can have no triggers: what it shows and takes is what the view of
//!   `row_search` shows (`full_text`).
//! - The authorizer refuses every read of a table that does not come from its view, a trigger or the
//!   write itself, every write but the announced one and what goes with its rows, and all schema changes.

mod cascades;
mod full_text;
mod predicates;
mod triggers;

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, Result};

use crate::store::dialect::WHOLE_ROWS;
use crate::store::policy::{FULL_TEXT, TABLES, table};
use crate::store::{Scope, sql_log};
use cascades::Cascades;

/// What the names of all that is made here begin with, except for the views that hide tables.
const PREFIX: &str = "security_";

/// What row security knows of the statement that runs.
#[derive(Debug, Default)]
struct Running {
    scope: Option<Scope>,
    writes: Option<&'static str>,
    /// Whether it is being prepared. What is prepared at any other time is of the full-text index itself.
    is_preparing: bool,
    /// Whether that index was ever written here. It writes its parts later, at the commit at the latest.
    writes_full_text: bool,
}

/// The hand on the row security of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct RowSecurity {
    running: Arc<Mutex<Running>>,
}

impl RowSecurity {
    /// Sets up row security. Nothing but announced statements runs afterwards.
    pub(super) fn build(connection: &mut Connection) -> Result<RowSecurity> {
        let security = RowSecurity::default();
        let sole = security.sole(connection)?;
        for table in &TABLES {
            let predicates = security.predicates(connection, table, &sole)?;
            run(connection, &triggers::definition(table, &predicates))?;
        }
        let whole_rows = format!(
            "CREATE TEMP VIEW {WHOLE_ROWS} AS SELECT * FROM main.rows \
             WHERE {};",
            sole.replace('@', "")
        );
        run(connection, &whole_rows)?;
        full_text::build(connection)?;
        let cascades = Cascades::of(connection)?;
        let running = security.running.clone();
        connection.authorizer(Some(move |access: AuthContext<'_>| {
            let running = running.lock().unwrap_or_else(PoisonError::into_inner);
            authorize(access, &running, &cascades)
        }))?;
        Ok(security)
    }

    /// Says for whom the next statements run, or that none are to run.
    pub(super) fn enter(&self, scope: Option<Scope>) {
        self.lock(|running| running.scope = scope);
    }

    /// Announces the table that the next statement writes.
    pub(super) fn set_scope(&self, writes: Option<&'static str>) {
        self.lock(|running| {
            running.writes = writes;
            running.is_preparing = true;
            running.writes_full_text |= writes == Some(FULL_TEXT);
        });
    }

    /// Says that the statement has been prepared, or cannot be.
    pub(super) fn begin(&self) {
        self.lock(|running| running.is_preparing = false);
    }

    fn lock<T>(&self, work: impl FnOnce(&mut Running) -> T) -> T {
        work(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_scope(&self, work: impl FnOnce(&Scope) -> bool) -> bool {
        self.lock(|running| running.scope.as_ref().is_some_and(work))
    }
}

/// Runs statements without parameters.
fn run(connection: &Connection, text: &str) -> Result<()> {
    sql_log::control(text);
    connection.execute_batch(text)
}

fn authorize(access: AuthContext<'_>, running: &Running, cascades: &Cascades) -> Authorization {
    let writes = running.writes;
    let verdict = match access.action {
        action if full_text::is_about(action) => full_text::allows(&access, running),
        AuthAction::Select
        | AuthAction::Recursive
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
        | AuthAction::Function { .. } => true,
        AuthAction::Read { table_name, .. } => match table(table_name) {
            // The view itself, seen from the statement.
            Some(_) if access.database_name == Some("temp") => true,
            Some(_) => match access.accessor {
                Some(accessor) => accessor == table_name || accessor.starts_with(PREFIX),
                // `translate` sees to it that a write names no other table than its own.
                None => writes.is_some(),
            },
            None if table_name == WHOLE_ROWS => access.database_name == Some("temp"),
            None => table_name == "rarray",
        },
        AuthAction::Insert { table_name } | AuthAction::Update { table_name, .. } => {
            writes == Some(table_name)
        }
        // How safe a commit is; nothing that a statement of an operation could begin with.
        AuthAction::Pragma { pragma_name, .. } => {
            matches!(pragma_name, "synchronous" | "shrink_memory") || full_text::is_own(pragma_name)
        }
        AuthAction::Delete { table_name } => writes
            .is_some_and(|written| written == table_name || cascades.reach(written, table_name)),
        _ => false,
    };
    if verdict {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

#[cfg(test)]
mod tests;
