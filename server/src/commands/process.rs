//! What `serve` and `worker` have in common: a process that runs until a signal stops it.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tplkit_server::automation::{self, RunExecutor, Settings};
use tplkit_server::background::{self, TaskContext, tasks};
use tplkit_server::edge::{self, Limits};
use tplkit_server::files::Files;
use tplkit_server::files::claim_storage::{MarkError, claim};
use tplkit_server::jobs::Worker;
use tplkit_server::metrics::{Metrics, Page};
use tplkit_server::rows::Tables;
use tplkit_server::secret_key::SecretKey;
use tplkit_server::store::{Options, Serving, Store, StoreError};
use tplkit_server::wake::WorkerSignal;

use super::log_queue::LogQueue;
use super::logs::Level;
use super::signals::Signals;
use super::{Failure, files, logs, variable};

/// How often a store that is not there is looked for.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Descriptors that are not for clients: the store, standard streams, listeners.
const OWN_FILES: u64 = 128;

/// Holds the key for the secrets of connections. A variable alone: arguments are seen by everybody on
/// the machine.
const SECRET_KEY: &str = "TPLKIT_SECRET_KEY";
/// The mail server for mails that name no connection; it may hold a password.
const SMTP_URL: &str = "TPLKIT_SMTP_URL";

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Seconds that open requests may take after the process is asked to stop.
    #[arg(
        long,
        value_name = "N",
        env = "TPLKIT_DRAIN_SECONDS",
        default_value_t = 30
    )]
    drain_seconds: u32,
    /// Seconds that a statement of the store may take (0: any number).
    #[arg(
        long,
        value_name = "SECONDS",
        env = "TPLKIT_STATEMENT_TIMEOUT",
        default_value = "5",
        value_parser = seconds
    )]
    statement_timeout: Duration,
    /// Seconds after which another process may take over a template job or a run that stands still.
    #[arg(
        long,
        value_name = "N",
        env = "TPLKIT_LEASE_SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(1..=86_400)
    )]
    lease_seconds: u32,
    /// Days for which finished runs of automations are kept (0: for ever).
    #[arg(
        long,
        value_name = "DAYS",
        env = "TPLKIT_KEEP_RUNS_DAYS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(..=36_500)
    )]
    keep_runs_days: u32,
    /// Where Prometheus finds /metrics; nowhere when not given.
    #[arg(long, value_name = "ADDR", env = "TPLKIT_METRICS_LISTEN", value_parser = address)]
    metrics_listen: Option<String>,
    /// Lets connections of automations lead into private networks by a name; the API takes numbers and localhost, too.
    #[arg(long, env = "TPLKIT_ALLOW_PRIVATE_ADDRESSES", value_parser = BoolishValueParser::new())]
    allow_private_addresses: bool,
    #[command(flatten)]
    files: files::Arguments,
    #[command(flatten)]
    logs: logs::Arguments,
}

/// Seconds with a fraction. Milliseconds are the least that the database knows: what came to none would be no limit.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    seconds
        .filter(|seconds| *seconds <= 0.0 || *seconds >= 0.001)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| *time <= Duration::from_secs(86_400))
        .map(|time| Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(0)))
        .ok_or_else(|| {
            "use 0 or a number of seconds from 0.001 to 86400, such as 5 or 0.5".to_owned()
        })
}

/// A process that has begun.
pub(super) struct Process {
    pub(super) store: Store,
    /// True once it has to stop.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) drain: Duration,
    /// How long a template job is held without renewing.
    pub(super) lease_seconds: u32,
    /// Encrypts the secrets of connections.
    pub(super) secret_key: Option<SecretKey>,
    /// The mail server for mails that name no connection.
    smtp_url: Option<String>,
    /// Whether names may lead into private networks.
    pub(super) allow_private: bool,
    keep_runs: Option<Duration>,
    /// Where files are, and how they are kept.
    pub(super) files: Files,
    heard: watch::Sender<bool>,
    signals: Signals,
    log: LogQueue,
    metrics_listen: Option<String>,
    _serving: Serving,
}

impl Process {
    /// Starts to log, as much as `usual_log` unless an option says otherwise, and to hear signals, and opens the store. A
    /// database that cannot be reached at the moment is waited for in the background.
    pub(super) async fn begin(
        database: &str,
        arguments: Arguments,
        usual_log: Level,
        log: &LogQueue,
    ) -> Result<Process, Failure> {
        let secret_key = secret_key()?;
        let smtp_url = smtp_url()?;
        logs::start(&arguments.logs, usual_log, log)?;
        let signals = Signals::new()?;
        let options = Options {
            statement_timeout: arguments.statement_timeout,
        };
        let (store, serving) = Store::prepare_serving(database, &options)?;
        let files = arguments.files.open(database)?;
        match store.reach().await {
            Ok(()) => {}
            Err(error @ StoreError::Unavailable(_)) => {
                tracing::warn!(%error, "the store is not reachable: every response is 503 until it is");
                tokio::spawn(wait_for(store.clone()));
            }
            Err(error) => return Err(error.into()),
        }
        let (heard, stop) = watch::channel(false);
        Ok(Process {
            store,
            stop,
            drain: Duration::from_secs(arguments.drain_seconds.into()),
            lease_seconds: arguments.lease_seconds,
            secret_key,
            smtp_url,
            allow_private: arguments.allow_private_addresses,
            keep_runs: (arguments.keep_runs_days > 0)
                .then(|| Duration::from_secs(86_400 * u64::from(arguments.keep_runs_days))),
            files,
            heard,
            signals,
            log: log.clone(),
            metrics_listen: arguments.metrics_listen,
            _serving: serving,
        })
    }

    /// Shows the numbers, if anybody is to see them.
    pub(super) async fn show(&self, metrics: &Arc<Metrics>) -> Result<(), Failure> {
        self.log.count_in(metrics.lost_log_lines());
        let Some(address) = &self.metrics_listen else {
            return Ok(());
        };
        let listener = listen(address).await?;
        let address = listener.local_addr()?;
        tracing::info!(%address, "numbers are shown at /metrics");
        let limits = Limits {
            connections: 64,
            ..Limits::default()
        };
        let page = Arc::new(Page(metrics.clone()));
        // Until the process ends: how it stops is worth seeing, too.
        tokio::spawn(edge::serve(page, listener, limits, std::future::pending()));
        Ok(())
    }

    /// What background tasks work with.
    pub(super) fn task_context(
        &self,
        context: &tplkit_server::context::Context,
        metrics: &Arc<Metrics>,
        tables: &Tables,
    ) -> TaskContext {
        TaskContext {
            store: self.store.clone(),
            context: context.clone(),
            metrics: metrics.clone(),
            tables: tables.clone(),
            keep_runs: self.keep_runs,
            files: self.files.clone(),
        }
    }

    /// Makes sure that the place of files is this store's. One that is away is waited for in the background, and so is
    /// one of a store that is away.
    pub(super) async fn claim_files(&self, adopt: bool) -> Result<(), Failure> {
        let Some(place) = self.files.place.clone() else {
            return Ok(());
        };
        let store = self.store.clone();
        self.files.unclaimed.store(true, Ordering::Release);
        match claim(&store, &place, adopt).await {
            Ok(()) => self.files.unclaimed.store(false, Ordering::Release),
            Err(error) if is_away(&error) => {
                tracing::warn!(%error, "until the place of files is there, responses about bytes are 503");
                let unclaimed = self.files.unclaimed.clone();
                tokio::spawn(async move {
                    loop {
                        sleep(LOOK_AGAIN).await;
                        match claim(&store, &place, adopt).await {
                            Ok(()) => break,
                            Err(error) if is_away(&error) => {}
                            // It stays out of use: whoever operates the server has to decide.
                            Err(error) => {
                                tracing::error!(%error, "files are not served");
                                return;
                            }
                        }
                    }
                    unclaimed.store(false, Ordering::Release);
                    tracing::info!("the place of files is there");
                });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// The workers of automations.
    pub(super) fn executor(
        &self,
        context: &tplkit_server::context::Context,
        metrics: &Metrics,
        tables: &Tables,
        signal: &WorkerSignal,
    ) -> RunExecutor {
        let settings = Settings {
            processor_time: Settings::default().processor_time,
            lease: Duration::from_secs(self.lease_seconds.into()),
            secret_key: self.secret_key.clone(),
            smtp_url: self.smtp_url.clone(),
            allow_private: self.allow_private,
        };
        RunExecutor::new(&self.store, context, tables, signal, settings)
            .counting(metrics.runs())
            .attaching(&self.files)
    }

    /// The background tasks, template jobs and automations, until it is time to stop.
    pub(super) fn upkeep(
        &self,
        worker: Worker,
        executor: RunExecutor,
    ) -> impl Future<Output = ()> + use<> {
        let (mut stop, drain) = (self.stop.clone(), self.drain);
        let tasks = tasks(worker.task_context.files.grace);
        let upkeep = background::run(tasks, worker.task_context.clone(), stop.clone());
        async move {
            let jobs = worker.run(stop.clone());
            let running = Box::pin(executor.work(stop.clone()));
            let work = async { tokio::join!(upkeep, jobs, running) };
            let late = async {
                let _ = stop.wait_for(|stop| *stop).await;
                sleep(drain).await;
            };
            tokio::select! {
                _ = work => {}
                () = late => tracing::warn!("the time to stop is over, and upkeep had not ended"),
            }
        }
    }

    /// Reports others that it runs and whatever else there is to report, and runs until it has stopped.
    pub(super) async fn run(
        self,
        ready: Option<Ready>,
        work: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        if let Some(Ready { address, more }) = ready {
            writeln!(io::stdout(), "listening on http://{address}")?;
            // Whoever wanted to know the address alone may have gone.
            let _ = write!(io::stdout(), "{more}");
            io::stdout().flush()?;
        }
        tokio::select! {
            () = work => {
                tracing::info!("stopped");
                Ok(())
            }
            () = self.signals.heed(self.heard) => Err(Failure::Interrupted),
        }
    }
}

/// What a process that listens reports once it does.
pub(super) struct Ready {
    pub(super) address: SocketAddr,
    /// What else there is to report.
    pub(super) more: String,
}

/// Whether a place, or the store, may be there later.
fn is_away(error: &MarkError) -> bool {
    matches!(
        error,
        MarkError::Storage(_) | MarkError::Store(StoreError::Unavailable(_))
    )
}

/// The address of the mail server, if there is one.
fn smtp_url() -> Result<Option<String>, Failure> {
    let Some(text) = variable(SMTP_URL).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let text = text.to_string_lossy().into_owned();
    match automation::smtp_fault(&text) {
        Some(why) => Err(Failure::Usage(format!("{SMTP_URL} {why}"))),
        None => Ok(Some(text)),
    }
}

/// The key, if there is one.
pub(super) fn secret_key() -> Result<Option<SecretKey>, Failure> {
    let Some(text) = variable(SECRET_KEY).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let key = text.to_str().and_then(SecretKey::parse);
    let refuse = || {
        Failure::Usage(format!(
            "{SECRET_KEY} is not a key: it takes 32 bytes, in base64 or hex (openssl rand -base64 32)"
        ))
    };
    key.map(Some).ok_or_else(refuse)
}

/// An address to listen on. Whether there is such a host is seen later.
pub(super) fn address(text: &str) -> Result<String, String> {
    let is_one = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    is_one
        .then(|| text.to_owned())
        .ok_or_else(|| "use HOST:PORT, such as 127.0.0.1:8080".to_owned())
}

/// Listens, with an error that says where.
pub(super) async fn listen(address: &str) -> Result<tokio::net::TcpListener, Failure> {
    edge::listen(address)
        .await
        .map_err(|error| Failure::Listen {
            address: address.to_owned(),
            error,
        })
}

/// How many connections this process may have at once, having asked the system for as many files as it
/// gives.
pub(super) fn available_connections(wanted: usize) -> usize {
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(1024);
    let room = usize::try_from(files.saturating_sub(OWN_FILES)).unwrap_or(usize::MAX);
    if room < wanted {
        tracing::warn!(
            files,
            wanted,
            room,
            "fewer connections than wanted: the limit of open files"
        );
    }
    wanted.min(room).max(1)
}

async fn wait_for(store: Store) {
    let mut last_error = String::new();
    loop {
        sleep(LOOK_AGAIN).await;
        // Not for ever: what hangs may have been fixed meanwhile.
        let reached = timeout(Duration::from_secs(600), store.reach()).await;
        match reached {
            Ok(Ok(())) => break,
            Ok(Err(error)) if error.to_string() != last_error => {
                tracing::warn!(%error, "the store is still not there");
                last_error = error.to_string();
            }
            _ => {}
        }
    }
    tracing::info!("the store is there");
}
