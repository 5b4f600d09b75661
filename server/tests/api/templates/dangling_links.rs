//! Links by the automatic identity to rows that do not come along: no cell keeps a number that another row has by then.

use serde_json::{Value, json};
use uuid::Uuid;

use super::shop::{applied, column, feature, named, row, rows, working, workspace};
use crate::api::client::Client;
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_link_to_a_row_that_was_deleted_arrives_empty,
    a_link_to_a_row_that_the_exporter_does_not_see_arrives_empty,
);

/// Clients with minted numbers, and orders that point at them.
struct Source {
    workspace: String,
    clients: String,
    orders: String,
}

impl Source {
    fn new(owner: &Client, organization: Uuid, access: &str) -> Source {
        let workspace = workspace(owner, organization);
        let clients = json!({"workspace_id": workspace, "label": "Clients",
            "config": {"rowAccess": access}});
        let clients = id(&owner.create("/v1/features", &clients));
        let orders = feature(owner, &workspace, "Orders");
        let number = json!({"label": "No", "name": "id", "type": "number",
            "default_component": "id", "config": {"idType": "sequence"}});
        let link = json!({"label": "Client", "type": "linked_select", "config": {
            "linkedFeatureId": clients, "linkedValueColumn": "id", "isMultiSelect": true}});
        column(owner, &clients, &json!({"label": "Name", "type": "text"}));
        column(owner, &clients, &number);
        column(owner, &orders, &json!({"label": "Title", "type": "text"}));
        column(owner, &orders, &link);
        Source {
            workspace,
            clients,
            orders,
        }
    }

    fn order(&self, owner: &Client, client: &Value) {
        row(
            owner,
            &self.orders,
            &json!({"title": "x", "client": client}),
        );
    }

    /// What somebody exports, applied to a new workspace, whose id it gives. So many cells are emptied.
    async fn arrives(&self, world: &World, by: &Client, emptied: u64) -> String {
        let path = format!("/v1/workspaces/{}/export", self.workspace);
        let package = by.post(&path, &json!({"rows": "all"})).expect(200).json();
        let admin = world.as_user("admin@acme.test");
        let template = id(&admin
            .post("/v1/templates/import", &package)
            .expect(201)
            .json());
        let there = workspace(by, world.acme);
        let body = json!({"workspaceId": there});
        let plan = by.post(&format!("/v1/templates/{template}/plan"), &body);
        let plan = plan.expect(200).json();
        assert_eq!(plan["rows"]["f_orders"]["dropped_links"], emptied);
        let job = applied(by, &template, &body).await;
        let reported = job["report"]["unresolved"].as_array().expect("a list");
        let [entry] = reported.as_slice() else {
            panic!("{job}")
        };
        assert_eq!(
            (&entry["path"], &entry["reason"], &entry["count"]),
            (
                &json!("rows[].data.client"),
                &json!("row_ref_dropped"),
                &json!(emptied)
            )
        );
        there
    }
}

fn links(client: &Client, workspace: &str) -> Vec<Value> {
    let orders = named(client, workspace, "orders").expect("a table");
    let orders = rows(client, &orders);
    orders.iter().map(|row| row["client"].clone()).collect()
}

async fn a_link_to_a_row_that_was_deleted_arrives_empty(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let owner = world.as_user("owner@acme.test");
    let source = Source::new(&owner, world.acme, "all");
    for name in ["A", "B", "C"] {
        row(&owner, &source.clients, &json!({"name": name}));
    }
    for client in [json!(2), json!(3), json!([2, 3])] {
        source.order(&owner, &client);
    }
    let clients = format!("/v1/features/{}/rows", source.clients);
    let second = id(&owner.items(&clients)[1]);
    owner.delete(&format!("{clients}/{second}")).expect(204);
    let there = source.arrives(&world, &owner, 2).await;
    // The third client is the second one here.
    assert_eq!(links(&owner, &there), [Value::Null, json!(2), json!([2])]);
}

async fn a_link_to_a_row_that_the_exporter_does_not_see_arrives_empty(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let source = Source::new(&owner, world.acme, "own");
    for whose in [&owner, &editor, &owner] {
        row(whose, &source.clients, &json!({"name": "x"}));
    }
    for client in [1, 2, 3] {
        source.order(&owner, &json!(client));
    }
    let there = source.arrives(&world, &editor, 2).await;
    let expected = [Value::Null, json!(1), Value::Null];
    assert_eq!(links(&editor, &there), expected);
    // Nobody gets the order of a client who did not come along.
    let clients = named(&editor, &there, "clients").expect("a table");
    for number in [2, 3] {
        let made = row(&editor, &clients, &json!({"name": "new"}));
        assert_eq!(made["id"], number);
    }
    assert_eq!(links(&editor, &there), expected);
}
