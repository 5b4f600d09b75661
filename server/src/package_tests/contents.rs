//! All that a workspace holds: to see that something changed, or that nothing is left.

use std::collections::BTreeMap;

use tplkit::workspace::{Id, Lookup as _, Source as _, StoredRow, Structure, is_last_batch};

use super::server::TestServer;
use crate::automation::{Version, find};
use crate::rows::Tables;
use crate::store::{Scope, StoreError, Tx};
use crate::workspace::{ReadError, Snapshot, workspaces};

/// How many rows are read at once.
const BATCH: usize = 500;

/// What a workspace holds, time stamps and past versions of automations aside.
#[derive(Debug, PartialEq)]
pub(super) struct Contents {
    structure: Structure,
    rows: BTreeMap<Id, Vec<StoredRow>>,
    /// The next numbers of columns.
    sequences: BTreeMap<Id, u64>,
    /// Versions of automations that are drafts, as JSON.
    drafts: Vec<String>,
    /// Workspaces of the organization.
    workspaces: Vec<Id>,
}

/// Reads the workspace of a server.
pub(super) async fn read(server: &TestServer) -> Result<Contents, StoreError> {
    let input = (server.workspace, server.app.tables.clone());
    let store = &server.app.store;
    let found: Result<Contents, ReadError> = store
        .snapshot(&Scope::Operator, input, |tx, (workspace, tables)| {
            Box::pin(contents(tx, *workspace, tables))
        })
        .await;
    found.map_err(failed)
}

/// All rows of a table, in order of their ids.
pub(super) async fn rows(server: &TestServer, table: Id) -> Result<Vec<StoredRow>, StoreError> {
    let input = (server.workspace, table, server.app.tables.clone());
    let store = &server.app.store;
    let found: Result<Vec<StoredRow>, ReadError> = store
        .snapshot(&Scope::Operator, input, |tx, (workspace, table, tables)| {
            Box::pin(async move {
                let snapshot = Snapshot::new(tx, *workspace, tables);
                rows_of(&snapshot, *table).await
            })
        })
        .await;
    match found {
        Err(ReadError::NoTable(_)) => Ok(Vec::new()),
        found => found.map_err(failed),
    }
}

fn failed(error: ReadError) -> StoreError {
    match error {
        ReadError::Store(error) => error,
        other => StoreError::Internal(other.to_string()),
    }
}

async fn contents(tx: &mut Tx, workspace: Id, tables: &Tables) -> Result<Contents, ReadError> {
    let drafts = find::drafts(tx).await?;
    let workspaces = workspaces(tx).await?;
    let snapshot = Snapshot::new(tx, workspace, tables);
    let structure = snapshot.structure().await?;
    let (mut rows, mut sequences) = (BTreeMap::new(), BTreeMap::new());
    for feature in structure.features.iter().chain(&structure.shared) {
        rows.insert(feature.id, rows_of(&snapshot, feature.id).await?);
        for column in &feature.columns {
            let next = snapshot.sequence(feature.id, column.id).await?;
            sequences.extend(next.map(|next| (column.id, next)));
        }
    }
    Ok(Contents {
        structure,
        rows,
        sequences,
        drafts: drafts.iter().map(draft).collect(),
        workspaces,
    })
}

/// A draft as text, its id and its time left out.
fn draft(draft: &Version) -> String {
    let Version {
        workflow,
        name,
        trigger_config,
        graph_config,
        ..
    } = draft;
    format!("{workflow} {name}\n{trigger_config}\n{graph_config}")
}

async fn rows_of(snapshot: &Snapshot<'_>, table: Id) -> Result<Vec<StoredRow>, ReadError> {
    let mut rows: Vec<StoredRow> = Vec::new();
    loop {
        let after = rows.last().map(|row| row.id);
        let batch = snapshot.rows(table, after, BATCH).await?;
        let last = is_last_batch(&batch, BATCH);
        rows.extend(batch);
        if last {
            return Ok(rows);
        }
    }
}
