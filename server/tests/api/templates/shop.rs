//! A workspace with two tables, one linking to the other, and what applying its packages takes.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tplkit_server::background::TaskContext;
use tplkit_server::jobs::Worker;
use uuid::Uuid;

use crate::api::client::{Client, Response};
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::Place;

/// Clients with an identity and a code, orders that link to them.
pub(crate) struct Shop {
    pub(crate) workspace: String,
    pub(crate) clients: String,
    pub(crate) orders: String,
}

/// An empty workspace.
pub(crate) fn workspace(client: &Client, organization: Uuid) -> String {
    let body = json!({"organization_id": organization, "label": "Fresh"});
    id(&client.create("/v1/workspaces", &body))
}

pub(crate) fn feature(client: &Client, workspace: &str, label: &str) -> String {
    let body = json!({"workspace_id": workspace, "label": label});
    id(&client.create("/v1/features", &body))
}

pub(crate) fn column(client: &Client, feature: &str, body: &Value) -> String {
    id(&client.create(&format!("/v1/features/{feature}/columns"), body))
}

pub(crate) fn row(client: &Client, feature: &str, data: &Value) -> Value {
    let path = format!("/v1/features/{feature}/rows");
    client.create(&path, &json!({"data": data}))["data"].clone()
}

/// The cells of a table's rows.
pub(crate) fn rows(client: &Client, feature: &str) -> Vec<Value> {
    let path = format!("/v1/features/{feature}/rows?limit=200");
    let items = client.items(&path);
    items.into_iter().map(|item| item["data"].clone()).collect()
}

/// The table of that name in a workspace.
pub(crate) fn named(client: &Client, workspace: &str, name: &str) -> Option<String> {
    let all = client.items(&format!("/v1/features?workspace_id={workspace}"));
    all.iter().find(|item| item["name"] == name).map(id)
}

impl Shop {
    pub(crate) fn new(client: &Client, organization: Uuid) -> Shop {
        let workspace = workspace(client, organization);
        let clients = feature(client, &workspace, "Clients");
        let orders = feature(client, &workspace, "Orders");
        let text = |label: &str| json!({"label": label, "type": "text"});
        let identity =
            json!({"label": "Id", "name": "id", "type": "text", "default_component": "id"});
        column(client, &clients, &identity);
        let unique =
            json!({"label": "Code", "type": "text", "config": {"unique": true, "required": true}});
        column(client, &clients, &unique);
        column(client, &clients, &text("Name"));
        column(client, &orders, &text("Title"));
        let link = json!({"label": "Client", "type": "linked_select",
            "config": {"linkedFeatureId": clients, "linkedValueColumn": "id"}});
        column(client, &orders, &link);
        let made: Vec<Value> = ["a", "b"]
            .iter()
            .map(|code| row(client, &clients, &json!({"code": code, "name": "N"})))
            .collect();
        for (title, of) in [("one", 0), ("two", 1), ("three", 0)] {
            let data = json!({"title": title, "client": made[of]["id"]});
            row(client, &orders, &data);
        }
        Shop {
            workspace,
            clients,
            orders,
        }
    }

    /// Exports, and imports into the catalog of an organization. Gives the id of the template.
    pub(crate) fn template(&self, from: &Client, into: &Client, selection: &Value) -> String {
        let path = format!("/v1/workspaces/{}/export", self.workspace);
        let package = from.post(&path, selection).expect(200);
        let made = into.json("POST", "/v1/templates/import", &package.body);
        id(&made.expect(201).json())
    }
}

/// Workers that carry jobs out for as long as they are held.
pub(crate) struct Working {
    stop: watch::Sender<bool>,
}

impl Working {
    /// Ends the work: whatever is asked for then waits.
    pub(crate) fn ends(self) {
        self.stop.send(true).expect("hears");
    }
}

/// Lets jobs be carried out.
pub(crate) fn working(world: &World) -> Working {
    let (stop, stopped) = watch::channel(false);
    let worker = Worker {
        task_context: TaskContext {
            store: world.store.clone(),
            context: world.context.clone(),
            metrics: world.app.metrics.clone(),
            tables: world.app.tables.clone(),
            keep_runs: None,
            files: tplkit_server::files::Files::in_place(None),
        },
        lease_seconds: 60,
        signal: world.app.signal.clone(),
    };
    tokio::spawn(worker.run(stopped));
    Working { stop }
}

/// A shop whose rows are in a template, which is applied to an empty workspace.
pub(crate) struct AppliedShop {
    pub(crate) world: World,
    pub(crate) editor: Client,
    pub(crate) admin: Client,
    pub(crate) shop: Shop,
    pub(crate) template: String,
    /// The workspace that it is applied to.
    pub(crate) there: String,
    _working: Working,
}

impl AppliedShop {
    pub(crate) async fn new(place: Place) -> AppliedShop {
        let world = World::new(place).await;
        let working = working(&world);
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let there = workspace(&editor, world.acme);
        applied(&editor, &template, &json!({"workspaceId": there})).await;
        AppliedShop {
            world,
            editor,
            admin,
            shop,
            template,
            there,
            _working: working,
        }
    }
}

pub(crate) fn apply(client: &Client, template: &str, body: &Value) -> Response {
    client.post(&format!("/v1/templates/{template}/apply"), body)
}

/// The job once it is over.
pub(crate) async fn finished(client: &Client, response: Response) -> Value {
    let accepted = response.expect(202).json();
    let path = format!(
        "/v1/template-jobs/{}",
        accepted["jobId"].as_str().expect("an id")
    );
    loop {
        let job = client.get(&path).expect(200).json();
        let status = job["status"].as_str().expect("a status");
        if ["completed", "failed", "undone"].contains(&status) {
            return job;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Applies, and expects that it is done.
pub(crate) async fn applied(client: &Client, template: &str, body: &Value) -> Value {
    let job = finished(client, apply(client, template, body)).await;
    assert_eq!(job["status"], "completed", "{job}");
    job
}
