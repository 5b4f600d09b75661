//! `migrate`: brings a store up to date, and distributes one over a cluster.

use clap::Args;
use tplkit_server::store::{Options, Store};

use super::{Failure, print_done};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Distributes a PostgreSQL database over the workers of its Citus cluster, each organization on one of them, and
    /// prints what was done as one JSON document. Run again, it adds what a newer program has; the servers of the
    /// store are stopped meanwhile
    #[arg(long)]
    distributed: bool,
}

pub(super) async fn run(database: &str, options: &Arguments) -> Result<(), Failure> {
    if !options.distributed {
        return Ok(Store::open(database).await.map(drop)?);
    }
    let store = Store::prepare(database, &Options::default())?;
    print_done(&store.distribute().await?)
}
