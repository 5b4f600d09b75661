//! Who may ask what: read from the table of operations, so that a new one is tested with it.

use serde_json::{Value, json};
use tplkit_server::api::operations::OPERATIONS;
use tplkit_server::auth::{KeyScope, Role};
use tplkit_server::call::operation::{Access, Operation};

use super::client::{Client, Response};
use super::model::{ITEM, Model, package};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    without_a_credential_nothing_is_looked_at,
    keys_do_what_their_scopes_say,
    strangers_find_nothing_and_roles_are_held_to,
    hidden_and_missing_are_the_same_bytes,
);

/// What an operation is asked about.
struct About<'a> {
    organization: &'a str,
    /// A user, or a key.
    other: &'a str,
    model: &'a Model,
}

impl About<'_> {
    fn path(&self, operation: &Operation) -> String {
        let path = operation
            .path
            .replace("{organization_id}", self.organization)
            .replace("{user_id}", self.other)
            .replace("{api_key_id}", self.other)
            .replace("{item_uid}", ITEM);
        let path = self.model.put_into(&path);
        assert!(
            !path.contains('{'),
            "{path}: the test knows nothing to put there"
        );
        match (operation.method, operation.path) {
            ("GET", "/v1/api-keys" | "/v1/channels" | "/v1/connections")
            | ("POST", "/v1/templates/import") => {
                format!("{path}?organization_id={}", self.organization)
            }
            ("POST", "/v1/files") => format!("{path}?workspace_id={}&name=x", self.model.workspace),
            ("GET", "/v1/features/{feature_id}/rows:aggregate") => format!("{path}?op=count"),
            _ => path,
        }
    }

    fn body(&self, operation: &Operation) -> Value {
        let model = self.model;
        if operation.method != "POST" {
            return json!({});
        }
        match operation.path {
            "/v1/api-keys" => {
                json!({"organization_id": self.organization, "name": "k", "scopes": ["read"]})
            }
            "/v1/channels" => json!({"organization_id": self.organization, "name": "x"}),
            "/v1/connections" => json!({"organization_id": self.organization, "name": "x",
                "kind": "http", "url": "https://partner.example"}),
            "/v1/workspaces" => json!({"organization_id": self.organization, "label": "x"}),
            "/v1/templates" => {
                let manifest = &package("x")["manifest"];
                json!({"organization_id": self.organization, "manifest": manifest})
            }
            "/v1/templates/import" => package("x"),
            "/v1/templates/{template_id}/plan"
            | "/v1/templates/{template_id}/apply"
            | "/apply/templates/{template_id}" => json!({"workspaceId": model.workspace}),
            "/v1/modules" | "/v1/features" => {
                json!({"workspace_id": model.workspace, "label": "x"})
            }
            "/v1/rails" => json!({"module_id": model.module, "label": "x"}),
            "/v1/views" => json!({"feature_id": model.feature, "label": "x", "type": "table"}),
            "/v1/features/{feature_id}/columns" => json!({"label": "x", "type": "text"}),
            "/v1/workflows-v2" => super::workflows::body(&model.workspace, true),
            "/v1/workflows-v2/validate" => json!({"workspace_id": model.workspace}),
            "/v1/features/{feature_id}/rows" => json!({"data": {}}),
            "/v1/files/{file_id}/links" => json!({"expires_in": 1}),
            "/v1/features/{feature_id}/rows:batch" => json!({"rows": [{"data": {}}]}),
            _ => json!({}),
        }
    }
}

fn send(operation: &Operation, client: &Client, about: &About<'_>) -> Response {
    let path = about.path(operation);
    if ["/undo", "/cancel"]
        .iter()
        .any(|end| operation.path.ends_with(end))
    {
        return client.send(operation.method, &path, &[], None);
    }
    if operation.has_body() {
        return client.json(operation.method, &path, &about.body(operation).to_string());
    }
    client.send(operation.method, &path, &[], None)
}

/// Whether it is about something that others may not see.
fn concerns_an_organization(operation: &Operation) -> bool {
    // What is checked comes with the request, and stays nowhere.
    if operation.path.starts_with("/v1/me") || operation.path == "/v1/templates/check" {
        return false;
    }
    let lists = ["/v1/api-keys", "/v1/channels", "/v1/connections"];
    operation.path.contains('{') || lists.contains(&operation.path) || operation.method == "POST"
}

fn guarded() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS
        .iter()
        .filter(|operation| operation.access != Access::Public)
}

async fn without_a_credential_nothing_is_looked_at(place: Place) {
    let world = World::new(place).await;
    let model = Model::missing(&world);
    let credentials = ["", "nonsense", "platform_sk_nonsense", "tpa_AAAA", "a b"];
    for operation in guarded() {
        for organization in [world.acme.to_string(), "no-uuid".to_owned()] {
            let about = About {
                organization: &organization,
                other: "x",
                model: &model,
            };
            for credential in credentials {
                let client = world.nobody.with(credential);
                send(operation, &client, &about).refused(401, "unauthenticated");
            }
            send(operation, &world.nobody, &about).refused(401, "unauthenticated");
        }
    }
    // The other service header grants nothing.
    let header = [("x-platform-service-key", "anything")];
    world
        .nobody
        .send("GET", "/v1/me", &header, None)
        .refused(401, "unauthenticated");
    world
        .as_user("viewer@acme.test")
        .send("GET", "/v1/me", &header, None)
        .expect(200);
}

async fn keys_do_what_their_scopes_say(place: Place) {
    let world = World::new(place).await;
    let acme = world.acme.to_string();
    let owner = world.as_user("owner@acme.test");
    let keys = [
        &["read"][..],
        &["write"],
        &["write", "structure"],
        &["read", "write", "structure"],
    ];
    let keys = keys.map(|scopes| (scopes, world.as_key(scopes)));
    for operation in guarded() {
        let model = Model::new(&owner, world.acme)
            .with_template(&owner, world.acme)
            .with_named(&owner, world.acme, "n");
        let about = About {
            organization: &acme,
            other: &acme,
            model: &model,
        };
        for (scopes, key) in &keys {
            let response = send(operation, key, &about);
            match operation.access {
                Access::Users => {
                    response.refused(403, "forbidden");
                }
                Access::Scopes(wanted) => {
                    let has = |scope: &KeyScope| scopes.contains(&scope.as_str());
                    if wanted.iter().all(has) {
                        assert_ne!(response.status, 403, "{operation:?} {scopes:?}");
                    } else {
                        response.refused(403, "missing_scope");
                    }
                }
                Access::Public => unreachable!("left out above"),
            }
        }
    }
}

async fn strangers_find_nothing_and_roles_are_held_to(place: Place) {
    let world = World::new(place).await;
    let acme = world.acme.to_string();
    let owner = world.as_user("owner@acme.test");
    let me = owner.get("/v1/me").json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let key = json!({"organization_id": acme, "name": "k", "scopes": ["read"]});
    let key = owner.post("/v1/api-keys", &key).expect(201).json()["id"].clone();
    let key = key.as_str().expect("an id");
    let stranger = world.as_user("stranger@other.test");
    let roles = [
        (Role::Viewer, world.as_user("viewer@acme.test")),
        (Role::Editor, world.as_user("editor@acme.test")),
    ];
    let mut requests = 0;
    for operation in guarded().filter(|operation| concerns_an_organization(operation)) {
        let model = Model::new(&owner, world.acme)
            .with_row(&owner)
            .with_template(&owner, world.acme)
            .with_named(&owner, world.acme, "n")
            .with_workflow(&owner, "a")
            .with_job(&world, &owner)
            .await
            .with_file(&world, &owner, "f")
            .await;
        let about = About {
            organization: &acme,
            other: if operation.path.contains("api_key_id") {
                key
            } else {
                &me
            },
            model: &model,
        };
        requests += 1;
        send(operation, &stranger, &about).refused(404, "not_found");
        for (role, client) in &roles {
            let response = send(operation, client, &about);
            if *role < operation.role {
                // Of a row, not even this is reported: that it could be removed by others.
                if operation.method == "DELETE" && operation.path.ends_with("{row_id}") {
                    response.refused(404, "not_found");
                } else {
                    response.refused(403, "forbidden");
                }
            } else {
                let status = response.status;
                let moment = ["/versions", "/runs", "/cancel"]
                    .iter()
                    .any(|tail| operation.path.ends_with(tail));
                let moment = moment || operation.method == "DELETE";
                let fine = status < 300 || (moment && status == 409);
                assert!(fine, "{operation:?} {role:?} {response:?}");
            }
        }
    }
    assert!(requests >= 35, "{requests}");
}

async fn hidden_and_missing_are_the_same_bytes(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let hidden = Model::new(&stranger, world.other)
        .with_template(&stranger, world.other)
        .with_named(&stranger, world.other, "n")
        .with_workflow(&stranger, "a")
        .with_row(&stranger)
        .with_job(&world, &stranger)
        .await
        .with_file(&world, &stranger, "f")
        .await;
    let hidden = (world.other.to_string(), hidden);
    let missing = (world.context.id().to_string(), Model::missing(&world));
    for operation in guarded().filter(|operation| concerns_an_organization(operation)) {
        if operation.path.starts_with("/v1/api-keys/") {
            continue;
        }
        let of = |(organization, model): &(String, Model)| {
            let about = About {
                organization,
                other: &world.acme.to_string(),
                model,
            };
            let response = send(operation, &owner, &about).refused(404, "not_found");
            model.take_out_of(&response.body.replace(organization, "…"))
        };
        assert_eq!(of(&hidden), of(&missing), "{operation:?}");
    }
}
