//! HTTP: one table of operations, one way through them, one form of refusal.

pub mod body;
pub mod call;
mod dispatch;
pub mod idempotency;
pub mod limits;
pub mod openapi;
pub mod operations;
pub mod page;
pub mod problem;
pub mod query;
pub mod reference;
pub mod reply;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use tokio::net::TcpListener;

use crate::auth::{Passwords, Remembered};
use crate::context::{Context, random};
use crate::rows::Tables;
use crate::store::{Store, StoreError};
use limits::{Buckets, Rate};

/// How the server is to behave.
#[derive(Debug, Clone)]
pub struct Config {
    /// Bytes that a body may have.
    pub max_body: usize,
    /// Whether `X-Forwarded-For` tells who the client is.
    pub trust_proxy: bool,
    /// How much each client and key may ask of each route; `None` switches all limits off.
    pub rate: Option<Rate>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            max_body: 4 << 20,
            trust_proxy: false,
            rate: Some(Rate::per_second(100)),
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
    /// Verifies passwords.
    pub passwords: Passwords,
    /// Who has asked how often.
    pub buckets: Buckets,
    /// Who has asked lately.
    pub(crate) remembered: Remembered,
    /// The shape of tables that were read before.
    pub tables: Tables,
}

impl App {
    /// Puts a server together.
    ///
    /// # Errors
    /// When this machine cannot hash passwords.
    pub fn new(store: Store, context: Context, config: Config) -> Result<Arc<App>, StoreError> {
        Ok(Arc::new(App {
            store,
            context,
            config,
            passwords: Passwords::new()?,
            buckets: Buckets::new(u64::from_le_bytes(random())),
            remembered: Remembered::default(),
            tables: Tables::default(),
        }))
    }
}

/// Serves until told to stop, then lets open requests end.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    app: Arc<App>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let router = Router::new().fallback(answer).with_state(app);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service)
        .with_graceful_shutdown(stop)
        .await
}

async fn answer(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> axum::response::Response {
    dispatch::answer(app, peer, request).await
}
