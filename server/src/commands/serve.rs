//! `serve`: the API, and the background tasks next to it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use tplkit_server::context::Context;
use tplkit_server::demo::{self, Demo, DemoError};
use tplkit_server::edge::Limits;
use tplkit_server::files::Files;
use tplkit_server::http::cors::Origins;
use tplkit_server::http::rate_limit::Rate;
use tplkit_server::jobs::Worker;
use tplkit_server::playground::Playground;
use tplkit_server::store::Store;
use tplkit_server::{
    api,
    app::{App, Config, Demonstration, SchemaCap},
};

use super::examples::examples;
use super::log_queue::LogQueue;
use super::logs::Level;
use super::process::{self, Process, Ready, available_connections, listen};
use super::{Failure, IN_MEMORY};

#[derive(Debug, clap::Args)]
#[command(after_long_help = examples("TPLKIT_SECRET_KEY, 32 bytes in base64 or hex, encrypts the secrets of connections.", &[
        ("Serve the store in tplkit.db on port 8080",
         "tplkit-server serve"),
        ("Leave the background tasks to workers",
         "tplkit-server serve --no-worker"),
    ]))]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(super) struct Arguments {
    /// Where to listen; port 0 picks a free one.
    #[arg(
        long,
        value_name = "ADDR",
        env = "TPLKIT_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = process::address
    )]
    listen: String,
    /// Leaves the background tasks to other processes.
    #[arg(long, env = "TPLKIT_NO_WORKER", value_parser = BoolishValueParser::new())]
    no_worker: bool,
    /// How large the body of a request may be, packages included; without it 4 MiB, and 256 MiB for
    /// packages.
    #[arg(
        long,
        value_name = "BYTES",
        env = "TPLKIT_MAX_BODY",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    max_body: Option<u32>,
    /// Takes over a place of files that belongs to another store, or to none although this one has files.
    #[arg(long, env = "TPLKIT_FILES_ADOPT", value_parser = BoolishValueParser::new())]
    files_adopt: bool,
    /// How many bytes an uploaded file may have.
    #[arg(
        long,
        value_name = "BYTES",
        env = "TPLKIT_MAX_FILE",
        default_value_t = 104_857_600,
        value_parser = clap::value_parser!(u64).range(1..=5_368_709_120)
    )]
    max_file: u64,
    /// Takes the client's address from X-Forwarded-For, as the nearest proxy wrote it.
    #[arg(long, env = "TPLKIT_TRUST_PROXY", value_parser = BoolishValueParser::new())]
    trust_proxy: bool,
    /// Requests per second for each client and route, or `off` for no limits at all.
    #[arg(
        long,
        value_name = "off|N",
        env = "TPLKIT_RATE_LIMIT",
        default_value = "100",
        value_parser = rate
    )]
    rate_limit: RateLimit,
    /// How many clients may be connected at once.
    #[arg(
        long,
        value_name = "N",
        env = "TPLKIT_MAX_CONNECTIONS",
        default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    max_connections: u32,
    /// How many features, and columns in all, `GET /v1/schema` shows before it is cut.
    #[arg(
        long,
        value_name = "F,C",
        env = "TPLKIT_SCHEMA_CAP",
        default_value = "500,5000",
        value_parser = schema_cap
    )]
    schema_cap: SchemaCap,
    /// Pages of this origin may use the API from a browser: `scheme://host` or `scheme://host:port`, or
    /// `*` for pages of every origin; repeatable, in the variable with commas.
    #[arg(
        long = "cors-origin",
        num_args = 1..,
        value_name = "ORIGIN",
        env = "TPLKIT_CORS_ORIGINS",
        value_delimiter = ','
    )]
    cors_origins: Vec<String>,
    /// Shows this folder, as `scripts/playground` writes it, at `/playground`; without it what is built in,
    /// if anything is.
    #[arg(long, value_name = "DIR", env = "TPLKIT_PLAYGROUND")]
    playground: Option<PathBuf>,
    /// Fills an empty store with a shop to try things on, and prints how to get at it. Without
    /// `--database` the store is in memory and goes with the process.
    #[arg(long)]
    pub(super) demo: bool,
    #[command(flatten)]
    process: process::Arguments,
}

#[derive(Debug, Clone, Copy)]
struct RateLimit(Option<Rate>);

fn rate(text: &str) -> Result<RateLimit, String> {
    if text == "off" {
        return Ok(RateLimit(None));
    }
    match text.parse::<u32>() {
        Ok(count @ 1..=1_000_000) => Ok(RateLimit(Some(Rate::per_second(count)))),
        _ => Err("use off, or a number from 1 to 1000000".to_owned()),
    }
}

fn schema_cap(text: &str) -> Result<SchemaCap, String> {
    let parts = text.split_once(',').and_then(|(features, columns)| {
        Some(SchemaCap {
            features: features.trim().parse().ok()?,
            columns: columns.trim().parse().ok()?,
        })
    });
    parts
        .filter(|cap| cap.features > 0 && cap.columns > 0)
        .ok_or_else(|| "use two numbers from 1 on, such as 500,5000".to_owned())
}

pub(super) async fn run(
    database: &str,
    context: Context,
    options: Arguments,
    log: &LogQueue,
) -> Result<(), Failure> {
    let origins = options.cors_origins.iter().map(|origin| origin.trim());
    let cors = Origins::parse(origins.filter(|origin| !origin.is_empty()));
    let cors = cors.map_err(|why| Failure::Usage(format!("--cors-origin: {why}")))?;
    let playground = playground(options.playground.as_deref())?;
    // Somebody looks at a demonstration; it says no more than what went wrong.
    let usual_log = if options.demo {
        Level::Warn
    } else {
        Level::Info
    };
    let process = Process::begin(database, options.process, usual_log, log).await?;
    process.claim_files(options.files_adopt).await?;
    let listener = listen(&options.listen).await?;
    let address = listener.local_addr()?;
    let demo = if options.demo {
        Some(fill_demo(&process.store, &context).await?)
    } else {
        None
    };
    let shown = demo.as_ref().map(|demo| welcome(database, address, demo));
    let connections = usize::try_from(options.max_connections).unwrap_or(usize::MAX);
    let usual = Config::default();
    let max_body = options
        .max_body
        .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let config = Config {
        max_body: max_body.unwrap_or(usual.max_body),
        max_package: max_body.unwrap_or(usual.max_package),
        trust_proxy: options.trust_proxy,
        rate: options.rate_limit.0,
        lease_seconds: process.lease_seconds,
        undo_wait: usual.undo_wait,
        schema_cap: options.schema_cap,
        secret_key: process.secret_key.clone(),
        // Whoever reaches a server that listens for this machine alone is on this machine.
        allow_private: process.allow_private || address.ip().is_loopback(),
        cors,
        edge: Limits {
            connections: available_connections(connections),
            drain: process.drain,
            ..Limits::default()
        },
        files: Files {
            max_file: options.max_file,
            ..process.files.clone()
        },
        playground,
        // Whoever else reaches this server is not handed its credentials.
        demonstration: demo
            .filter(|_| address.ip().is_loopback())
            .map(|demo| demonstration_of(address, demo)),
    };
    let app = App::new(process.store.clone(), context.clone(), config)?;
    process.show(&app.metrics).await?;
    let worker = Worker {
        task_context: process.task_context(&context, &app.metrics, &app.tables),
        lease_seconds: app.config.lease_seconds,
        signal: app.signal.clone(),
    };
    let executor = process.executor(&context, &app.metrics, &app.tables, &app.runs);
    let upkeep = (!options.no_worker).then(|| process.upkeep(worker, executor));
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        store = process.store.kind(),
        connections = app.config.edge.connections,
        worker = !options.no_worker,
        "serving"
    );
    let mut stop = process.stop.clone();
    let stopped = async move {
        let _ = stop.wait_for(|stop| *stop).await;
    };
    let work = async move {
        let serving = api::serve(app, listener, stopped);
        match upkeep {
            Some(upkeep) => drop(tokio::join!(serving, upkeep)),
            None => drop(serving.await),
        }
    };
    let more = shown.unwrap_or_default();
    let ready = Ready { address, more };
    Box::pin(process.run(Some(ready), work)).await
}

/// The page of a folder, or what is built in.
fn playground(folder: Option<&Path>) -> Result<Playground, Failure> {
    let Some(folder) = folder else {
        return Ok(Playground::built_in());
    };
    Playground::read(folder).map_err(|error| {
        let folder = folder.display();
        Failure::Usage(format!("--playground: {folder} cannot be shown: {error}"))
    })
}

/// Fills the store.
async fn fill_demo(store: &Store, context: &Context) -> Result<Demo, Failure> {
    demo::fill(store, context)
        .await
        .map_err(|error| match error {
            DemoError::Store(error) => error.into(),
            error => Failure::Usage(format!("--demo: {error}")),
        })
}

/// What a newcomer may try.
fn welcome(database: &str, address: SocketAddr, demo: &Demo) -> String {
    let Demo {
        email,
        password,
        key,
        orders,
        ..
    } = demo;
    let lost = if database == IN_MEMORY {
        "; all of it goes with this process"
    } else {
        ""
    };
    let url = format!("http://{address}");
    format!(
        "\nA coffee shop with customers, products and orders, and a template to apply{lost}.\n\
         sign in   {email}   {password}\n\
         API key   {key}\n\
         docs      {url}/docs\n\
         console   {url}/console\n\
         curl -H 'Authorization: Bearer {key}' \
         '{url}/v1/features/{orders}/rows?filter=status:eq:open&sort=-total&limit=3'\n"
    )
}

fn demonstration_of(address: SocketAddr, demo: Demo) -> Demonstration {
    Demonstration {
        url: format!("http://{address}"),
        email: demo.email.to_owned(),
        password: demo.password,
        key: demo.key,
        workspace: demo.workspace,
        table: demo.orders,
        template: demo.template,
    }
}
