//! Who may ask what: read from the table of operations, so that a new one is tested with it.

use serde_json::json;
use tplkit_server::auth::{KeyScope, Role};
use tplkit_server::http::operations::{Access, OPERATIONS, Operation};

use super::client::{Answer, Client};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    without_a_credential_nothing_is_looked_at,
    keys_do_what_their_scopes_say,
    strangers_find_nothing_and_roles_are_held_to,
    hidden_and_missing_are_the_same_bytes,
);

/// Asks an operation, about the organization of the world and the user or record given.
fn ask(operation: &Operation, client: &Client, organization: &str, other: &str) -> Answer {
    let path = operation
        .path
        .replace("{organization_id}", organization)
        .replace("{user_id}", other)
        .replace("{api_key_id}", other)
        .replace("{feature_id}", other)
        .replace("{row_id}", other);
    let path = if operation.method == "GET" && operation.path == "/v1/api-keys" {
        format!("{path}?organization_id={organization}")
    } else {
        path
    };
    assert!(
        !path.contains('{'),
        "{path}: the test knows nothing to put there"
    );
    if operation.has_body() {
        let body = match operation.path {
            "/v1/api-keys" => {
                json!({"organization_id": organization, "name": "k", "scopes": ["read"]})
            }
            _ => json!({}),
        };
        return client.json(operation.method, &path, &body.to_string());
    }
    client.send(operation.method, &path, &[], None)
}

fn guarded() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS
        .iter()
        .filter(|operation| operation.access != Access::Public)
}

async fn without_a_credential_nothing_is_looked_at(place: Place) {
    let world = World::new(place).await;
    let credentials = ["", "nonsense", "platform_sk_nonsense", "tpa_AAAA", "a b"];
    for operation in guarded() {
        for (organization, other) in [(world.acme.to_string(), "x"), ("no-uuid".to_owned(), "x")] {
            for credential in credentials {
                let client = world.nobody.with(credential);
                ask(operation, &client, &organization, other).refused(401, "unauthenticated");
            }
            ask(operation, &world.nobody, &organization, other).refused(401, "unauthenticated");
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
    let keys = [
        &["read"][..],
        &["write"],
        &["write", "structure"],
        &["read", "write", "structure"],
    ];
    let keys = keys.map(|scopes| (scopes, world.as_key(scopes)));
    for operation in guarded() {
        for (scopes, key) in &keys {
            let answer = ask(operation, key, &acme, &acme);
            match operation.access {
                Access::Users => {
                    answer.refused(403, "forbidden");
                }
                Access::Scopes(wanted) => {
                    let has = |scope: &KeyScope| scopes.contains(&scope.as_str());
                    if wanted.iter().all(has) {
                        assert_ne!(answer.status, 403, "{operation:?} {scopes:?}");
                    } else {
                        answer.refused(403, "missing_scope");
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
    let mut asked = 0;
    for operation in guarded() {
        let other = if operation.path.contains("api_key_id") {
            key
        } else {
            &me
        };
        let concerns = operation.path.contains("{organization_id}")
            || operation.path.starts_with("/v1/api-keys");
        if !concerns {
            continue;
        }
        asked += 1;
        ask(operation, &stranger, &acme, other).refused(404, "not_found");
        for (role, client) in &roles {
            let answer = ask(operation, client, &acme, other);
            if *role < operation.role {
                answer.refused(403, "forbidden");
            } else {
                answer.expect(200);
            }
        }
    }
    assert!(asked >= 9, "{asked}");
}

async fn hidden_and_missing_are_the_same_bytes(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let hidden = world.other.to_string();
    let missing = world.context.id().to_string();
    for operation in guarded() {
        if !operation.path.contains("{organization_id}") {
            continue;
        }
        let of = |organization: &str| {
            let person = world.acme.to_string();
            let answer = ask(operation, &owner, organization, &person);
            answer
                .refused(404, "not_found")
                .body
                .replace(organization, "…")
        };
        assert_eq!(of(&hidden), of(&missing), "{operation:?}");
    }
}
