//! Distributes a migrated database over the workers of a Citus cluster, by organization.
//!
//! In: a connection to the coordinator, after all migrations. Out: a [`DistributionReport`]. One transaction does all
//! of it, so a database is distributed whole or not at all, and whoever comes second finds nothing to do. Servers
//! recognize such a database by the function of `distribute.sql`, whose comment is the digest of what this module
//! would do: where it differs, a newer program has something to add.

mod cluster;
mod tables;

use std::fmt::Write as _;

use bytes::Bytes;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio_postgres::{Client, Transaction};

use super::run::{SETTINGS, begin, log_end, run, run_each};
use crate::store::policy::{Form, TABLES, TablePolicy};
use crate::store::{Placement, StoreError, sql_log};
use cluster::{Cluster, enable_roles};

/// The function by which settings reach the workers, and the notes about queues.
const FUNCTIONS: &str = include_str!("distribute.sql");

/// The name and arguments of the one that marks such a database.
macro_rules! mark {
    () => {
        "main.set_on_all_nodes(text[], text[])"
    };
}

/// Whether a database is distributed: a question to catalogs alone, which every PostgreSQL understands.
pub(super) const IS_DISTRIBUTED: &str =
    concat!("SELECT to_regprocedure('", mark!(), "') IS NOT NULL");

/// The digest of what distributed it; nothing where it is not.
const DISTRIBUTED_BY: &str = concat!(
    "SELECT coalesce(obj_description(to_regprocedure('",
    mark!(),
    "')), '')"
);

/// What was done to distribute a database, and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DistributionReport {
    /// The version of Citus, as the coordinator says it.
    pub citus: String,
    /// How many workers there are.
    pub workers: i64,
    /// Tables that this run has distributed by organization; none where all of them were.
    pub distributed: Vec<&'static str>,
    /// Tables that this run has put under the coordinator's management; none where all of them were.
    pub on_coordinator: Vec<&'static str>,
    /// Whether anything was changed.
    pub changed: bool,
}

/// Whether a database is distributed.
///
/// # Errors
/// [`StoreError::UpgradeDistributed`] where another version of the program did that.
pub(in crate::store) async fn is_distributed(client: &Client) -> Result<bool, StoreError> {
    sql_log::control(IS_DISTRIBUTED);
    let is_distributed: bool = client.query_one(IS_DISTRIBUTED, &[]).await?.get(0);
    if !is_distributed {
        return Ok(false);
    }
    sql_log::control(DISTRIBUTED_BY);
    let by: String = client.query_one(DISTRIBUTED_BY, &[]).await?.get(0);
    if by != digest() {
        return Err(StoreError::UpgradeDistributed);
    }
    Ok(true)
}

/// Distributes a database that is migrated.
///
/// `on_workers` is what sessions of requests have on workers: what sessions of the coordinator are started with reaches
/// none of them.
pub(in crate::store) async fn distribute(
    client: &mut Client,
    on_workers: &[(&str, String)],
) -> Result<DistributionReport, StoreError> {
    let cluster = Cluster::check(client).await?;
    let transaction = begin(client).await?;
    let done = within(&transaction, &cluster).await;
    log_end(done.is_ok());
    let report = done?;
    transaction.commit().await?;
    enable_roles(client, on_workers).await?;
    Ok(report)
}

async fn within(
    transaction: &Transaction<'_>,
    cluster: &Cluster,
) -> Result<DistributionReport, StoreError> {
    run(transaction, SETTINGS).await?;
    // Others that migrate, or distribute, wait.
    run(
        transaction,
        "LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE; \
         SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
    )
    .await?;
    let left = tables::left(transaction).await?;
    let digest = digest();
    sql_log::control(DISTRIBUTED_BY);
    let known: String = transaction.query_one(DISTRIBUTED_BY, &[]).await?.get(0);
    let mut report = DistributionReport {
        citus: cluster.version.clone(),
        workers: cluster.workers,
        distributed: names(&left, |place| !place.is_coordinator()),
        on_coordinator: names(&left, Placement::is_coordinator),
        changed: false,
    };
    if left.is_empty() && known == digest {
        return Ok(report);
    }
    tables::remove_policies(transaction).await?;
    let keys = tables::remove_foreign_keys(transaction, &left).await?;
    for table in &left {
        tables::place(transaction, table).await?;
    }
    for key in keys.iter().filter(|key| key.stays()) {
        run(transaction, &key.add()).await?;
    }
    // Whoever is to own a view has to be able to make one.
    run(
        transaction,
        "GRANT CREATE ON SCHEMA main TO tplkit_operator",
    )
    .await?;
    for table in &TABLES {
        run_each(transaction, &table.postgres(Form::Distributed)).await?;
    }
    run(
        transaction,
        "REVOKE CREATE ON SCHEMA main FROM tplkit_operator",
    )
    .await?;
    run_each(transaction, FUNCTIONS).await?;
    run(
        transaction,
        &format!(concat!("COMMENT ON FUNCTION ", mark!(), " IS '{}'"), digest),
    )
    .await?;
    report.changed = true;
    Ok(report)
}

fn names(tables: &[&'static TablePolicy], of: impl Fn(Placement) -> bool) -> Vec<&'static str> {
    let tables = tables.iter().filter(|table| of(table.placement));
    tables.map(|table| table.name).collect()
}

/// The digest of what makes a database distributed: its policies and the function.
fn digest() -> String {
    let mut text = FUNCTIONS.to_owned();
    for table in &TABLES {
        let place = table.placement;
        let _ = write!(text, "{place:?}\n{}", table.postgres(Form::Distributed));
    }
    format!("{:x}", Bytes::copy_from_slice(&Sha256::digest(text)))
}
