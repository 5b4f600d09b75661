//! Row security for SQLite, which has none: the equivalent of PostgreSQL's policies, with temporary
//! views, temporary triggers and the authorizer on every connection.
//!
//! - Statements name tables without a schema, and a temporary view of that name hides the table. The
//!   view shows the rows that the scope of the running transaction may see.
//! - Writes go to `main.TABLE`, because views know neither UPSERT nor `changes()`. Triggers check every row: an invisible row is skipped, and a new row that would be invisible is an error that rolls back its statement.
//! - The authorizer refuses every read of a table that does not come from its view, a trigger or the
//!   write itself, every write but the announced one, and all schema changes.

mod tables;

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

use tables::{TABLES, Table, table};
pub(in crate::store) use tables::{WHOLE_ROWS, canonical_name, upserted};

use crate::store::{Scope, Visible};

/// What row security knows of the statement that runs.
#[derive(Debug, Default)]
struct Running {
    scope: Option<Scope>,
    writes: Option<&'static str>,
}

/// The hand on the row security of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct RowSecurity {
    running: Arc<Mutex<Running>>,
}

impl RowSecurity {
    /// Sets up row security. Nothing but announced statements runs afterwards.
    pub(super) fn build(connection: &mut Connection) -> Result<RowSecurity> {
        let wall = RowSecurity::default();
        wall.functions(connection)?;
        for table in &TABLES {
            connection.execute_batch(&table.definition())?;
        }
        connection.execute_batch(&format!(
            "CREATE TEMP VIEW {WHOLE_ROWS} AS SELECT * FROM main.rows \
             WHERE organization_id IS wall_whole();"
        ))?;
        let running = wall.running.clone();
        connection.authorizer(Some(move |asked: AuthContext<'_>| {
            let running = running.lock().unwrap_or_else(PoisonError::into_inner);
            authorize(asked, running.writes)
        }))?;
        Ok(wall)
    }

    /// Says for whom the next statements run, or that none are to run.
    pub(super) fn enter(&self, scope: Option<Scope>) {
        self.lock(|running| running.scope = scope);
    }

    /// Announces the table that the next statement writes.
    pub(super) fn set_scope(&self, writes: Option<&'static str>) {
        self.lock(|running| running.writes = writes);
    }

    fn lock<T>(&self, work: impl FnOnce(&mut Running) -> T) -> T {
        work(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_scope(&self, work: impl FnOnce(&Scope) -> bool) -> bool {
        self.lock(|running| running.scope.as_ref().is_some_and(work))
    }

    fn functions(&self, connection: &Connection) -> Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8;
        let wall = self.clone();
        connection.create_scalar_function("wall_tenant", 2, flags, move |row| {
            let organization = id(row, 1);
            Ok(wall.with_scope(|scope| match scope {
                Scope::Authentication => during_authentication(row),
                Scope::Operator => true,
                Scope::Caller(visible) => holds(&visible.organizations, organization),
            }))
        })?;
        let wall = self.clone();
        connection.create_scalar_function("wall_person", 2, flags, move |row| {
            let person = id(row, 1);
            Ok(wall.with_scope(|scope| match scope {
                Scope::Authentication => during_authentication(row),
                Scope::Operator => true,
                Scope::Caller(visible) => person == Some(visible.caller.as_bytes()),
            }))
        })?;
        let wall = self.clone();
        connection.create_scalar_function("wall_workspace", 3, flags, move |row| {
            let (organization, workspace) = (id(row, 0), id(row, 1));
            let open = row.get_raw(2) == ValueRef::Text(b"organization");
            Ok(wall.with_scope(|scope| match scope {
                Scope::Authentication => !open,
                Scope::Operator => true,
                Scope::Caller(visible) => {
                    holds(&visible.organizations, organization)
                        && (open
                            || holds(&visible.administered, organization)
                            || holds(&visible.workspaces, workspace))
                }
            }))
        })?;
        let wall = self.clone();
        connection.create_scalar_function("wall_shown", 1, flags, move |row| {
            let everybody = row.get_raw(0) != ValueRef::Text(b"org");
            Ok(wall.with_scope(|scope| match scope {
                Scope::Caller(visible) => everybody || visible.platform,
                Scope::Authentication | Scope::Operator => false,
            }))
        })?;
        let wall = self.clone();
        connection.create_scalar_function("wall_platform", 0, flags, move |_| {
            Ok(wall.with_scope(Scope::is_platform))
        })?;
        self.functions_within(connection, flags)
    }

    /// What lies in a workspace.
    fn functions_within(&self, connection: &Connection, flags: FunctionFlags) -> Result<()> {
        let wall = self.clone();
        connection.create_scalar_function("wall_within", 3, flags, move |row| {
            let (organization, workspace) = (id(row, 1), id(row, 2));
            Ok(wall.with_scope(|scope| match scope {
                Scope::Authentication => during_authentication(row),
                Scope::Operator => true,
                Scope::Caller(visible) => inside(visible, organization, workspace),
            }))
        })?;
        let wall = self.clone();
        connection.create_scalar_function("wall_feature", 3, flags, move |row| {
            let (organization, workspace) = (id(row, 0), id(row, 1));
            let guarded = row.get_raw(2) == ValueRef::Integer(1);
            Ok(wall.with_scope(|scope| match scope {
                // It tells callers what they may see, and needs to know no other tables.
                Scope::Authentication => guarded,
                Scope::Operator => true,
                Scope::Caller(visible) => inside(visible, organization, workspace),
            }))
        })?;
        let wall = self.clone();
        // It gives one response as long as a statement runs, which is all that SQLite makes of this.
        let steady = flags | FunctionFlags::SQLITE_DETERMINISTIC;
        connection.create_scalar_function("wall_whole", 0, steady, move |_| {
            let whole = wall.lock(|running| match &running.scope {
                Some(Scope::Caller(visible)) => visible.sole_organization(),
                _ => None,
            });
            // Nobody's: no id is empty.
            Ok(whole.map_or(Vec::new(), |id| id.as_bytes().to_vec()))
        })?;
        let wall = self.clone();
        connection.create_scalar_function("wall_row", 4, flags, move |row| {
            let (organization, workspace) = (id(row, 0), id(row, 1));
            let (feature, creator) = (id(row, 2), id(row, 3));
            Ok(wall.with_scope(|scope| match scope {
                Scope::Authentication => false,
                Scope::Operator => true,
                Scope::Caller(visible) => {
                    inside(visible, organization, workspace)
                        && (!holds(&visible.guarded, feature)
                            || creator == Some(visible.caller.as_bytes())
                            || visible
                                .run
                                .is_some_and(|run| creator == Some(run.as_bytes())))
                }
            }))
        })
    }
}

impl Table {
    fn predicate(&self, row: &str) -> String {
        self.visible.replace("{}", self.name).replace('@', row)
    }

    fn definition(&self) -> String {
        let Table { name, .. } = self;
        let (old, new) = (self.predicate("OLD."), self.predicate("NEW."));
        let or = |question: String, other: &str, row: &str| match other {
            "" => question,
            other => format!("({question} OR ({}))", other.replace('@', row)),
        };
        let here = or(self.predicate(""), self.shown, "");
        let before = or(self.predicate("OLD."), self.changed[0], "OLD.");
        let after = or(self.predicate("NEW."), self.changed[1], "NEW.");
        let moment = if self.upserted { "BEFORE" } else { "AFTER" };
        format!(
            "CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} WHERE {here};
             CREATE TEMP TRIGGER wall_insert_{name} {moment} INSERT ON main.{name} WHEN NOT {new}
             BEGIN SELECT RAISE(ABORT, 'outside the scope'); END;
             CREATE TEMP TRIGGER wall_delete_{name} BEFORE DELETE ON main.{name} WHEN NOT {old}
             BEGIN SELECT RAISE(IGNORE); END;
             CREATE TEMP TRIGGER wall_update_{name} BEFORE UPDATE ON main.{name} WHEN NOT {before}
             BEGIN SELECT RAISE(IGNORE); END;
             CREATE TEMP TRIGGER wall_updated_{name} BEFORE UPDATE ON main.{name}
             WHEN {before} AND NOT {after}
             BEGIN SELECT RAISE(ABORT, 'outside the scope'); END;"
        )
    }
}

/// The id that an argument is.
fn id<'a>(row: &'a Context<'_>, index: usize) -> Option<&'a [u8; 16]> {
    match row.get_raw(index) {
        ValueRef::Blob(bytes) => bytes.try_into().ok(),
        _ => None,
    }
}

fn inside(
    visible: &Visible,
    organization: Option<&[u8; 16]>,
    workspace: Option<&[u8; 16]>,
) -> bool {
    holds(&visible.organizations, organization) && !holds(&visible.hidden, workspace)
}

fn holds(ids: &[uuid::Uuid], wanted: Option<&[u8; 16]>) -> bool {
    wanted.is_some_and(|wanted| ids.iter().any(|id| id.as_bytes() == wanted))
}

fn during_authentication(row: &Context<'_>) -> bool {
    let name = row.get_raw(0).as_str().ok();
    name.and_then(table)
        .is_some_and(|table| table.authentication)
}

fn authorize(asked: AuthContext<'_>, writes: Option<&'static str>) -> Authorization {
    let verdict = match asked.action {
        AuthAction::Select
        | AuthAction::Recursive
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
        | AuthAction::Function { .. } => true,
        AuthAction::Read { table_name, .. } => match table(table_name) {
            // The view itself, seen from the statement.
            Some(_) if asked.database_name == Some("temp") => true,
            Some(_) => match asked.accessor {
                Some(accessor) => accessor == table_name || accessor.starts_with("wall_"),
                // `translate` sees to it that a write names no other table than its own.
                None => writes.is_some(),
            },
            None if table_name == WHOLE_ROWS => asked.database_name == Some("temp"),
            None => table_name == "rarray",
        },
        AuthAction::Insert { table_name } | AuthAction::Update { table_name, .. } => {
            writes == Some(table_name)
        }
        // How safe a commit is; nothing that a statement of an operation could begin with.
        AuthAction::Pragma { pragma_name, .. } => {
            matches!(pragma_name, "synchronous" | "shrink_memory")
        }
        AuthAction::Delete { table_name } => writes.is_some_and(|written| {
            written == table_name
                || table(written).is_some_and(|table| table.cascades.contains(&table_name))
        }),
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
