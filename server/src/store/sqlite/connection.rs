//! One connection: opened, walled, and used by one thread.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::functions;
use super::wall::Wall;
use crate::store::dialect::Statement;
use crate::store::{Row, Scope, StoreError, Value, Walls};

/// How long a write waits for another process (an admin command beside the server).
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection that only runs statements for somebody.
pub(in crate::store) struct Walled {
    connection: Connection,
    /// Absent only in tests that take the second wall away.
    wall: Option<Wall>,
    may_write: bool,
}

/// Opens a database as it has to be for everything that follows.
pub(super) fn open(file: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(PATIENCE)?;
    // FULL: an answer that was given survives a power cut. Group commit shares its cost.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF;",
    )?;
    connection.set_prepared_statement_cache_capacity(512);
    Ok(connection)
}

impl Walled {
    /// Walls a connection in.
    pub(super) fn new(
        mut connection: Connection,
        walls: Walls,
        may_write: bool,
    ) -> Result<Walled, StoreError> {
        rusqlite::vtab::array::load_module(&connection)?;
        functions::register(&connection)?;
        let wall = if walls.second {
            Some(Wall::build(&mut connection)?)
        } else {
            None
        };
        Ok(Walled {
            connection,
            wall,
            may_write,
        })
    }

    /// Says for whom the next statements run.
    pub(in crate::store) fn enter(&self, scope: Option<Scope>) {
        if let Some(wall) = &self.wall {
            wall.enter(scope);
        }
    }

    /// `BEGIN`, `COMMIT` and their like.
    pub(super) fn control(&self, words: &str) -> Result<(), StoreError> {
        Ok(self
            .connection
            .prepare_cached(words)?
            .raw_execute()
            .map(drop)?)
    }

    /// Whether a transaction is open.
    pub(super) fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Runs a statement and reads its whole answer.
    pub(in crate::store) fn query(
        &mut self,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        if statement.writes.is_some() && !self.may_write {
            return Err(StoreError::Internal("a read that writes".to_owned()));
        }
        if let Some(wall) = &self.wall {
            wall.announce(statement.writes);
        }
        let mut prepared = self.connection.prepare_cached(&statement.text)?;
        for (index, value) in parameters.iter().enumerate() {
            value.bind(&mut prepared, index + 1)?;
        }
        let columns = prepared.column_count();
        let mut rows = prepared.raw_query();
        let mut answer = Vec::new();
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| row.get(column));
            answer.push(Row::Sqlite(values.collect::<Result<_, _>>()?));
        }
        Ok(answer)
    }
}
