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
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) slot: Option<i64>,
    pub(super) ready: bool,
    pub(super) long: bool,
}

impl Column {
    pub(super) const fn new(name: &'static str, kind: &'static str) -> Column {
        Column {
            name,
            kind,
            slot: None,
            ready: true,
            long: false,
        }
    }

    pub(super) const fn slot(mut self, number: i64) -> Column {
        self.slot = Some(number);
        self
    }

    pub(super) fn is_number(&self) -> bool {
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
pub(super) struct New {
    pub(super) id: Uuid,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) data: String,
}

impl New {
    pub(super) fn of(world: &World, data: &str) -> New {
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
pub(super) struct Stock {
    pub(super) organization: Uuid,
    pub(super) workspace: Uuid,
    pub(super) feature: Uuid,
    pub(super) columns: Vec<Column>,
}

impl Stock {
    /// A table that everybody in the first organization sees.
    pub(super) async fn new(world: &World, columns: &[Column]) -> Stock {
        let workspace = workspace(world, world.acme, "organization").await;
        Stock::within(world, (world.acme, workspace), false, columns).await
    }

    pub(super) async fn within(
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
                 slot_ready, slot_long, created_at, updated_at) \
                 VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, 1, $11, $12, $13, 0, 0)";
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
    pub(super) async fn put(&self, world: &World, rows: &[New], creator: Option<Uuid>) {
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

    /// Puts rows of that data in, in order; gives their ids.
    pub(super) async fn fill(&self, world: &World, data: &[&str]) -> Vec<Uuid> {
        let rows: Vec<New> = data.iter().map(|data| New::of(world, data)).collect();
        self.put(world, &rows, None).await;
        rows.iter().map(|row| row.id).collect()
    }

    /// The path of a query.
    pub(super) fn query(&self, tail: &str, parameters: &[(&str, &str)]) -> String {
        let mut query = path(self.feature, tail);
        for (position, (name, value)) in parameters.iter().enumerate() {
            query.push(if position == 0 { '?' } else { '&' });
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            let _ = write!(query, "{name}={value}");
        }
        query
    }

    /// A page.
    pub(super) fn list(&self, client: &Client, parameters: &[(&str, &str)]) -> Response {
        client.get(&self.query("", parameters))
    }

    /// An aggregate.
    pub(super) fn aggregate(&self, client: &Client, parameters: &[(&str, &str)]) -> Response {
        client.get(&self.query(":aggregate", parameters))
    }
}

/// The ids of a page.
#[track_caller]
pub(super) fn ids(response: &Response) -> Vec<Uuid> {
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
pub(super) fn cursor(response: &Response) -> Option<String> {
    assert_eq!(response.status, 200, "{response:?}");
    response.json()["next_cursor"].as_str().map(str::to_owned)
}
