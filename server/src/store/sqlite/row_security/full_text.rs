//! Row security of the full-text index of searched cells.
//!
//! Its view shows the rows of the index that have a visible row in `row_search`. It takes no triggers, so a statement
//! that writes it names its rows by what it reads of `row_search`, as the view of that shows it. The index keeps its
//! parts in tables of its own, and reads and writes them by statements that it prepares while a statement or a commit
//! runs. These are let through, because statements of the program are prepared at another time.

use rusqlite::hooks::{AuthAction, AuthContext};
use rusqlite::{Connection, Result};

use super::{Running, run};
use crate::store::policy::FULL_TEXT;

/// The part of the index that says how it is read, and nothing of what is in it: it is read along with the schema.
const CONFIG: &str = "search_terms_config";

/// Makes the view, and has the index read what it needs to know of itself.
pub(super) fn build(connection: &Connection) -> Result<()> {
    let view = format!(
        "CREATE TEMP VIEW {FULL_TEXT} AS SELECT words.rowid AS rowid, words.{FULL_TEXT} AS {FULL_TEXT} \
         FROM main.{FULL_TEXT} AS words \
         WHERE EXISTS (SELECT 1 FROM row_search AS known WHERE known.number = words.rowid);"
    );
    run(connection, &view)
}

/// The table that an action is about.
fn table<'a>(action: &AuthAction<'a>) -> Option<&'a str> {
    match *action {
        AuthAction::Read { table_name, .. }
        | AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name } => Some(table_name),
        _ => None,
    }
}

/// Whether an action is about the index or one of its parts.
pub(super) fn is_about(action: AuthAction<'_>) -> bool {
    table(&action).is_some_and(|name| name.starts_with(FULL_TEXT))
}

/// Whether such an action is allowed.
pub(super) fn allows(access: &AuthContext<'_>, running: &Running) -> bool {
    let writes = running.writes == Some(FULL_TEXT);
    let is_read = matches!(access.action, AuthAction::Read { .. });
    match table(&access.action) {
        Some(FULL_TEXT) if is_read => {
            // The view itself, seen from the statement; the index, seen from the view.
            access.database_name == Some("temp")
                || access.accessor == Some(FULL_TEXT)
                || (access.accessor.is_none() && writes)
        }
        Some(FULL_TEXT) => writes,
        Some(CONFIG) if is_read => true,
        _ if running.is_preparing || access.accessor.is_some() => false,
        _ => is_read || running.writes_full_text,
    }
}

/// Whether the index asks that of SQLite, to know whether another connection has written.
pub(super) fn is_own(pragma: &str) -> bool {
    pragma == "data_version"
}
