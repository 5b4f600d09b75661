//! `feature.read`: rows as steps see them.

use tplkit::automation::run::{Failure, Question};
use tplkit::json::{Object, Value as Json};
use tplkit::rows::query::{Match, Row};
use uuid::Uuid;

use super::step::Stop;
use crate::http::page::PageRequest;
use crate::rows::Tables;
use crate::rows::query::{self, Listing, Place};
use crate::store::Tx;

/// How many rows are looked at in one go when filters cannot say which are wanted.
const PART: i64 = 1000;

/// Sees to it that a table may be used in a workspace: it stands there, or is shared; and is not hidden
/// from who the run works as.
///
/// # Errors
/// A failure when it may not, and those of the store.
pub(super) async fn usable(
    tx: &mut Tx,
    (organization, workspace): (Uuid, Uuid),
    (feature, field): (Uuid, &str),
) -> Result<(), Stop> {
    let sql = "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND id = $2 AND (workspace_id = $3 OR is_shared)";
    let parameters = [organization.into(), feature.into(), workspace.into()];
    if tx.first(sql, &parameters).await?.is_some() {
        return Ok(());
    }
    let reason = format!("there is no table {feature} here any more");
    Err(Stop::Failed(Failure::at(field, reason)))
}

/// The output of a read.
///
/// # Errors
/// A failure when the table is not there, and those of the store.
pub(super) async fn read(
    tx: &mut Tx,
    tables: &Tables,
    place: (Uuid, Uuid),
    asked: &Question,
) -> Result<Object, Stop> {
    usable(tx, place, (asked.feature, "featureId")).await?;
    let look = if asked.is_whole() {
        i64::try_from(asked.limit).unwrap_or(PART)
    } else {
        PART
    };
    let mut listing = Listing {
        question: query::Question {
            feature: asked.feature,
            filters: asked.filters.clone(),
            together: Match::All,
        },
        sort: asked.sort.clone(),
        fields: None,
        page: PageRequest::first(look),
        after: None,
    };
    let mut records = Vec::new();
    loop {
        let (table, rows) = query::rows(tx, tables, &listing)
            .await
            .map_err(|problem| Stop::of(&problem))?;
        let (rows, more) = listing.page.cut(rows);
        listing.after = rows.last().map(|row| Place::of(&listing.sort, row));
        for row in rows {
            let seen = Row {
                id: row.id,
                created_at: row.created_at,
                updated_at: row.updated_at,
                data: &row.data,
            };
            if records.len() < asked.limit && (asked.is_whole() || asked.holds(&seen)) {
                let text = String::from_utf8(row.document(table.id)).unwrap_or_default();
                records.push(Json::parse(&text).unwrap_or_default());
            }
        }
        if asked.is_whole() || !more || records.len() >= asked.limit || listing.after.is_none() {
            break;
        }
    }
    let count = i64::try_from(records.len()).unwrap_or(i64::MAX);
    Ok(Object::from_iter([
        ("count".to_owned(), count.into()),
        ("records".to_owned(), Json::List(records)),
    ]))
}
