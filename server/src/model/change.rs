//! Changes a record.

use uuid::Uuid;

use super::input::RecordInput;
use super::kind::{KindDescription, RecordKind};
use super::names::name_taken;
use super::record::Record;
use super::{column, config, feature, find, visibility};
use crate::auth::Actor;
use crate::context::changed_at;
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx};

/// A change of a record.
#[derive(Debug)]
pub struct Change {
    /// What it is.
    pub kind: &'static KindDescription,
    /// What the path says that it lies in.
    pub parent: Option<Uuid>,
    /// Its id.
    pub id: Uuid,
    /// The body, or its faults, which are reported after the record is found.
    pub body: Result<RecordInput, Refusal>,
}

/// Changes a record.
///
/// # Errors
/// 404 for one that cannot be seen, 403 for a role that does not suffice, also where only a part of the
/// body takes a higher one, and for what never changes,
/// 409 for a name that is taken and for a unique column over repeated values, 422 with everything that is wrong.
pub async fn change(
    tx: &mut Tx,
    actor: Actor<'_>,
    change: &Change,
    now: i64,
) -> Result<Record, Refusal> {
    let before = locked(tx, change.kind, change.parent, change.id).await?;
    let role = actor.enter(before.organization())?;
    let written = change.body.as_ref().map_err(Clone::clone)?;
    if written.is_empty() {
        return Ok(before);
    }
    let mut after = before.clone();
    written.fill(&mut after);
    visibility::stays(role, Some(&before), &after, written)?;
    if let Some(name) = &written.name {
        after.name.clone_from(name);
    }
    after.updated_at = changed_at(now, before.updated_at);
    complete(tx, &mut after, written, &before).await?;
    update(tx, &after).await?;
    Ok(after)
}

/// The record, kept from others; what it lies in first, where the path names it.
pub(super) async fn locked(
    tx: &mut Tx,
    kind: &'static KindDescription,
    parent: Option<Uuid>,
    id: Uuid,
) -> Result<Record, Refusal> {
    if let (Some(above), Some(parent)) = (kind.parent, parent) {
        find::lock(tx, above, parent).await?;
    }
    let record = find::lock(tx, kind, id).await?;
    if parent.is_some_and(|parent| parent != record.parent()) {
        return Err(Refusal::not_found());
    }
    Ok(record)
}

async fn complete(
    tx: &mut Tx,
    after: &mut Record,
    written: &RecordInput,
    before: &Record,
) -> Result<(), Refusal> {
    if after.kind.what == RecordKind::Column {
        column::complete(after, written, Some(before))?;
    }
    // What a config may hold depends on these.
    let other = ["type", "default_component"].map(|key| after.text(key) != before.text(key));
    let check = written.config.is_some() || other.contains(&true);
    let names = if check {
        config::put(tx, after, written.config.as_ref(), false).await?
    } else {
        Vec::new()
    };
    match after.kind.what {
        RecordKind::Feature => feature::complete(after),
        RecordKind::View => feature::serve_view(tx, after, &names).await?,
        RecordKind::Column => column::complete_config(tx, after, Some(before)).await?,
        _ => {}
    }
    Ok(())
}

/// Stores a record that was read, and kept from others since.
pub(super) async fn update(tx: &mut Tx, record: &Record) -> Result<(), Refusal> {
    let mut parameters = vec![
        record.organization().into(),
        record.id.into(),
        record.name.as_str().into(),
        record.label.as_str().into(),
        record.config.as_str().into(),
        record.updated_at.into(),
    ];
    parameters.extend(record.own.iter().cloned());
    let statement = &record.kind.statements().update;
    match tx.query(statement, &parameters).await {
        Err(StoreError::Unique { constraint }) if constraint.ends_with("_name") => {
            Err(name_taken(&record.name))
        }
        other => Ok(other.map(drop)?),
    }
}
