//! Creates a record.

use std::collections::HashSet;

use tplkit::package::name;
use uuid::Uuid;

use super::change::update;
use super::input::RecordInput;
use super::kind::{KindDescription, RecordKind};
use super::names::name_taken;
use super::record::Record;
use super::{column, config, feature, find, visibility};
use crate::auth::{Actor, Role};
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx};

/// A record that is to be.
#[derive(Debug)]
pub struct Create {
    /// What it is.
    pub kind: &'static KindDescription,
    /// What it lies in.
    pub parent: Uuid,
    /// Its id.
    pub id: Uuid,
    /// The body, or its faults, which are reported after the parent is found.
    pub body: Result<RecordInput, Refusal>,
}

/// Where a record is to be created, by whom.
#[derive(Debug)]
pub struct ParentRecord {
    within: Vec<Uuid>,
    role: Role,
}

/// Finds what a record is to lie in. It stays as it is until the record is there.
///
/// # Errors
/// 404 for a parent that cannot be seen, 403 for a role that does not suffice.
pub async fn enter(
    tx: &mut Tx,
    actor: Actor<'_>,
    create: &Create,
) -> Result<ParentRecord, Refusal> {
    let parent = match create.kind.parent {
        Some(above) => Some(find::lock(tx, above, create.parent).await?),
        None => None,
    };
    let within = match &parent {
        Some(parent) => {
            let mut within = parent.within.clone();
            within.push(parent.id);
            within
        }
        None => vec![create.parent],
    };
    let role = actor.enter(within[0])?;
    Ok(ParentRecord { within, role })
}

/// Creates a record.
///
/// # Errors
/// 409 for a name that is taken, 422 with everything that is wrong.
pub async fn create(
    tx: &mut Tx,
    create: &Create,
    ParentRecord { within, role }: ParentRecord,
    now: i64,
) -> Result<Record, Refusal> {
    let kind = create.kind;
    let written = create.body.as_ref().map_err(Clone::clone)?;
    let mut record = Record::new(kind, within, create.id, now);
    written.fill(&mut record);
    visibility::stays(role, None, &record, written)?;
    complete(tx, &mut record, written).await?;
    insert(tx, &mut record, written.name.as_deref()).await?;
    // Its name says which cells are its own, if rows have been there before it.
    if kind.what == RecordKind::Column {
        column::complete_config(tx, &mut record, None).await?;
        update(tx, &record).await?;
    }
    Ok(record)
}

/// Completes and checks a new record.
async fn complete(tx: &mut Tx, record: &mut Record, written: &RecordInput) -> Result<(), Refusal> {
    match record.kind.what {
        RecordKind::Workspace if !written.sets("access") => record.set("access", "organization"),
        RecordKind::Column => column::complete(record, written, None)?,
        _ => {}
    }
    let names = config::put(tx, record, written.config.as_ref(), true).await?;
    match record.kind.what {
        RecordKind::Feature => feature::complete(record),
        RecordKind::View => feature::serve_view(tx, record, &names).await?,
        _ => {}
    }
    Ok(())
}

/// Stores a record under the name that was asked for, or the first free one after its label.
async fn insert(
    tx: &mut Tx,
    record: &mut Record,
    wanted_name: Option<&str>,
) -> Result<(), Refusal> {
    if let Some(name) = wanted_name {
        name.clone_into(&mut record.name);
        if let Some(why) = refused(record, name) {
            return Err(Refusal::fault("name", why));
        }
        let free = try_insert(tx, record).await?;
        return if free { Ok(()) } else { Err(name_taken(name)) };
    }
    let base = name::derive(&record.label, record.kind.word);
    record.name = name::free(&base, |name| refused(record, name).is_some());
    if try_insert(tx, record).await? {
        return Ok(());
    }
    let parameters = [record.organization().into(), record.parent().into()];
    let rows = tx
        .query(&record.kind.statements().names, &parameters)
        .await?;
    let names = rows.iter().map(|row| row.get(0));
    let mut taken: HashSet<String> = names.collect::<Result<_, StoreError>>()?;
    loop {
        // A name can be taken by what the caller cannot see, or by somebody a moment ago.
        taken.insert(record.name.clone());
        let free = |name: &str| taken.contains(name) || refused(record, name).is_some();
        record.name = name::free(&base, free);
        if try_insert(tx, record).await? {
            return Ok(());
        }
    }
}

/// Why a record cannot have a name that others could.
fn refused(record: &Record, name: &str) -> Option<&'static str> {
    match record.kind.what {
        RecordKind::Column => column::refused_name(name, record.text("default_component")),
        _ => None,
    }
}

/// Stores a record under its name; false when that is taken.
pub(super) async fn try_insert(tx: &mut Tx, record: &mut Record) -> Result<bool, Refusal> {
    let kind = record.kind;
    let mut parameters: Vec<_> = record.within.iter().map(|id| (*id).into()).collect();
    parameters.extend([
        record.id.into(),
        record.name.as_str().into(),
        record.label.as_str().into(),
        record.config.as_str().into(),
        record.created_at.into(),
    ]);
    parameters.extend(record.own.iter().cloned());
    let row = match tx.first(&kind.statements().insert, &parameters).await {
        // What it was to lie in has gone.
        Err(StoreError::Reference) => return Err(Refusal::not_found()),
        // Names are asked for above; ids that are brought along may be taken.
        Err(StoreError::Unique { .. }) => {
            return Err(Refusal::new(Code::Conflict, "The id is taken already."));
        }
        row => row?,
    };
    let Some(row) = row else { return Ok(false) };
    *record = Record::read(kind, &row)?;
    Ok(true)
}
