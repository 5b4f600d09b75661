//! One of everything, and rows put into the store by hand.

use serde_json::{Value as Json, json};
use tplkit::workspace::ledger::{Entry, RemovedContent, RowDigest, RowNames, Rows, WrittenRow};
use tplkit::workspace::{KeptRow, RowData, StoredRow};
use tplkit_server::store::{Row, Scope, StoreError, Value};
use uuid::Uuid;

use super::client::Client;
pub use super::client::id;
use super::document::Ids;
use super::stores::of_a_test;
use super::workflows;
use super::world::World;

/// The ids of one record of each kind, each in the one before it; view and column are the feature's.
#[derive(Debug, Clone)]
pub struct Model {
    /// The workspace.
    pub workspace: String,
    /// A module of the workspace.
    pub module: String,
    /// A rail of the module.
    pub rail: String,
    /// A table of the workspace.
    pub feature: String,
    /// A view of the table.
    pub view: String,
    /// A column of the table.
    pub column: String,
    /// A row of the table.
    pub row: String,
    /// A package in the catalog.
    pub template: String,
    /// An automation of the workspace.
    pub workflow: String,
    /// A version of the automation.
    pub version: String,
    /// A run of the automation.
    pub run: String,
    /// A job that applied the package.
    pub job: String,
    /// A channel of the organization.
    pub channel: String,
    /// A connection of the organization.
    pub connection: String,
    /// A file of the row.
    pub file: String,
}

/// The rows item of the template below.
pub const ITEM: &str = "u_00000000-0000-4000-8000-0000000000aa";

/// A package that checks clean: one table with one column and a row.
pub fn package(text: &str) -> Json {
    let uid = |number: u8| format!("u_00000000-0000-4000-8000-{number:012}");
    let item = |number: u8, kind: &str, reference: &str, label: &str| json!({"uid": uid(number), "kind": kind, "ref": reference, "label": label});
    let mut column = item(2, "column", "c_title", text);
    column["parent"] = uid(1).into();
    let step = |number: u8, tool: &str, reference: &str, args: Json| json!({"uid": uid(number), "tool": tool, "ref": reference, "args": args});
    let now = "2026-01-02T03:04:05Z";
    json!({
        "manifest": {
            "name": "notes", "label": text, "scope": "workspace", "tags": [text],
            "templateVersion": 2,
            "source": {"workspaceName": text, "generatedAt": now, "definitionsVersion": "1"},
            "items": [
                item(1, "feature", "f_notes", text), column,
                {"uid": ITEM, "kind": "rows", "label": text, "parent": uid(1), "count": 1,
                 "dataClass": "transactional"},
            ],
            "dependencies": [], "unresolved": [], "redacted": [],
            "plan": {
                "planVersion": 1, "id": uid(9), "summary": text,
                "target": {"workspaceId": "$workspace"},
                "metadata": {"source": "export", "generatedAt": now}, "externalRefs": [],
                "steps": [
                    step(11, "create_feature", "f_notes",
                        json!({"workspaceId": "$workspace", "name": "notes", "label": text})),
                    step(12, "create_column", "c_title",
                        json!({"featureId": "$f_notes", "name": "title", "label": text, "type": "text",
                               "defaultComponent": "textfield", "order": 1})),
                ],
            },
        },
        "payloads": [{
            "featureRef": "f_notes", "itemUid": ITEM, "count": 1, "keyColumn": null,
            "keyUnique": false, "columns": ["title"],
            "rows": [{"uid": uid(21), "data": {"title": text}}],
        }],
    })
}

impl Model {
    /// The ids by the names that parameters and bodies have for them.
    pub fn ids(&self, organization: &str, user: &str, key: &str) -> Ids {
        Ids::from([
            ("organization_id", organization.to_owned()),
            ("user_id", user.to_owned()),
            ("api_key_id", key.to_owned()),
            ("workspace_id", self.workspace.clone()),
            ("module_id", self.module.clone()),
            ("rail_id", self.rail.clone()),
            ("feature_id", self.feature.clone()),
            ("view_id", self.view.clone()),
            ("column_id", self.column.clone()),
            ("row_id", self.row.clone()),
            ("template_id", self.template.clone()),
            ("item_uid", ITEM.to_owned()),
            ("workflow_id", self.workflow.clone()),
            ("version_id", self.version.clone()),
            ("run_id", self.run.clone()),
            ("job_id", self.job.clone()),
            ("channel_id", self.channel.clone()),
            ("connection_id", self.connection.clone()),
            ("file_id", self.file.clone()),
            ("workspaceId", self.workspace.clone()),
        ])
    }

    /// A workspace with a module, a rail, a table, a view and a column; the rest are ids of nothing.
    pub fn new(client: &Client, organization: Uuid) -> Model {
        let body = json!({"organization_id": organization, "label": "W"});
        let workspace = id(&client.create("/v1/workspaces", &body));
        let body = json!({"workspace_id": workspace, "label": "M"});
        let module = id(&client.create("/v1/modules", &body));
        let body = json!({"module_id": module, "label": "R"});
        let rail = id(&client.create("/v1/rails", &body));
        let body = json!({"workspace_id": workspace, "label": "F"});
        let feature = id(&client.create("/v1/features", &body));
        let body = json!({"feature_id": feature, "label": "V", "type": "table"});
        let view = id(&client.create("/v1/views", &body));
        let body = json!({"label": "C", "type": "text"});
        let columns = format!("/v1/features/{feature}/columns");
        let column = id(&client.create(&columns, &body));
        Model {
            workspace,
            module,
            rail,
            feature,
            view,
            column,
            row: Uuid::max().to_string(),
            template: Uuid::max().to_string(),
            workflow: Uuid::max().to_string(),
            version: Uuid::max().to_string(),
            run: Uuid::max().to_string(),
            job: Uuid::max().to_string(),
            channel: Uuid::max().to_string(),
            connection: Uuid::max().to_string(),
            file: Uuid::max().to_string(),
        }
    }

    /// With a channel and a connection of the organization, created by an administrator.
    pub fn with_named(mut self, client: &Client, organization: Uuid, name: &str) -> Model {
        let channel = json!({"organization_id": organization, "name": name});
        self.channel = id(&client.create("/v1/channels", &channel));
        // Of names of connections there is one each.
        let name = format!("{name} {}", self.channel);
        let connection = json!({"organization_id": organization, "name": name, "kind": "http",
            "url": "https://partner.example"});
        self.connection = id(&client.create("/v1/connections", &connection));
        self
    }

    /// With an automation in the workspace that was begun and never published.
    pub fn with_workflow(mut self, client: &Client, name: &str) -> Model {
        let mut body = workflows::body(&self.workspace, true);
        body["name"] = name.into();
        let made = client.create(workflows::PATH, &body);
        self.workflow = workflows::workflow(&made);
        self.version = id(&made);
        let runs = workflows::path(&self.workflow, "/runs");
        let run = client.post(&runs, &json!({"dry_run": true}));
        self.run = id(&run.expect(202).json());
        self
    }

    /// With a row in the feature.
    pub fn with_row(mut self, client: &Client) -> Model {
        let path = format!("/v1/features/{}/rows", self.feature);
        self.row = id(&client.create(&path, &json!({"data": {}})));
        self
    }

    /// With a template in the catalog of the organization.
    pub fn with_template(mut self, client: &Client, organization: Uuid) -> Model {
        let path = format!("/v1/templates/import?organization_id={organization}");
        self.template = id(&client.create(&path, &package("Notes")));
        self
    }

    /// With a job of the template in the workspace, which is over.
    pub async fn with_job(mut self, world: &World, client: &Client) -> Model {
        let path = format!("/v1/templates/{}/apply", self.template);
        let body = json!({"workspaceId": self.workspace});
        let job = client.post(&path, &body).expect(202).json()["jobId"].clone();
        self.job = job.as_str().expect("an id").to_owned();
        let sql = "UPDATE main.template_jobs SET status = 'completed' WHERE id = $1";
        world.sql(sql, vec![uuid(&self.job).into()]).await;
        self
    }

    /// With a file that the row uses.
    pub async fn with_file(mut self, world: &World, client: &Client, text: &str) -> Model {
        let path = format!("/v1/files?workspace_id={}&name={text}", self.workspace);
        let headers = [("content-type", "text/plain")];
        let file = client.send("POST", &path, &headers, Some(text.as_bytes()));
        self.file = id(&file.expect(201).json());
        world.attach(&self).await;
        self
    }

    /// Ids of nothing.
    pub fn missing(world: &World) -> Model {
        let id = || world.context.id().to_string();
        Model {
            workspace: id(),
            module: id(),
            rail: id(),
            feature: id(),
            view: id(),
            column: id(),
            row: id(),
            template: id(),
            workflow: id(),
            version: id(),
            run: id(),
            job: id(),
            channel: id(),
            connection: id(),
            file: id(),
        }
    }

    /// A path or a response with ids instead of the names of parameters.
    pub fn put_into(&self, text: &str) -> String {
        self.names()
            .iter()
            .fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }

    /// The other way round.
    pub fn take_out_of(&self, text: &str) -> String {
        self.names()
            .iter()
            .fold(text.to_owned(), |text, (name, id)| text.replace(id, name))
    }

    fn names(&self) -> [(&'static str, &str); 14] {
        [
            ("{workspace_id}", &self.workspace),
            ("{module_id}", &self.module),
            ("{rail_id}", &self.rail),
            ("{feature_id}", &self.feature),
            ("{view_id}", &self.view),
            ("{column_id}", &self.column),
            ("{row_id}", &self.row),
            ("{template_id}", &self.template),
            ("{workflow_id}", &self.workflow),
            ("{run_id}", &self.run),
            ("{job_id}", &self.job),
            ("{channel_id}", &self.channel),
            ("{connection_id}", &self.connection),
            ("{file_id}", &self.file),
        ]
    }

    /// Where the columns are.
    pub fn columns(&self) -> String {
        format!("/v1/features/{}/columns", self.feature)
    }
}

/// An id as the store has it.
pub fn uuid(text: &str) -> Uuid {
    Uuid::parse_str(text).expect("a UUID")
}

/// All tables that hold something of the model.
pub const TABLES: [(&str, &str); 13] = [
    ("workspaces", "SELECT count(*) FROM workspaces"),
    ("members", "SELECT count(*) FROM workspace_members"),
    ("modules", "SELECT count(*) FROM modules"),
    ("rails", "SELECT count(*) FROM rails"),
    ("features", "SELECT count(*) FROM features"),
    ("views", "SELECT count(*) FROM views"),
    ("columns", "SELECT count(*) FROM columns"),
    ("rows", "SELECT count(*) FROM rows"),
    ("values", "SELECT count(*) FROM row_values"),
    ("automations", "SELECT count(*) FROM workflows"),
    ("versions", "SELECT count(*) FROM workflow_versions"),
    ("runs", "SELECT count(*) FROM workflow_runs"),
    ("events", "SELECT count(*) FROM workflow_events"),
];

impl World {
    /// Runs a statement past both layers.
    pub async fn sql(&self, sql: &'static str, parameters: Vec<Value>) -> Vec<Row> {
        let ran: Result<_, StoreError> = self
            .store
            .write(&Scope::Operator, parameters, move |tx, parameters| {
                Box::pin(async move { tx.execute(&of_a_test(sql), parameters).await })
            })
            .await;
        ran.expect(sql)
    }

    /// Lets the ledger of a job name more rows than one unit of an undo takes; they are gone already.
    pub async fn has_written(&self, job: Uuid, rows: u32) {
        let written = |position| WrittenRow {
            position,
            id: self.context.id(),
            digest: RowDigest::default(),
        };
        let entry = Entry::Rows(Rows {
            uid: "u_more".to_owned(),
            feature: self.context.id(),
            rows: (0..rows).map(written).collect(),
            emptied: Vec::new(),
            sequences: Vec::new(),
            early_links: Vec::new(),
            names: RowNames::default(),
        });
        self.notes(job, &entry).await;
    }

    /// Lets the ledger of a job name rows that it took out of a table: they come back with its undo.
    pub async fn has_taken(&self, job: Uuid, feature: Uuid, rows: u32) {
        let taken = |_| {
            KeptRow::of(StoredRow {
                id: self.context.id(),
                data: RowData::trusted("{}"),
            })
        };
        let entry = Entry::Taken(RemovedContent {
            feature,
            column: None,
            rows: (0..rows).map(taken).collect(),
        });
        self.notes(job, &entry).await;
    }

    /// Adds an entry to the ledger of a job.
    async fn notes(&self, job: Uuid, entry: &Entry) {
        let sql = "SELECT organization_id, workspace_id, entries FROM template_jobs WHERE id = $1";
        let found = self.sql(sql, vec![job.into()]).await;
        let organization: Uuid = found[0].get(0).expect("an id");
        let workspace: Uuid = found[0].get(1).expect("an id");
        let number: i64 = found[0].get(2).expect("a number");
        let sql = "INSERT INTO main.template_job_entries \
             (organization_id, workspace_id, job_id, number, entry) VALUES ($1, $2, $3, $4, $5)";
        let parameters = vec![
            organization.into(),
            workspace.into(),
            job.into(),
            number.into(),
            serde_json::to_string(entry).expect("JSON").into(),
        ];
        self.sql(sql, parameters).await;
        let sql = "UPDATE main.template_jobs SET entries = entries + 1 WHERE id = $1";
        self.sql(sql, vec![job.into()]).await;
    }

    /// Puts a row into a table, as canonical text.
    pub async fn row(&self, model: &Model, created_by: Option<Uuid>, data: &str) -> Uuid {
        let row = self.context.id();
        let insert = "INSERT INTO main.rows (organization_id, workspace_id, feature_id, id, \
             created_by, created_at, updated_at, data) VALUES ($1, $2, $3, $4, $5, $6, $6, {json $7})";
        let parameters = vec![
            self.acme.into(),
            uuid(&model.workspace).into(),
            uuid(&model.feature).into(),
            row.into(),
            created_by.into(),
            self.context.now().into(),
            data.into(),
        ];
        self.sql(insert, parameters).await;
        row
    }

    /// Lets the row use the file, as a checked write of its cell does.
    pub async fn attach(&self, model: &Model) {
        let sql = "INSERT INTO main.file_uses (organization_id, workspace_id, feature_id, row_id, column_id, \
             file_id, row_created_by, created_at) SELECT organization_id, workspace_id, feature_id, id, $2, $3, \
             created_by, created_at FROM rows WHERE id = $1";
        let ids = [&model.row, &model.column, &model.file];
        self.sql(sql, ids.map(|id| uuid(id).into()).to_vec()).await;
    }

    /// How much there is in each table of the model.
    pub async fn counts(&self) -> Vec<(&'static str, i64)> {
        let mut counts = Vec::new();
        for (name, sql) in TABLES {
            let rows = self.sql(sql, vec![]).await;
            counts.push((name, rows[0].get(0).expect("a count")));
        }
        counts
    }
}
