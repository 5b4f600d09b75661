//! The library's backend of tests, on stores.
//!
//! An apply is carried out twice, in two stores that begin alike: in one it is repeated and undone, in the other
//! automations run afterwards.

use std::path::PathBuf;

use tplkit::apply::Request;
use tplkit::check::Checked;
use tplkit::json::{Object, Value};
use tplkit::package_tests::{
    AppliedTest, Backend, Declared, FireOutcome, TestSetup, Trigger, prepare,
};
use tplkit::simulate::proposed;
use tplkit::workspace::Id;
use tplkit::workspace::memory::State;

use super::DeclaredError;
use super::server::{Applied, TestServer};
use super::{contents, fire};

/// Runs a test on stores.
pub(super) struct StoreBackend<'p, 't> {
    setup: TestSetup<'p, 't>,
    /// The text of the package that was applied before.
    base: Option<&'p str>,
    /// For the files of the stores.
    folder: PathBuf,
    /// Where automations run.
    fired: Option<TestServer>,
}

/// What an apply starts from.
struct Beginning<'b> {
    test: &'b Declared,
    request: &'b Request,
    state: &'b State,
}

impl<'p, 't> StoreBackend<'p, 't> {
    pub(super) fn new(
        setup: TestSetup<'p, 't>,
        base: Option<&'p str>,
        folder: PathBuf,
    ) -> StoreBackend<'p, 't> {
        StoreBackend {
            setup,
            base,
            folder,
            fired: None,
        }
    }

    /// Ends what still runs.
    pub(super) async fn close(self) {
        if let Some(server) = self.fired {
            server.close().await;
        }
    }

    /// A server on which the base of the test stands, if it has one.
    async fn begin(&self, name: &str, from: &Beginning<'_>) -> Result<TestServer, DeclaredError> {
        let folder = self.folder.join(name);
        let mut server = TestServer::open(&folder, from.test.now, from.state).await?;
        if let (Some(base), Some(text)) = (self.setup.base, self.base) {
            server.offer(text).await?;
            let request = base_request(base, from);
            if let Err(why) = server.apply(&request).await? {
                return Err(DeclaredError::Destination(why.write()));
            }
        }
        server.offer(self.setup.text).await?;
        Ok(server)
    }

    /// Applies, applies again, undoes.
    async fn passes(
        &self,
        server: &mut TestServer,
        request: &Request,
    ) -> Result<Result<AppliedTest, Value>, DeclaredError> {
        let before = contents::read(server).await?;
        let Applied {
            preview,
            report,
            job,
        } = match server.apply(request).await? {
            Ok(applied) => applied,
            Err(refused) => return Ok(Err(refused)),
        };
        let ledger = server.ledger().await?;
        let after = contents::read(server).await?;
        let again = Request {
            copy: false,
            ..request.clone()
        };
        let again = match server.apply(&again).await? {
            Ok(applied) => applied.job,
            Err(refused) => return Ok(Err(refused)),
        };
        let again_changed = contents::read(server).await? != after;
        for job in [again, job] {
            if let Err(refused) = server.undo(job).await? {
                return Ok(Err(refused.into()));
            }
        }
        let restored = contents::read(server).await? == before;
        Ok(Ok(AppliedTest {
            request: request.clone(),
            preview,
            report,
            ledger,
            again_changed,
            restored,
        }))
    }
}

/// The base stands as in memory: with what can be had without asking.
fn base_request(base: &Checked<'_>, from: &Beginning<'_>) -> Request {
    Request {
        resolutions: proposed(base, from.request, &from.state.structure),
        ..Request::default()
    }
}

impl Backend for StoreBackend<'_, '_> {
    type Error = DeclaredError;

    async fn apply(
        &mut self,
        test: &Declared,
    ) -> Result<Result<AppliedTest, Value>, DeclaredError> {
        let (request, state) = prepare(&test.request, self.setup);
        let from = Beginning {
            test,
            request: &request,
            state: &state,
        };
        let mut server = self.begin("undone", &from).await?;
        let passed = Box::pin(self.passes(&mut server, &request)).await;
        server.close().await;
        let mut applied = match passed? {
            Ok(applied) => applied,
            Err(refused) => return Ok(Err(refused)),
        };
        if !test.fires.is_empty() {
            let mut server = self.begin("fired", &from).await?;
            if let Err(refused) = server.apply(&request).await? {
                return Ok(Err(refused));
            }
            // The ids of one job are not those of another.
            applied.ledger = server.ledger().await?;
            self.fired = Some(server);
        }
        Ok(Ok(applied))
    }

    async fn fire(
        &mut self,
        automation: Id,
        trigger: &Trigger,
    ) -> Result<FireOutcome, DeclaredError> {
        match &self.fired {
            Some(server) => Box::pin(fire::fire(server, automation, trigger)).await,
            None => Ok(FireOutcome::Missing),
        }
    }

    async fn rows(&mut self, table: Id) -> Result<Vec<Object>, DeclaredError> {
        let Some(server) = &self.fired else {
            return Ok(Vec::new());
        };
        let rows = contents::rows(server, table).await?;
        let data = rows.iter().map(|row| Value::parse(row.data.as_str()));
        let data = data.filter_map(|data| data.ok()?.as_object().cloned());
        Ok(data.collect())
    }
}
