//! Deleting a record, with everything that lies in it.

use uuid::Uuid;

use super::change::locked;
use super::feature::touch;
use super::kind::{Kind, What};
use super::record::Record;
use crate::http::call::Asked;
use crate::http::problem::{Code, Problem};
use crate::http::reply::Reply;
use crate::rows::unique;
use crate::store::{Dialect, Tx, Value};

/// A record that is to go.
#[derive(Debug)]
pub struct Remove {
    /// What it is.
    pub kind: &'static Kind,
    /// What the path says that it lies in.
    pub parent: Option<Uuid>,
    /// Its id.
    pub id: Uuid,
    /// Whether what it holds may go with it; what is wrong with the query is told when the record has been
    /// looked at.
    pub force: Result<bool, Problem>,
}

/// Deletes a record.
///
/// # Errors
/// 404 for one that cannot be seen, 403 for a role that does not suffice, 409 when it holds something.
pub async fn remove(tx: &mut Tx, asked: &Asked<Remove>) -> Result<Reply, Problem> {
    let Remove { kind, parent, .. } = asked.input;
    let record = locked(tx, kind, parent, asked.input.id).await?;
    asked.enter(record.organization())?;
    let force = asked.input.force.clone()?;
    if !force && let Some(what) = held(tx, &record).await? {
        let told = format!(
            "The {} still holds {what}; force=true deletes it all the same.",
            kind.word
        );
        return Err(Problem::new(Code::NotEmpty, told));
    }
    release(tx, &record).await?;
    tx.query(&kind.statements().delete, &[record.id.into()])
        .await?;
    Ok(Reply::nothing())
}

const MODULES: &str = "SELECT id FROM modules WHERE {tenant organization_id} \
     AND organization_id = $1 AND workspace_id = $2 LIMIT 1";
const FEATURES: &str = "SELECT id FROM features WHERE {tenant organization_id} \
     AND organization_id = $1 AND workspace_id = $2 LIMIT 1";
const AUTOMATIONS: &str = "SELECT id FROM workflows WHERE {tenant organization_id} \
     AND organization_id = $1 AND workspace_id = $2 LIMIT 1";
const RAILS: &str = "SELECT id FROM rails WHERE {tenant organization_id} \
     AND organization_id = $1 AND module_id = $2 LIMIT 1";
const ROWS: &str = "SELECT id FROM rows WHERE {tenant organization_id} \
     AND organization_id = $1 AND feature_id = $2 LIMIT 1";

/// What would be lost with the record.
async fn held(tx: &mut Tx, record: &Record) -> Result<Option<&'static str>, Problem> {
    let questions: &[(&'static str, &'static str)] = match record.kind.what {
        What::Workspace => &[
            (MODULES, "modules"),
            (FEATURES, "features"),
            (AUTOMATIONS, "automations"),
        ],
        What::Module => &[(RAILS, "rails")],
        What::Feature => &[(ROWS, "rows")],
        What::Column => {
            let carried = carried(tx, record).await?;
            return Ok(carried.then_some("cells of rows"));
        }
        What::Rail | What::View => &[],
    };
    let parameters = [record.organization().into(), record.id.into()];
    for (question, what) in questions {
        if tx.first(question, &parameters).await?.is_some() {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// Whether some row has the column's key, whatever stands there.
async fn carried(tx: &mut Tx, column: &Record) -> Result<bool, Problem> {
    let (question, key) = match tx.dialect()? {
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
    Ok(tx.first(question, &parameters).await?.is_some())
}

/// Removes what no foreign key removes, and tells the table that it has changed.
pub(super) async fn release(tx: &mut Tx, record: &Record) -> Result<(), Problem> {
    let parameters: [Value; 2] = [record.organization().into(), record.id.into()];
    let statements: [&'static str; 2] = match record.kind.what {
        What::Workspace => [
            "DELETE FROM main.row_values WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id IN (SELECT id FROM features WHERE organization_id = $1 AND workspace_id = $2)",
            "DELETE FROM main.row_counts WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id IN (SELECT id FROM features WHERE organization_id = $1 AND workspace_id = $2)",
        ],
        What::Feature => [
            "DELETE FROM main.row_values WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id = $2",
            "DELETE FROM main.row_counts WHERE {tenant organization_id} AND organization_id = $1 \
             AND feature_id = $2",
        ],
        What::Column => {
            unique::forget(tx, &unique::Column::of(record)).await?;
            return Ok(touch(tx, record.parent()).await?);
        }
        What::Module | What::Rail | What::View => return Ok(()),
    };
    for statement in statements {
        tx.query(statement, &parameters).await?;
    }
    Ok(())
}
