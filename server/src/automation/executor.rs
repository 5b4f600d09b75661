//! The executor of runs: what every step has at hand. `worker` gives it work, `execution` carries it out.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quick_cache::sync::Cache;
use tplkit::automation::run::Mail;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::attempts::Attempts;
use super::capacity::Capacity;
use super::connections::OpenConnection;
use super::integrations;
use crate::context::Context;
use crate::files::Files;
use crate::metrics::Runs;
use crate::rows::Tables;
use crate::secret_key::SecretKey;
use crate::store::Store;
use crate::wake::WorkerSignal;

/// How much processor time the steps of one run may use.
const PROCESSOR_TIME: Duration = Duration::from_secs(15 * 60);
/// How many graphs are remembered.
const MAX_GRAPHS: usize = 256;

/// How automations are executed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a run is held by who executes it, unless it is renewed.
    pub lease: Duration,
    /// Decrypts the secrets of connections.
    pub secret_key: Option<SecretKey>,
    /// The mail server for mails that name no connection.
    pub smtp_url: Option<String>,
    /// Whether names may lead into private networks.
    pub allow_private: bool,
    /// How much processor time the steps of one run may use.
    pub processor_time: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lease: Duration::from_secs(60),
            secret_key: None,
            smtp_url: None,
            allow_private: false,
            processor_time: PROCESSOR_TIME,
        }
    }
}

/// Mails that were not sent, in their order.
#[derive(Debug, Clone, Default)]
pub struct Outbox(Arc<Mutex<Vec<Mail>>>);

impl Outbox {
    /// Keeps a mail.
    pub(super) fn put(&self, mail: &Mail) {
        let mut mails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mails.push(mail.clone());
    }

    /// Gives what was kept since the last time.
    pub fn take(&self) -> Vec<Mail> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Executes automations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RunExecutor {
    pub(super) store: Store,
    pub(super) context: Context,
    pub(super) tables: Tables,
    pub(super) signal: WorkerSignal,
    pub(super) settings: Arc<Settings>,
    pub(super) client: Result<reqwest::Client, String>,
    pub(super) counted: Runs,
    /// Where the bytes are that go along with mails.
    pub(super) files: Files,
    /// Where mails go instead, when nothing leaves this process.
    pub(super) outbox: Option<Outbox>,
    /// Graphs of versions that were executed lately, by the ids of these: an automation that an undo brings back
    /// counts its versions anew.
    pub(super) graphs: Arc<Cache<Uuid, Arc<Json>>>,
    /// Who may work, and for whom external calls may be made.
    pub(super) capacity: Capacity,
    /// What goes on in this process.
    pub(super) attempts: Attempts,
}

impl RunExecutor {
    /// An executor over a store. A step that needs what it does not have fails and says so.
    pub fn new(
        store: &Store,
        context: &Context,
        tables: &Tables,
        signal: &WorkerSignal,
        settings: Settings,
    ) -> RunExecutor {
        RunExecutor {
            store: store.clone(),
            context: context.clone(),
            tables: tables.clone(),
            signal: signal.clone(),
            client: integrations::client(settings.allow_private),
            settings: Arc::new(settings),
            counted: Runs::default(),
            files: Files::in_place(None),
            outbox: None,
            graphs: Arc::new(Cache::new(MAX_GRAPHS)),
            capacity: Capacity::new(),
            attempts: Attempts::default(),
        }
    }

    /// The same executor, counting there.
    #[must_use]
    pub fn counting(mut self, counted: &Runs) -> RunExecutor {
        self.counted = counted.clone();
        self
    }

    /// The same executor, whose mails have files of that place.
    #[must_use]
    pub fn attaching(mut self, files: &Files) -> RunExecutor {
        self.files = files.clone();
        self
    }

    /// The same executor, from which nothing leaves: calls and timers are stubbed, mails are put there.
    #[must_use]
    pub fn stubbed(mut self, outbox: &Outbox) -> RunExecutor {
        self.outbox = Some(outbox.clone());
        self
    }

    /// The mail server for mails that name no connection.
    pub(super) fn transport(&self) -> Option<OpenConnection> {
        let url = self.settings.smtp_url.clone()?;
        let mut parsed = url::Url::parse(&url).ok()?;
        let password = parsed.password().map(|password| {
            let decoded = percent_encoding::percent_decode_str(password).decode_utf8_lossy();
            decoded.into_owned()
        });
        // It goes along as the secret that it is.
        let _ = parsed.set_password(None);
        Some(OpenConnection {
            url: parsed.to_string(),
            secret: password,
            target: None,
        })
    }

    pub(super) fn lease(&self) -> i64 {
        i64::try_from(self.settings.lease.as_micros()).unwrap_or(i64::MAX / 4)
    }
}
