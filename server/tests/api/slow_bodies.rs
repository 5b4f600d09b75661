//! Rights that are lost while the body of a request comes.
//!
//! The server asks for the body when it has looked at everything that comes before it. The clock of these tests stands
//! still until they move it, so a body is as slow as a test says.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use tplkit_server::auth::Role;

use super::client::{Client, Response, read};
use super::model::{Model, id, package};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    who_was_removed_does_nothing_more,
    who_is_a_viewer_by_now_writes_nothing,
    a_key_that_was_deleted_does_nothing_more,
    a_workspace_that_was_closed_is_not_found,
    rows_that_were_hidden_stay_hidden,
    rights_come_before_what_is_wrong_with_the_body,
);

/// Method, path and body.
type Sent = (&'static str, String, String);

/// A request whose body is still to come.
struct SlowRequest {
    stream: TcpStream,
    body: String,
    what: String,
}

/// Sends the head of a request, and waits until the server asks for the body.
fn begin(client: &Client, (method, path, body): &Sent) -> SlowRequest {
    let mut stream = TcpStream::connect(client.address()).expect("connects");
    let credential = client.credential().expect("a credential");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nauthorization: Bearer {credential}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sends");
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).expect("a response");
    let interim = String::from_utf8_lossy(&interim).into_owned();
    let what = format!("{method} {path}");
    assert_eq!(interim, "HTTP/1.1 100 Continue\r\n\r\n", "{what}");
    let body = body.clone();
    SlowRequest { stream, body, what }
}

impl SlowRequest {
    /// Sends the body.
    fn end(mut self) -> Response {
        let SlowRequest { stream, body, .. } = &mut self;
        let mut chunks = String::new();
        if !body.is_empty() {
            chunks = format!("{:x}\r\n{body}\r\n", body.len());
        }
        chunks.push_str("0\r\n\r\n");
        stream.write_all(chunks.as_bytes()).expect("sends");
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        read(&bytes)
    }

    #[track_caller]
    fn refused(self, status: u16, code: &str) {
        let what = self.what.clone();
        let response = self.end();
        let found = (response.status, response.code());
        assert_eq!(found, (status, code.to_owned()), "{what}: {response:?}");
    }
}

/// What is there, and who changes it.
struct Scene {
    world: World,
    owner: Client,
    model: Model,
}

impl Scene {
    async fn new(place: Place) -> Scene {
        let world = World::new(place).await;
        world.person("new@acme.test").await;
        let owner = world.as_user("owner@acme.test");
        let model = Model::new(&owner, world.acme)
            .with_row(&owner)
            .with_template(&owner, world.acme)
            .with_named(&owner, world.acme, "n")
            .with_workflow(&owner, "a")
            .with_job(&world, &owner)
            .await
            .with_file(&world, &owner, "f")
            .await;
        Scene {
            world,
            owner,
            model,
        }
    }

    /// What only administrators do.
    fn of_administrators(&self) -> Vec<Sent> {
        let (acme, model) = (self.world.acme, &self.model);
        let key = json!({"organization_id": acme, "name": "k", "scopes": ["read"]});
        let member = json!({"email": "new@acme.test", "role": "admin"});
        vec![
            sent("POST", "/v1/api-keys", &key),
            sent("POST", &self.world.path("/members"), &member),
            sent("PATCH", &self.world.path(""), &json!({"label": "Theirs"})),
            sent(
                "POST",
                &format!("/v1/channels?organization_id={acme}"),
                &json!({"name": "theirs"}),
            ),
            sent(
                "PATCH",
                &format!("/v1/channels/{}", model.channel),
                &json!({"name": "theirs"}),
            ),
            sent(
                "PATCH",
                &format!("/v1/connections/{}", model.connection),
                &json!({"name": "theirs"}),
            ),
            sent(
                "POST",
                &format!("/v1/templates/import?organization_id={acme}"),
                &package("Theirs"),
            ),
            sent(
                "PUT",
                &format!("/v1/templates/{}/package", model.template),
                &package("Theirs"),
            ),
        ]
    }

    /// What editors do in the workspace.
    fn of_editors(&self) -> Vec<Sent> {
        let model = &self.model;
        let feature = format!("/v1/features/{}", model.feature);
        let runs = format!("/v1/workflows-v2/{}/runs", model.workflow);
        vec![
            sent("POST", &format!("{feature}/rows"), &json!({"data": {}})),
            sent(
                "POST",
                &format!("{feature}/columns"),
                &json!({"label": "Theirs", "type": "text"}),
            ),
            sent("PATCH", &feature, &json!({"label": "Theirs"})),
            sent("POST", &runs, &json!({"dry_run": true})),
            sent(
                "POST",
                &format!("/v1/templates/{}/apply", model.template),
                &json!({"workspaceId": model.workspace}),
            ),
            (
                "POST",
                format!("/v1/template-jobs/{}/undo", model.job),
                String::new(),
            ),
        ]
    }

    /// What everybody does who sees the workspace.
    fn of_readers(&self) -> Vec<Sent> {
        let model = &self.model;
        vec![
            self.export(),
            sent(
                "POST",
                &format!("/v1/templates/{}/plan", model.template),
                &json!({"workspaceId": model.workspace}),
            ),
            sent(
                "POST",
                &format!("/v1/files/{}/links", model.file),
                &json!({"expires_in": 60}),
            ),
        ]
    }

    fn export(&self) -> Sent {
        let path = format!("/v1/workspaces/{}/export", self.model.workspace);
        sent("POST", &path, &json!({"rows": "all"}))
    }

    /// Begins requests, and lets as much time pass as no short one takes.
    fn begun(&self, client: &Client, requests: &[Sent]) -> Vec<SlowRequest> {
        let begun = requests.iter().map(|request| begin(client, request));
        let begun = begun.collect();
        self.world.wait(2);
        begun
    }

    fn membership(&self, client: &Client) -> String {
        let me = id(&client.get("/v1/me").expect(200).json());
        self.world.path(&format!("/members/{me}"))
    }
}

fn sent(method: &'static str, path: &str, body: &Value) -> Sent {
    (method, path.to_owned(), body.to_string())
}

async fn who_was_removed_does_nothing_more(place: Place) {
    let scene = Scene::new(place).await;
    let admin = scene.world.as_user("admin@acme.test");
    let membership = scene.membership(&admin);
    let mut requests = scene.of_administrators();
    requests.extend(scene.of_editors());
    requests.extend(scene.of_readers());
    let begun = scene.begun(&admin, &requests);
    scene.owner.delete(&membership).expect(204);
    for request in begun {
        request.refused(404, "not_found");
    }
    let keys = format!("/v1/api-keys?organization_id={}", scene.world.acme);
    assert!(scene.owner.items(&keys).is_empty());
    let members = scene.owner.items(&scene.world.path("/members"));
    assert_eq!(members.len(), 3, "{members:?}");
}

async fn who_is_a_viewer_by_now_writes_nothing(place: Place) {
    let scene = Scene::new(place).await;
    let admin = scene.world.as_user("admin@acme.test");
    let membership = scene.membership(&admin);
    let mut requests = scene.of_administrators();
    requests.extend(scene.of_editors());
    let begun = scene.begun(&admin, &requests);
    let reading = scene.begun(&admin, &scene.of_readers());
    let viewer = json!({"role": "viewer"});
    scene.owner.patch(&membership, &viewer).expect(200);
    for request in begun {
        request.refused(403, "forbidden");
    }
    for request in reading {
        let what = request.what.clone();
        let response = request.end();
        assert!(response.status < 300, "{what}: {response:?}");
    }
    // Nobody has added them.
    scene
        .world
        .member(scene.world.acme, "new@acme.test", Role::Viewer)
        .await;
}

async fn a_key_that_was_deleted_does_nothing_more(place: Place) {
    let scene = Scene::new(place).await;
    let key = scene.world.as_key(&["read", "write", "structure"]);
    let keys = format!("/v1/api-keys?organization_id={}", scene.world.acme);
    let path = format!("/v1/api-keys/{}", scene.owner.ids(&keys)[0]);
    let mut requests = scene.of_editors();
    requests.extend(scene.of_readers());
    let begun = scene.begun(&key, &requests);
    scene.owner.delete(&path).expect(204);
    for request in begun {
        request.refused(401, "unauthenticated");
    }
}

async fn a_workspace_that_was_closed_is_not_found(place: Place) {
    let scene = Scene::new(place).await;
    let editor = scene.world.as_user("editor@acme.test");
    let mut requests = scene.of_editors();
    requests.extend(scene.of_readers());
    let begun = scene.begun(&editor, &requests);
    let path = format!("/v1/workspaces/{}", scene.model.workspace);
    let closed = json!({"access": "members"});
    scene.owner.patch(&path, &closed).expect(200);
    for request in begun {
        request.refused(404, "not_found");
    }
}

async fn rows_that_were_hidden_stay_hidden(place: Place) {
    let scene = Scene::new(place).await;
    let editor = scene.world.as_user("editor@acme.test");
    let feature = format!("/v1/features/{}", scene.model.feature);
    let columns = scene.owner.get(&format!("{feature}/columns")).json();
    let mut data = json!({});
    data[columns[0]["name"].as_str().expect("a name")] = "SECRET".into();
    let rows = format!("{feature}/rows");
    scene.owner.create(&rows, &json!({"data": data}));
    let export = scene.export();
    let seen = begin(&editor, &export).end().expect(200);
    assert!(seen.body.contains("SECRET"), "{seen:?}");
    let begun = scene.begun(&editor, &[export]);
    let own = json!({"config": {"rowAccess": "own"}});
    scene.owner.patch(&feature, &own).expect(200);
    for request in begun {
        let response = request.end().expect(200);
        assert!(!response.body.contains("SECRET"), "{response:?}");
    }
}

async fn rights_come_before_what_is_wrong_with_the_body(place: Place) {
    let scene = Scene::new(place).await;
    let admin = scene.world.as_user("admin@acme.test");
    let membership = scene.membership(&admin);
    let mut requests = scene.of_administrators();
    // Whose key it is to be is said by the body alone.
    requests.retain(|(_, path, _)| path != "/v1/api-keys");
    requests.extend(scene.of_editors());
    requests.extend(scene.of_readers());
    for (_, _, body) in &mut requests {
        "{".clone_into(body);
    }
    let begun = scene.begun(&admin, &requests);
    scene.owner.delete(&membership).expect(204);
    for request in begun {
        request.refused(404, "not_found");
    }
}
