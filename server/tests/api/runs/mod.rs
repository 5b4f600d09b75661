//! Runs: what fires them, what each step does, and what is reported of it.

mod attachments;
#[cfg(unix)]
mod backlog;
mod bounds;
mod chains;
mod cron;
mod deleted_in_parts;
mod deleted_meanwhile;
mod dry_run;
mod events;
mod files;
mod integrations;
mod manual;
mod neighbours;
#[cfg(unix)]
mod removed;
mod rights;
mod rules;
mod steps;
mod targets;
mod upserts;
mod values;
mod visibility;

use std::sync::Arc;

use serde_json::{Value, json};
use tplkit_server::automation::connections::{ConnectionKind, SetConnection, set_connection};
use tplkit_server::automation::{RunExecutor, Settings};
use tplkit_server::context::{Clock, Context};
use tplkit_server::secret_key::SecretKey;

use super::client::Client;
use super::model::{Model, id};
use super::workflows::{PATH, graph, path, workflow};
use super::world::World;

/// A table with columns of texts and a number, and an automation that fires.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) editor: Client,
    pub(crate) model: Model,
}

impl Stage {
    /// A table with the columns `status`, `note`, `n` (a number) and `c`.
    pub(crate) async fn new(place: crate::stores::Place) -> Stage {
        let world = World::new(place).await;
        let editor = world.as_user("editor@acme.test");
        let model = Model::new(&editor, world.acme);
        for (label, kind) in [("status", "text"), ("note", "text"), ("n", "number")] {
            editor.create(&model.columns(), &json!({"label": label, "type": kind}));
        }
        Stage {
            world,
            editor,
            model,
        }
    }

    /// For tests in which more time passes than a session lasts: a key does not expire.
    pub(crate) fn lasting(mut self) -> Stage {
        self.editor = self.world.as_key(&["read", "write", "structure"]);
        self
    }

    /// Another table of the workspace with the same columns.
    pub(crate) fn table(&self) -> String {
        let new = json!({"workspace_id": self.model.workspace, "label": "Other"});
        let table = id(&self.editor.create("/v1/features", &new));
        let columns = format!("/v1/features/{table}/columns");
        for (label, kind) in [("status", "text"), ("note", "text"), ("n", "number")] {
            self.editor
                .create(&columns, &json!({"label": label, "type": kind}));
        }
        table
    }

    /// An automation with that trigger and those steps; it is published and fires.
    pub(crate) async fn fires(&self, trigger: &Value, steps: &Value) -> String {
        let it = self.published(trigger, steps);
        assert!(self.world.switch(&it, true).await);
        it
    }

    /// The same without firing.
    pub(crate) fn published(&self, trigger: &Value, steps: &Value) -> String {
        let body = json!({"workspace_id": self.model.workspace, "name": "a", "is_draft": false,
            "trigger_config": trigger, "graph_config": graph(steps)});
        workflow(&self.editor.create(PATH, &body))
    }

    /// A trigger on that table's rows.
    pub(crate) fn on(feature: &str, modes: &[&str], watched: &[&str]) -> Value {
        let mut config = json!({"modes": modes, "featureId": feature});
        if !watched.is_empty() {
            config["watchedColumns"] = json!(watched);
        }
        json!({"type": "record.event", "config": config})
    }

    pub(crate) fn rows(feature: &str) -> String {
        format!("/v1/features/{feature}/rows")
    }

    /// A new row; gives its id.
    pub(crate) fn row(&self, feature: &str, data: &Value) -> String {
        id(&self
            .editor
            .create(&Stage::rows(feature), &json!({"data": data})))
    }

    /// The data of a row.
    pub(crate) fn data(&self, feature: &str, row: &str) -> Value {
        let path = format!("{}/{row}", Stage::rows(feature));
        self.editor.get(&path).expect(200).json()["data"].clone()
    }

    /// The data of all rows.
    pub(crate) fn all(&self, feature: &str) -> Vec<Value> {
        let rows = self
            .editor
            .items(&format!("{}?limit=200", Stage::rows(feature)));
        rows.into_iter().map(|row| row["data"].clone()).collect()
    }

    pub(crate) fn executor(&self) -> RunExecutor {
        self.executor_with(Settings::default())
    }

    pub(crate) fn executor_with(&self, settings: Settings) -> RunExecutor {
        let World {
            store,
            context,
            app,
            ..
        } = &self.world;
        RunExecutor::new(store, context, &app.tables, &app.runs, settings).attaching(&app.files)
    }

    /// One that has the time from that clock.
    pub(crate) fn executor_by(&self, clock: Arc<dyn Clock + Send + Sync>) -> RunExecutor {
        let World { store, app, .. } = &self.world;
        let (context, settings) = (Context::new(clock), Settings::default());
        RunExecutor::new(store, &context, &app.tables, &app.runs, settings).attaching(&app.files)
    }

    /// Executes all that there is to execute at this moment.
    pub(crate) async fn run_due(&self) -> usize {
        self.executor().run_due().await.expect("runs")
    }

    /// The runs of an automation, each as it is read by itself.
    pub(crate) fn runs(&self, workflow: &str) -> Vec<Value> {
        runs(&self.editor, workflow)
    }

    /// The only run of an automation.
    pub(crate) fn run(&self, workflow: &str) -> Value {
        let mut runs = self.runs(workflow);
        assert_eq!(runs.len(), 1, "{runs:#?}");
        runs.remove(0)
    }

    /// A connection of the organization.
    pub(crate) async fn connection(&self, name: &str, kind: &str, url: &str, secret: Option<&str>) {
        let set = SetConnection {
            id: self.world.context.id(),
            organization: self.world.acme,
            name: name.to_owned(),
            kind: ConnectionKind::parse(kind).expect("a kind"),
            url: url.to_owned(),
            secret: secret.map(str::to_owned),
            now: self.world.context.now(),
        };
        set_connection(&self.world.store, Some(&key()), set)
            .await
            .expect("sets");
    }
}

/// The key for secrets of connections.
pub(crate) fn key() -> SecretKey {
    SecretKey::parse(&"0a".repeat(32)).expect("a key")
}

/// A step that writes these columns into a table.
pub(crate) fn write(mode: &str, feature: &str, bindings: &[(&str, Value)]) -> Value {
    let bindings: Vec<Value> = bindings
        .iter()
        .map(|(column, value)| json!({"targetColumn": column, "value": value}))
        .collect();
    json!({"key": "feature.write", "config": {"mode": mode, "targetFeatureId": feature, "bindings": bindings}})
}

/// Status and error of a run.
pub(crate) fn ended(run: &Value) -> (&str, &str) {
    (
        run["status"].as_str().expect("a status"),
        run["error"]["detail"].as_str().unwrap_or_default(),
    )
}

/// The code of what ended a run or a step, if something did.
pub(crate) fn code(of: &Value) -> &str {
    of["error"]["code"].as_str().unwrap_or_default()
}

/// The runs of an automation, each as that client reads it by itself.
pub(crate) fn runs(client: &Client, workflow: &str) -> Vec<Value> {
    let listed = client.items(&path(workflow, "/runs?limit=200"));
    let each = listed.iter().map(|run| {
        let path = format!("/v1/workflow-runs/{}", run["id"].as_str().expect("an id"));
        let mut whole = client.get(&path).expect(200).json();
        // A list is the same without what went in and came out.
        let read = whole.clone();
        for step in whole["steps"].as_array_mut().expect("a list") {
            let step = step.as_object_mut().expect("an object");
            step.retain(|key, _| !["input", "output", "envelope"].contains(&key.as_str()));
        }
        assert_eq!(*run, whole);
        read
    });
    each.collect()
}
