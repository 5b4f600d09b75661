//! Migrations: embedded, numbered, alike in number and name on both stores, run under a lock.
//!
//! A shipped migration is never edited; a later one corrects it. A store that is newer than the
//! program, or was migrated by other texts, is refused.

mod distribute;
mod history;
mod migration;
mod new_store;
mod roles;
mod run;
mod statements;

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Transaction};

use super::dialect::WHOLE_ROWS;
use super::policy::Form;
use super::{StoreError, sql_log};
pub use distribute::DistributionReport;
pub(super) use distribute::{distribute, is_distributed};
use history::{RecordedMigration, Step, pending};
use migration::Migration;
use run::{SETTINGS, begin, log_end, run};

macro_rules! migration {
    ($number:literal, $file:literal) => {
        Migration {
            number: $number,
            name: $file,
            sqlite: include_str!(concat!("../../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $file, ".sql")),
        }
    };
}

const MIGRATIONS: [Migration; 22] = [
    migration!(1, "0001_identity"),
    migration!(2, "0002_ground"),
    migration!(3, "0003_automations"),
    migration!(4, "0004_templates"),
    migration!(5, "0005_runs"),
    migration!(6, "0006_old_runs"),
    migration!(7, "0007_beside"),
    migration!(8, "0008_channels_and_connections"),
    migration!(9, "0009_undoing"),
    migration!(10, "0010_run_rights"),
    migration!(11, "0011_new_passwords"),
    migration!(12, "0012_calls"),
    migration!(13, "0013_files"),
    migration!(14, "0014_one_table"),
    migration!(15, "0015_parts"),
    migration!(16, "0016_lines"),
    migration!(17, "0017_search"),
    migration!(18, "0018_files_by_id"),
    migration!(19, "0019_numbers_of_files"),
    migration!(20, "0020_uploads_in_progress"),
    migration!(21, "0021_run_chains"),
    migration!(22, "0022_undone_by"),
];

const LEDGER: &str = "CREATE TABLE IF NOT EXISTS schema_migrations \
     (number bigint NOT NULL PRIMARY KEY, name text NOT NULL, digest text NOT NULL)";
const RECORDED: &str = "SELECT number, name, digest FROM schema_migrations ORDER BY number";
/// The types of what is recorded of a migration.
const RECORD_TYPES: [&str; 3] = ["bigint", "text", "text"];

/// Migrates a file. The write lock of the file keeps others out.
pub(super) fn sqlite(connection: &mut Connection) -> Result<(), StoreError> {
    sql_log::control("BEGIN IMMEDIATE");
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let migrated = migrate_sqlite(&transaction);
    log_end(migrated.is_ok());
    migrated?;
    Ok(transaction.commit()?)
}

fn migrate_sqlite(transaction: &Connection) -> Result<(), StoreError> {
    sql_log::control(LEDGER);
    transaction.execute_batch(LEDGER)?;
    let digests = "SELECT count(*) FROM pragma_table_info('schema_migrations') \
         WHERE name = 'digest'";
    sql_log::control(digests);
    if transaction.query_row(digests, [], |row| row.get::<_, i64>(0))? == 0 {
        return Err(StoreError::NoDigests);
    }
    let recorded = {
        sql_log::control(RECORDED);
        let mut select = transaction.prepare(RECORDED)?;
        let recorded = select.query_map([], |row| {
            Ok(RecordedMigration {
                number: row.get(0)?,
                name: row.get(1)?,
                digest: row.get(2)?,
            })
        })?;
        recorded.collect::<Result<Vec<_>, _>>()?
    };
    let steps = MIGRATIONS.iter().map(|one| Step::of(one, one.sqlite));
    for step in pending(&recorded, steps)? {
        sql_log::control(step.text);
        transaction.execute_batch(step.text)?;
        let done = "INSERT INTO schema_migrations (number, name, digest) VALUES (?1, ?2, ?3)";
        sql_log::typed(done, RECORD_TYPES);
        transaction.execute(done, (step.number, step.name, step.digest))?;
    }
    Ok(())
}

/// Migrates a database, one that is distributed in its own form alone. A table lock keeps others out.
pub(super) async fn postgres(client: &mut Client, form: Form) -> Result<(), StoreError> {
    const ATTEMPTS: u64 = 20;
    for attempt in 1.. {
        let error = match attempt_postgres(client, form).await {
            Ok(()) => break,
            Err(Attempt::Final(error)) => return Err(error),
            Err(Attempt::Roles) => return Err(roles::missing(client).await),
            Err(Attempt::Schema) => return Err(roles::closed(client).await),
            Err(Attempt::Database(error)) => error,
        };
        // Two that create the same thing at once: one sees an error that has no name of its own.
        let raced = error.code().is_some_and(|code| {
            [
                SqlState::UNIQUE_VIOLATION,
                SqlState::DUPLICATE_OBJECT,
                SqlState::DUPLICATE_SCHEMA,
                SqlState::DUPLICATE_TABLE,
                SqlState::INTERNAL_ERROR,
            ]
            .contains(code)
        });
        if !raced || attempt == ATTEMPTS {
            return Err(error.into());
        }
        tokio::time::sleep(Duration::from_millis(20 * attempt)).await;
    }
    roles::check(client).await
}

enum Attempt {
    Database(tokio_postgres::Error),
    /// The connected user may not create the roles.
    Roles,
    /// The connected user may create nothing in this database.
    Schema,
    Final(StoreError),
}

impl From<tokio_postgres::Error> for Attempt {
    fn from(error: tokio_postgres::Error) -> Attempt {
        Attempt::Database(error)
    }
}

async fn attempt_postgres(client: &mut Client, form: Form) -> Result<(), Attempt> {
    let transaction = begin(client).await?;
    let migrated = migrate_postgres(&transaction, form).await;
    log_end(migrated.is_ok());
    migrated?;
    Ok(transaction.commit().await?)
}

async fn migrate_postgres(transaction: &Transaction<'_>, form: Form) -> Result<(), Attempt> {
    run(transaction, SETTINGS).await?;
    let known = "SELECT to_regclass('main.schema_migrations') IS NOT NULL";
    // A server that starts next to running ones should find nothing to create, or to lock.
    if !is_so(transaction, known).await? {
        let fit = new_store::check(transaction).await;
        fit.map_err(Attempt::Final)?;
        let made = run(transaction, "CREATE SCHEMA IF NOT EXISTS main").await;
        made.map_err(|error| unless_denied(error, Attempt::Schema))?;
        run(transaction, LEDGER).await?;
    }
    let digests = "SELECT EXISTS (SELECT FROM pg_attribute WHERE attname = 'digest' \
         AND attrelid = to_regclass('main.schema_migrations') AND NOT attisdropped)";
    if !is_so(transaction, digests).await? {
        return Err(Attempt::Final(StoreError::NoDigests));
    }
    if !left(transaction).await?.is_empty() {
        let lock = "LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE";
        run(transaction, lock).await?;
        let made = run(transaction, roles::MAKE).await;
        made.map_err(|error| unless_denied(error, Attempt::Roles))?;
        let is_distributed = is_so(transaction, distribute::IS_DISTRIBUTED).await?;
        if is_distributed && form == Form::OneMachine {
            return Err(Attempt::Final(StoreError::UpgradeDistributed));
        }
        // Somebody else may have done it while this one waited.
        for step in left(transaction).await? {
            if is_distributed {
                migrate_distributed(transaction, step.text).await?;
            } else {
                run(transaction, step.text).await?;
            }
            let done = "INSERT INTO schema_migrations (number, name, digest) VALUES ($1, $2, $3)";
            sql_log::typed(done, RECORD_TYPES);
            transaction
                .execute(done, &[&step.number, &step.name, &step.digest])
                .await?;
        }
    }
    Ok(())
}

/// Runs a migration on a distributed database, but for what [`is_left_out`].
async fn migrate_distributed(
    transaction: &Transaction<'_>,
    text: &str,
) -> Result<(), tokio_postgres::Error> {
    for statement in statements::statements(text) {
        if !is_left_out(statements::words(statement)) {
            run(transaction, statement).await?;
        }
    }
    Ok(())
}

/// Whether a statement has no place in a distributed database. Policies have another form there, which comes behind all
/// migrations. Blocks that show the planner a table with rows of nobody would find no worker for them: each worker counts
/// its own rows when `ANALYZE` or autovacuum looks at them.
fn is_left_out(words: &str) -> bool {
    let is_policy = ["CREATE POLICY", "ALTER POLICY", "DROP POLICY"]
        .iter()
        .any(|verb| words.starts_with(verb));
    let is_block = words.split_whitespace().next() == Some("DO");
    let shows_rows = is_block && words.contains("INSERT INTO") && words.contains("ANALYZE");
    is_policy || shows_rows || words.contains(WHOLE_ROWS)
}

/// Whether the one truth value that a statement finds is true.
async fn is_so(transaction: &Transaction<'_>, text: &str) -> Result<bool, tokio_postgres::Error> {
    sql_log::control(text);
    Ok(transaction.query_one(text, &[]).await?.get(0))
}

/// What went wrong, or what it means that it is not allowed.
fn unless_denied(error: tokio_postgres::Error, denied: Attempt) -> Attempt {
    if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        denied
    } else {
        Attempt::Database(error)
    }
}

/// What a database still lacks.
async fn left(transaction: &Transaction<'_>) -> Result<Vec<Step>, Attempt> {
    sql_log::control(RECORDED);
    let rows = transaction.query(RECORDED, &[]).await?;
    let recorded: Vec<RecordedMigration> = rows
        .iter()
        .map(|row| RecordedMigration {
            number: row.get(0),
            name: row.get(1),
            digest: row.get(2),
        })
        .collect();
    let steps = MIGRATIONS.iter().map(|one| Step::of(one, one.postgres));
    pending(&recorded, steps).map_err(Attempt::Final)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;

    use super::{MIGRATIONS, Step, StoreError, is_left_out, sqlite, statements};

    #[test]
    fn what_a_distributed_database_leaves_out_of_blocks_shows_rows_to_the_planner() {
        let blocks = MIGRATIONS.iter().flat_map(|migration| {
            let statements = statements::statements(migration.postgres).into_iter();
            let blocks = statements.map(statements::words);
            let blocks = blocks.filter(|words| words.split_whitespace().next() == Some("DO"));
            blocks.map(|words| (migration.name, is_left_out(words)))
        });
        assert_eq!(
            blocks.collect::<Vec<_>>(),
            [
                ("0014_one_table", false),
                ("0014_one_table", false),
                ("0014_one_table", true),
                ("0017_search", false),
                ("0019_numbers_of_files", true),
            ]
        );
    }

    #[test]
    fn numbers_go_up_one_by_one_and_stand_in_the_names() {
        for (index, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(usize::try_from(migration.number).ok(), Some(index + 1));
            assert!(
                migration
                    .name
                    .starts_with(&format!("{:04}_", migration.number))
            );
        }
    }

    /// Stores in use were made by these texts. `UPDATE=1` adds what is new; a line that is there stays as
    /// it is, and so does the text that it stands for.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "UPDATE=1 rewrites the list")]
    fn no_migration_is_edited() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/digests");
        let mut list = fs::read_to_string(file).expect("the list of digests");
        let before = list.len();
        for migration in &MIGRATIONS {
            for (store, text) in [
                ("postgres", migration.postgres),
                ("sqlite", migration.sqlite),
            ] {
                let name = format!("{store}/{}", migration.name);
                let digest = Step::of(migration, text).digest;
                let line = list.lines().find(|line| line.ends_with(&name));
                match line {
                    Some(line) => assert_eq!(
                        line,
                        format!("{digest}  {name}"),
                        "{name} was edited: take that back, and put the change into a new migration"
                    ),
                    None => writeln!(list, "{digest}  {name}").expect("text"),
                }
            }
        }
        assert_eq!(
            list.lines().count(),
            2 * MIGRATIONS.len(),
            "one was removed"
        );
        if std::env::var_os("UPDATE").is_some() {
            fs::write(file, list).expect("is written");
        } else {
            assert_eq!(before, list.len(), "UPDATE=1 adds the new ones to {file}");
        }
    }

    #[test]
    fn a_newer_store_is_refused() {
        let mut connection = rusqlite::Connection::open_in_memory().expect("opens");
        sqlite(&mut connection).expect("migrates");
        sqlite(&mut connection).expect("has nothing to do");
        let newer = "INSERT INTO schema_migrations VALUES (99, '0099_later', '')";
        connection.execute(newer, []).expect("writes");
        let refused = sqlite(&mut connection);
        assert!(
            matches!(refused, Err(StoreError::Newer { found: 99, .. })),
            "{refused:?}"
        );
    }
}
