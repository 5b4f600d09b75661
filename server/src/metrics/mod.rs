//! Metrics for Prometheus. Labels are words of the program, never user data; `&'static str`
//! enforces that.

mod listener;
mod runs;

use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

pub use listener::Page;
pub use runs::Runs;

use crate::auth::Passwords;
use crate::histogram::seconds;
use crate::store::Store;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitedLabels {
    route: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskLabels {
    task: &'static str,
    outcome: &'static str,
}

/// Everything that this process counts.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    store: Store,
    requests: Family<ResponseLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    limited: Family<LimitedLabels, Counter>,
    in_flight: Gauge,
    connections: Gauge,
    upkeep: Family<TaskLabels, Counter>,
    runs: Runs,
    lost_log_lines: Counter,
    depth: QueueDepths,
}

/// What is looked up when somebody asks.
#[derive(Debug, Default)]
struct QueueDepths {
    connections: Gauge,
    busy: Gauge,
    waiting: Gauge,
}

/// A request in flight.
#[derive(Debug)]
pub struct InFlightRequest(Gauge);

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Nothing has happened yet.
    pub fn new(store: &Store, passwords: Option<&Passwords>) -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("tplkit"),
            store: store.clone(),
            requests: Family::default(),
            durations: Family::new_with_constructor(seconds),
            limited: Family::default(),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            upkeep: Family::default(),
            runs: Runs::default(),
            lost_log_lines: Counter::default(),
            depth: QueueDepths::default(),
        };
        metrics.register(passwords);
        metrics
    }

    fn register(&mut self, passwords: Option<&Passwords>) {
        let registry = &mut self.registry;
        let build = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("store", self.store.kind()),
        ];
        registry.register("build", "What runs", Info::new(build));
        let http = registry.sub_registry_with_prefix("http");
        let help = "Requests that got a response";
        http.register("requests", help, self.requests.clone());
        let help = "Time from the head of a request to its response";
        http.register_with_unit("duration", help, Unit::Seconds, self.durations.clone());
        let help = "Requests in flight";
        http.register("requests_in_flight", help, self.in_flight.clone());
        http.register("connections", "Open connections", self.connections.clone());
        let help = "Requests that were refused with 429";
        http.register("rate_limited", help, self.limited.clone());
        if let Some(passwords) = passwords {
            let help = "Passwords that were verified";
            registry.register("password_verifications", help, passwords.verified());
        }
        let help = "Runs of the background tasks";
        registry.register("upkeep_runs", help, self.upkeep.clone());
        let help = "Lines of the log that were not read as fast as they came, and are lost";
        registry.register("log_lines_lost", help, self.lost_log_lines.clone());
        self.runs
            .register(registry.sub_registry_with_prefix("runs"));
        let store = registry.sub_registry_with_prefix("store");
        self.store.metrics().register(store);
        let help = "Connections to the database";
        store.register("connections", help, self.depth.connections.clone());
        let help = "Connections to the database in use";
        store.register("connections_busy", help, self.depth.busy.clone());
        let help = "Operations that wait for a connection";
        store.register("waiting", help, self.depth.waiting.clone());
    }

    /// Counts a response.
    pub fn responded(
        &self,
        method: &'static str,
        route: &'static str,
        status: StatusCode,
        took: Duration,
    ) {
        let labels = RouteLabels { method, route };
        let seconds = took.as_secs_f64();
        self.durations.get_or_create(&labels).observe(seconds);
        if status == StatusCode::TOO_MANY_REQUESTS {
            self.limited.get_or_create(&LimitedLabels { route }).inc();
        }
        let status = status.as_u16();
        let response = ResponseLabels {
            method,
            route,
            status,
        };
        self.requests.get_or_create(&response).inc();
    }

    /// Counts a request for as long as the result lives.
    pub fn in_flight(&self) -> InFlightRequest {
        self.in_flight.inc();
        InFlightRequest(self.in_flight.clone())
    }

    /// Notes how many connections there are.
    pub fn connections(&self, open: usize) {
        self.connections
            .set(i64::try_from(open).unwrap_or(i64::MAX));
    }

    /// Shows the outcomes of a background task as 0 before its first run, so that a rate has a beginning.
    pub fn will_run(&self, task: &'static str) {
        for outcome in ["ok", "failed", "panicked"] {
            drop(self.upkeep.get_or_create(&TaskLabels { task, outcome }));
        }
    }

    /// Counts a run of a background task.
    pub fn ran(&self, task: &'static str, outcome: &'static str) {
        self.upkeep
            .get_or_create(&TaskLabels { task, outcome })
            .inc();
    }

    /// Where runs of automations are counted.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Where lines of the log are counted that were lost.
    pub fn lost_log_lines(&self) -> &Counter {
        &self.lost_log_lines
    }

    /// Everything, as Prometheus reads it.
    pub fn text(&self) -> String {
        let depth = self.store.depth();
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.depth.connections.set(number(depth.connections));
        self.depth.busy.set(number(depth.busy));
        self.depth.waiting.set(number(depth.waiting));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
