//! Single payload entries: the rows of a table, as text.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::document::{PayloadEntry, UID};
use super::package::read;
use super::package_parts;
use super::promotion::{self, SYSTEM};
use super::record::{Record, internal, lock};
use super::write::manage;
use crate::auth::Actor;
use crate::json_schemas::UtcInstant;
use crate::paging::{Page, PageRequest};
use crate::refusal::Refusal;
use crate::store::{BOUND, Row, StoreError, Tx};

/// The stored rows of one table of a template.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Payload {
    /// The item of the manifest whose rows these are.
    #[schemars(regex(pattern = UID))]
    item_uid: String,
    /// How many rows the entry holds.
    row_count: i64,
    /// When it was created.
    created_at: UtcInstant,
    /// When it last changed.
    updated_at: UtcInstant,
    /// The rows.
    #[schemars(with = "PayloadEntry")]
    entry: Box<RawValue>,
}

impl Payload {
    fn read(row: &Row) -> Result<Payload, StoreError> {
        let entry = RawValue::from_string(row.get(4)?);
        Ok(Payload {
            item_uid: row.get(0)?,
            row_count: row.get(1)?,
            created_at: UtcInstant(row.get(2)?),
            updated_at: UtcInstant(row.get(3)?),
            entry: entry.map_err(|error| internal(&error))?,
        })
    }
}

/// A page of entries by ascending uid. It ends early when its entries are large.
///
/// # Errors
/// 422 for a cursor of another list.
pub(crate) async fn page(
    tx: &mut Tx,
    template: &Record,
    page: &PageRequest,
) -> Result<Page<Payload>, Refusal> {
    let after = String::from_utf8(page.rest.clone()).map_err(|_| PageRequest::unknown())?;
    let sql = "SELECT item_uid, CAST(octet_length(entry) AS bigint) FROM template_payloads \
         WHERE {catalog organization_id visibility} AND organization_id = $1 AND template_id = $2 \
         AND item_uid > $3 ORDER BY item_uid LIMIT $4";
    let mut parameters = vec![
        template.organization_id.into(),
        template.id.into(),
        after.into(),
        page.lookahead().into(),
    ];
    let found = tx.query(sql, &parameters).await?;
    let count = found.len();
    let (found, _) = page.cut(found);
    let most = i64::try_from(BOUND).unwrap_or(i64::MAX);
    let (mut last, mut bytes, mut taken) = (None, 0, 0);
    for row in &found {
        bytes += row.get::<i64>(1)?;
        if taken > 0 && bytes > most {
            break;
        }
        taken += 1;
        last = Some(row.get::<String>(0)?);
    }
    let Some(last) = last else {
        return Ok(Page {
            items: Vec::new(),
            next_cursor: None,
        });
    };
    let sql = "SELECT item_uid, row_count, created_at, updated_at, entry FROM template_payloads \
         WHERE {catalog organization_id visibility} AND organization_id = $1 AND template_id = $2 \
         AND item_uid > $3 AND item_uid <= $4 ORDER BY item_uid";
    parameters[3] = last.as_str().into();
    let rows = tx.last(sql, &parameters).await?;
    let items = rows.into_iter().map(|row| Payload::read(&row));
    Ok(Page {
        items: items.collect::<Result<_, StoreError>>()?,
        next_cursor: (count > taken).then(|| page.cursor(Uuid::nil(), last.as_bytes())),
    })
}

/// Which entry of which template, and its text when it is put there.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) template: Uuid,
    pub(crate) item_uid: String,
    row_count: i64,
    text: String,
}

impl Entry {
    /// One that is named alone.
    pub(crate) fn named(template: Uuid, item_uid: &str) -> Entry {
        Entry {
            template,
            item_uid: item_uid.to_owned(),
            row_count: 0,
            text: String::new(),
        }
    }

    /// One with its text.
    ///
    /// # Errors
    /// 422 with every rule that it breaks by itself, and for another uid.
    pub(crate) fn read(template: Uuid, item_uid: &str, text: &str) -> Result<Entry, Refusal> {
        let (row_count, text) = package_parts::entry(text, item_uid)?;
        Ok(Entry {
            row_count,
            text,
            ..Entry::named(template, item_uid)
        })
    }
}

/// Puts an entry into a template, in place of the one with its uid if there is one. Says whether there was none.
///
/// # Errors
/// 404, 403, and 422 for what breaks a rule of promotion.
pub(crate) async fn put(
    tx: &mut Tx,
    actor: Actor<'_>,
    entry: &Entry,
    now: i64,
) -> Result<(Payload, bool), Refusal> {
    let seen = manage(tx, actor, entry.template).await?;
    let (template, _) = lock(tx, seen.organization_id, entry.template).await?;
    let sql = "SELECT coalesce(max(position), -1) + 1, \
         CAST(coalesce(sum(CASE WHEN item_uid = $3 THEN 1 ELSE 0 END), 0) AS bigint) \
         FROM template_payloads \
         WHERE {tenant organization_id} AND organization_id = $1 AND template_id = $2";
    let mut parameters = vec![
        template.organization_id.into(),
        template.id.into(),
        entry.item_uid.as_str().into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    let row = row.ok_or_else(Refusal::not_found)?;
    let (position, there): (i64, i64) = (row.get(0)?, row.get(1)?);
    let sql = "INSERT INTO main.template_payloads {into $1} (organization_id, template_id, item_uid, \
         position, visibility, row_count, entry, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) \
         ON CONFLICT (organization_id, template_id, item_uid) DO UPDATE SET \
         row_count = excluded.row_count, entry = excluded.entry, updated_at = excluded.updated_at \
         RETURNING item_uid, row_count, created_at, updated_at, entry";
    parameters.extend([
        position.into(),
        template.visibility.as_str().into(),
        entry.row_count.into(),
        entry.text.as_str().into(),
        now.into(),
    ]);
    let row = tx.first(sql, &parameters).await?;
    let payload = Payload::read(&row.ok_or_else(Refusal::not_found)?)?;
    touch(tx, now, template).await?;
    Ok((payload, there == 0))
}

/// Takes an entry out of a template.
///
/// # Errors
/// 404, 403, and 422 for what breaks a rule of promotion.
pub(crate) async fn remove(
    tx: &mut Tx,
    actor: Actor<'_>,
    entry: &Entry,
    now: i64,
) -> Result<(), Refusal> {
    let seen = manage(tx, actor, entry.template).await?;
    let (template, _) = lock(tx, seen.organization_id, entry.template).await?;
    let sql = "DELETE FROM main.template_payloads WHERE {tenant organization_id} \
         AND organization_id = $1 AND template_id = $2 AND item_uid = $3 RETURNING item_uid";
    let parameters = [
        template.organization_id.into(),
        template.id.into(),
        entry.item_uid.as_str().into(),
    ];
    let removed = tx.first(sql, &parameters).await?;
    removed.ok_or_else(Refusal::not_found)?;
    touch(tx, now, template).await?;
    Ok(())
}

/// Notes that a template has changed. What is for everybody stays fit to be.
async fn touch(tx: &mut Tx, now: i64, template: Record) -> Result<(), Refusal> {
    if template.visibility == SYSTEM {
        promotion::measure(read(tx, &template).await?)?;
    }
    let sql = "UPDATE main.templates SET updated_at = $3 \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2";
    let parameters = [
        template.organization_id.into(),
        template.id.into(),
        now.into(),
    ];
    tx.query(sql, &parameters).await?;
    Ok(())
}
