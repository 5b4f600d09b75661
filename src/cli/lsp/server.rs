//! The state of a conversation: what the client can do, what is open, what was checked and published.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};
use tplkit::finding::LocatedReport;
use tplkit::language::Encoding;

use super::diagnostics;
use super::documents::{Documents, Unit};
use super::edits::EditSupport;
use super::event::{Checked, Event};
use super::snapshot::{Snapshot, View};
use super::uri;
use super::wire::{self, Refusal};

/// Packages over this size are checked next to the loop, once changes pause.
const LARGE_PACKAGE_BYTES: usize = 1_000_000;

/// How long changes of a large package have to pause before it is checked.
const PAUSE: Duration = Duration::from_millis(100);

/// What is known of a unit.
#[derive(Debug, Default)]
struct UnitState {
    /// Raised with every change.
    revision: u64,
    /// Whether it was large when it was read last: reading a folder takes time, too.
    large: bool,
    /// When a large one is to be checked.
    due: Option<Instant>,
    /// The last report, and the revision that it is of.
    report: Option<(u64, Arc<LocatedReport>)>,
    /// What was published last, by URI.
    published: BTreeMap<String, Vec<Value>>,
}

/// One conversation with an editor.
pub(super) struct Server {
    events: Sender<Event>,
    pub(super) encoding: Encoding,
    pub(super) edit_support: EditSupport,
    /// Whether the client reports files that change on the disk.
    pub(super) watches: bool,
    /// What was said last of a `tplkit.toml` that cannot be used.
    config_error: Option<String>,
    /// How many folds the client takes.
    pub(super) fold_limit: usize,
    pub(super) documents: Documents,
    units: BTreeMap<Unit, UnitState>,
    /// The baselines of packages that are or were open.
    baselines: BTreeSet<PathBuf>,
    messages: Vec<Message>,
}

impl Server {
    pub(super) fn new(events: Sender<Event>) -> Server {
        Server {
            events,
            encoding: Encoding::Utf16,
            edit_support: EditSupport::default(),
            watches: false,
            config_error: None,
            fold_limit: usize::MAX,
            documents: Documents::default(),
            units: BTreeMap::new(),
            baselines: BTreeSet::new(),
            messages: Vec::new(),
        }
    }

    /// What is to be sent.
    pub(super) fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        let notification = Notification {
            method: method.to_owned(),
            params,
        };
        self.messages.push(Message::Notification(notification));
    }

    /// Handles a notification; what cannot be understood is written to the log of the editor.
    pub(super) fn notified(&mut self, method: &str, params: &Value) {
        let done = match method {
            "textDocument/didOpen" => self.did_open(params),
            "textDocument/didChange" => self.did_change(params),
            "textDocument/didClose" => self.did_close(params),
            "textDocument/didSave" => self.did_save(params),
            "workspace/didChangeWatchedFiles" => {
                self.check_again();
                Ok(())
            }
            "initialized" => {
                self.watch();
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(refusal) = done {
            let message = format!("tplkit: {method}: {}", refusal.message);
            self.notify("window/logMessage", json!({"type": 1, "message": message}));
        }
    }

    fn did_open(&mut self, params: &Value) -> Result<(), Refusal> {
        let uri = wire::text(params, "/textDocument/uri")?;
        let text = wire::text(params, "/textDocument/text")?;
        self.documents.open(uri, version(params), text);
        self.changed(uri);
        Ok(())
    }

    fn did_change(&mut self, params: &Value) -> Result<(), Refusal> {
        let uri = wire::text(params, "/textDocument/uri")?;
        let changes = params.get("contentChanges").and_then(Value::as_array);
        let changes = changes.ok_or_else(|| Refusal::params("contentChanges is missing"))?;
        let encoding = self.encoding;
        self.documents
            .change(uri, version(params), changes, encoding)?;
        self.changed(uri);
        Ok(())
    }

    fn did_close(&mut self, params: &Value) -> Result<(), Refusal> {
        let uri = wire::text(params, "/textDocument/uri")?;
        let unit = self.documents.unit(uri);
        self.documents.close(uri);
        if let Some(unit) = unit {
            if self.documents.of(&unit).next().is_some() {
                // What is on the disk counts again.
                self.renew(&unit, None);
            } else {
                let state = self.units.remove(&unit).unwrap_or_default();
                for uri in state.published.into_keys() {
                    self.publish(&uri, &[]);
                }
            }
        } else {
            self.publish(uri, &[]);
        }
        self.forget_empty();
        Ok(())
    }

    fn did_save(&mut self, params: &Value) -> Result<(), Refusal> {
        let uri = wire::text(params, "/textDocument/uri")?;
        match self.documents.unit(uri) {
            // A folder may have become one by this.
            Some(Unit::Folder(_)) => self.changed(uri),
            Some(Unit::Document(_)) => {}
            // It may say what holds for packages.
            None => self.check_again(),
        }
        Ok(())
    }

    /// A document was opened or changed: its package is checked, and it gets its diagnostics.
    fn changed(&mut self, uri: &str) {
        if let Some(unit) = self.documents.unit(uri) {
            self.renew(&unit, Some(uri));
        } else {
            self.publish(uri, &[]);
            // A baseline that is open counts as it is typed.
            let path = uri::path(uri);
            if path.is_some_and(|path| self.baselines.contains(&path)) {
                self.check_again();
            }
        }
        self.forget_empty();
    }

    /// Asks for reports of files that change on the disk, where the client can.
    fn watch(&mut self) {
        if !self.watches {
            return;
        }
        let globs = [
            "**/tplkit.toml",
            "**/tplkit.index",
            "**/*.json",
            "**/*.jsonl",
        ];
        let watchers: Vec<Value> = globs
            .iter()
            .map(|glob| json!({"globPattern": glob}))
            .collect();
        let registration = json!({
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": watchers},
        });
        self.messages.push(Message::Request(Request {
            id: "tplkit-files".to_owned().into(),
            method: "client/registerCapability".to_owned(),
            params: json!({"registrations": [registration]}),
        }));
    }

    /// Says what keeps a `tplkit.toml` from being used, once.
    fn report_settings(&mut self, snapshot: &Snapshot) {
        let config_error = snapshot.rules.config_error.clone();
        if config_error != self.config_error
            && let Some(message) = &config_error
        {
            self.notify("window/showMessage", json!({"type": 1, "message": message}));
        }
        self.config_error = config_error;
        if let Some(accepted) = &snapshot.rules.accepted {
            self.baselines.insert(accepted.path.clone());
        }
    }

    /// Drops what no open document belongs to any more: an index names a file no longer, a
    /// document became a part of a folder.
    fn forget_empty(&mut self) {
        let open: BTreeSet<Unit> = self.units.keys().cloned().collect();
        for unit in open {
            if self.documents.of(&unit).next().is_none() {
                let state = self.units.remove(&unit).unwrap_or_default();
                for uri in state.published.into_keys() {
                    if self.documents.unit(&uri).is_none_or(|other| other == unit) {
                        self.publish(&uri, &[]);
                    }
                }
            }
        }
    }

    /// Checks a unit after a change, at once or when it pauses.
    fn renew(&mut self, unit: &Unit, changed: Option<&str>) {
        let state = self.units.entry(unit.clone()).or_default();
        state.revision += 1;
        if state.large {
            state.due = Some(after(PAUSE));
            return;
        }
        let Some(snapshot) = Snapshot::take(&self.documents, unit) else {
            if let Some(uri) = changed {
                self.publish(uri, &[]);
            }
            return;
        };
        if snapshot.size() > LARGE_PACKAGE_BYTES {
            let state = self.units.entry(unit.clone()).or_default();
            state.large = true;
            state.due = Some(after(PAUSE));
            return;
        }
        let report = Arc::new(snapshot.check(1));
        self.finish(&snapshot, &report, changed);
    }

    /// Keeps a report and publishes what it says.
    fn finish(&mut self, snapshot: &Snapshot, report: &Arc<LocatedReport>, changed: Option<&str>) {
        self.report_settings(snapshot);
        let view = View::new(snapshot, &self.documents, self.encoding);
        let mut fresh: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for file in snapshot.files() {
            fresh.insert(view.uri(file), diagnostics::list(&view, report, file));
        }
        let open: Vec<String> = self
            .documents
            .of(&snapshot.unit)
            .map(str::to_owned)
            .collect();
        // A document whose file the folder does not name any more has no findings here.
        for uri in open {
            fresh.entry(uri).or_default();
        }
        let state = self.units.entry(snapshot.unit.clone()).or_default();
        state.due = None;
        state.large = snapshot.size() > LARGE_PACKAGE_BYTES;
        state.report = Some((state.revision, Arc::clone(report)));
        let old = std::mem::replace(&mut state.published, fresh.clone());
        for (uri, diagnostics) in &fresh {
            if changed == Some(uri.as_str()) || old.get(uri) != Some(diagnostics) {
                self.publish(uri, diagnostics);
            }
        }
        for uri in old.keys().filter(|uri| !fresh.contains_key(*uri)) {
            self.publish(uri, &[]);
        }
    }

    fn publish(&mut self, uri: &str, diagnostics: &[Value]) {
        let mut params = json!({"uri": uri, "diagnostics": diagnostics});
        if let Some(version) = self.documents.version(uri) {
            params["version"] = version.into();
        }
        self.notify("textDocument/publishDiagnostics", params);
    }

    /// Checks everything that is open again: files on the disk have changed.
    fn check_again(&mut self) {
        let units: Vec<Unit> = self.units.keys().cloned().collect();
        for unit in &units {
            self.renew(unit, None);
        }
    }

    /// How long the loop may wait for a message.
    pub(super) fn next_due(&self) -> Option<Duration> {
        let due = self.units.values().filter_map(|state| state.due).min()?;
        Some(remaining(due))
    }

    /// Begins the checks whose time has come, each on a thread of its own.
    pub(super) fn check_due(&mut self) {
        for (unit, state) in &mut self.units {
            if state.due.is_none_or(|due| !remaining(due).is_zero()) {
                continue;
            }
            state.due = None;
            let Some(snapshot) = Snapshot::take(&self.documents, unit) else {
                state.large = false;
                continue;
            };
            let (unit, revision, events) = (unit.clone(), state.revision, self.events.clone());
            std::thread::spawn(move || {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                let report = Arc::new(snapshot.check(threads));
                let checked = Checked {
                    unit,
                    revision,
                    snapshot,
                    report,
                };
                events.send(Event::Checked(Box::new(checked))).ok();
            });
        }
    }

    /// Publishes a check that went on next to the loop, unless something has changed since.
    pub(super) fn checked(&mut self, checked: Checked) {
        let state = self.units.get(&checked.unit);
        if state.is_none_or(|state| state.revision != checked.revision) {
            return;
        }
        let open: Vec<String> = self
            .documents
            .of(&checked.unit)
            .map(str::to_owned)
            .collect();
        // Each of them may have waited for this.
        let state = self.units.entry(checked.unit).or_default();
        for uri in &open {
            state.published.remove(uri);
        }
        self.finish(&checked.snapshot, &checked.report, None);
    }

    /// The package that a document belongs to, as it is now.
    pub(super) fn snapshot(&self, uri: &str) -> Result<Option<Snapshot>, Refusal> {
        self.documents.get(uri)?;
        let unit = self.documents.unit(uri);
        Ok(unit.and_then(|unit| Snapshot::take(&self.documents, &unit)))
    }

    /// What a check says of a package as it is now.
    pub(super) fn report(&mut self, snapshot: &Snapshot) -> Arc<LocatedReport> {
        let state = self.units.entry(snapshot.unit.clone()).or_default();
        if let Some((revision, report)) = &state.report
            && *revision == state.revision
        {
            return Arc::clone(report);
        }
        let report = Arc::new(snapshot.check(1));
        state.report = Some((state.revision, Arc::clone(&report)));
        report
    }
}

fn version(params: &Value) -> i64 {
    let version = params.pointer("/textDocument/version");
    version.and_then(Value::as_i64).unwrap_or_default()
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long changes have to pause is measured on this machine"
)]
fn now() -> Instant {
    Instant::now()
}

fn after(pause: Duration) -> Instant {
    now() + pause
}

fn remaining(due: Instant) -> Duration {
    due.saturating_duration_since(now())
}
