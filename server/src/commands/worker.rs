//! `worker`: the background tasks without the API.

use std::sync::Arc;

use tplkit_server::context::Context;
use tplkit_server::jobs::Worker;
use tplkit_server::metrics::Metrics;
use tplkit_server::rows::Tables;
use tplkit_server::wake::WorkerSignal;

use super::Failure;
use super::examples::examples;
use super::log_queue::LogQueue;
use super::logs::Level;
use super::process::{self, Process};

#[derive(Debug, clap::Args)]
#[command(after_long_help = examples("TPLKIT_SECRET_KEY, 32 bytes in base64 or hex, encrypts the secrets of connections.", &[
        ("Do the background tasks of a PostgreSQL store",
         "tplkit-server worker --database $DATABASE"),
        ("Do not repeat the address in every call",
         "TPLKIT_DATABASE_URL=$DATABASE tplkit-server worker"),
    ]))]
pub(super) struct Arguments {
    #[command(flatten)]
    process: process::Arguments,
}

pub(super) async fn run(
    database: &str,
    context: Context,
    options: Arguments,
    log: &LogQueue,
) -> Result<(), Failure> {
    let process = Process::begin(database, options.process, Level::Info, log).await?;
    if process
        .files
        .place
        .as_ref()
        .is_some_and(|place| !place.is_memory())
    {
        process.claim_files(false).await?;
    }
    let metrics = Arc::new(Metrics::new(&process.store, None));
    process.show(&metrics).await?;
    let tables = Tables::default();
    let worker = Worker {
        task_context: process.task_context(&context, &metrics, &tables),
        lease_seconds: process.lease_seconds,
        signal: WorkerSignal::default(),
    };
    let executor = process.executor(&context, &metrics, &tables, &WorkerSignal::default());
    let upkeep = process.upkeep(worker, executor);
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "working");
    process.run(None, upkeep).await
}
