//! Finds one record, or a page of records.

use uuid::Uuid;

use super::kind::{COLUMN, KindDescription};
use super::record::Record;
use crate::ids::WorkspaceKey;
use crate::paging::{BoundedRecords, PageRequest};
use crate::refusal::Refusal;
use crate::store::{Row, StoreError, Tx, bounded_records};

/// A record by its id; nothing when there is none, or none that may be seen.
///
/// # Errors
/// Those of the store.
pub async fn get(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
) -> Result<Option<Record>, StoreError> {
    let rows = tx.last(&kind.statements().get, &[id.into()]).await?;
    rows.first().map(|row| Record::read(kind, row)).transpose()
}

/// The same, in a transaction that asks more.
///
/// # Errors
/// Those of the store.
pub async fn read(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
) -> Result<Option<Record>, StoreError> {
    let row = tx.first(&kind.statements().get, &[id.into()]).await?;
    row.map(|row| Record::read(kind, &row)).transpose()
}

/// Which records of an organization the structure of a workspace is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// Those of the workspace.
    Own,
    /// Those of others, which can be used in it; of tables and what lies in them.
    Shared,
}

/// The records of a kind in the structure of a workspace, in display order.
///
/// # Errors
/// Those of the store.
pub async fn structure(
    tx: &mut Tx,
    kind: &'static KindDescription,
    ownership: Ownership,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
) -> Result<Vec<Record>, StoreError> {
    let [own, shared] = &kind.statements().structure;
    let statement = if ownership == Ownership::Own {
        own
    } else {
        shared
    };
    let parameters = [organization.into(), workspace.into()];
    let rows = tx.query(statement, &parameters).await?;
    rows.iter().map(|row| Record::read(kind, row)).collect()
}

/// A record by its id, kept from others until the transaction ends.
///
/// # Errors
/// 404 when there is none that may be seen.
pub async fn lock(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
) -> Result<Record, Refusal> {
    lock_by(tx, kind, &kind.statements().lock, id).await
}

/// As [`lock`], but others may write what refers to the record.
///
/// # Errors
/// 404 when there is none that may be seen.
pub(super) async fn lock_fields(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
) -> Result<Record, Refusal> {
    lock_by(tx, kind, &kind.statements().lock_fields, id).await
}

async fn lock_by(
    tx: &mut Tx,
    kind: &'static KindDescription,
    statement: &'static str,
    id: Uuid,
) -> Result<Record, Refusal> {
    let organization = &kind.statements().organization;
    let organization = tx.organization_of(organization, id).await?;
    let organization = organization.ok_or_else(Refusal::not_found)?;
    let at = [organization.into(), id.into()];
    let row = tx.first(statement, &at).await?;
    let row = row.ok_or_else(Refusal::not_found)?;
    Ok(Record::read(kind, &row)?)
}

/// The ids of the records of a kind in a parent, in display order, kept from others until the transaction ends.
///
/// # Errors
/// Those of the store.
pub async fn siblings(
    tx: &mut Tx,
    kind: &'static KindDescription,
    organization: Uuid,
    parent: Uuid,
) -> Result<Vec<Uuid>, StoreError> {
    let at = [organization.into(), parent.into()];
    let rows = tx.query(&kind.statements().siblings, &at).await?;
    let placed = rows.iter().map(|row| Ok((row.get(1)?, row.get(0)?)));
    let mut placed: Vec<(i64, Uuid)> = placed.collect::<Result<_, StoreError>>()?;
    placed.sort_unstable();
    Ok(placed.into_iter().map(|(_, id)| id).collect())
}

/// Which records a page is about.
#[derive(Debug, Clone, Copy)]
pub enum PageFilter {
    /// All that may be seen.
    All,
    /// Those below a parent; none when it cannot be seen.
    Within(Uuid),
    /// Those below a parent; refused when it cannot be seen.
    Below(Uuid),
}

/// A page of records, and one more if another page follows. It ends early where they are large.
///
/// # Errors
/// 404 for [`PageFilter::Below`] a parent that cannot be seen.
pub async fn page(
    tx: &mut Tx,
    kind: &'static KindDescription,
    which: PageFilter,
    page: &PageRequest,
) -> Result<BoundedRecords<Record>, Refusal> {
    let statements = kind.statements();
    let (from, lookahead) = (page.from().into(), page.lookahead().into());
    let rows = match which {
        PageFilter::All => tx.last(&statements.page, &[from, lookahead]).await?,
        PageFilter::Within(parent) => {
            let parameters = [from, lookahead, parent.into()];
            tx.last(&statements.page_within, &parameters).await?
        }
        PageFilter::Below(parent) => {
            let parameters = [from, lookahead, parent.into()];
            below(kind, tx.last(&statements.page_below, &parameters).await?)?
        }
    };
    Ok(bounded_records(rows, |row| Record::read(kind, row))?)
}

/// All columns of a feature, in display order.
///
/// # Errors
/// 404 for a feature that cannot be seen.
pub async fn columns(tx: &mut Tx, feature: Uuid) -> Result<Vec<Record>, Refusal> {
    let statement = &COLUMN.statements().all_below;
    let rows = below(&COLUMN, tx.last(statement, &[feature.into()]).await?)?;
    let records = rows.iter().map(|row| Record::read(&COLUMN, row));
    Ok(records.collect::<Result<_, StoreError>>()?)
}

/// The rows of what lies below a parent: none at all when there is no parent, one that holds nothing
/// when there is nothing below it.
fn below(kind: &KindDescription, mut rows: Vec<Row>) -> Result<Vec<Row>, Refusal> {
    let first = rows.first().ok_or_else(Refusal::not_found)?;
    if first.get::<Option<Uuid>>(kind.within.len())?.is_none() {
        rows.clear();
    }
    Ok(rows)
}
