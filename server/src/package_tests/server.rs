//! A server for one apply of a test: a SQLite file, the API without a network, the worker of jobs, the executor
//! of runs. Its clock stands where the test puts it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::http::Method;
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tplkit::apply::{Preview, Report, Request};
use tplkit::json::{Object, Value};
use tplkit::package_tests::refusals_document;
use tplkit::workspace::Id;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::State;

use super::responses::{AcceptedJob, CreatedRecord, ProblemBody, read};
use super::{DeclaredError, seed};
use crate::app::{App, Config};
use crate::auth::{Role, sign_in};
use crate::automation::{Outbox, RunExecutor, Settings};
use crate::background::TaskContext;
use crate::context::{Clock, Context};
use crate::identity::{members, users};
use crate::jobs::{self, Job, Status, Worker};
use crate::local_client::{LocalClient, LocalResponse};
use crate::store::{Scope, Store, StoreError};

const EMAIL: &str = "author@example.com";
/// How often a job is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A clock that is moved by hand.
#[derive(Debug)]
pub(super) struct TestClock(AtomicI64);

impl TestClock {
    /// Moves it to an instant, in microseconds.
    pub(super) fn set(&self, now: i64) {
        self.0.store(now, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let now = self.0.load(Ordering::SeqCst);
        Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// A server.
pub(super) struct TestServer {
    pub(super) app: Arc<App>,
    pub(super) clock: Arc<TestClock>,
    pub(super) executor: RunExecutor,
    /// Mails that automations would have sent.
    pub(super) outbox: Outbox,
    pub(super) organization: Id,
    pub(super) workspace: Id,
    /// Who applies, and starts automations.
    pub(super) user: Id,
    template: Option<Id>,
    jobs: Vec<Id>,
    stop: watch::Sender<bool>,
    worker: JoinHandle<()>,
}

/// What a job did.
pub(super) struct Applied {
    pub(super) preview: Preview,
    pub(super) report: Report,
    pub(super) job: Id,
}

impl TestServer {
    /// Opens an empty store in a folder, and puts a workspace into it.
    pub(super) async fn open(
        folder: &Path,
        now: Timestamp,
        state: &State,
    ) -> Result<TestServer, DeclaredError> {
        let failed = |error: std::io::Error| StoreError::Unavailable(error.to_string());
        fs::create_dir_all(folder).map_err(failed)?;
        let file = folder.join("store.db");
        let store = Store::open(&format!("sqlite:{}", file.display())).await?;
        let clock = Arc::new(TestClock(AtomicI64::new(now.as_microsecond())));
        let context = Context::new(clock.clone());
        let config = Config {
            rate: None,
            // Nobody waits for a response but the test.
            undo_wait: Duration::from_secs(3600),
            ..Config::default()
        };
        let app = App::new(store.clone(), context.clone(), config)?;
        let (organization, workspace) = (
            state.structure.organization.id,
            state.structure.workspace.id,
        );
        seed::organization(&app, state).await?;
        let user = author(&app, organization).await?;
        seed::workspace(&app, state, user).await?;
        let (stop, stopped) = watch::channel(false);
        let worker = Worker {
            task_context: TaskContext {
                store: store.clone(),
                context: context.clone(),
                metrics: app.metrics.clone(),
                tables: app.tables.clone(),
                keep_runs: None,
                files: crate::files::Files::in_place(None),
            },
            lease_seconds: app.config.lease_seconds,
            signal: app.signal.clone(),
        };
        let outbox = Outbox::default();
        let settings = Settings::default();
        let executor = RunExecutor::new(&store, &context, &app.tables, &app.runs, settings);
        Ok(TestServer {
            executor: executor.stubbed(&outbox),
            worker: tokio::spawn(worker.run(stopped)),
            app,
            clock,
            outbox,
            organization,
            workspace,
            user,
            template: None,
            jobs: Vec::new(),
            stop,
        })
    }

    /// Ends its worker.
    pub(super) async fn close(self) {
        self.stop.send_replace(true);
        // It has nothing left to say.
        let _ = self.worker.await;
    }

    /// Sends a request as its user.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<LocalResponse, StoreError> {
        // The clock may have gone on by more than a token lasts.
        let tokens = sign_in(&self.app.store, &self.app.context, self.user).await?;
        let client = LocalClient {
            app: &self.app,
            token: tokens.access.reveal().to_owned(),
        };
        client.send(method, path, body).await
    }

    /// Adds a package to the catalog, or replaces the one that is there.
    pub(super) async fn offer(&mut self, package: &str) -> Result<(), DeclaredError> {
        let (method, path) = match self.template {
            None => {
                let organization = self.organization;
                let path = format!("/v1/templates/import?organization_id={organization}");
                (Method::POST, path)
            }
            Some(id) => (Method::PUT, format!("/v1/templates/{id}/package")),
        };
        let response = self.send(method, &path, package.to_owned()).await?;
        if response.status >= 300 {
            let why = String::from_utf8_lossy(&response.body).into_owned();
            return Err(DeclaredError::Destination(why));
        }
        let created: CreatedRecord = read(&response)?;
        self.template = Some(created.id);
        Ok(())
    }

    fn path(&self, tail: &str) -> String {
        let id = self.template.unwrap_or_default();
        format!("/v1/templates/{id}/{tail}")
    }

    /// Plans and applies the package, and waits for the end of the job. When that is refused: why.
    pub(super) async fn apply(
        &mut self,
        request: &Request,
    ) -> Result<Result<Applied, Value>, DeclaredError> {
        let mut body =
            Object::from_iter([("workspaceId".to_owned(), self.workspace.to_string().into())]);
        if let Value::Object(members) = request.to_value() {
            body.extend(members);
        }
        let body = Value::Object(body).write();
        let path = self.path("plan");
        let planned = self.send(Method::POST, &path, body.clone()).await?;
        if planned.status != 200 {
            return Ok(Err(refused(&planned)));
        }
        let preview: Preview = read(&planned)?;
        let accepted = self.send(Method::POST, &self.path("apply"), body).await?;
        if accepted.status != 202 {
            return Ok(Err(if preview.refusals.is_empty() {
                refused(&accepted)
            } else {
                refusals_document(&preview.refusals)
            }));
        }
        let AcceptedJob { job_id } = read(&accepted)?;
        let job = self.ended(job_id).await?;
        self.jobs.push(job_id);
        let (Status::Completed, Some(report)) = (job.status, &job.report) else {
            let error = job.error.unwrap_or_default();
            return Ok(Err(error_detail(&error)));
        };
        let report = serde_json::from_str(report);
        let report = report.map_err(|error| StoreError::Internal(error.to_string()))?;
        Ok(Ok(Applied {
            preview,
            report,
            job: job_id,
        }))
    }

    /// Takes a job back; why not, when that is refused.
    pub(super) async fn undo(&mut self, job: Id) -> Result<Result<(), String>, DeclaredError> {
        let path = format!("/v1/template-jobs/{job}/undo");
        let response = self.send(Method::POST, &path, String::new()).await?;
        if response.status >= 300 {
            let problem: ProblemBody = read(&response)?;
            return Ok(Err(problem.detail));
        }
        let job = self.ended(job).await?;
        self.jobs.retain(|known| *known != job.id);
        Ok(Ok(()))
    }

    /// What its jobs wrote, the oldest first.
    pub(super) async fn ledger(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        for job in &self.jobs {
            let of = (self.organization, *job);
            let read = self.app.store.read(&Scope::Operator, of, |tx, of| {
                Box::pin(jobs::own(tx, of.0, of.1))
            });
            let read: Vec<Entry> = read.await?;
            entries.extend(read);
        }
        Ok(entries)
    }

    /// The job once nobody works on it any more.
    async fn ended(&self, id: Id) -> Result<Job, StoreError> {
        loop {
            let input = (id, self.app.context.now());
            let found = self
                .app
                .store
                .read(&Scope::Operator, input, |tx, (id, now)| {
                    Box::pin(jobs::find(tx, *id, *now))
                });
            let found: Option<Job> = found.await?;
            let job = found.ok_or_else(|| StoreError::Internal("a job is gone".to_owned()))?;
            let over = [Status::Completed, Status::Failed, Status::Undone];
            if over.contains(&job.status) && !job.held {
                return Ok(job);
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

/// Somebody who may do everything in the organization.
async fn author(app: &App, organization: Id) -> Result<Id, DeclaredError> {
    let now = app.context.now();
    let user = users::New {
        id: app.context.id(),
        email: EMAIL.to_owned(),
        // Nobody signs in with a password.
        password_hash: String::new(),
        platform_admin: false,
        now,
    };
    let user = users::create(&app.store, user).await?.id;
    let member = members::Add {
        organization,
        email: EMAIL.to_owned(),
        role: Role::Owner,
        now,
    };
    members::add(&app.store, &Scope::Operator, member, Role::Owner).await?;
    Ok(user)
}

/// Why an apply is refused, as the library says it.
fn refused(response: &LocalResponse) -> Value {
    let Ok(problem) = read::<ProblemBody>(response) else {
        return String::from_utf8_lossy(&response.body).into_owned().into();
    };
    if problem.errors.is_empty() {
        let text = format!("{}: {}", problem.code, problem.detail);
        return Value::List(vec![text.into()]);
    }
    let texts = problem.errors.iter().map(|fault| {
        let text = format!("{} {}: {}", fault.code, fault.path, fault.message);
        Value::from(text.replacen(" :", ":", 1))
    });
    Value::List(texts.collect())
}

/// The detail of why a job stopped.
fn error_detail(error: &str) -> Value {
    let detail = Value::parse(error).ok();
    let detail = detail.as_ref().and_then(|error| error.get("detail"));
    detail.cloned().unwrap_or_else(|| error.into())
}
