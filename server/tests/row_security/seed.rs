//! Two organizations with one of everything, and callers of one of them.

use tplkit_server::store::{Isolation, Row, Scope, Store, StoreError, Value, Visible};
use uuid::Uuid;

use crate::stores::{Place, of_a_test};

pub(super) const OURS: Uuid = Uuid::from_u128(0xA);
pub(super) const THEIRS: Uuid = Uuid::from_u128(0xB);

/// Ids of what belongs to an organization follow from its own.
pub(super) fn of(organization: Uuid, what: u128) -> Uuid {
    Uuid::from_u128(organization.as_u128() << 8 | what)
}

pub(super) fn user(organization: Uuid) -> Uuid {
    of(organization, 1)
}

pub(super) fn workspace(organization: Uuid) -> Uuid {
    of(organization, 2)
}

pub(super) fn caller() -> Scope {
    Scope::from(Visible {
        caller: user(OURS),
        organizations: vec![OURS],
        administered: vec![OURS],
        workspaces: vec![],
        ..Visible::default()
    })
}

pub(super) const ONLY_FIRST: Isolation = Isolation {
    predicates: true,
    row_security: false,
};
pub(super) const ONLY_SECOND: Isolation = Isolation {
    predicates: false,
    row_security: true,
};
pub(super) const NONE: Isolation = Isolation {
    predicates: false,
    row_security: false,
};

pub(super) async fn run(
    store: &Store,
    scope: &Scope,
    sql: &'static str,
    parameters: Vec<Value>,
) -> Result<Vec<Row>, StoreError> {
    store
        .write(scope, parameters, move |tx, parameters| {
            Box::pin(async move { tx.execute(&of_a_test(sql), parameters).await })
        })
        .await
}

/// The ids of the organization, its workspace, and of what lies in it.
pub(super) fn inside(organization: Uuid, what: &[u128]) -> Vec<Value> {
    let what = what.iter().map(|what| of(organization, *what).into());
    let above = [organization.into(), workspace(organization).into()];
    above.into_iter().chain(what).collect()
}

/// Two organizations, each with one of everything.
pub(super) async fn seed(place: &Place) {
    let store = place.open().await;
    for organization in [OURS, THEIRS] {
        let statements: [(&'static str, Vec<Value>); 35] = [
            (
                "INSERT INTO main.organizations (id, label, config, created_at, updated_at) VALUES ($1, 'o', 'x', 0, 0)",
                vec![organization.into()],
            ),
            (
                "INSERT INTO main.users (id, email, password_hash, platform_admin, created_at) VALUES ($1, $2, 'x', $3, 0)",
                vec![
                    user(organization).into(),
                    organization.to_string().into(),
                    false.into(),
                ],
            ),
            (
                "INSERT INTO main.memberships (organization_id, user_id, email, role, created_at) VALUES ($1, $2, 'e', 'owner', 0)",
                vec![organization.into(), user(organization).into()],
            ),
            (
                "INSERT INTO main.workspaces (organization_id, id, name, label, access, config, created_at, updated_at) VALUES ($1, $2, 'w', 'w', 'organization', 'x', 0, 0)",
                vec![organization.into(), workspace(organization).into()],
            ),
            (
                "INSERT INTO main.workspace_members (organization_id, workspace_id, user_id, created_at) VALUES ($1, $2, $3, 0)",
                vec![
                    organization.into(),
                    workspace(organization).into(),
                    user(organization).into(),
                ],
            ),
            (
                "INSERT INTO main.api_keys (organization_id, id, name, scopes, prefix, secret_hash, created_at) VALUES ($1, $2, 'k', 'read', 'p', $3, 0)",
                vec![
                    organization.into(),
                    of(organization, 3).into(),
                    [7; 32].into(),
                ],
            ),
            (
                "INSERT INTO main.modules (organization_id, workspace_id, id, name, label, position, config, created_at, updated_at) VALUES ($1, $2, $3, 'm', 'm', 1, 'x', 0, 0)",
                inside(organization, &[4]),
            ),
            (
                "INSERT INTO main.rails (organization_id, workspace_id, module_id, id, name, label, position, config, created_at, updated_at) VALUES ($1, $2, $3, $4, 'r', 'r', 1, 'x', 0, 0)",
                inside(organization, &[4, 5]),
            ),
            (
                "INSERT INTO main.features (organization_id, workspace_id, id, name, label, config, is_shared, own_rows, version, created_at, updated_at) VALUES ($1, $2, $3, 'f', 'f', 'x', true, false, 1, 0, 0)",
                inside(organization, &[6]),
            ),
            (
                "INSERT INTO main.views (organization_id, workspace_id, feature_id, id, name, label, type, position, config, created_at, updated_at) VALUES ($1, $2, $3, $4, 'v', 'v', 't', 1, 'x', 0, 0)",
                inside(organization, &[6, 7]),
            ),
            (
                "INSERT INTO main.columns (organization_id, workspace_id, feature_id, id, name, label, type, default_component, position, config, is_unique, next_number, slot_ready, slot_long, created_at, updated_at) VALUES ($1, $2, $3, $4, 'c', 'c', 't', 't', 1, 'x', true, 1, false, false, 0, 0)",
                inside(organization, &[6, 8]),
            ),
            (
                "INSERT INTO main.rows (organization_id, workspace_id, feature_id, id, created_by, created_at, updated_at, data) VALUES ($1, $2, $3, $4, $5, 0, 0, '[]')",
                inside(organization, &[6, 9, 1]),
            ),
            (
                "INSERT INTO main.row_values (organization_id, workspace_id, feature_id, column_id, row_id, value) VALUES ($1, $2, $3, $4, $5, $6)",
                [inside(organization, &[6, 8, 9]), vec![[7; 32].into()]].concat(),
            ),
            (
                "INSERT INTO main.row_search (organization_id, workspace_id, feature_id, row_id, digest) VALUES ($1, $2, $3, $4, 1)",
                inside(organization, &[6, 9]),
            ),
            (
                "INSERT INTO main.row_counts (organization_id, workspace_id, feature_id, shard, count) VALUES ($1, $2, $3, 0, 1)",
                inside(organization, &[6]),
            ),
            (
                "INSERT INTO main.channels (organization_id, id, name, created_at) VALUES ($1, $2, 'c', 0)",
                vec![organization.into(), of(organization, 21).into()],
            ),
            (
                "INSERT INTO main.connections (organization_id, id, name, kind, url, created_at, updated_at) VALUES ($1, $2, 'c', 'smtp', 'u', 0, 0)",
                vec![organization.into(), of(organization, 22).into()],
            ),
            (
                "INSERT INTO main.workflows (organization_id, workspace_id, id, last_version, created_at) VALUES ($1, $2, $3, 1, 0)",
                inside(organization, &[23]),
            ),
            (
                "INSERT INTO main.workflow_versions (organization_id, workspace_id, workflow_id, id, version, name, is_draft, is_active, trigger_type, trigger_config, graph_config, created_at) VALUES ($1, $2, $3, $4, 1, 'a', true, false, 'manual', 'x', 'x', 0)",
                inside(organization, &[23, 24]),
            ),
            (
                "INSERT INTO main.templates (organization_id, id, visibility, name, tags, template_version, manifest, created_at, updated_at) VALUES ($1, $2, 'org', 't', 'x', 2, 'x', 0, 0)",
                vec![organization.into(), of(organization, 25).into()],
            ),
            (
                "INSERT INTO main.template_payloads (organization_id, template_id, item_uid, position, visibility, row_count, entry, created_at, updated_at) VALUES ($1, $2, 'u', 1, 'org', 0, 'x', 0, 0)",
                vec![organization.into(), of(organization, 25).into()],
            ),
            (
                "INSERT INTO main.template_jobs (organization_id, workspace_id, id, template_id, request, status, phase, done, total, entries, created_at, updated_at) VALUES ($1, $2, $3, $4, 'x', 'pending', 'structure', 0, 0, 0, 0, 0)",
                inside(organization, &[26, 25]),
            ),
            (
                "INSERT INTO main.template_job_parts (organization_id, workspace_id, job_id, number, content) VALUES ($1, $2, $3, 0, $4)",
                [inside(organization, &[26]), vec![b"x".as_slice().into()]].concat(),
            ),
            (
                "INSERT INTO main.template_job_entries (organization_id, workspace_id, job_id, number, entry) VALUES ($1, $2, $3, 0, 'x')",
                inside(organization, &[26]),
            ),
            (
                "INSERT INTO main.workflow_watchers (organization_id, feature_id, workflow_id, version, modes) VALUES ($1, $2, $3, 1, 'x')",
                vec![
                    organization.into(),
                    of(organization, 6).into(),
                    of(organization, 23).into(),
                ],
            ),
            (
                "INSERT INTO main.workflow_events (organization_id, workspace_id, feature_id, id, workflow_id, version, row_id, record, depth, created_at) VALUES ($1, $2, $3, $4, $5, 1, $4, 'x', 1, 0)",
                inside(organization, &[6, 27, 23]),
            ),
            (
                "INSERT INTO main.workflow_schedules (organization_id, workflow_id, version, since) VALUES ($1, $2, 1, 0)",
                vec![organization.into(), of(organization, 23).into()],
            ),
            (
                "INSERT INTO main.workflow_runs (organization_id, workspace_id, workflow_id, id, version, status, trigger_word, dry_run, depth, created_at) VALUES ($1, $2, $3, $4, 1, 'queued', 'manual', false, 1, 0)",
                inside(organization, &[23, 28]),
            ),
            (
                "INSERT INTO main.run_chains (organization_id, id, caused, created_at) VALUES ($1, $2, 1, 0)",
                vec![organization.into(), of(organization, 28).into()],
            ),
            (
                "INSERT INTO main.workflow_steps (organization_id, workspace_id, run_id, number, path, step_id, key, status, input) VALUES ($1, $2, $3, 0, '0', 's', 'k', 'running', 'x')",
                inside(organization, &[28]),
            ),
            (
                "INSERT INTO main.notifications (organization_id, id, scope_type, title, body, run_id, step_id, created_at) VALUES ($1, $2, 'organization', 't', 'b', $2, 's', 0)",
                vec![organization.into(), of(organization, 29).into()],
            ),
            (
                "INSERT INTO main.file_objects (organization_id, id, sha256, size, condemned, created_at) VALUES ($1, $2, $3, 1, false, 0)",
                vec![
                    organization.into(),
                    of(organization, 30).into(),
                    [7; 32].into(),
                ],
            ),
            (
                "INSERT INTO main.files (organization_id, workspace_id, id, object_id, created_by, sha256, name, content_type, size, created_at) VALUES ($1, $2, $3, $4, $5, $6, 'f', 't', 1, 0)",
                [inside(organization, &[31, 30, 1]), vec![[7; 32].into()]].concat(),
            ),
            (
                "INSERT INTO main.file_uses (organization_id, workspace_id, feature_id, row_id, column_id, file_id, row_created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 0)",
                inside(organization, &[6, 9, 8, 31, 1]),
            ),
            (
                "INSERT INTO main.file_holds (organization_id, workspace_id, id, file_id, version_id, created_at) VALUES ($1, $2, $3, $4, $5, 0)",
                inside(organization, &[32, 31, 24]),
            ),
        ];
        for (sql, parameters) in statements {
            run(&store, &Scope::Operator, sql, parameters)
                .await
                .expect(sql);
        }
    }
}

/// Clears the store and fills it anew.
pub(super) async fn seed_again(place: &Place) {
    let store = place.open().await;
    for sql in [
        "DELETE FROM main.row_values",
        "DELETE FROM main.row_search",
        "DELETE FROM main.row_counts",
        "DELETE FROM main.memberships",
        "DELETE FROM main.organizations",
        "DELETE FROM main.users",
    ] {
        run(&store, &Scope::Operator, sql, vec![]).await.expect(sql);
    }
    seed(place).await;
}

/// The organizations of the rows that a caller of ours sees.
pub(super) async fn seen(store: &Store, sql: &'static str) -> Vec<Uuid> {
    let rows = run(store, &caller(), sql, vec![]).await.expect(sql);
    rows.iter().map(|row| row.get(0).expect("an id")).collect()
}
