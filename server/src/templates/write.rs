//! Creates, replaces and deletes templates.

use std::collections::HashMap;

use uuid::Uuid;

use super::identity::Identity;
use super::manifest::shown_to;
use super::package::Package;
use super::package_parts::{PackageParts, StoredEntry};
use super::promotion::{self, SYSTEM};
use super::record::{Record, columns, find, internal, lock};
use crate::auth::Actor;
use crate::context::Context;
use crate::jobs;
use crate::refusal::{Code, Refusal};
use crate::store::{StoreError, Tx, Value};

/// A template that is to be.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) organization: Uuid,
    pub(crate) parts: PackageParts,
}

/// A template that gets another package.
#[derive(Debug)]
pub(crate) struct Replace {
    pub(crate) id: Uuid,
    pub(crate) parts: PackageParts,
}

/// A template that is to go.
#[derive(Debug)]
pub(crate) struct Remove {
    pub(crate) id: Uuid,
    /// Only if nothing was done with it.
    pub(crate) unused: bool,
}

/// The template, when the caller has the operation's role in its organization. Templates for everybody
/// are seen by strangers, who learn that they may not.
///
/// # Errors
/// 404 for what is hidden, 403 for who sees it and may not change it.
pub(crate) async fn manage(tx: &mut Tx, actor: Actor<'_>, id: Uuid) -> Result<Record, Refusal> {
    let record = find(tx, id).await?;
    match actor.enter(record.organization_id) {
        Ok(_) => Ok(record),
        Err(_) => Err(forbidden(actor.least.as_str())),
    }
}

pub(super) fn forbidden(role: &str) -> Refusal {
    Refusal::forbidden(format!(
        "This takes the role {role} or more in the template's organization."
    ))
}

/// Adds a template to the catalog of an organization that was entered.
///
/// # Errors
/// Those of the store.
pub(crate) async fn create(
    tx: &mut Tx,
    create: &Create,
    context: &Context,
    now: i64,
) -> Result<Record, Refusal> {
    let Create {
        organization,
        parts,
    } = create;
    let id = context.id();
    let sql = concat!(
        "INSERT INTO main.templates {into $1} (organization_id, id, visibility, name, label, \
         description, category, scope, semver, tags, template_version, manifest, created_at, \
         updated_at, beside) VALUES ($1, $2, 'org', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13) RETURNING ",
        columns!()
    );
    let mut parameters = vec![(*organization).into(), id.into()];
    parameters.extend(manifest_columns(&parts.identity)?);
    parameters.push(parts.manifest.as_str().into());
    parameters.push(now.into());
    parameters.push(parts.other_members.as_str().into());
    let row = tx.first(sql, &parameters).await?;
    let record = Record::read(&row.ok_or_else(Refusal::not_found)?)?;
    let news = TemplateInput {
        record: &record,
        now,
        known: HashMap::new(),
    };
    news.insert(tx, parts.entries()).await?;
    Ok(record)
}

/// The columns that repeat what a manifest says of itself.
pub(super) fn manifest_columns(identity: &Identity) -> Result<[Value; 8], StoreError> {
    let tags = serde_json::to_string(&identity.tags).map_err(|error| internal(&error))?;
    Ok([
        identity.name.clone().into(),
        identity.label.clone().into(),
        identity.description.clone().into(),
        identity.category.clone().into(),
        identity.scope.clone().into(),
        identity.semver.clone().into(),
        tags.into(),
        identity.template_version.into(),
    ])
}

/// Entries that enter a template.
struct TemplateInput<'n> {
    record: &'n Record,
    now: i64,
    /// When those that were there before came.
    known: HashMap<String, i64>,
}

impl TemplateInput<'_> {
    async fn insert<'k>(
        &self,
        tx: &mut Tx,
        entries: impl Iterator<Item = Result<StoredEntry<'k>, StoreError>>,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO main.template_payloads {into $1} (organization_id, template_id, \
             item_uid, position, visibility, row_count, entry, created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        for (entry, position) in entries.zip(0_i64..) {
            let entry = entry?;
            let created_at = self.known.get(entry.item_uid).copied().unwrap_or(self.now);
            let parameters = vec![
                self.record.organization_id.into(),
                self.record.id.into(),
                entry.item_uid.into(),
                position.into(),
                self.record.visibility.as_str().into(),
                entry.row_count.into(),
                entry.text.into(),
                created_at.into(),
                self.now.into(),
            ];
            // It may be large: it is given away, not copied.
            tx.query_whole(sql, parameters).await?;
        }
        Ok(())
    }
}

/// Replaces manifest and payloads, all or nothing. What is for everybody stays fit to be.
///
/// # Errors
/// 404, 403, and 422 for what breaks a rule of promotion.
pub(crate) async fn replace(
    tx: &mut Tx,
    actor: Actor<'_>,
    replace: &Replace,
    now: i64,
) -> Result<Record, Refusal> {
    let Replace { id, parts } = replace;
    let seen = manage(tx, actor, *id).await?;
    let (before, _) = lock(tx, seen.organization_id, *id).await?;
    let manifest = shown_to(&parts.manifest, &before.visibility);
    if before.visibility == SYSTEM {
        let entries = parts.entries().map(|entry| Ok(entry?.text));
        let entries = entries.collect::<Result<Vec<_>, StoreError>>()?;
        promotion::measure(Package::of(&manifest, &entries, &parts.other_members))?;
    }
    let sql = "SELECT item_uid, created_at FROM template_payloads \
         WHERE {tenant organization_id} AND organization_id = $1 AND template_id = $2";
    let key = [before.organization_id.into(), before.id.into()];
    let known = tx.query(sql, &key).await?;
    let known = known.iter().map(|row| Ok((row.get(0)?, row.get(1)?)));
    let known = known.collect::<Result<_, StoreError>>()?;
    let sql = "DELETE FROM main.template_payloads \
         WHERE {tenant organization_id} AND organization_id = $1 AND template_id = $2";
    tx.query(sql, &key).await?;
    let record = rewrite(tx, &before, &manifest, &parts.identity, now).await?;
    let sql = "UPDATE main.templates SET beside = $3 \
         WHERE {promoting organization_id} AND organization_id = $1 AND id = $2";
    let [organization, id] = key;
    tx.query(
        sql,
        &[organization, id, parts.other_members.as_str().into()],
    )
    .await?;
    let news = TemplateInput {
        record: &record,
        now,
        known,
    };
    news.insert(tx, parts.entries()).await?;
    Ok(record)
}

/// Writes another manifest and what it says of itself, under the visibility of the record.
pub(super) async fn rewrite(
    tx: &mut Tx,
    record: &Record,
    manifest: &str,
    identity: &Identity,
    now: i64,
) -> Result<Record, Refusal> {
    let sql = concat!(
        "UPDATE main.templates SET name = $3, label = $4, description = $5, category = $6, \
         scope = $7, semver = $8, tags = $9, template_version = $10, manifest = $11, \
         visibility = $12, updated_at = $13 \
         WHERE {promoting organization_id} AND organization_id = $1 AND id = $2 RETURNING ",
        columns!()
    );
    let mut parameters = vec![record.organization_id.into(), record.id.into()];
    parameters.extend(manifest_columns(identity)?);
    parameters.push(manifest.into());
    parameters.push(record.visibility.as_str().into());
    parameters.push(now.into());
    let row = tx.first(sql, &parameters).await?;
    Ok(Record::read(&row.ok_or_else(Refusal::not_found)?)?)
}

/// Takes a template out of the catalog, with its payloads. Jobs that apply it keep what they need.
///
/// # Errors
/// 404, 403, 409 for one that is in use, where that is asked.
pub(crate) async fn remove(
    tx: &mut Tx,
    actor: Actor<'_>,
    Remove { id, unused }: &Remove,
) -> Result<(), Refusal> {
    let record = manage(tx, actor, *id).await?;
    if *unused {
        // Who starts a job shares this lock.
        let (locked, _) = lock(tx, record.organization_id, *id).await?;
        refuse_used(tx, &locked).await?;
    }
    let sql = "DELETE FROM main.templates \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2";
    let at = [record.organization_id.into(), (*id).into()];
    tx.query(sql, &at).await?;
    Ok(())
}

/// Refuses to remove what somebody has done something with: changed it, or applied it.
async fn refuse_used(tx: &mut Tx, record: &Record) -> Result<(), Refusal> {
    let detail = if record.updated_at != record.created_at {
        "The template has changed since it was created; without unused=true it is deleted all the same."
    } else if jobs::any_of(tx, record.id).await? {
        "A job has applied the template; without unused=true it is deleted all the same."
    } else {
        return Ok(());
    };
    Err(Refusal::new(Code::NotEmpty, detail))
}
