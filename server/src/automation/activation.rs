//! Which version of an automation is in force, and whether it fires: publishes, activates, launches and pauses.
//!
//! Every change locks the tables that are watched and the row of the automation ([`find::lock_with_tables`]), so the
//! second of two changes sees the first.

use uuid::Uuid;

use super::file_holds;
use super::find;
use super::subscriptions::{no_table, subscribe};
use super::version::{Version, columns};
use crate::ids::WorkflowKey;
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx};

/// Publishes a draft. Whether the automation fires stays as it was.
///
/// # Errors
/// 409 when the version that was in force when the draft was begun is no longer in force.
pub async fn publish(
    tx: &mut Tx,
    mut draft: Version,
    publisher: Option<Uuid>,
    now: i64,
) -> Result<Version, Refusal> {
    let published = find::published(tx, draft.workflow).await?;
    // Where nothing was published, nothing can have come in between.
    let in_between = |version: &Version| Some(version.version) != draft.base_version;
    if published.as_ref().is_some_and(in_between) {
        return Err(stale(
            "The version in force is another one than the draft was begun on: read it, and begin a new draft.",
        ));
    }
    let fires = published.is_some_and(|version| version.is_active);
    if fires {
        switch_off(tx, draft.organization, draft.workflow).await?;
    }
    draft.publisher = publisher;
    supersede(tx, &draft, fires, now).await?;
    draft.is_draft = false;
    draft.is_active = fires;
    if fires
        && !subscribe(
            tx,
            WorkflowKey {
                organization: draft.organization,
                workflow: draft.workflow,
            },
            now,
        )
        .await?
    {
        return Err(no_table(tx.scope()));
    }
    Ok(draft)
}

/// Makes a version a published one that fires, or does not.
async fn supersede(
    tx: &mut Tx,
    version: &Version,
    fires: bool,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE main.workflow_versions SET is_draft = $3, is_active = $4, publisher = $5 \
         WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND id = $2";
    let parameters = [
        version.organization.into(),
        version.id.into(),
        false.into(),
        fires.into(),
        version.publisher.into(),
    ];
    tx.query(sql, &parameters).await?;
    file_holds::release_superseded(tx, version, now).await
}

/// 409 for a draft that cannot be published any more.
fn stale(why: &str) -> Refusal {
    Refusal::new(Code::DraftStale, why)
}

/// What a person wanted of an automation, and whether there was a version to do it with.
#[derive(Debug, Clone)]
pub enum SwitchOutcome {
    /// The version that fires now, or did until now.
    Done(Version),
    /// There is none that could.
    Unchanged,
}

/// Lets the newest published version fire, and no other.
///
/// # Errors
/// 404 for an automation that is not there, 409 when its table is gone.
pub async fn activate(tx: &mut Tx, workflow: Uuid, now: i64) -> Result<SwitchOutcome, Refusal> {
    let row = find::lock_with_tables(tx, workflow).await?;
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM workflow_versions WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workflow_id = $2 AND NOT is_draft \
         ORDER BY version DESC LIMIT 1"
    );
    let newest = tx
        .first(sql, &[row.organization.into(), workflow.into()])
        .await?;
    let Some(newest) = newest else {
        return Ok(SwitchOutcome::Unchanged);
    };
    let mut newest = Version::read(&newest)?;
    if !newest.is_active {
        switch_off(tx, row.organization, workflow).await?;
        supersede(tx, &newest, true, now).await?;
        newest.is_active = true;
    }
    // One that is active already may have lost its subscription with its table.
    if !subscribe(
        tx,
        WorkflowKey {
            organization: row.organization,
            workflow,
        },
        now,
    )
    .await?
    {
        return Err(no_table(tx.scope()));
    }
    Ok(SwitchOutcome::Done(newest))
}

/// Publishes this version, whatever it was begun on, and lets it fire and no other: how automations of a
/// template go live. The publisher of a draft is whoever started the job, so it has to be one that the job wrote: others
/// do not run with what that person sees. One whose table was left out is in force and fires nothing.
///
/// # Errors
/// Those of the store.
pub async fn launch(
    tx: &mut Tx,
    mut version: Version,
    publisher: Option<Uuid>,
    now: i64,
) -> Result<(), StoreError> {
    if version.is_active && !version.is_draft {
        return Ok(());
    }
    switch_off(tx, version.organization, version.workflow).await?;
    // Whoever has published it stays its publisher.
    if version.is_draft {
        version.publisher = publisher;
    }
    supersede(tx, &version, true, now).await?;
    // One whose table was left out fires nothing.
    subscribe(
        tx,
        WorkflowKey {
            organization: version.organization,
            workflow: version.workflow,
        },
        now,
    )
    .await?;
    Ok(())
}

/// Lets no version fire any more.
///
/// # Errors
/// 404 for an automation that is not there.
pub async fn pause(tx: &mut Tx, workflow: Uuid, now: i64) -> Result<SwitchOutcome, Refusal> {
    let row = find::lock_with_tables(tx, workflow).await?;
    let Some(mut published) = find::published(tx, workflow).await? else {
        return Ok(SwitchOutcome::Unchanged);
    };
    switch_off(tx, row.organization, workflow).await?;
    published.is_active = false;
    subscribe(
        tx,
        WorkflowKey {
            organization: row.organization,
            workflow,
        },
        now,
    )
    .await?;
    Ok(SwitchOutcome::Done(published))
}

pub(super) async fn switch_off(
    tx: &mut Tx,
    organization: Uuid,
    workflow: Uuid,
) -> Result<(), StoreError> {
    let sql = "UPDATE main.workflow_versions SET is_active = $3 WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workflow_id = $2 AND is_active";
    let parameters = [organization.into(), workflow.into(), false.into()];
    tx.query(sql, &parameters).await.map(drop)
}
