//! Tables for tests of rows.

use tplkit_server::store::{Row, Scope, Value};
use uuid::Uuid;

use crate::api::world::World;
use crate::stores::of_a_test;

/// A column of a table that is to be: name, type, component, config as JSON.
pub(super) type Column = (&'static str, &'static str, &'static str, &'static str);

/// Columns of many kinds; `name` is required, `sku` unique.
pub(super) const COLUMNS: [Column; 6] = [
    ("name", "text", "textfield", r#"{"required":true}"#),
    ("sku", "text", "textfield", r#"{"unique":true}"#),
    ("amount", "number", "numberfield", "{}"),
    ("price", "currency", "currencyfield", "{}"),
    ("nif", "masked", "maskedfield", r#"{"mask":"nif"}"#),
    ("extra", "json", "jsoneditor", "{}"),
];

/// Asks the store as its operator.
pub(crate) async fn ask(world: &World, sql: &'static str, parameters: Vec<Value>) -> Vec<Row> {
    let found = world
        .store
        .write(&Scope::Operator, parameters, move |tx, parameters| {
            Box::pin(async move { tx.execute(&of_a_test(sql), parameters).await })
        });
    let response: Result<Vec<Row>, tplkit_server::store::StoreError> = found.await;
    response.expect(sql)
}

/// A number that a statement of the store gives.
pub(super) async fn number(world: &World, sql: &'static str, parameters: Vec<Value>) -> i64 {
    let rows = ask(world, sql, parameters).await;
    rows[0].get(0).expect("a number")
}

/// A workspace of an organization.
pub(super) async fn workspace(world: &World, organization: Uuid, access: &str) -> Uuid {
    let id = world.context.id();
    let sql = "INSERT INTO main.workspaces (organization_id, id, name, label, access, config, \
         created_at, updated_at) VALUES ($1, $2, $3, 'W', $4, $5, 0, 0)";
    let name = format!("w_{}", id.simple());
    let parameters = vec![
        organization.into(),
        id.into(),
        name.into(),
        access.into(),
        "{}".into(),
    ];
    ask(world, sql, parameters).await;
    id
}

/// A table.
pub(super) async fn table_in(
    world: &World,
    (organization, workspace): (Uuid, Uuid),
    own_rows: bool,
    columns: &[Column],
) -> Uuid {
    let id = world.context.id();
    let sql = "INSERT INTO main.features (organization_id, workspace_id, id, name, label, config, \
         is_shared, own_rows, version, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, 'F', $7, $5, $6, 1, 0, 0)";
    let name = format!("f_{}", id.simple());
    let parameters = vec![
        organization.into(),
        workspace.into(),
        id.into(),
        name.into(),
        false.into(),
        own_rows.into(),
        "{}".into(),
    ];
    ask(world, sql, parameters).await;
    for (position, column) in (1..).zip(columns) {
        let place = (organization, workspace, id);
        add_column(world, place, position, *column, None).await;
    }
    id
}

/// One more column, perhaps with a slot that is ready.
pub(super) async fn add_column(
    world: &World,
    (organization, workspace, feature): (Uuid, Uuid, Uuid),
    position: i64,
    (name, column_type, component, config): Column,
    slot: Option<i64>,
) -> Uuid {
    let id = world.context.id();
    let sql = "INSERT INTO main.columns (organization_id, workspace_id, feature_id, id, name, label, \
         type, default_component, position, config, is_unique, next_number, slot, slot_ready, \
         slot_long, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, 1, $11, $12, $13, 0, 0)";
    let unique = component == "id" || config.contains(r#""unique":true"#);
    let parameters = vec![
        organization.into(),
        workspace.into(),
        feature.into(),
        id.into(),
        name.into(),
        column_type.into(),
        component.into(),
        position.into(),
        config.into(),
        unique.into(),
        slot.into(),
        true.into(),
        false.into(),
    ];
    ask(world, sql, parameters).await;
    id
}

/// A table of the first organization that everybody in it sees.
pub(super) async fn table(world: &World, columns: &[Column]) -> Uuid {
    let workspace = workspace(world, world.acme, "organization").await;
    table_in(world, (world.acme, workspace), false, columns).await
}

/// `/v1/features/{feature}/rows` and what follows.
pub(super) fn path(feature: Uuid, tail: &str) -> String {
    format!("/v1/features/{feature}/rows{tail}")
}
