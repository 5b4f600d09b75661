//! Fires an automation, and executes its run and what its writes fire, one after the other.
//!
//! The version in force runs, a draft too: by hand, on behalf of the author of the test, so that a draft
//! is fired by nothing else. Rows enter through the API, and what they and runs fire, they fire as ever.

use axum::http::Method;
use tplkit::automation::run::RunState;
use tplkit::json::{Object, Value};
use tplkit::package_tests::{
    ExecutedStep, FireOutcome, NO_TABLE, RunEffects, Trigger, mail_document, notification_document,
    watched_table,
};
use tplkit::workspace::Id;

use super::DeclaredError;
use super::responses::{CreatedRecord, ProblemBody, read};
use super::server::TestServer;
use crate::automation::run_steps::{self, StepRow};
use crate::automation::runs::{self, NewRun, RunStatus};
use crate::automation::{FiredRow, SentNotification, Version, events, find, take_notifications};
use crate::store::{Scope, StoreError};

/// Fires an automation.
pub(super) async fn fire(
    server: &TestServer,
    automation: Id,
    trigger: &Trigger,
) -> Result<FireOutcome, DeclaredError> {
    let store = &server.app.store;
    let version = store.read(&Scope::Operator, automation, |tx, automation| {
        Box::pin(find::in_force(tx, *automation))
    });
    let version: Option<Version> = version.await?;
    let Some(version) = version else {
        return Ok(FireOutcome::Missing);
    };
    let before = server.app.context.now();
    let fired = fired(server, version, trigger).await;
    server.clock.set(before);
    fired
}

async fn fired(
    server: &TestServer,
    version: Version,
    trigger: &Trigger,
) -> Result<FireOutcome, DeclaredError> {
    let row = match trigger {
        Trigger::Row(cells) => match enter(server, &version, cells).await? {
            Ok(row) => Some(row),
            Err(why) => return Ok(FireOutcome::NotFired(why)),
        },
        Trigger::Body(cells) => {
            let record = Object::from_iter([("data".to_owned(), cells.clone().into())]);
            Some(FiredRow {
                table: Id::nil(),
                row: Id::nil(),
                document: Value::Object(record).write(),
            })
        }
        Trigger::At(instant) => {
            server.clock.set(instant.as_microsecond());
            None
        }
        Trigger::Nothing => None,
    };
    let run = begin(server, &version, row).await?;
    // It comes before what its row fires besides.
    go_on(server, Some(run)).await?;
    loop {
        server.executor.take_events().await?;
        if !go_on(server, None).await? {
            break;
        }
    }
    Ok(FireOutcome::Ran(effects(server, run).await?))
}

/// Inserts a row into the table of the trigger; nothing else is to start the automation for it.
async fn enter(
    server: &TestServer,
    version: &Version,
    cells: &Object,
) -> Result<Result<FiredRow, String>, DeclaredError> {
    let config = Value::parse(&version.trigger_config).unwrap_or_default();
    let Some(table) = config.as_object().and_then(watched_table) else {
        return Ok(Err(NO_TABLE.to_owned()));
    };
    let body = Object::from_iter([("data".to_owned(), cells.clone().into())]);
    let path = format!("/v1/features/{table}/rows");
    let response = server.send(Method::POST, &path, Value::Object(body).write());
    let response = response.await?;
    if response.status != 201 {
        return Ok(Err(why_not(&read(&response)?)));
    }
    let CreatedRecord { id } = read(&response)?;
    let forgotten: Result<(), StoreError> = server
        .app
        .store
        .write(
            &Scope::Operator,
            (version.organization, version.workflow),
            |tx, (organization, workflow)| Box::pin(events::forget(tx, *organization, *workflow)),
        )
        .await;
    forgotten?;
    Ok(Ok(FiredRow {
        table,
        row: id,
        document: String::from_utf8_lossy(&response.body).into_owned(),
    }))
}

/// Why a row is refused, as the library says it.
fn why_not(problem: &ProblemBody) -> String {
    let fault = problem.errors.first();
    let about = fault.and_then(|fault| Some((fault, fault.path.strip_prefix("data.")?)));
    match about {
        Some((fault, column)) => format!("`{column}`: {}", fault.message),
        None => problem.detail.clone(),
    }
}

async fn begin(
    server: &TestServer,
    version: &Version,
    row: Option<FiredRow>,
) -> Result<Id, DeclaredError> {
    let context = &server.app.context;
    let new = NewRun {
        id: context.id(),
        organization: version.organization,
        workspace: version.workspace,
        workflow: version.workflow,
        version: version.version,
        trigger: "manual",
        row,
        dry_run: false,
        depth: 1,
        cause: None,
        chain: None,
        caller: Some(server.user),
        publisher: None,
        due_at: None,
        now: context.now(),
    };
    let id = new.id;
    let store = &server.app.store;
    let begun: Result<(), StoreError> = store
        .write(&Scope::Operator, new, |tx, new| {
            Box::pin(runs::begin(tx, new))
        })
        .await;
    begun?;
    Ok(id)
}

/// Executes the runs that there are, the first of them first: that one, or all. The clock goes on to the
/// end of what one of them waits for. Gives whether there were any.
async fn go_on(server: &TestServer, only: Option<Id>) -> Result<bool, DeclaredError> {
    let mut any = false;
    while let Some(run) = server.executor.run_next().await? {
        any = true;
        let status = status(server, run).await?;
        if let Some(wake_at) = status.wake_at.filter(|_| !status.over) {
            server.clock.set(wake_at.max(server.app.context.now()));
        }
        if status.over && only == Some(run) {
            break;
        }
    }
    Ok(any)
}

async fn status(server: &TestServer, run: Id) -> Result<RunStatus, StoreError> {
    let store = &server.app.store;
    let status = store.read(&Scope::Operator, run, |tx, run| {
        Box::pin(runs::status(tx, *run))
    });
    let status: Option<RunStatus> = status.await?;
    status.ok_or_else(|| StoreError::Internal("a run is gone".to_owned()))
}

/// What a run has done, and what would have left since.
async fn effects(server: &TestServer, run: Id) -> Result<RunEffects, DeclaredError> {
    let store = &server.app.store;
    let of = (server.organization, run);
    let steps = store.read(&Scope::Operator, of, |tx, of| {
        Box::pin(run_steps::steps(tx, of.0, of.1))
    });
    let steps: Vec<StepRow> = steps.await?;
    let steps = steps.into_iter().map(|step| ExecutedStep {
        output: step.output.as_deref().and_then(output),
        id: step.id,
        key: step.key,
    });
    let mails = server.outbox.take();
    let sent = store.write(&Scope::Operator, (), |tx, ()| {
        Box::pin(take_notifications(tx))
    });
    let sent: Vec<SentNotification> = sent.await?;
    let notifications = sent.iter().map(|sent| {
        notification_document(&sent.title, &sent.body, &sent.scope_type, sent.scope_id)
    });
    Ok(RunEffects {
        steps: steps.collect(),
        error: status(server, run).await?.error,
        notifications: notifications.collect(),
        mails: mails.iter().map(mail_document).collect(),
    })
}

fn output(text: &str) -> Option<Object> {
    match Value::parse(text) {
        Ok(Value::Object(output)) => Some(RunState::report_size(output)),
        _ => None,
    }
}
