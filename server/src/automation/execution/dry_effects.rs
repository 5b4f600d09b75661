//! Effects that a dry run leaves out: what keeps them from happening, as far as nobody outside has to be asked.
//!
//! In: a step that is resolved. Out: the failure that the step would have, if it would have one. It does nothing.

use std::collections::{BTreeSet, HashMap};

use tplkit::automation::run::{Act, Failure, Wait};
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::waiting;
use crate::automation::connections::{self, ConnectionKind, OpenConnection, StoredConnection};
use crate::automation::executor::RunExecutor;
use crate::automation::runs::Run;
use crate::automation::stop::Stop;
use crate::automation::{integrations, notify};
use crate::store::{Scope, StoreError, Tx};

/// The connections and timers that a graph names, as they are when a dry run begins: the transaction in which it writes
/// reads no addresses.
#[derive(Clone, Default)]
pub(super) struct NamedConnections {
    connections: HashMap<String, StoredConnection>,
    /// Addresses by the name or the id that a step says.
    timers: HashMap<String, String>,
}

impl NamedConnections {
    /// Those of a graph.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn of(
        executor: &RunExecutor,
        organization: Uuid,
        graph: &Json,
    ) -> Result<NamedConnections, StoreError> {
        let mut names = Names {
            organization,
            connections: BTreeSet::new(),
            timers: BTreeSet::new(),
        };
        names.collect(graph);
        if names.connections.is_empty() && names.timers.is_empty() {
            return Ok(NamedConnections::default());
        }
        executor
            .store
            .read(&Scope::Operator, names, |tx, names| {
                Box::pin(names.read(tx))
            })
            .await
    }

    /// What keeps a step from its effect outside, or from waiting.
    ///
    /// # Errors
    /// The failure of the step.
    pub(super) fn check(
        &self,
        executor: &RunExecutor,
        run: &Run,
        act: &Act,
    ) -> Result<(), Failure> {
        match act {
            Act::Mail(mail) => {
                if let Some(name) = &mail.connection {
                    self.open(executor, run, name, ConnectionKind::Smtp)?;
                }
                integrations::recipients(mail).map(drop)
            }
            Act::Request(request) => {
                match self.open(executor, run, &request.connection, ConnectionKind::Http)? {
                    Some(api) => integrations::below(&api.url, &request.path).map(drop),
                    None => Ok(()),
                }
            }
            Act::Ask {
                connection: Some(name),
                ..
            } => self
                .open(executor, run, name, ConnectionKind::Llm)
                .map(drop),
            Act::Wait(Wait::Timer(name)) => {
                let address = self.timers.get(name).map(String::as_str);
                address.map_or(Ok(()), |address| {
                    waiting::seconds(Some(address), name).map(drop)
                })
            }
            _ => Ok(()),
        }
    }

    /// A connection as a step would use it. One that is not there yet keeps no dry run from its end: what it is for is
    /// left out.
    fn open(
        &self,
        executor: &RunExecutor,
        run: &Run,
        name: &str,
        kind: ConnectionKind,
    ) -> Result<Option<OpenConnection>, Failure> {
        let key = executor.settings.secret_key.as_ref();
        let stored = self.connections.get(name);
        let opened = stored.map(|stored| stored.open(key, run.organization, name, kind));
        let failed = |reason| Failure::at("connectionName", reason).yields(None, &name.into());
        opened.transpose().map_err(failed)
    }
}

/// Names of connections and timers.
struct Names {
    organization: Uuid,
    connections: BTreeSet<String>,
    timers: BTreeSet<String>,
}

impl Names {
    fn collect(&mut self, value: &Json) {
        match value {
            Json::List(elements) => elements.iter().for_each(|element| self.collect(element)),
            Json::Object(members) => {
                for (key, member) in members {
                    let names = match key.as_str() {
                        "connectionName" => &mut self.connections,
                        "timerProfile" => &mut self.timers,
                        _ => {
                            self.collect(member);
                            continue;
                        }
                    };
                    names.extend(member.as_str().map(str::to_owned));
                }
            }
            _ => {}
        }
    }

    async fn read(&self, tx: &mut Tx) -> Result<NamedConnections, StoreError> {
        let mut found = NamedConnections::default();
        for name in &self.connections {
            let stored = connections::stored(tx, self.organization, name).await?;
            let stored = stored.map(|stored| (name.clone(), stored));
            found.connections.extend(stored);
        }
        for name in &self.timers {
            let address = connections::timer(tx, self.organization, name).await?;
            let address = address.map(|address| (name.clone(), address));
            found.timers.extend(address);
        }
        Ok(found)
    }
}

/// What keeps a step from its effect in the store.
///
/// # Errors
/// The failure of the step, and those of the store.
pub(super) async fn check_in_store(tx: &mut Tx, run: &Run, act: &Act) -> Result<(), Stop> {
    match act {
        Act::Notify(notice) => notify::recipient(tx, run, notice).await.map(drop),
        Act::Run(workflow) => notify::known(tx, run, *workflow).await,
        _ => Ok(()),
    }
}
