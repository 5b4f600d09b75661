//! Writes the records of a template job. The check of the template covers them, so they are not
//! validated again; derived columns are computed as for other records.

use tplkit::json::{Object, Value as Json};
use tplkit::workspace::AnyRecord;
use uuid::Uuid;

use super::change::update;
use super::create::try_insert;
use super::kind::{FEATURE, KindDescription, RecordKind};
use super::record::Record;
use super::remove::release;
use super::{column, config, feature, find};
use crate::context::changed_at;
use crate::refusal::{Code, Refusal};
use crate::rows::slot_allocation;
use crate::store::{Tx, Value};

/// A record that comes with its id and its name.
#[derive(Debug)]
pub struct ImportedRecord {
    /// What it is.
    pub kind: &'static KindDescription,
    /// The ids of what it lies in, the organization first.
    pub within: Vec<Uuid>,
    /// Its own.
    pub id: Uuid,
    /// Technical name.
    pub name: String,
    /// For people.
    pub label: String,
    /// An object, or a list of them.
    pub config: Json,
    /// Fields of its kind.
    pub own: Vec<(&'static str, Value)>,
    /// Microseconds.
    pub now: i64,
}

/// A table that was made in this transaction: nobody else knows it, and it has no rows.
#[derive(Debug, Default)]
pub struct NewTable {
    /// Slots that its columns have taken, from the first on.
    slots: i64,
}

/// Puts a record into the store. What it lies in is locked, or was made in this transaction.
///
/// # Errors
/// 409 for a name that is taken and for a unique column over repeated values, 422 for an identity that
/// cannot be, 404 when what it lies in is gone.
pub async fn put(
    tx: &mut Tx,
    new: ImportedRecord,
    fresh: Option<&mut NewTable>,
) -> Result<(), Refusal> {
    let mut record = Record::new(new.kind, new.within, new.id, new.now);
    record.name = new.name;
    record.label = new.label;
    record.config = kept(new.kind.what, new.config).write();
    for (column, value) in new.own {
        record.set(column, value);
    }
    match (record.kind.what, fresh) {
        (RecordKind::Feature, _) => feature::complete(&mut record),
        (RecordKind::View, _) => {
            let names = config::own_columns(&record)?;
            feature::serve_view(tx, &record, &names).await?;
        }
        (RecordKind::Column, Some(fresh)) => {
            let slot = fresh.slots + 1;
            if column::complete_new(
                &mut record,
                (slot <= slot_allocation::SLOTS).then_some(slot),
            )? {
                fresh.slots = slot;
            }
            return insert(tx, record).await;
        }
        _ => {}
    }
    if record.kind.what != RecordKind::Column {
        return insert(tx, record).await;
    }
    if !try_insert(tx, &mut record).await? {
        return Err(name_taken(&record));
    }
    // Its name says which cells are its own, if rows have been there before it.
    column::complete_config(tx, &mut record, None).await?;
    update(tx, &record).await
}

async fn insert(tx: &mut Tx, mut record: Record) -> Result<(), Refusal> {
    if try_insert(tx, &mut record).await? {
        Ok(())
    } else {
        Err(name_taken(&record))
    }
}

/// 409 for a record whose name another has: a job that is taken back brings it under the name that it had.
fn name_taken(record: &Record) -> Refusal {
    let detail = format!(
        "The name {} of {:?} is taken here. Rename or delete what has it now, then try again.",
        record.name, record.label
    );
    Refusal::new(Code::Conflict, detail)
}

/// The config of a record as the library knows it: a list of a rail, else an object. Others wait with
/// changing it until the transaction ends.
///
/// # Errors
/// Those of the store.
pub async fn config(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
) -> Result<Option<Json>, Refusal> {
    let record = lock_existing(tx, kind, id).await?;
    Ok(record.map(|record| without_unknown_keys(kind.what, &record.config)))
}

/// Replaces the config of a record; false when there is no such record.
///
/// # Errors
/// 409 for a column that becomes unique over repeated values, 422 for an identity that cannot be.
pub async fn configure(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
    given: &Json,
    now: i64,
) -> Result<bool, Refusal> {
    let Some(before) = lock_existing(tx, kind, id).await? else {
        return Ok(false);
    };
    let mut after = before.clone();
    after.config = kept(kind.what, given.clone()).write();
    store(tx, &before, after, now).await?;
    Ok(true)
}

/// Changes what differs between two forms of a record, where it still is as in the first; false when there
/// is no such record.
///
/// # Errors
/// 409 for one that is not as it was, and for a column that becomes unique over repeated values, 422 for
/// an identity that cannot be.
pub async fn amend(
    tx: &mut Tx,
    kind: &'static KindDescription,
    from: &AnyRecord,
    to: &AnyRecord,
    now: i64,
) -> Result<bool, Refusal> {
    let Some(before) = lock_existing(tx, kind, from.id).await? else {
        return Ok(false);
    };
    let stands = as_stored(&before, from);
    if !stands.is_as(from, to) {
        let detail = format!("the {} {:?} has changed", kind.word, before.name);
        return Err(Refusal::new(Code::Conflict, detail));
    }
    let next = stands.with(from, to.clone());
    let mut after = before.clone();
    if let Some(label) = next.label {
        after.label = label;
    }
    after.config = kept(kind.what, next.config).write();
    if from.icon != to.icon {
        after.set("icon", next.icon);
    }
    if from.order != to.order {
        after.set("position", next.order);
    }
    if let (true, Some(word)) = (from.own_type != to.own_type, next.own_type) {
        after.set("type", word);
    }
    if let (true, Some(word)) = (from.component != to.component, next.component) {
        after.set("default_component", word);
    }
    store(tx, &before, after, now).await?;
    Ok(true)
}

/// A record as the library knows it; others wait with changing it until the transaction ends.
///
/// # Errors
/// Those of the store.
pub async fn stored(
    tx: &mut Tx,
    kind: &'static KindDescription,
    seen: &AnyRecord,
) -> Result<Option<AnyRecord>, Refusal> {
    let record = lock_existing(tx, kind, seen.id).await?;
    Ok(record.map(|record| as_stored(&record, seen)))
}

/// What is stored of a record, in place of what was seen of it.
fn as_stored(stored: &Record, seen: &AnyRecord) -> AnyRecord {
    // An icon that is empty is one; only null is none.
    let text = |column| stored.optional_text(column).map(str::to_owned);
    let what = stored.kind.what;
    AnyRecord {
        name: stored.name.clone(),
        label: (what != RecordKind::Workspace).then(|| stored.label.clone()),
        icon: text("icon"),
        order: stored.integer("position"),
        own_type: text("type"),
        component: text("default_component"),
        config: without_unknown_keys(what, &stored.config),
        ..seen.clone()
    }
}

/// Stores a record that is another one now.
async fn store(tx: &mut Tx, before: &Record, mut after: Record, now: i64) -> Result<(), Refusal> {
    after.updated_at = changed_at(now, before.updated_at);
    match after.kind.what {
        RecordKind::Feature => feature::complete(&mut after),
        RecordKind::View => {
            let names = config::own_columns(&after)?;
            feature::serve_view(tx, &after, &names).await?;
        }
        RecordKind::Column => column::complete_config(tx, &mut after, Some(before)).await?,
        _ => {}
    }
    update(tx, &after).await
}

/// Takes a record away with everything in it; one that is gone is not an error.
///
/// # Errors
/// 409 when rows would go with it that are not to be lost (`force`).
pub async fn take_away(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
    force: bool,
    now: i64,
) -> Result<(), Refusal> {
    let Some(record) = lock_existing(tx, kind, id).await? else {
        return Ok(());
    };
    if !force && holds_rows(tx, &record).await? {
        let detail = format!("the {} {:?} still holds rows", kind.word, record.name);
        return Err(Refusal::new(Code::NotEmpty, detail));
    }
    release(tx, &record, now).await?;
    let at = [record.organization().into(), id.into()];
    tx.query(&kind.statements().delete, &at).await?;
    Ok(())
}

async fn holds_rows(tx: &mut Tx, record: &Record) -> Result<bool, Refusal> {
    match record.kind.what {
        RecordKind::Feature => {
            Ok(slot_allocation::has_rows(tx, record.organization(), record.id).await?)
        }
        RecordKind::Workspace => {
            let sql = "SELECT id FROM rows WHERE {tenant organization_id} AND organization_id = $1 \
                 AND feature_id IN (SELECT id FROM features WHERE organization_id = $1 \
                 AND workspace_id = $2) LIMIT 1";
            let parameters = [record.organization().into(), record.id.into()];
            Ok(tx.first(sql, &parameters).await?.is_some())
        }
        _ => Ok(false),
    }
}

/// The record, kept from others; of a column its table first, as everybody does who changes columns.
async fn lock_existing(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
) -> Result<Option<Record>, Refusal> {
    if kind.what == RecordKind::Column {
        let Some(column) = find::read(tx, kind, id).await? else {
            return Ok(None);
        };
        find::lock(tx, &FEATURE, column.parent()).await?;
    }
    match find::lock(tx, kind, id).await {
        Ok(record) => Ok(Some(record)),
        Err(refusal) if refusal.code == Code::NotFound => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// The shape in which a config is kept.
fn kept(what: RecordKind, given: Json) -> Json {
    let mut objects = objects(given);
    match what {
        RecordKind::Rail => Json::List(objects.into_iter().map(Json::Object).collect()),
        RecordKind::View => {
            objects.truncate(1);
            let object = objects.pop().unwrap_or_default();
            Json::List(vec![Json::Object(object)])
        }
        _ => Json::Object(objects.into_iter().next().unwrap_or_default()),
    }
}

/// The shape in which the library knows a config that is kept.
fn without_unknown_keys(what: RecordKind, config: &str) -> Json {
    let objects = objects(Json::parse(config).unwrap_or_default());
    match what {
        RecordKind::Rail => Json::List(objects.into_iter().map(Json::Object).collect()),
        _ => Json::Object(objects.into_iter().next().unwrap_or_default()),
    }
}

fn objects(config: Json) -> Vec<Object> {
    match config {
        Json::Object(object) => vec![object],
        Json::List(elements) => elements.into_iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}
