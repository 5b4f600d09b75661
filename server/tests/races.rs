//! Fifty at once over HTTP: on either store, and through two processes on one PostgreSQL.

use std::sync::{Arc, Barrier};
use std::thread;

use serde_json::{Value, json};
use tplkit_server::api::operations::OPERATIONS;
use tplkit_server::auth::hash_password;
use tplkit_server::context::{Context, SystemClock};
use tplkit_server::identity::users;
use tplkit_server::store::{Row, Scope, Store, StoreError};
use uuid::Uuid;

use crate::api::client::{Client, Response};
use crate::api::document::{Document, Ids, JSON};
use crate::api::model::{self, Model, TABLES, package};
use crate::api::workflows;
use crate::api::world::{PASSWORD, World};
use crate::process::{EMAIL, Serving, owner};
use crate::stores::{self, Place, of_a_test, on_both_stores};

on_both_stores!(one_process);

const RACERS: usize = 50;

/// Servers over one store, and an owner who asks them in turn.
struct Track {
    nobody: Vec<Client>,
    clients: Vec<Client>,
    email: &'static str,
    organization: Uuid,
    store: Store,
}

async fn one_process(place: Place) {
    let world = World::new(place).await;
    let track = Track {
        nobody: vec![world.nobody.clone()],
        clients: vec![world.as_user("owner@acme.test")],
        email: "owner@acme.test",
        organization: world.acme,
        store: world.store.clone(),
    };
    track.races().await;
}

#[test]
fn two_processes_on_one_postgres() {
    let Some(place) = Place::empty_postgres() else {
        return;
    };
    let organization = model::uuid(&owner(&place.url));
    let folder = tempfile::tempdir().expect("a folder");
    let files = format!("file:{}", folder.path().display());
    let arguments = ["--rate-limit", "off", "--no-worker", "--files", &files];
    let start = || Serving::start_with(&place.url, &arguments, &[]);
    let servings = [start(), start()];
    let url = place.url.clone();
    stores::run(Some(Place::at(url)), async |place: Place| {
        let addresses = servings.iter().map(|serving| serving.address.parse());
        let nobody: Vec<Client> = addresses
            .map(|address| Client::new(address.expect("an address")))
            .collect();
        // One session, whichever server made it.
        let token = tokens(&nobody[0], EMAIL)["access_token"].clone();
        let token = token.as_str().expect("a token");
        let track = Track {
            clients: nobody.iter().map(|nobody| nobody.with(token)).collect(),
            nobody,
            email: EMAIL,
            organization,
            store: place.open().await,
        };
        track.races().await;
    });
    drop(servings);
}

fn tokens(nobody: &Client, email: &str) -> Value {
    let body = json!({"email": email, "password": PASSWORD});
    nobody.post("/v1/auth/token", &body).expect(200).json()
}

/// All of them at one instant.
fn at_once(clients: &[Client], ask: impl Fn(&Client) -> Response + Sync) -> Vec<Response> {
    let (ask, line) = (&ask, &Barrier::new(RACERS));
    thread::scope(|scope| {
        let racers: Vec<_> = (0..RACERS)
            .map(|number| {
                scope.spawn(move || {
                    line.wait();
                    ask(&clients[number % clients.len()])
                })
            })
            .collect();
        let responses = racers.into_iter().map(thread::ScopedJoinHandle::join);
        responses
            .map(|response| response.expect("a response"))
            .collect()
    })
}

fn with_status(responses: &[Response], status: u16) -> Vec<&Response> {
    let responses = responses.iter();
    responses
        .filter(|response| response.status == status)
        .collect()
}

impl Track {
    async fn races(&self) {
        self.one_value();
        self.one_refresh_token();
        self.one_key_for_every_operation().await;
    }

    /// Of equal values one goes in, and all others are refused in the same words.
    fn one_value(&self) {
        let owner = &self.clients[0];
        let model = Model::new(owner, self.organization);
        let column = json!({"label": "code", "type": "text", "config": {"unique": true}});
        owner.create(&model.columns(), &column);
        let rows = format!("/v1/features/{}/rows", model.feature);
        let body = json!({"data": {"code": "one"}});
        let responses = at_once(&self.clients, |client| client.post(&rows, &body));
        let refused = with_status(&responses, 409);
        assert_eq!(with_status(&responses, 201).len(), 1, "{responses:?}");
        assert_eq!(refused.len(), RACERS - 1, "{responses:?}");
        for response in &refused {
            assert_eq!(response.code(), "unique_violation");
            assert_eq!(response.body, refused[0].body);
        }
        assert_eq!(owner.items(&rows).len(), 1);
    }

    /// Of refreshes with one token one has a successor, which stays valid.
    fn one_refresh_token(&self) {
        let first = tokens(&self.nobody[0], self.email);
        let body = json!({"refresh_token": first["refresh_token"]});
        let responses = at_once(&self.nobody, |nobody| {
            nobody.post("/v1/auth/refresh", &body)
        });
        let (fine, refused) = (with_status(&responses, 200), with_status(&responses, 401));
        assert_eq!(
            (fine.len(), refused.len()),
            (1, RACERS - 1),
            "{responses:?}"
        );
        assert!(
            refused
                .iter()
                .all(|response| response.body == refused[0].body)
        );
        let next = fine[0].json();
        for nobody in &self.nobody {
            let token = next["access_token"].as_str().expect("a token");
            nobody.with(token).get("/v1/me").expect(200);
        }
        let body = json!({"refresh_token": next["refresh_token"]});
        self.nobody[0].post("/v1/auth/refresh", &body).expect(200);
    }

    /// Of requests with one Idempotency-Key one has an effect, whatever the operation.
    async fn one_key_for_every_operation(&self) {
        let document = Document::of(&self.nobody[0]);
        // What changes nothing keeps nothing, a password is not a row that could be counted, and a job that
        // could be cancelled might end by itself meanwhile.
        let repeatable = OPERATIONS.iter().filter(|operation| {
            operation.repeatable()
                && !operation.changes_nothing()
                && operation.path != "/v1/me/password"
                && !operation.path.ends_with("/cancel")
        });
        let mut requests = 0;
        for operation in repeatable {
            let mut effects = Vec::new();
            for racing in [false, true] {
                let owner = &self.clients[0];
                let mut model =
                    Model::new(owner, self.organization).with_template(owner, self.organization);
                if operation.path.contains("{job_id}") {
                    model.job = self.job(&model).await;
                }
                if operation.path.contains("{workflow_id}") {
                    (model.workflow, model.version) = self.automation(&model, operation.path).await;
                }
                let ids = self.ids(&model);
                document.places(operation, &ids);
                let mut request = document.request(operation, &ids);
                if let Some(body) = self.body(operation.path, &model).await {
                    request.body = Some((JSON, body.to_string()));
                }
                let key = format!("{racing}-{}", operation.path.len());
                let headers = [("content-type", JSON), ("idempotency-key", &key)];
                let body = request.body.as_ref().map(|(_, body)| body.as_bytes());
                let ask = |client: &Client| client.send("POST", &request.path, &headers, body);
                let before = self.counted().await;
                let responses = if racing {
                    at_once(&self.clients, ask)
                } else {
                    vec![ask(&self.clients[0])]
                };
                effects.push(self.counted().await - before);
                let fine: Vec<&Response> = responses.iter().filter(|a| a.status < 300).collect();
                let replayed =
                    |response: &Response| response.header("idempotency-replayed") == Some("true");
                let own = fine.iter().filter(|response| !replayed(response)).count();
                assert_eq!(own, 1, "{operation:?} {responses:?}");
                assert!(fine.iter().all(|response| response.body == fine[0].body));
                for response in responses.iter().filter(|response| response.status >= 300) {
                    let response = response.clone();
                    // Of one caller sixteen uploads are in flight at most.
                    if operation.path == "/v1/files" && response.status == 429 {
                        response.refused(429, "busy");
                    } else {
                        response.refused(409, "idempotency_in_progress");
                    }
                }
                // And afterwards, wherever it is asked.
                for client in &self.clients {
                    let again = ask(client);
                    assert!(replayed(&again), "{operation:?} {again:?}");
                    assert_eq!(again.body, fine[0].body);
                }
            }
            assert_ne!(effects[0], 0, "{operation:?}");
            assert_eq!(effects[0], effects[1], "{operation:?}");
            requests += 1;
        }
        assert!(requests >= 13, "{requests}");
    }

    /// A body, where the least that the document allows is not enough.
    async fn body(&self, path: &str, model: &Model) -> Option<Value> {
        Some(match path {
            "/v1/organizations/{organization_id}/members" => {
                json!({"email": self.newcomer().await, "role": "viewer"})
            }
            "/v1/connections" => json!({
                "organization_id": self.organization, "name": model.workspace, "kind": "http",
                "url": "https://partner.test/v1",
            }),
            "/v1/templates" => {
                let manifest = &package("x")["manifest"];
                json!({"organization_id": self.organization, "manifest": manifest})
            }
            "/v1/templates/import" => package("x"),
            "/v1/workflows-v2" => workflows::body(&model.workspace, true),
            path if path.contains("{workflow_id}") => json!({}),
            path if path.contains("apply") => {
                json!({"workspaceId": model.workspace})
            }
            _ => return None,
        })
    }

    /// An automation in the state in which an operation does something: with a draft, or active.
    async fn automation(&self, model: &Model, path: &str) -> (String, String) {
        let draft = path.ends_with("/apply");
        let body = workflows::body(&model.workspace, draft);
        let version = self.clients[0].create(workflows::PATH, &body);
        let made = workflows::workflow(&version);
        if !draft {
            let now = Context::new(Arc::new(SystemClock)).now();
            assert!(workflows::switch(&self.store, now, &made, true).await);
        }
        (made, model::id(&version))
    }

    /// A job that is over.
    async fn job(&self, model: &Model) -> String {
        let path = format!("/v1/templates/{}/apply", model.template);
        let body = json!({"workspaceId": model.workspace});
        let job = self.clients[0].post(&path, &body).expect(202).json()["jobId"].clone();
        let sql = "UPDATE main.template_jobs SET status = 'failed' WHERE status = 'pending' {across test}";
        let ended = self.store.write(&Scope::Operator, (), move |tx, ()| {
            Box::pin(async move { tx.query(sql, &[]).await.map(drop) })
        });
        let ended: Result<(), StoreError> = ended.await;
        ended.expect(sql);
        job.as_str().expect("an id").to_owned()
    }

    fn ids(&self, model: &Model) -> Ids {
        Ids::from([
            ("organization_id", self.organization.to_string()),
            ("workspace_id", model.workspace.clone()),
            ("module_id", model.module.clone()),
            ("rail_id", model.rail.clone()),
            ("feature_id", model.feature.clone()),
            ("view_id", model.view.clone()),
            ("column_id", model.column.clone()),
            ("row_id", model.row.clone()),
            ("template_id", model.template.clone()),
            ("job_id", model.job.clone()),
            ("workflow_id", model.workflow.clone()),
            ("version_id", model.version.clone()),
        ])
    }

    /// A user who is not a member yet.
    async fn newcomer(&self) -> String {
        let context = Context::new(Arc::new(SystemClock));
        let id = context.id();
        let email = format!("{}@new.test", id.simple());
        let new = users::New {
            id,
            email: email.clone(),
            password_hash: hash_password(PASSWORD.as_bytes()).expect("hashes"),
            platform_admin: false,
            now: context.now(),
        };
        users::create(&self.store, new).await.expect("creates");
        email
    }

    /// How much there is of everything.
    async fn counted(&self) -> i64 {
        let mut all = 0;
        let more = [
            ("people", "SELECT count(*) FROM memberships"),
            ("automations", "SELECT count(*) FROM workflow_versions"),
            (
                "published",
                "SELECT count(*) FROM workflow_versions WHERE NOT is_draft",
            ),
            ("runs", "SELECT count(*) FROM workflow_runs"),
            ("files", "SELECT count(*) FROM files"),
            ("channels", "SELECT count(*) FROM channels"),
            ("connections", "SELECT count(*) FROM connections"),
            ("templates", "SELECT count(*) FROM templates"),
            ("jobs", "SELECT count(*) FROM template_jobs"),
            (
                "undone",
                "SELECT count(*) FROM template_jobs WHERE status = 'undone'",
            ),
        ];
        for (_, sql) in TABLES.into_iter().chain(more) {
            let found = self.store.write(&Scope::Operator, (), move |tx, ()| {
                Box::pin(async move { tx.execute(&of_a_test(sql), &[]).await })
            });
            let rows: Result<Vec<Row>, StoreError> = found.await;
            all += rows.expect(sql)[0].get::<i64>(0).expect("a count");
        }
        all
    }
}
