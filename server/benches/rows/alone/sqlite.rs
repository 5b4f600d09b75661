//! SQLite alone: one connection that puts rows into a copy of the served file. Nobody asks for them over
//! HTTP, no cell of them is checked, neither layer is on, nothing is counted.

use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::load::Seen;
use crate::rows;
use crate::server::Server;

/// How many rows are ready to be written; they are taken in turns, under new ids.
const READY: i64 = 50_000;

const INSERT: &str = "INSERT INTO rows (organization_id, workspace_id, feature_id, id, created_by, created_at, \
    updated_at, data, s1, s2, s3) VALUES ";
const PLACEHOLDERS: &str = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// A copy of a store.
pub(crate) struct Sqlite {
    connection: Connection,
    rows: Vec<Vec<Value>>,
    written: usize,
}

impl Sqlite {
    /// Copies the file of a server as it stands, page by page.
    pub(crate) fn of(server: &Server) -> Sqlite {
        let file = server.file().expect("a file");
        let copy = file.with_file_name("alone.db");
        let source = Connection::open(&file).expect("opens");
        // Nobody writes now, so that is all of it.
        let whole = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let busy = source.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], whole);
        assert_eq!(busy, Ok(0), "the log is in the file");
        std::fs::copy(&file, &copy).expect("copies");
        let connection = Connection::open(&copy).expect("opens");
        // As the server has it: what is acknowledged has reached the disk.
        let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
            PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 4000; PRAGMA mmap_size = 1073741824;";
        connection.execute_batch(pragmas).expect("is set");
        let wanted = "SELECT organization_id, workspace_id, feature_id, id, created_by, created_at, updated_at, \
            data, s1, s2, s3 FROM rows LIMIT ?1";
        let mut read = connection.prepare(wanted).expect("prepares");
        let rows = read.query_map([READY], |row| (0..11).map(|at| row.get(at)).collect());
        let rows: Result<Vec<_>, _> = rows.expect("asks").collect();
        let rows = rows.expect("reads");
        drop(read);
        Sqlite {
            connection,
            rows,
            written: 0,
        }
    }

    /// Writes so many rows at a time, so many times before each commit; counts the times.
    pub(crate) fn write(&mut self, rows: usize, times: usize, time: Duration) -> Seen {
        let text = format!("{INSERT}{}", vec![PLACEHOLDERS; rows].join(", "));
        let began = Instant::now();
        let mut done = 0;
        while done == 0 || began.elapsed() < time {
            let commit = self.connection.unchecked_transaction().expect("begins");
            for _ in 0..times {
                let mut values: Vec<Value> = Vec::with_capacity(11 * rows);
                for _ in 0..rows {
                    // The cells of rows far apart, and an id behind all others.
                    let mut row = self.rows[rows::mixed(self.written) % self.rows.len()].clone();
                    row[3] = Value::Blob(behind_all(self.written));
                    values.append(&mut row);
                    self.written += 1;
                }
                let mut insert = commit.prepare_cached(&text).expect("prepares");
                insert.execute(params_from_iter(values)).expect("inserts");
                done += 1;
            }
            commit.commit().expect("commits");
        }
        let per_second = f64::from(done) / began.elapsed().as_secs_f64();
        Seen {
            requests: f64::from(done),
            per_second,
            median: 1e6 / per_second,
            p95: None,
        }
    }
}

fn behind_all(n: usize) -> Vec<u8> {
    let mut id = vec![0xff; 8];
    id.extend((n as u64).to_be_bytes());
    id
}
