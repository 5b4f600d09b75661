//! Deletes a record with everything in it.

use uuid::Uuid;

use super::change::locked;
use super::column::unique_column;
use super::feature::touch;
use super::find;
use super::kind::{FEATURE, KindDescription, MODULE, RAIL, RecordKind};
use super::record::Record;
use crate::auth::Actor;
use crate::files;
use crate::refusal::{Code, Refusal};
use crate::rows::{file_uses, row_values};
use crate::store::{Dialect, Tx, Value};

/// A record that is to go.
#[derive(Debug, Clone)]
pub struct Remove {
    /// What it is.
    pub kind: &'static KindDescription,
    /// What the path says that it lies in.
    pub parent: Option<Uuid>,
    /// Its id.
    pub id: Uuid,
    /// Whether what it holds may go with it; what is wrong with the query is reported when the record has been
    /// looked at.
    pub force: Result<bool, Refusal>,
}

/// Deletes a record.
///
/// # Errors
/// 404 for one that cannot be seen, 403 for a role that does not suffice, 409 when it holds something.
pub async fn remove(
    tx: &mut Tx,
    actor: Actor<'_>,
    remove: &Remove,
    now: i64,
) -> Result<(), Refusal> {
    let kind = remove.kind;
    let record = if kind.what == RecordKind::Workspace && matches!(remove.force, Ok(true)) {
        with_tables(tx, kind, remove.id).await?
    } else {
        locked(tx, kind, remove.parent, remove.id).await?
    };
    actor.enter(record.organization())?;
    let force = remove.force.clone()?;
    if !force && let Some(what) = losses(tx, &record).await? {
        let detail = format!(
            "The {} still holds {what}; force=true deletes it all the same.",
            kind.word
        );
        return Err(Refusal::new(Code::NotEmpty, detail));
    }
    release(tx, &record, now).await?;
    let at = [record.organization().into(), record.id.into()];
    tx.query(&kind.statements().delete, &at).await?;
    Ok(())
}

/// A workspace that goes whatever it holds, with the tables and automations in it, kept from others until the transaction
/// ends.
///
/// Whoever writes rows keeps their table first, and their counts after it. So the tables are waited for before anything in
/// them is touched, or each would wait for the other; and until then others may write what refers to the workspace.
/// Whoever publishes an automation keeps its tables, then it, then the files that it attaches.
async fn with_tables(
    tx: &mut Tx,
    kind: &'static KindDescription,
    id: Uuid,
) -> Result<Record, Refusal> {
    let record = find::lock_fields(tx, kind, id).await?;
    let tables = "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id = $2 ORDER BY id {lock}";
    let of = [record.organization().into(), id.into()];
    tx.query(tables, &of).await?;
    let automations = "SELECT id FROM workflows WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND workspace_id = $2 ORDER BY id {lock}";
    tx.query(automations, &of).await?;
    Ok(record)
}

const AUTOMATIONS: &str = "SELECT id FROM workflows WHERE {tenant organization_id} \
     AND organization_id = $1 AND workspace_id = $2 LIMIT 1";
const ROWS: &str = "SELECT id FROM rows WHERE {tenant organization_id} \
     AND organization_id = $1 AND feature_id = $2 LIMIT 1";

/// What would be lost with the record.
async fn losses(tx: &mut Tx, record: &Record) -> Result<Option<&'static str>, Refusal> {
    let any = |kind: &'static KindDescription| kind.statements().any_below.as_str();
    let below: &[(&'static str, &'static str)] = match record.kind.what {
        RecordKind::Workspace => &[
            (any(&MODULE), "modules"),
            (any(&FEATURE), "features"),
            (AUTOMATIONS, "automations"),
        ],
        RecordKind::Module => &[(any(&RAIL), "rails")],
        RecordKind::Feature => &[(ROWS, "rows")],
        RecordKind::Column => {
            let carried = carried(tx, record).await?;
            return Ok(carried.then_some("cells of rows"));
        }
        RecordKind::Rail | RecordKind::View => &[],
    };
    let parameters = [record.organization().into(), record.id.into()];
    for (statement, what) in below {
        if tx.first(statement, &parameters).await?.is_some() {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// Whether some row has the column's key, whatever is there.
async fn carried(tx: &mut Tx, column: &Record) -> Result<bool, Refusal> {
    let (statement, key) = match tx.dialect()? {
        Dialect::Postgres => (
            "SELECT id FROM rows WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id = $2 AND (data -> $3::text) IS NOT NULL LIMIT 1",
            column.name.clone(),
        ),
        // In a path a key is written as in the document.
        Dialect::Sqlite => (
            "SELECT id FROM rows WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id = $2 AND json_type(data, $3) IS NOT NULL LIMIT 1",
            format!("$.{}", tplkit::json::write_string(&column.name)),
        ),
    };
    let parameters = [
        column.organization().into(),
        column.parent().into(),
        key.into(),
    ];
    Ok(tx.first(statement, &parameters).await?.is_some())
}

/// Removes what no foreign key removes, and raises the version of the table.
pub(super) async fn release(tx: &mut Tx, record: &Record, now: i64) -> Result<(), Refusal> {
    let organization = record.organization();
    let parameters: [Value; 2] = [organization.into(), record.id.into()];
    let statements: [&'static str; 2] = match record.kind.what {
        RecordKind::Workspace => [
            "DELETE FROM main.row_values WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id IN (SELECT id FROM features WHERE organization_id = $1 AND workspace_id = $2)",
            "DELETE FROM main.row_counts WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id IN (SELECT id FROM features WHERE organization_id = $1 AND workspace_id = $2)",
        ],
        RecordKind::Feature => [
            "DELETE FROM main.row_values WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id = $2",
            "DELETE FROM main.row_counts WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id = $2",
        ],
        RecordKind::Column => {
            row_values::forget(tx, &unique_column(record)).await?;
            file_uses::end_column(tx, organization, record.id, now).await?;
            return Ok(touch(tx, record.organization(), record.parent()).await?);
        }
        RecordKind::Module | RecordKind::Rail | RecordKind::View => return Ok(()),
    };
    if record.kind.what == RecordKind::Feature {
        file_uses::end_table(tx, organization, record.id, now).await?;
    }
    if record.kind.what == RecordKind::Workspace {
        // Before the rows: whoever writes rows locks the organization before their counts.
        files::remove::release_workspace(tx, organization, record.id).await?;
    }
    for statement in statements {
        tx.query(statement, &parameters).await?;
    }
    Ok(())
}
