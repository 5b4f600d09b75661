//! Store errors, independent of the store.

use std::path::Path;

use crate::refusal::Refusal;

/// What to do about a store that this program cannot bring up to date. It is left as it was.
const FRESH_STORE: &str = "nothing was changed. Start it with the tplkit-server that made it, write its \
     workspaces to packages with `tplkit export`, start this one on an empty store, and bring them in \
     with `tplkit apply`";

/// Why an operation of the store was not done. Nothing of it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A repeated value. The constraint is named by its table and columns, joined by `_`.
    #[error("repeated value: {constraint}")]
    Unique {
        /// For example `memberships_organization_id_user_id`.
        constraint: String,
    },
    /// A row that is referred to does not exist.
    #[error("a row that is referred to does not exist")]
    Reference,
    /// Row security refused it: a bug of the statement, for the scope predicates should have.
    #[error("the store refused access: {0}")]
    Denied(String),
    /// The predicates refused it: the organization is none that this scope may write to.
    #[error("an organization outside the scope")]
    OutOfScope,
    /// The store cannot be reached, is full or too busy; later it may work.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// Another transaction holds what this one needs, and did not end in time.
    #[error("another transaction did not end in time")]
    Locked,
    /// As much is being done for an organization at a time as may be.
    #[error("as much is being done for this organization already as may be at a time")]
    Busy,
    /// What was remembered about the caller is no longer true. The request is checked again.
    #[error("the caller has changed")]
    Stale,
    /// A read that was expected to be short is not. It runs once more where it disturbs nobody.
    #[error("a read is longer than was expected")]
    NotBrief,
    /// A statement was ended because it took too long.
    #[error("a statement took too long and was ended")]
    TooLong,
    /// The store is there and wants nothing of us: a wrong password, no such database.
    #[error("the store turns this program away: {0}")]
    TurnedAway(String),
    /// The store was migrated by a newer program.
    #[error(
        "the store is at migration {found}, and this program knows only {known}: use a newer tplkit-server"
    )]
    Newer {
        /// Of the store.
        found: i64,
        /// Of this program.
        known: i64,
    },
    /// The store was brought to its state by another text of a migration than this program has.
    #[error(
        "the store was made by another build of tplkit-server: its migration {0} is not the one of this program; {FRESH_STORE}"
    )]
    OtherMigration(String),
    /// The store was made before migrations were recorded with their digests.
    #[error(
        "the store was made before tplkit-server recorded the digests of migrations, so nothing shows whether it fits this program; {FRESH_STORE}"
    )]
    NoDigests,
    /// The roles of requests do not exist, and the connected user may not create them.
    #[error(
        "{role} may not create the roles that requests run as, and they are not there or not granted to it: give it CREATEROLE, or have an administrator of the database run this once and start again:\n  {run}"
    )]
    NoRoles {
        /// Who connects.
        role: String,
        /// What makes them.
        run: String,
    },
    /// The schema does not exist, and the connected user may not create it.
    #[error(
        "{role} may not create a schema in the database {database}: have an administrator run this once and start again:\n  ALTER DATABASE {database} OWNER TO {role};"
    )]
    NotOwner {
        /// Who connects.
        role: String,
        /// To what.
        database: String,
    },
    /// The database keeps texts in another encoding.
    #[error(
        "the database {database} keeps texts as {encoding}, which does not hold every character: make another one with \
         `createdb --encoding UTF8 --template template0`"
    )]
    NotUtf8 {
        /// Which one.
        database: String,
        /// As PostgreSQL calls it.
        encoding: String,
    },
    /// The database cannot be distributed, or not as it is.
    #[error("the database was not distributed, and is as it was: {0}")]
    NotDistributable(String),
    /// A distributed database lacks migrations, or was distributed by another version of the program.
    #[error(
        "the database is distributed over several machines, but not by this version of the program: stop its servers, \
         and run `tplkit-server migrate --distributed` of the newest one once"
    )]
    UpgradeDistributed,
    /// The database is distributed, and a node of its cluster does not let the roles of requests in.
    #[error(
        "the database is distributed, but the node {0} does not make the roles that requests run as: {1}; run the \
         same command again once it does"
    )]
    NotEnabled(String, String),
    /// Another process serves this file.
    #[error(
        "{0} is being served by another process, under this name or another (a link): stop that one first"
    )]
    Served(String),
    /// A file that is not ours.
    #[error(
        "{0} is not a store of tplkit-server, and nothing was written into it: check `--database` (or \
         TPLKIT_DATABASE_URL)"
    )]
    Foreign(String),
    /// A schema that is not ours.
    #[error(
        "the database {0} has a schema main that is not a store of tplkit-server, and nothing was written into it: check \
         `--database` (or TPLKIT_DATABASE_URL), or make a database for the store"
    )]
    ForeignSchema(String),
    /// A file that has to be there is not.
    #[error(
        "there is no store {0}: check `--database` (or TPLKIT_DATABASE_URL), or make a new store with `tplkit-server \
         migrate`"
    )]
    Absent(String),
    /// A store in memory finds no room for its file.
    #[error("a store in memory needs a folder for its file, which TMPDIR can name: {0}")]
    NoFolder(String),
    /// The URL names no store.
    #[error("{0:?} names no store: use sqlite:FILE, sqlite::memory: or postgres://…")]
    Url(String),
    /// The URL of a database says something that cannot be meant.
    #[error("{0}: {1}")]
    Address(String, String),
    /// A bug.
    #[error("{0}")]
    Internal(String),
}

impl StoreError {
    /// The database takes longer than anybody can wait.
    pub(super) fn silent() -> StoreError {
        StoreError::Unavailable("the database does not respond".to_owned())
    }

    /// The same of a file, with its name where it says none.
    pub(super) fn of_file(self, file: &Path) -> StoreError {
        let name = file.display().to_string();
        match self {
            StoreError::Unavailable(why) if !why.contains(&name) => {
                StoreError::Unavailable(format!("{name}: {why}"))
            }
            StoreError::Internal(why) if !why.contains(&name) => {
                StoreError::Internal(format!("{name}: {why}"))
            }
            other => other,
        }
    }

    /// What PostgreSQL said against a statement.
    pub(super) fn of_database(code: &str, message: &str, constraint: Option<&str>) -> StoreError {
        use tokio_postgres::error::SqlState;
        let class = code.get(..2).unwrap_or_default();
        let text = if WITHOUT_VALUES.contains(&class) {
            format!("{message} ({code})")
        } else {
            format!("an error of the database ({code})")
        };
        if code == SqlState::UNIQUE_VIOLATION.code() {
            // Citus names that of a shard in the message alone, which may be in any language.
            let quoted = || message.split(['"', '«', '»', '„', '“', '”']).nth(1);
            let named = constraint.or_else(quoted).map(str::trim);
            StoreError::Unique {
                constraint: of_table(named.unwrap_or_default()).to_owned(),
            }
        } else if code == SqlState::FOREIGN_KEY_VIOLATION.code() {
            StoreError::Reference
        } else if code == SqlState::LOCK_NOT_AVAILABLE.code() {
            StoreError::Locked
        } else if code == SqlState::INSUFFICIENT_PRIVILEGE.code() {
            StoreError::Denied(text)
        } else if code == SqlState::QUERY_CANCELED.code() {
            StoreError::TooLong
        } else if ["28", "3D"].contains(&class) {
            StoreError::TurnedAway(text)
        } else if LOST_STATEMENTS.contains(&code) {
            StoreError::TurnedAway(format!("{POOLER} ({code})"))
        } else if PASSING.contains(&class)
            || PASSING_CODES.contains(&code)
            || is_of_lost_node(code, message)
        {
            StoreError::Unavailable(text)
        } else {
            StoreError::Internal(text)
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode as Kind;
        use rusqlite::ffi;
        let rusqlite::Error::SqliteFailure(code, message) = &error else {
            return StoreError::Internal(error.to_string());
        };
        let text = message.clone().unwrap_or_default();
        match code.extended_code {
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                return StoreError::Unique {
                    constraint: constraint(&text),
                };
            }
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => return StoreError::Reference,
            ffi::SQLITE_CONSTRAINT_TRIGGER => return StoreError::Denied(text),
            _ => {}
        }
        match code.code {
            Kind::OperationInterrupted => StoreError::TooLong,
            Kind::AuthorizationForStatementDenied => StoreError::Denied(text),
            Kind::DatabaseBusy
            | Kind::DatabaseLocked
            | Kind::DiskFull
            | Kind::CannotOpen
            | Kind::SystemIoFailure
            | Kind::OutOfMemory
            | Kind::ReadOnly => StoreError::Unavailable(error.to_string()),
            _ => StoreError::Internal(error.to_string()),
        }
    }
}

/// The name of a constraint of a table, where a part of the table has it with a number behind: a database that keeps
/// a table in parts makes one of it for each.
fn of_table(constraint: &str) -> &str {
    match constraint.rsplit_once('_') {
        Some((name, number))
            if !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()) =>
        {
            name
        }
        _ => constraint,
    }
}

/// SQLite names no constraint but its columns: `UNIQUE constraint failed: t.a, t.b` is `t_a_b`.
fn constraint(message: &str) -> String {
    let columns = message.rsplit(": ").next().unwrap_or_default();
    let mut name = String::new();
    for column in columns.split(", ") {
        let (table, column) = column.split_once('.').unwrap_or(("", column));
        if name.is_empty() {
            name.push_str(table);
        }
        name.push('_');
        name.push_str(column);
    }
    name
}

/// Classes of errors whose messages hold none of the values that a statement was given. Others do:
/// "invalid input syntax for type …" repeats the input.
const WITHOUT_VALUES: [&str; 12] = [
    "08", "25", "28", "3D", "40", "42", "53", "54", "55", "57", "58", "XX",
];
/// Classes of errors that may be over later.
const PASSING: [&str; 5] = ["08", "53", "57", "58", "40"];
/// Others that may be over later: this process stood still in a transaction until the database ended its session, and the
/// database takes no writes at the moment.
const PASSING_CODES: [&str; 3] = ["25P03", "25P04", "25006"];
/// A prepared statement is not there, or there already. The driver names each once in a session: something in between
/// gives the session to others.
const LOST_STATEMENTS: [&str; 2] = ["26000", "42P05"];
/// What to do about it.
const POOLER: &str = "a pooler in transaction mode lost a prepared statement; PgBouncer needs 1.21 and \
     `max_prepared_statements` for that, or session mode (docs/SCALING.md)";

/// Whether another node of a distributed database ended under a statement: Citus gives that no code of its own, and passes
/// on the words of PostgreSQL's client library.
fn is_of_lost_node(code: &str, message: &str) -> bool {
    const LOST: [&str; 6] = [
        "server closed the connection unexpectedly",
        "connection not open",
        "no connection to the server",
        "could not receive data from server",
        "could not send data to server",
        "SSL ",
    ];
    code == "XX000" && LOST.iter().any(|words| message.starts_with(words))
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> StoreError {
        let Some(reason) = error.as_db_error() else {
            let cause = std::error::Error::source(&error);
            let io = cause.is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
            return if error.is_closed() || io {
                StoreError::Unavailable(chain(&error))
            } else {
                StoreError::Internal(chain(&error))
            };
        };
        StoreError::of_database(reason.code().code(), reason.message(), reason.constraint())
    }
}

/// A URL as it may be shown: scheme, hosts and path. Parameters may hold a password, too; where it is not
/// clear what a password is and what not, nothing but the scheme is shown.
pub(super) fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // A file, or the words of another client (`host=one password=p`).
        return match url.split_once(':') {
            Some(("sqlite", _)) => url.to_owned(),
            Some((scheme, _)) if !scheme.contains([' ', '=', '@']) => format!("{scheme}:…"),
            None if !url.contains([' ', '=', '@']) => url.to_owned(),
            _ => "…".to_owned(),
        };
    };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    match place.rsplit_once('@') {
        _ if parameters.contains('@') => format!("{scheme}://…"),
        Some((_, hosts)) => format!("{scheme}://…@{hosts}"),
        // Where the host was forgotten, what looks like its port is a password.
        None if !has_only_ports(place) => format!("{scheme}://…"),
        None => format!("{scheme}://{place}"),
    }
}

/// Whether what follows the colons of hosts is a number each time.
fn has_only_ports(place: &str) -> bool {
    let hosts = place.split('/').next().unwrap_or_default();
    let numeric = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    hosts.split(',').all(|host| {
        let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
        after.split_once(':').is_none_or(|(_, port)| numeric(port))
    })
}

/// An error with its causes, each once.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reported = error.to_string();
        if !text.contains(&reported) {
            text.push_str(": ");
            text.push_str(&reported);
        }
        cause = error.source();
    }
    text
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        match error {
            StoreError::Unavailable(_) | StoreError::TurnedAway(_) | StoreError::Locked => {
                tracing::warn!(%error, "the store is not available");
                Refusal::unavailable("The store is not available at the moment.")
            }
            StoreError::Busy => Refusal::busy(),
            StoreError::TooLong => {
                tracing::warn!(%error, "the store was given up on");
                Refusal::too_long()
            }
            // Never reported: whoever ran the operation runs it once more.
            StoreError::Stale | StoreError::NotBrief => {
                Refusal::unavailable("This could not be done at once; ask again.")
            }
            // What can collide is caught where it is known what collided; the rest are bugs.
            other => {
                tracing::error!(error = %other, "an operation of the store failed");
                Refusal::internal_by(other.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{StoreError, constraint, of_table, without_secrets};

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        for (url, shown) in [
            ("postgres://u:p@host/db", "postgres://…@host/db"),
            (
                "postgres://u:p@one:1,two:2/db?password=p",
                "postgres://…@one:1,two:2/db",
            ),
            ("postgres:///db?user=u&password=p", "postgres:///db"),
            ("mysql://u:p@ss@host/db", "mysql://…@host/db"),
            ("postgres://u:p?p@host/db", "postgres://…"),
            ("postgres://u:p/p@host/db", "postgres://…@host/db"),
            ("postgres://one:1,[::1]:2/db", "postgres://one:1,[::1]:2/db"),
            ("postgres://u:p/db", "postgres://…"),
            ("host=one user=u password=p", "…"),
            ("u:p@host", "u:…"),
            ("tplkit.db", "tplkit.db"),
            ("sqlite:", "sqlite:"),
            (
                "sqlite:some folder/tplkit.db",
                "sqlite:some folder/tplkit.db",
            ),
        ] {
            assert_eq!(without_secrets(url), shown, "{url}");
        }
    }

    #[test]
    fn a_node_that_ended_under_a_statement_may_be_back_later() {
        let of = |code, message| StoreError::of_database(code, message, None);
        let lost = "server closed the connection unexpectedly\n\tThis probably means the server terminated";
        assert!(matches!(of("XX000", lost), StoreError::Unavailable(_)));
        assert!(matches!(of("22000", lost), StoreError::Internal(_)));
        let own = "cache lookup failed for relation 7";
        assert!(matches!(of("XX000", own), StoreError::Internal(_)));
    }

    #[test]
    fn a_session_that_the_database_ended_may_be_replaced_later() {
        let of = |code, message| StoreError::of_database(code, message, None);
        for (code, message) in [
            (
                "25P03",
                "terminating connection due to idle-in-transaction timeout",
            ),
            ("25P04", "terminating connection due to transaction timeout"),
            (
                "25006",
                "cannot execute CREATE TABLE in a read-only transaction",
            ),
        ] {
            let text = format!("{message} ({code})");
            assert_eq!(of(code, message), StoreError::Unavailable(text));
        }
        // Others of their class are bugs.
        let bug = "there is no transaction in progress";
        assert!(matches!(of("25P01", bug), StoreError::Internal(_)));
    }

    #[test]
    fn a_pooler_that_loses_statements_is_named() {
        for (code, message) in [
            ("26000", "prepared statement \"s1\" does not exist"),
            ("42P05", "prepared statement \"s1\" already exists"),
        ] {
            let error = StoreError::of_database(code, message, None);
            assert!(matches!(error, StoreError::TurnedAway(_)), "{error}");
            let text = error.to_string();
            assert!(text.contains("max_prepared_statements"), "{text}");
            assert!(text.contains(code), "{text}");
        }
    }

    #[test]
    fn a_constraint_of_a_part_is_that_of_the_table() {
        for (name, expected) in [
            ("views_name", "views_name"),
            ("views_name_102008", "views_name"),
            ("views_", "views_"),
            ("views", "views"),
            ("key1", "key1"),
        ] {
            assert_eq!(of_table(name), expected);
        }
    }

    #[test]
    fn a_constraint_is_named_by_table_and_columns() {
        let message = "UNIQUE constraint failed: memberships.organization_id, memberships.user_id";
        assert_eq!(constraint(message), "memberships_organization_id_user_id");
        assert_eq!(
            constraint("UNIQUE constraint failed: users.email"),
            "users_email"
        );
    }
}
