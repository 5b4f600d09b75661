//! Tables with rows that no request wrote, filled as writers fill them.

use std::fmt::Write as _;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tplkit::rows::{member, order_key, sorted_to, text_form};
use tplkit_server::store::{Scope, StoreError, Value};
use uuid::Uuid;

use super::super::seed::{ask, path, table_in, workspace};
use crate::api::client::{Client, Response};
use crate::api::world::World;

/// The longest text that a slot holds whole.
const LONGEST: usize = 512;

/// A column as tests of queries need it.
#[derive(Debug, Clone, Copy)]
pub(in crate::api::rows) struct Column {
    pub(in crate::api::rows) name: &'static str,
    pub(in crate::api::rows) kind: &'static str,
    pub(in crate::api::rows) slot: Option<i64>,
    pub(in crate::api::rows) ready: bool,
    pub(in crate::api::rows) long: bool,
    /// Whether what its cells contain is in an index.
    pub(in crate::api::rows) searched: bool,
}

impl Column {
    pub(in crate::api::rows) const fn new(name: &'static str, kind: &'static str) -> Column {
        Column {
            name,
            kind,
            slot: None,
            ready: true,
            long: false,
            searched: false,
        }
    }

    pub(in crate::api::rows) const fn searched(mut self) -> Column {
        self.searched = true;
        self
    }

    pub(in crate::api::rows) const fn slot(mut self, number: i64) -> Column {
        self.slot = Some(number);
        self
    }

    pub(in crate::api::rows) fn is_number(&self) -> bool {
        matches!(self.kind, "number" | "currency")
    }

    fn in_slot(&self, data: &str) -> Option<String> {
        let raw = member(data, self.name)?;
        let mut key = if self.is_number() {
            order_key(raw)?
        } else {
            text_form(raw)?.into_owned()
        };
        if key.len() > LONGEST {
            assert!(
                self.long || !self.ready,
                "{} is not said to be long",
                self.name
            );
            let cut = (0..=LONGEST).rev().find(|at| key.is_char_boundary(*at));
            key.truncate(cut.unwrap_or(0));
        }
        Some(key)
    }
}

/// A row that is to be.
#[derive(Debug, Clone)]
pub(in crate::api::rows) struct New {
    pub(in crate::api::rows) id: Uuid,
    pub(in crate::api::rows) created_at: i64,
    pub(in crate::api::rows) updated_at: i64,
    pub(in crate::api::rows) data: String,
}

impl New {
    pub(in crate::api::rows) fn of(world: &World, data: &str) -> New {
        let mut canonical = String::new();
        sorted_to(&mut canonical, data);
        let now = world.context.now();
        New {
            id: world.context.id(),
            created_at: now,
            updated_at: now,
            data: canonical,
        }
    }
}

/// A table and where it stands.
#[derive(Debug, Clone)]
pub(in crate::api::rows) struct Stock {
    pub(in crate::api::rows) organization: Uuid,
    pub(in crate::api::rows) workspace: Uuid,
    pub(in crate::api::rows) feature: Uuid,
    pub(in crate::api::rows) columns: Vec<Column>,
}

impl Stock {
    /// A table that everybody in the first organization sees.
    pub(in crate::api::rows) async fn new(world: &World, columns: &[Column]) -> Stock {
        let workspace = workspace(world, world.acme, "organization").await;
        Stock::within(world, (world.acme, workspace), false, columns).await
    }

    pub(in crate::api::rows) async fn within(
        world: &World,
        (organization, workspace): (Uuid, Uuid),
        own_rows: bool,
        columns: &[Column],
    ) -> Stock {
        let feature = table_in(world, (organization, workspace), own_rows, &[]).await;
        let stock = Stock {
            organization,
            workspace,
            feature,
            columns: columns.to_vec(),
        };
        for (position, column) in (1..).zip(columns) {
            let sql = "INSERT INTO main.columns (organization_id, workspace_id, feature_id, id, name, \
                 label, type, default_component, position, config, is_unique, next_number, slot, \
                 slot_ready, slot_long, is_searched, search_ready, created_at, updated_at) \
                 VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, 1, $11, $12, $13, $14, $14, 0, 0)";
            let mut values = stock.place();
            values.extend([
                world.context.id().into(),
                column.name.into(),
                column.kind.into(),
                "textfield".into(),
                Value::Int(position),
                "{}".into(),
                false.into(),
                column.slot.into(),
                column.ready.into(),
                column.long.into(),
                column.searched.into(),
            ]);
            ask(world, sql, values).await;
        }
        stock
    }

    fn place(&self) -> Vec<Value> {
        vec![
            self.organization.into(),
            self.workspace.into(),
            self.feature.into(),
        ]
    }

    /// Puts rows in.
    pub(in crate::api::rows) async fn put(
        &self,
        world: &World,
        rows: &[New],
        creator: Option<Uuid>,
    ) {
        let slots: Vec<&Column> = self
            .columns
            .iter()
            .filter(|column| column.slot.is_some())
            .collect();
        let (mut names, mut marks) = (String::new(), String::new());
        for (column, parameter) in slots.iter().zip(9..) {
            // Writing to a String cannot fail.
            let _ = write!(names, ", s{}", column.slot.unwrap_or_default());
            let _ = write!(marks, ", ${parameter}");
        }
        let sql = format!(
            "INSERT INTO main.rows (organization_id, workspace_id, feature_id, id, created_by, \
             created_at, updated_at, data{names}) VALUES ($1, $2, $3, $4, $5, $6, $7, {{json $8}}{marks})"
        );
        let values = rows.iter().map(|row| {
            let mut values = self.place();
            values.extend([
                row.id.into(),
                creator.into(),
                row.created_at.into(),
                row.updated_at.into(),
                row.data.as_str().into(),
            ]);
            values.extend(
                slots
                    .iter()
                    .map(|column| Value::from(column.in_slot(&row.data))),
            );
            values
        });
        let input = (sql, values.collect::<Vec<_>>());
        let put = world
            .store
            .write(&Scope::Operator, input, |tx, (sql, values)| {
                Box::pin(async move { tx.each(sql, values).await.map(drop) })
            });
        let put: Result<(), StoreError> = put.await;
        put.expect("puts");
        let sql = "INSERT INTO main.row_counts (organization_id, workspace_id, feature_id, shard, count) \
             VALUES ($1, $2, $3, 0, $4) ON CONFLICT (organization_id, feature_id, shard) \
             DO UPDATE SET count = row_counts.count + excluded.count";
        let mut values = self.place();
        values.push(i64::try_from(rows.len()).expect("few").into());
        ask(world, sql, values).await;
    }

    /// Fills the index of searched cells, all but that of columns that are not `ready`.
    pub(in crate::api::rows) async fn fill_search(&self, world: &World) {
        self.unready(world, &self.columns).await;
        let filled = tplkit_server::rows::fill_search(&world.store, &world.context).await;
        filled.expect("fills");
        let unready = self.columns.iter().filter(|column| !column.ready);
        self.unready(world, &unready.copied().collect::<Vec<_>>())
            .await;
    }

    /// Says that the index of searched cells lacks rows.
    async fn unready(&self, world: &World, columns: &[Column]) {
        let sql = "UPDATE main.columns SET search_ready = $3 WHERE feature_id = $1 AND name = $2";
        for column in columns.iter().filter(|column| column.searched) {
            let values = vec![self.feature.into(), column.name.into(), false.into()];
            ask(world, sql, values).await;
        }
        let changed = "UPDATE main.features SET version = version + 1 WHERE id = $1";
        ask(world, changed, vec![self.feature.into()]).await;
    }

    /// Puts rows of that data in, in order; gives their ids.
    pub(in crate::api::rows) async fn fill(&self, world: &World, data: &[&str]) -> Vec<Uuid> {
        let rows: Vec<New> = data.iter().map(|data| New::of(world, data)).collect();
        self.put(world, &rows, None).await;
        rows.iter().map(|row| row.id).collect()
    }

    /// The path of a query.
    pub(in crate::api::rows) fn query(&self, tail: &str, parameters: &[(&str, &str)]) -> String {
        let mut query = path(self.feature, tail);
        for (position, (name, value)) in parameters.iter().enumerate() {
            query.push(if position == 0 { '?' } else { '&' });
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            let _ = write!(query, "{name}={value}");
        }
        query
    }

    /// A page.
    pub(in crate::api::rows) fn list(
        &self,
        client: &Client,
        parameters: &[(&str, &str)],
    ) -> Response {
        client.get(&self.query("", parameters))
    }

    /// An aggregate.
    pub(in crate::api::rows) fn aggregate(
        &self,
        client: &Client,
        parameters: &[(&str, &str)],
    ) -> Response {
        client.get(&self.query(":aggregate", parameters))
    }
}

/// The ids of a page.
#[track_caller]
pub(in crate::api::rows) fn ids(response: &Response) -> Vec<Uuid> {
    assert_eq!(response.status, 200, "{response:?}");
    let items = response.json()["items"].clone();
    let items = items.as_array().expect("items").iter();
    items
        .map(|item| {
            item["id"]
                .as_str()
                .and_then(|id| id.parse().ok())
                .expect("an id")
        })
        .collect()
}

/// Where the next page begins.
#[track_caller]
pub(in crate::api::rows) fn cursor(response: &Response) -> Option<String> {
    assert_eq!(response.status, 200, "{response:?}");
    response.json()["next_cursor"].as_str().map(str::to_owned)
}
