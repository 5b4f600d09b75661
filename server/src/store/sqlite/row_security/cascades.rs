//! Which tables lose rows when rows of another table are deleted: read from the foreign keys of the
//! schema.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Result};

use crate::store::sql_log;

/// Foreign keys with which rows go. Without the schema, SQLite would look at the views that hide the tables.
const KEYS: &str = "SELECT keys.\"table\", tables.name \
     FROM main.sqlite_schema AS tables JOIN pragma_foreign_key_list(tables.name, 'main') AS keys \
     WHERE tables.type = 'table' AND keys.on_delete = 'CASCADE'";

/// For each table those whose rows go with its rows, directly or through others.
#[derive(Debug, Default)]
pub(super) struct Cascades(HashMap<String, HashSet<String>>);

impl Cascades {
    /// Those of the schema of a connection.
    pub(super) fn of(connection: &Connection) -> Result<Cascades> {
        sql_log::control(KEYS);
        let mut select = connection.prepare(KEYS)?;
        let keys = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let keys = keys.collect::<Result<Vec<(String, String)>>>()?;
        let mut cascades = Cascades::default();
        for (table, _) in &keys {
            let reached = cascades.0.entry(table.clone()).or_default();
            let mut next = vec![table];
            while let Some(from) = next.pop() {
                for (_, to) in keys.iter().filter(|(table, _)| table == from) {
                    if reached.insert(to.clone()) {
                        next.push(to);
                    }
                }
            }
        }
        Ok(cascades)
    }

    /// Whether rows of `other` go with rows of `table`.
    pub(super) fn reach(&self, table: &str, other: &str) -> bool {
        self.0
            .get(table)
            .is_some_and(|tables| tables.contains(other))
    }
}
