//! Looks up what configs and automations refer to by id: whether it exists, is visible, and is where it
//! has to be.
//!
//! One statement per kind, for the checks of configs, the validator of automations and the steps of
//! runs.

use tplkit::definitions::ReferenceKind;
use uuid::Uuid;

use super::kind::COLUMN;
use crate::ids::WorkspaceKey;
use crate::store::{StoreError, Tx, Value, sees_file};

/// Finds one of a kind.
struct ReferenceLookup {
    kind: ReferenceKind,
    /// `$1` the organization, `$2` the id, `$3` the workspace.
    sql: &'static str,
    /// Whether it stands in a workspace.
    in_workspace: bool,
}

/// In a statement: the record of a workspace that is meant, if it is seen.
macro_rules! in_workspace {
    ($table:literal, $stands:literal) => {
        concat!(
            "SELECT id FROM ",
            $table,
            " WHERE {tenant organization_id} AND {workspace workspace_id} \
             AND organization_id = $1 AND id = $2 AND ",
            $stands
        )
    };
}

const REFERENCED: [ReferenceLookup; 8] = [
    within(
        ReferenceKind::Feature,
        in_workspace!("features", "(workspace_id = $3 OR is_shared)"),
    ),
    within(
        ReferenceKind::View,
        in_workspace!("views", "workspace_id = $3"),
    ),
    within(
        ReferenceKind::Module,
        in_workspace!("modules", "workspace_id = $3"),
    ),
    within(
        ReferenceKind::Rail,
        in_workspace!("rails", "workspace_id = $3"),
    ),
    within(
        ReferenceKind::WorkflowV2,
        in_workspace!("workflows", "workspace_id = $3"),
    ),
    ReferenceLookup {
        kind: ReferenceKind::Channel,
        sql: "SELECT id FROM channels WHERE {tenant organization_id} AND organization_id = $1 \
             AND id = $2",
        in_workspace: false,
    },
    ReferenceLookup {
        kind: ReferenceKind::User,
        sql: "SELECT user_id FROM memberships WHERE {tenant organization_id} \
             AND organization_id = $1 AND user_id = $2",
        in_workspace: false,
    },
    within(
        ReferenceKind::File,
        concat!(
            "SELECT files.id FROM files WHERE ",
            sees_file!(),
            " AND files.organization_id = $1 AND files.id = $2 AND files.workspace_id = $3"
        ),
    ),
];

const fn within(kind: ReferenceKind, sql: &'static str) -> ReferenceLookup {
    ReferenceLookup {
        kind,
        sql,
        in_workspace: true,
    }
}

/// Those of the ids that are there as one of that kind and can be referred to in the workspace, in order.
/// None for a kind that the store does not have.
///
/// # Errors
/// Those of the store.
pub async fn existing(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    kind: ReferenceKind,
    ids: &[Uuid],
) -> Result<Vec<Uuid>, StoreError> {
    let Some(referenced) = REFERENCED.iter().find(|one| one.kind == kind) else {
        return Ok(Vec::new());
    };
    let parameters = ids.iter().map(|id| {
        let mut parameters: Vec<Value> = vec![organization.into(), (*id).into()];
        if referenced.in_workspace {
            parameters.push(workspace.into());
        }
        parameters
    });
    let parameters: Vec<_> = parameters.collect();
    let responses = tx.each(referenced.sql, &parameters).await?;
    let found = ids.iter().zip(responses);
    let found = found.filter(|(_, rows)| !rows.is_empty());
    Ok(found.map(|(id, _)| *id).collect())
}

/// The names of the columns of tables that are seen, table by table.
///
/// # Errors
/// Those of the store.
pub async fn column_names(
    tx: &mut Tx,
    organization: Uuid,
    tables: &[Uuid],
) -> Result<Vec<Vec<String>>, StoreError> {
    let parameters = tables
        .iter()
        .map(|table| vec![organization.into(), (*table).into()]);
    let parameters: Vec<_> = parameters.collect();
    let responses = tx.each(&COLUMN.statements().names, &parameters).await?;
    let names = responses.iter().map(|rows| {
        let names = rows.iter().map(|row| row.get(0));
        names.collect::<Result<Vec<String>, StoreError>>()
    });
    names.collect()
}
