//! A database that is distributed over a Citus cluster: how it is made, that processes agree about it, and what goes on
//! while a worker is away. All but the refusals need a cluster that is at hand (`TPLKIT_TEST_CITUS`); with that
//! variable the tests of the API run on it, too.

mod absence;
mod agreement;
mod distributing;
mod looks;
mod moves;
mod tenant;

use serde_json::{Value, json};

use crate::kill::Wire;
use crate::process::{SECRET, Serving, admin, run, stderr, stdout};
use crate::stores::Place;

/// How often changes are made in one process and asked of another.
const ROUNDS: usize = 8;

fn distribute(url: &str) -> Value {
    let output = run(&["migrate", "--distributed", "--database", url]);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one document")
}

fn serve(place: &Place) -> Serving {
    Serving::start_with(
        &place.url,
        &["--rate-limit", "off", "--lease-seconds", "1"],
        &[],
    )
}

/// Signs in, and gives a connection with the tokens.
fn sign_in(serving: &Serving, email: &str) -> (Wire, Value) {
    let mut wire = Wire::new(serving, "");
    let body = json!({"email": email, "password": SECRET});
    let (status, tokens) = wire
        .ask("POST", "/v1/auth/token", Some(&body))
        .expect("a response");
    assert_eq!(status, 200, "{tokens}");
    let token = tokens["access_token"].as_str().expect("a token");
    (Wire::new(serving, token), tokens)
}

/// A person who can sign in, with a role in an organization; gives the id.
fn person(url: &str, organization: &str, email: &str, role: &str) -> String {
    let create = ["create-user", "--email", email, "--password-stdin"];
    let made = admin(url, &create, SECRET).expect("a record");
    let add = [
        "add-member",
        "--organization",
        organization,
        "--email",
        email,
        "--role",
        role,
    ];
    admin(url, &add, "").expect("a record");
    made["id"].as_str().expect("an id").to_owned()
}

fn workspace(wire: &mut Wire, organization: &str) -> String {
    let body = json!({"organization_id": organization, "label": "W"});
    wire.made("/v1/workspaces", &body)
}

#[track_caller]
fn request(wire: &mut Wire, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    wire.ask(method, path, body).expect("a response")
}
