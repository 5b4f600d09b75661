//! A world with one of everything, and for each operation the request that does what it is for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::app::Config;
use tplkit_server::auth::{Role, identify};
use tplkit_server::call::operation::Operation;
use tplkit_server::files::Files;
use tplkit_server::files::settings::UploadPace;
use tplkit_server::http::rate_limit::Rate;
use tplkit_server::secret_key::SecretKey;
use tplkit_server::store::{Options, Scope, Store, StoreError, Visible};

use crate::api::client::{Client, Response};
use crate::api::document::{Document, Ids, JSON, Request};
use crate::api::model::{Model, id, package, uuid};
use crate::api::workflows;
use crate::api::world::{PASSWORD, World};
use crate::stores::Place;

/// What a body may have here.
pub(super) const MOST: usize = 100_000;

/// Another rows item than that of [`package`].
const OTHER_ITEM: &str = "u_00000000-0000-4000-8000-0000000000bb";

/// The servers, and who asks them.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) document: Document,
    pub(super) owner: Client,
    /// Lets one request through and no more.
    pub(super) strict: Client,
    /// Its database cannot be reached.
    cut_off: Client,
    /// Keys that may do this alone.
    pub(super) reader: Client,
    pub(super) writer: Client,
    /// One of everything, that is never written to.
    pub(super) here: Ids,
    /// Ids of nothing.
    pub(super) missing: Ids,
    token: String,
    number: AtomicUsize,
}

fn config(rate: Option<Rate>) -> Config {
    Config {
        max_body: MOST,
        max_package: MOST,
        rate,
        // Nobody waits for a second unit.
        undo_wait: Duration::ZERO,
        secret_key: SecretKey::parse(&"0a".repeat(32)),
        files: Files {
            max_file: MOST as u64,
            pace: UploadPace {
                idle: Duration::from_secs(2),
                ..UploadPace::default()
            },
            ..Files::default()
        },
        ..Config::default()
    }
}

impl Stage {
    pub(super) async fn new(place: Place) -> Stage {
        let world = World::with(place, config(None)).await;
        let strict = config(Some(Rate::per_second(1)));
        let strict = world.second_server(world.store.clone(), strict).await;
        let token = world.token("owner@acme.test", PASSWORD).expect(200).json();
        let token = token["access_token"].as_str().expect("a token").to_owned();
        // Nobody listens there.
        let url = "postgres://nobody@127.0.0.1:1/nothing";
        let nowhere = Store::prepare(url, &Options::default()).expect("a URL");
        let cut_off = world.second_server(nowhere, config(None)).await;
        let nothing = world.context.id().to_string();
        let mut stage = Stage {
            document: Document::of(&world.nobody),
            owner: world.nobody.with(&token),
            strict: strict.with(&token),
            reader: world.as_key(&["read"]),
            writer: world.as_key(&["write"]),
            missing: Model::missing(&world).ids(&nothing, &nothing, &nothing),
            here: Ids::new(),
            world,
            cut_off,
            token,
            number: AtomicUsize::new(0),
        };
        stage.here = stage.ids().await;
        stage
    }

    /// One of everything, that nobody has touched.
    pub(super) async fn ids(&self) -> Ids {
        let owner = &self.owner;
        let model = Model::new(owner, self.world.acme)
            .with_row(owner)
            .with_template(owner, self.world.acme)
            .with_named(owner, self.world.acme, "n")
            .with_workflow(owner, "a")
            .with_job(&self.world, owner)
            .await
            .with_file(&self.world, owner, "f")
            .await;
        let key = json!({"organization_id": self.world.acme, "name": "k", "scopes": ["read"]});
        let key = id(&owner.create("/v1/api-keys", &key));
        let user = self
            .world
            .member(self.world.acme, &self.newcomer().await, Role::Viewer)
            .await
            .to_string();
        model.ids(&self.world.acme.to_string(), &user, &key)
    }

    /// The owner, or anybody, where the database cannot be reached.
    pub(super) fn cut_off(&self, anybody: bool) -> Client {
        if anybody {
            self.cut_off.clone()
        } else {
            self.cut_off.with(&self.token)
        }
    }

    /// The address of somebody who is a member of nothing.
    async fn newcomer(&self) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let email = format!("new{number}@acme.test");
        self.world.person(&email).await;
        email
    }

    /// The request that does what the operation is for, or would if the ids were of something.
    pub(super) async fn request(&self, operation: &Operation, ids: &Ids) -> Request {
        let mut request = self.document.request(operation, ids);
        if let Some(body) = self.body(operation, ids).await {
            request.body = Some((JSON, body.to_string()));
        }
        if operation.path.starts_with("/v1/template-jobs/") {
            request.body = None;
        }
        if operation.path.ends_with("/cancel") {
            self.unfinished(&ids["job_id"]).await;
        }
        if operation.path == "/v1/file-links/{file_id}" && ids["file_id"] != self.missing["file_id"]
        {
            let links = format!("/v1/files/{}/links", ids["file_id"]);
            let link = self.owner.create(&links, &json!({"expires_in": 60}));
            link["url"]
                .as_str()
                .expect("a path")
                .clone_into(&mut request.path);
        }
        request
    }

    /// The body, where the least one that its schema takes does not do.
    async fn body(&self, operation: &Operation, ids: &Ids) -> Option<Value> {
        let package = package("x");
        let tokens = || {
            let tokens = self.world.token("viewer@acme.test", PASSWORD).expect(200);
            tokens.json()["refresh_token"].clone()
        };
        Some(match (operation.method, operation.path) {
            ("POST", "/v1/auth/token") => {
                json!({"email": "viewer@acme.test", "password": PASSWORD})
            }
            ("POST", "/v1/auth/refresh" | "/v1/auth/logout") => {
                json!({"refresh_token": tokens()})
            }
            ("POST", "/v1/me/password") => json!({"current": PASSWORD, "new": PASSWORD}),
            ("POST", "/v1/organizations/{organization_id}/members") => {
                json!({"email": self.newcomer().await, "role": "viewer"})
            }
            ("POST", "/v1/connections") => json!({"organization_id": ids["organization_id"],
                "name": self.world.context.id(), "kind": "http", "url": "https://partner.example"}),
            ("POST", "/v1/workflows-v2") => workflows::body(&ids["workspace_id"], true),
            ("POST", "/v1/workflows-v2/{workflow_id}/runs") => json!({"dry_run": true}),
            ("POST", "/v1/templates") => {
                json!({"organization_id": ids["organization_id"], "manifest": package["manifest"]})
            }
            ("POST", "/v1/templates/import" | "/v1/templates/check")
            | ("PUT", "/v1/templates/{template_id}/package") => package,
            ("PUT", "/v1/templates/{template_id}/payloads/{item_uid}") => {
                let mut entry = package["payloads"][0].clone();
                entry["itemUid"] = ids["item_uid"].as_str().into();
                entry
            }
            ("PATCH", _) if operation.path.ends_with("{row_id}") => json!({"data": {}}),
            ("POST", "/v1/workspaces/{workspace_id}/export") => json!({}),
            (
                "POST",
                "/v1/templates/{template_id}/plan"
                | "/v1/templates/{template_id}/apply"
                | "/apply/templates/{template_id}",
            ) => json!({"workspaceId": ids["workspaceId"]}),
            _ => return None,
        })
    }

    /// Sends what it is for, and gives the responses that are successes, one per status.
    pub(super) async fn successes(&self, operation: &Operation) -> Vec<Response> {
        let mut ids = if operation.method == "GET" {
            self.here.clone()
        } else {
            self.ids().await
        };
        if operation.path.ends_with("/versions") {
            self.fires(&ids).await;
        }
        let mut responses = vec![self.success(operation, &ids).await];
        if operation.statuses.contains(&200) && operation.statuses.contains(&201) {
            ids.insert("item_uid", OTHER_ITEM.to_owned());
            responses.push(self.success(operation, &ids).await);
        }
        if operation.gives_file() {
            let request = self.request(operation, &ids).await;
            let tag = format!("\"{}\"", "0".repeat(64));
            for (name, value) in [
                ("range", "bytes=0-0"),
                ("if-none-match", "*"),
                ("if-match", &tag),
                ("range", "bytes=9-"),
            ] {
                responses.push(send(&self.owner, "GET", &request, &[(name, value)]));
            }
        }
        if operation.path == "/docs" {
            let request = self.request(operation, &ids).await;
            let known = [("if-none-match", "*")];
            responses.push(send(&self.owner, "GET", &request, &known));
        }
        if operation.takes_file() {
            let path = self.request(operation, &ids).await.path;
            let announced = [("content-type", "text/plain"), ("content-length", "5")];
            responses.push(self.owner.send_raw("POST", &path, &announced, b"x"));
        }
        if operation.path.ends_with("/undo") {
            let ids = self.ids().await;
            self.world.has_written(uuid(&ids["job_id"]), 3000).await;
            responses.push(self.success(operation, &ids).await);
        }
        responses
    }

    /// Lets a job wait for a worker, where there is such a job.
    async fn unfinished(&self, job: &str) {
        let sql = "UPDATE main.template_jobs SET status = 'pending' WHERE id = $1";
        self.world.sql(sql, vec![uuid(job).into()]).await;
    }

    async fn success(&self, operation: &Operation, ids: &Ids) -> Response {
        let mut request = self.request(operation, ids).await;
        if operation.method == "DELETE" && operation.about.query.contains(&"force") {
            request.path.push_str("?force=true");
        }
        let response = send(&self.owner, operation.method, &request, &[]);
        assert!(
            response.status < 400,
            "{operation:?} {request:?} {response:?}"
        );
        response
    }

    /// Leaves a key of the owner's as it is while its first request runs.
    pub(super) async fn forget_response(&self, key: &str) {
        let (store, context) = (&self.world.store, &self.world.context);
        let owner = identify(store, context, &self.token).await;
        let owner = owner.expect("is read").expect("is signed in");
        let organizations = owner.organizations.iter();
        let scope = Scope::from(Visible {
            caller: owner.id,
            organizations: organizations.map(|one| one.organization).collect(),
            ..Visible::default()
        });
        let forgotten: Result<_, StoreError> = store
            .write(&scope, key.to_owned(), |tx, key| {
                let sql = "UPDATE main.idempotency SET status = 0 \
                     WHERE {caller caller_id} AND key = $1";
                Box::pin(async move { tx.query(sql, &[key.as_str().into()]).await })
            })
            .await;
        forgotten.expect("writes");
    }

    /// Publishes and switches on.
    pub(super) async fn fires(&self, ids: &Ids) {
        let workflow = &ids["workflow_id"];
        self.owner
            .post_to(workflow, "/apply", &json!({}))
            .expect(200);
        assert!(self.world.switch(workflow, true).await);
    }
}

/// Sends a request, with headers next to those of its body.
pub(super) fn send(
    client: &Client,
    method: &str,
    request: &Request,
    headers: &[(&str, &str)],
) -> Response {
    let mut headers = headers.to_vec();
    let body = request.body.as_ref().map(|(media_type, body)| {
        headers.push(("content-type", media_type));
        body.as_bytes()
    });
    client.send(method, &request.path, &headers, body)
}
