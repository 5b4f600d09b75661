//! `serve`

use std::io::{self, Write as _};

use tokio::net::TcpListener;
use tplkit_server::context::Context;
use tplkit_server::http::limits::Rate;
use tplkit_server::http::{self, App, Config};
use tplkit_server::store::Store;

use super::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Where to listen; port 0 picks a free one.
    #[arg(
        long,
        value_name = "ADDR",
        env = "TPLKIT_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    listen: String,
    /// How large the body of a request may be.
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    max_body: usize,
    /// Takes the client's address from X-Forwarded-For, as the nearest proxy wrote it.
    #[arg(long)]
    trust_proxy: bool,
    /// Requests per second for each client and route, or `off` for no limits at all.
    #[arg(long, value_name = "off|N", default_value = "100", value_parser = rate)]
    rate_limit: RateLimit,
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

pub(super) async fn run(
    database: &str,
    context: Context,
    options: Arguments,
) -> Result<(), Failure> {
    tracing_subscriber::fmt()
        .json()
        .with_writer(io::stderr)
        .with_max_level(tracing::Level::INFO)
        .init();
    let store = Store::open(database).await?;
    let _serving = store.claim()?;
    let config = Config {
        max_body: options.max_body,
        trust_proxy: options.trust_proxy,
        rate: options.rate_limit.0,
        ..Config::default()
    };
    let app = App::new(store, context, config)?;
    let listener = TcpListener::bind(&options.listen).await;
    let listener = listener.map_err(|error| Failure::Listen {
        address: options.listen,
        error,
    })?;
    let address = listener.local_addr()?;
    // Before the line that others wait for: a signal that follows it must not be lost.
    let stop = stop()?;
    writeln!(io::stdout(), "listening on http://{address}")?;
    io::stdout().flush()?;
    http::serve(app, listener, stop).await?;
    tracing::info!("every open request has ended");
    Ok(())
}

/// Ends when the process is asked to.
#[cfg(unix)]
fn stop() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: no new requests are taken");
    })
}

/// Ends when the process is asked to.
#[cfg(not(unix))]
fn stop() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        tracing::info!("stopping: no new requests are taken");
    })
}
