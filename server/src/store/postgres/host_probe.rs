//! Asks a host whether it takes writes, and where its cluster is in its history.

use std::io;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

use super::connect_error::Cause;
use crate::store::sql_log;

/// Where this cluster is in its history. Every role may call both functions; what is not PostgreSQL, or
/// shows none of it, has no history.
const HISTORY: &str = "SELECT system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) \
     FROM pg_control_system()";

/// A cluster, and the timeline that it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct History {
    pub(super) cluster: String,
    pub(super) timeline: u32,
}

impl History {
    /// Whether the other one is of the same cluster, after a promotion.
    pub(super) fn is_before(&self, other: &History) -> bool {
        self.cluster == other.cluster && self.timeline < other.timeline
    }
}

/// Whether it says that there is no such function, or that it is not for everybody, or not supported.
fn has_no_history(error: &tokio_postgres::Error) -> bool {
    let code = error.code().map_or("", SqlState::code);
    code.starts_with("42") || code.starts_with("0A")
}

/// The value of a setting, as the driver asks for it where it connects by itself.
const READ_ONLY: &str = "SHOW transaction_read_only";

/// Refuses a host that takes no writes.
pub(super) async fn takes_writes(client: &Client) -> Result<(), Cause> {
    sql_log::control(READ_ONLY);
    let messages = client
        .simple_query(READ_ONLY)
        .await
        .map_err(Cause::Database)?;
    let is_read_only = messages.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    });
    if is_read_only {
        let why = "database does not allow writes";
        let error = io::Error::new(io::ErrorKind::PermissionDenied, why);
        return Err(Cause::Socket(error));
    }
    Ok(())
}

/// Where the cluster of a host is in its history, if it shows that.
pub(super) async fn history(client: &Client) -> Result<Option<History>, tokio_postgres::Error> {
    sql_log::control(HISTORY);
    let messages = match client.simple_query(HISTORY).await {
        Ok(messages) => messages,
        // What has no such functions, or keeps them to itself, says so.
        Err(error) if has_no_history(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let read = |row: &SimpleQueryRow| {
        Some(History {
            cluster: row.get(0)?.to_owned(),
            timeline: u32::from_str_radix(row.get(1)?, 16).ok()?,
        })
    };
    Ok(row.and_then(read))
}
