//! The server as one value: its settings, and what every request and every worker uses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::auth::{CredentialCache, Passwords};
use crate::context::{Context, random};
use crate::edge::Limits;
use crate::files::Files;
use crate::http::cors::Origins;
use crate::http::in_flight::InFlight;
use crate::http::rate_limit::{Buckets, Rate};
use crate::lanes::Lanes;
use crate::metrics::Metrics;
use crate::playground::Playground;
use crate::rows::Tables;
use crate::secret_key::SecretKey;
use crate::static_file::Page;
use crate::store::{Store, StoreError};
use crate::wake::WorkerSignal;

/// How the server is to behave.
#[derive(Debug, Clone)]
pub struct Config {
    /// Bytes that a body may have.
    pub max_body: usize,
    /// Bytes that a package, or a part of one, may have.
    pub max_package: usize,
    /// Whether `X-Forwarded-For` names the client.
    pub trust_proxy: bool,
    /// How much each client and key may ask of each route; `None` switches all limits off.
    pub rate: Option<Rate>,
    /// Seconds that a template job is held by who runs it, unless it is renewed.
    pub lease_seconds: u32,
    /// How long a request waits for an undo; after that a worker continues it.
    pub undo_wait: Duration,
    /// How much a schema document shows.
    pub schema_cap: SchemaCap,
    /// Encrypts the secrets of connections; without it none can be stored.
    pub secret_key: Option<SecretKey>,
    /// Whether the API takes connections whose addresses lead into private networks.
    pub allow_private: bool,
    /// Pages of which origins may use the API from a browser.
    pub cors: Origins,
    /// What a client may take.
    pub edge: Limits,
    /// Where files are, and how they are kept.
    pub files: Files,
    /// The page that checks packages in the browser.
    pub playground: Playground,
    /// What the documentation shows of this server, if it is a demonstration that nobody else reaches.
    pub demonstration: Option<Demonstration>,
}

/// What is in a demonstration, and how to get at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demonstration {
    /// Where it is.
    pub url: String,
    /// Who signs in,
    pub email: String,
    /// and with which password.
    pub password: String,
    /// An API key.
    pub key: String,
    /// A workspace.
    pub workspace: String,
    /// A table in it.
    pub table: String,
    /// A template that can be applied to it.
    pub template: String,
}

/// How much `GET /v1/schema` shows before it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaCap {
    /// Features in all.
    pub features: u32,
    /// Columns in all.
    pub columns: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            max_body: 4 << 20,
            max_package: 256 << 20,
            trust_proxy: false,
            rate: Some(Rate::per_second(100)),
            lease_seconds: 60,
            undo_wait: Duration::from_secs(10),
            schema_cap: SchemaCap {
                features: 500,
                columns: 5000,
            },
            secret_key: None,
            allow_private: false,
            cors: Origins::default(),
            edge: Limits::default(),
            files: Files::default(),
            playground: Playground::default(),
            demonstration: None,
        }
    }
}

/// What every request has at hand.
#[derive(Debug)]
pub struct App {
    /// Where everything is kept.
    pub store: Store,
    /// Time and ids.
    pub context: Context,
    /// How to behave.
    pub config: Config,
    /// Where files are, and how they are kept.
    pub files: Files,
    /// Verifies passwords.
    pub passwords: Passwords,
    /// The rate limit buckets.
    pub buckets: Buckets,
    /// The shape of tables that were read before.
    pub tables: Tables,
    /// Wakes the automation workers.
    pub runs: WorkerSignal,
    /// Where what takes long waits for its turn.
    pub lanes: Lanes,
    /// The requests in flight under keys.
    pub(crate) in_flight: Arc<InFlight>,
    /// Recent callers.
    pub(crate) remembered: CredentialCache,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Wakes who carries template jobs out.
    pub signal: WorkerSignal,
    /// Files next to the API, by their paths, once somebody asked for one.
    pub(crate) pages: OnceLock<HashMap<&'static str, Page>>,
    stopping: AtomicBool,
}

impl App {
    /// Puts a server together.
    ///
    /// # Errors
    /// When this machine cannot hash passwords.
    pub fn new(store: Store, context: Context, config: Config) -> Result<Arc<App>, StoreError> {
        let passwords = Passwords::new()?;
        let metrics = Arc::new(Metrics::new(&store, Some(&passwords)));
        Ok(Arc::new(App {
            store,
            context,
            files: config.files.clone(),
            config,
            passwords,
            buckets: Buckets::new(u64::from_le_bytes(random())),
            tables: Tables::default(),
            runs: WorkerSignal::default(),
            lanes: Lanes::default(),
            in_flight: Arc::default(),
            remembered: CredentialCache::default(),
            metrics,
            signal: WorkerSignal::default(),
            pages: OnceLock::new(),
            stopping: AtomicBool::new(false),
        }))
    }

    /// Notes that this server is about to stop.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether this server is about to stop, so that nobody new should be sent to it.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
