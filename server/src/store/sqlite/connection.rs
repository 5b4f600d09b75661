//! One connection: opened, with row security installed, used by one thread.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::functions;
use super::row_security::RowSecurity;
use crate::context::{Stopwatch, micros};
use crate::store::metrics::Outcome;
use crate::store::statement::Statement;
use crate::store::{Isolation, LONG, Row, Scope, StoreError, Value, sql_log};

/// How long a write waits for another process (an admin command next to the server).
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether a file is empty, or has the record of our migrations. Other programs have a table of that name, too.
const IS_OURS: &str = "SELECT (SELECT count(*) FROM sqlite_master) = 0 OR \
     (SELECT count(*) FROM pragma_table_info('schema_migrations') WHERE name IN ('number', 'name')) = 2";

/// How many steps of SQLite's machine lie between two looks at the clock.
const STEPS_PER_CLOCK_CHECK: i32 = 1000;

/// Ends statements that take too long.
struct Limit {
    time: Duration,
    hurry: bool,
    clock: Stopwatch,
    /// When the running statement has to be done, in microseconds of the clock.
    until: Arc<AtomicU64>,
}

impl Limit {
    fn install(connection: &mut Connection, time: Duration) -> Result<Limit, StoreError> {
        let (clock, until) = (Stopwatch::start(), Arc::new(AtomicU64::new(u64::MAX)));
        let seen = until.clone();
        let late = move || micros(clock.elapsed()) > seen.load(Ordering::Relaxed);
        if !time.is_zero() {
            connection.progress_handler(STEPS_PER_CLOCK_CHECK, Some(late))?;
        }
        Ok(Limit {
            time,
            hurry: true,
            clock,
            until,
        })
    }

    fn start(&self) {
        let time = if self.hurry { self.time } else { LONG };
        let until = micros(self.clock.elapsed() + time);
        self.until.store(until, Ordering::Relaxed);
    }

    fn stop(&self) {
        self.until.store(u64::MAX, Ordering::Relaxed);
    }
}

/// A connection that only runs statements for somebody.
pub(in crate::store) struct SecuredConnection {
    connection: Connection,
    /// Absent only in tests that take row security away.
    row_security: Option<RowSecurity>,
    may_write: bool,
    limit: Limit,
    failed: Option<Outcome>,
    /// Present where only short reads run: whether the last one was none.
    timed_out: Option<bool>,
    /// Whether a commit waits until it has reached the disk.
    waits_for_disk: bool,
    #[cfg(any(test, feature = "row-security-off"))]
    steps: Steps,
}

/// What statements took, in steps of SQLite's machine.
#[cfg(any(test, feature = "row-security-off"))]
#[derive(Default)]
struct Steps {
    /// By all connections of a store.
    all: Arc<AtomicU64>,
    /// By the running task: it counts when it comes to its end.
    here: u64,
}

/// Runs statements without parameters.
fn run(connection: &Connection, text: &str) -> rusqlite::Result<()> {
    sql_log::control(text);
    connection.execute_batch(text)
}

/// Opens a database as it has to be for everything that follows; makes it where there is none. A file of another program
/// is refused.
pub(super) fn open(file: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Before the first setting: some are written into the file.
    if !is_ours(&connection)? {
        return Err(StoreError::Foreign(file.display().to_string()));
    }
    set_up(connection)
}

fn is_ours(connection: &Connection) -> Result<bool, StoreError> {
    sql_log::control(IS_OURS);
    match connection.query_row(IS_OURS, [], |row| row.get(0)) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => Ok(false),
        found => Ok(found?),
    }
}

/// Opens a database once more, which is there: a file that was moved away is not made anew. Its log keeps the old name,
/// and an empty file next to it would get what the log holds, in place of the one that was moved.
pub(super) fn open_again(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::default() & !OpenFlags::SQLITE_OPEN_CREATE;
    set_up(Connection::open_with_flags(file, flags)?)
}

fn set_up(connection: Connection) -> Result<Connection, StoreError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    keep_a_log(&connection)?;
    // FULL: a response that was given survives a power cut. Group commit shares its cost.
    run(
        &connection,
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF;",
    )?;
    // Without it a statement is planned anew whenever its parameters change, which costs more than most
    // statements do. Plans rest on the numbers of the migration, not on what was asked last.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(512);
    Ok(connection)
}

/// Makes a database one with a write-ahead log, for good. Of several that do so to a new file at the
/// same time, SQLite does not let one wait for the other: it would have to give up what it holds.
fn keep_a_log(connection: &Connection) -> Result<(), StoreError> {
    const PAUSE: Duration = Duration::from_millis(2);
    const TEXT: &str = "PRAGMA journal_mode = WAL";
    let clock = Stopwatch::start();
    sql_log::control(TEXT);
    loop {
        match connection.execute_batch(TEXT) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && clock.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(PAUSE);
            }
            done => return Ok(done?),
        }
    }
}

/// Makes room for what one commit writes, in pages: those that have to leave memory before are written
/// twice, and read again in between.
pub(super) fn make_writer(connection: &Connection) -> Result<(), StoreError> {
    Ok(run(connection, "PRAGMA cache_size = -8192;")?)
}

/// Lets pages be read where the system keeps them, instead of being copied: for whoever reads a few here
/// and there. Who reads all of a table is faster with copies.
pub(super) fn map(connection: &Connection) -> Result<(), StoreError> {
    Ok(run(connection, "PRAGMA mmap_size = 1073741824;")?)
}

impl SecuredConnection {
    /// Secures a connection.
    pub(super) fn new(
        mut connection: Connection,
        isolation: Isolation,
        may_write: bool,
        limit: Duration,
    ) -> Result<SecuredConnection, StoreError> {
        rusqlite::vtab::array::load_module(&connection)?;
        functions::register(&connection)?;
        let row_security = if isolation.row_security {
            Some(RowSecurity::build(&mut connection)?)
        } else {
            None
        };
        Ok(SecuredConnection {
            limit: Limit::install(&mut connection, limit)?,
            connection,
            row_security,
            may_write,
            failed: None,
            timed_out: None,
            waits_for_disk: true,
            #[cfg(any(test, feature = "row-security-off"))]
            steps: Steps::default(),
        })
    }

    /// From now on, only short reads run here.
    pub(super) fn be_brief(&mut self) {
        self.timed_out = Some(false);
    }

    /// Whether what ran took long; reported once.
    pub(super) fn timed_out(&mut self) -> bool {
        self.timed_out.as_mut().is_some_and(std::mem::take)
    }

    /// Counts the steps of SQLite's machine together with other connections.
    #[cfg(any(test, feature = "row-security-off"))]
    pub(super) fn counted(mut self, steps: &Arc<AtomicU64>) -> SecuredConnection {
        self.steps.all = steps.clone();
        self
    }

    /// Counts what a task took, unless it was broken off to be run once more.
    #[cfg(any(test, feature = "row-security-off"))]
    pub(super) fn count(mut self) -> SecuredConnection {
        let steps = std::mem::take(&mut self.steps.here);
        if self.timed_out != Some(true) {
            self.steps.all.fetch_add(steps, Ordering::Relaxed);
        }
        self
    }

    /// Says for whom the next statements run.
    pub(in crate::store) fn enter(&self, scope: Option<Scope>) {
        if let Some(row_security) = &self.row_security {
            row_security.enter(scope);
        }
    }

    /// Says whether somebody waits for the next statements, so that they must not take long.
    pub(in crate::store) fn hurry(&mut self, hurry: bool) {
        self.limit.hurry = hurry;
    }

    /// Says whether the next commits wait until they have reached the disk. Those that do not, reach it
    /// with the next one that does, or when the log is written back. Not in a transaction.
    pub(super) fn wait_for_disk(&mut self, wait: bool) -> Result<(), StoreError> {
        if self.waits_for_disk != wait {
            // It takes effect when it is prepared: prepared once, it would do so once.
            let level = if wait {
                "PRAGMA synchronous = FULL"
            } else {
                "PRAGMA synchronous = NORMAL"
            };
            run(&self.connection, level)?;
            self.waits_for_disk = wait;
        }
        Ok(())
    }

    /// `BEGIN`, `COMMIT` and their like.
    pub(super) fn control(&self, words: &str) -> Result<(), StoreError> {
        sql_log::control(words);
        Ok(self
            .connection
            .prepare_cached(words)?
            .raw_execute()
            .map(drop)?)
    }

    /// Gives back the memory of pages that were read. They are read again where they are asked for again.
    pub(super) fn forget_pages(&self) {
        // Whatever is said against it: then they stay.
        let _ = run(&self.connection, "PRAGMA shrink_memory");
    }

    /// Whether a transaction is open.
    pub(super) fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// The last error of a statement, reported once.
    pub(in crate::store) fn failed(&mut self) -> Option<Outcome> {
        self.failed.take()
    }

    /// Runs a statement and reads its whole response.
    pub(in crate::store) fn query(
        &mut self,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        self.limit.start();
        let response = self.execute(statement, parameters);
        self.limit.stop();
        response.map_err(|error| {
            let error = match (error, &mut self.timed_out) {
                (StoreError::TooLong, Some(timed_out)) => {
                    *timed_out = true;
                    StoreError::NotBrief
                }
                (error, _) => error,
            };
            self.failed = Some(Outcome::from(&error));
            error
        })
    }

    fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        if statement.writes.is_some() && !self.may_write {
            return Err(StoreError::Internal("a read that writes".to_owned()));
        }
        if let Some(row_security) = &self.row_security {
            row_security.set_scope(statement.writes);
        }
        sql_log::statement(&statement.text, parameters);
        let prepared = self.connection.prepare_cached(&statement.text);
        if let Some(row_security) = &self.row_security {
            row_security.begin();
        }
        let mut prepared = prepared?;
        // Of a run that was broken off.
        #[cfg(any(test, feature = "row-security-off"))]
        prepared.reset_status(rusqlite::StatementStatus::VmStep);
        for (index, value) in parameters.iter().enumerate() {
            value.bind(&mut prepared, index + 1)?;
        }
        let columns = prepared.column_count();
        let mut rows = prepared.raw_query();
        let mut response = Vec::new();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| row.get(column));
            let row = Row::Sqlite(values.collect::<Result<_, _>>()?);
            bytes += row.bytes();
            response.push(row);
            if statement.most.is_some_and(|most| bytes > most) {
                break;
            }
        }
        drop(rows);
        #[cfg(any(test, feature = "row-security-off"))]
        {
            let steps = prepared.reset_status(rusqlite::StatementStatus::VmStep);
            self.steps.here += u64::try_from(steps).unwrap_or_default();
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{SecuredConnection, make_writer, map, open};
    use crate::store::sql_log::tests::{logged, placeholders};
    use crate::store::{Isolation, migrate};

    #[test]
    fn many_may_open_a_new_file_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        for round in 0..100 {
            let file = folder.path().join(format!("{round}.db"));
            let start = std::sync::Barrier::new(8);
            std::thread::scope(|scope| {
                let open = || {
                    start.wait();
                    open(&file).map(drop)
                };
                let opened: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
                for opened in opened {
                    assert_eq!(opened.join().expect("ends"), Ok(()), "in round {round}");
                }
            });
        }
    }

    #[test]
    fn what_a_connection_starts_with_is_logged_with_the_types_of_its_parameters() {
        let folder = tempfile::tempdir().expect("a folder");
        let logged = logged(|| {
            let mut connection = open(&folder.path().join("x.db")).expect("opens");
            migrate::sqlite(&mut connection).expect("migrates");
            make_writer(&connection).expect("has room");
            map(&connection).expect("is mapped");
            let mut secured =
                SecuredConnection::new(connection, Isolation::BOTH, true, Duration::ZERO)
                    .expect("builds");
            secured.wait_for_disk(false).expect("is changed");
            secured.forget_pages();
        });
        for words in [
            "PRAGMA journal_mode = WAL",
            "PRAGMA foreign_keys = ON",
            "BEGIN IMMEDIATE",
            "CREATE TABLE IF NOT EXISTS schema_migrations",
            "SELECT number, name, digest FROM schema_migrations",
            "CREATE TABLE organizations",
            "INSERT INTO schema_migrations",
            "COMMIT",
            "PRAGMA cache_size",
            "PRAGMA mmap_size",
            "CREATE TEMP VIEW rows",
            "CREATE TEMP TRIGGER security_insert_rows",
            "CREATE TEMP VIEW security_whole_rows",
            "pragma_foreign_key_list",
            "PRAGMA synchronous = NORMAL",
            "PRAGMA shrink_memory",
        ] {
            let shown = logged.iter().any(|one| one.sql.contains(words));
            assert!(shown, "{words}");
        }
        for one in &logged {
            let parameters = placeholders(&one.sql).into_iter();
            assert!(parameters.eq(1..=one.types.len()), "{one:?}");
        }
    }

    #[test]
    fn a_commit_waits_for_the_disk_or_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut connection = open(&folder.path().join("x.db")).expect("opens");
        migrate::sqlite(&mut connection).expect("migrates");
        let mut secured = SecuredConnection::new(connection, Isolation::BOTH, true, Duration::ZERO)
            .expect("builds");
        let level = |secured: &SecuredConnection| {
            let level = secured
                .connection
                .query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0));
            level.expect("is known")
        };
        assert_eq!(level(&secured), 2);
        for (wait, expected) in [(false, 1), (false, 1), (true, 2), (false, 1), (true, 2)] {
            secured.wait_for_disk(wait).expect("is changed");
            assert_eq!(level(&secured), expected);
        }
        secured.control("BEGIN IMMEDIATE").expect("begins");
        assert!(secured.wait_for_disk(false).is_err(), "in a transaction");
    }
}
