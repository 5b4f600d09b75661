//! The steps `notify` and `automation.run`: notify people, start other automations.

use tplkit::automation::run::{Failure, Notice, Reason, Scope as Audience, effect_rules};
use tplkit::json::Object;
use uuid::Uuid;

use super::chain::{self, Extension};
use super::find;
use super::runs::{self, NewRun, Run};
use super::stop::Stop;
use crate::ids::Stamp;
use crate::store::Tx;
use crate::wake::WorkerSignal;

/// The word and the id of whom a notification is for.
///
/// # Errors
/// A failure when they are not there, and those of the store.
pub(super) async fn recipient(
    tx: &mut Tx,
    run: &Run,
    notice: &Notice,
) -> Result<(&'static str, Option<Uuid>), Stop> {
    let (word, to, known) = match notice.scope {
        Audience::Channel(id) => (
            "channel",
            Some(id),
            "SELECT id FROM channels WHERE {tenant organization_id} \
             AND organization_id = $1 AND id = $2",
        ),
        Audience::User(id) => (
            "user",
            Some(id),
            "SELECT user_id FROM memberships WHERE {tenant organization_id} \
             AND organization_id = $1 AND user_id = $2",
        ),
        Audience::Organization => ("organization", None, ""),
    };
    if let Some(to) = to {
        let found = tx
            .first(known, &[run.organization.into(), to.into()])
            .await?;
        if found.is_none() {
            let reason = format!("the organization has no {word} of that id");
            let failure = Failure::at("scopeId", reason);
            return Err(Stop::Failed(failure.yields(None, &to.to_string().into())));
        }
    }
    Ok((word, to))
}

/// Notes a notification, and gives the output.
///
/// # Errors
/// A failure when whom it is for is not there, and those of the store.
pub(super) async fn notify(
    tx: &mut Tx,
    run: &Run,
    step: &str,
    notice: &Notice,
    Stamp { id, now }: Stamp,
) -> Result<Object, Stop> {
    let (word, to) = recipient(tx, run, notice).await?;
    let sql = "INSERT INTO main.notifications {into $1} (organization_id, id, scope_type, scope_id, \
         title, body, run_id, step_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let parameters = [
        run.organization.into(),
        id.into(),
        word.into(),
        to.into(),
        notice.title.as_str().into(),
        notice.body.as_str().into(),
        run.id.into(),
        step.into(),
        now.into(),
    ];
    tx.query(sql, &parameters).await?;
    Ok(Object::from_iter([(
        "notificationId".to_owned(),
        id.to_string().into(),
    )]))
}

/// Finds another automation, active or not: what is written over the API is not active before somebody has looked at it.
///
/// # Errors
/// A failure when it is not there, and those of the store.
pub(super) async fn known(tx: &mut Tx, run: &Run, workflow: Uuid) -> Result<(), Stop> {
    let found = find::in_force(tx, workflow).await?;
    let found = found.filter(|found| found.organization == run.organization);
    match found {
        Some(_) => Ok(()),
        None => Err(Stop::Failed(effect_rules::automation_gone(workflow))),
    }
}

/// Begins a run of another automation, and gives the output. It begins with an empty envelope.
///
/// # Errors
/// A failure when the automation is not there or not active, and those of the store.
pub(super) async fn run_other(
    tx: &mut Tx,
    run: &Run,
    workflow: Uuid,
    Stamp { id, now }: Stamp,
    signal: &WorkerSignal,
) -> Result<Object, Stop> {
    let active = find::active(tx, workflow).await?;
    let Some(active) = active.filter(|active| active.organization == run.organization) else {
        return Err(Stop::Failed(match find::in_force(tx, workflow).await? {
            Some(_) => effect_rules::automation_inactive(workflow),
            None => effect_rules::automation_gone(workflow),
        }));
    };
    let chain = run.chain();
    let extension = Extension {
        organization: run.organization,
        chain,
        by: 1,
    };
    if chain::extend(tx, &[extension], now).await? != [1] {
        let failure = Failure::new(chain::too_long().detail);
        return Err(Stop::Failed(failure.because(Reason::TooDeep)));
    }
    let new = NewRun {
        id,
        organization: active.organization,
        workspace: active.workspace,
        workflow,
        version: active.version,
        trigger: "automation",
        row: None,
        dry_run: false,
        depth: run.depth + 1,
        cause: Some(run.id),
        chain: Some(chain),
        caller: run.caller,
        publisher: run.publisher,
        due_at: None,
        now,
    };
    runs::begin(tx, &new).await?;
    signal.mark();
    Ok(Object::from_iter([(
        "runId".to_owned(),
        id.to_string().into(),
    )]))
}
