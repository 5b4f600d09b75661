//! A session renews itself, also when another process does the same.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tplkit::client::{
    Client, Credential, Options, Request, Secret, SessionError, Sessions, Tokens,
};

use crate::host::{Waits, client_as};
use crate::scripted::{Response, Scripted};

/// Tokens in memory, as several processes would share them.
#[derive(Clone)]
struct Shared(Arc<Mutex<Tokens>>);

fn tokens(number: u32) -> Tokens {
    Tokens {
        access: Secret::new(format!("access-{number}")),
        refresh: Some(Secret::new(format!("refresh-{number}"))),
    }
}

impl Shared {
    fn new() -> Shared {
        Shared(Arc::new(Mutex::new(tokens(1))))
    }

    fn client(&self, url: &str) -> (Client, Waits) {
        let credential = Credential::Session(Box::new(self.clone()));
        client_as(url, credential, Options::default())
    }
}

impl Sessions for Shared {
    fn load(&self) -> Result<Tokens, SessionError> {
        Ok(self.0.lock().expect("whole").clone())
    }
    fn save(&self, tokens: &Tokens) -> Result<(), SessionError> {
        *self.0.lock().expect("whole") = tokens.clone();
        Ok(())
    }
}

fn me() -> Response {
    Response::json(&json!({"kind": "user", "id": "u"}))
}

fn pair(number: u32) -> Response {
    Response::json(&json!({
        "access_token": format!("access-{number}"),
        "refresh_token": format!("refresh-{number}"),
        "token_type": "bearer",
        "expires_in": 3600,
    }))
}

#[test]
fn an_expired_session_is_renewed_once_and_kept() {
    let server = Scripted::new(|request| match (&*request.target, request.token()) {
        ("/v1/auth/refresh", None) => pair(2),
        (_, Some("access-2")) => me(),
        _ => Response::problem(401, "unauthenticated"),
    });
    let shared = Shared::new();
    let (client, waits) = shared.client(&server.url);
    let post = client.keyed(Request::post("/v1/workspaces", &json!({"label": "a"})));
    assert_eq!(client.call(&post).expect("done").status, 200);
    assert_eq!(client.me().expect("me").id, "u");
    assert_eq!(
        server.lines(),
        [
            "POST /v1/workspaces",
            "POST /v1/auth/refresh",
            "POST /v1/workspaces",
            "GET /v1/me"
        ]
    );
    let received = server.received();
    assert_eq!(received[1].body, r#"{"refresh_token":"refresh-1"}"#);
    let key = |at: usize| received[at].header("idempotency-key").map(str::to_owned);
    assert!(key(0).is_some() && key(0) == key(2) && received[0].body == received[2].body);
    assert_eq!(shared.load(), Ok(tokens(2)));
    assert_eq!(waits.lock().expect("whole").len(), 0);
}

#[test]
fn what_another_process_renewed_is_taken() {
    let server = Scripted::new(|request| match request.token() {
        Some("access-2") => me(),
        _ => Response::problem(401, "unauthenticated"),
    });
    let shared = Shared::new();
    let (client, _) = shared.client(&server.url);
    client.me().expect_err("expired, and nobody renews it");
    shared.save(&tokens(2)).expect("kept");
    assert_eq!(client.me().expect("me").id, "u");
    let refreshes = server.lines();
    let refreshes = refreshes.iter().filter(|line| line.ends_with("refresh"));
    assert_eq!(refreshes.count(), 1);
}

#[test]
fn a_lost_race_waits_for_the_winner() {
    let shared = Shared::new();
    let winner = shared.clone();
    let server = Scripted::new(move |request| match (&*request.target, request.token()) {
        ("/v1/auth/refresh", _) => {
            winner.save(&tokens(2)).expect("kept");
            Response::problem(401, "unauthenticated")
        }
        (_, Some("access-2")) => me(),
        _ => Response::problem(401, "unauthenticated"),
    });
    let (client, _) = shared.client(&server.url);
    assert_eq!(client.me().expect("me").id, "u");
    assert_eq!(shared.load(), Ok(tokens(2)));
}

#[test]
fn a_session_that_is_over_is_reported_after_one_refresh() {
    let server = Scripted::new(|_| Response::problem(401, "unauthenticated"));
    let (client, waits) = Shared::new().client(&server.url);
    assert_eq!(client.me().expect_err("over").status(), Some(401));
    assert_eq!(server.lines(), ["GET /v1/me", "POST /v1/auth/refresh"]);
    assert_eq!(waits.lock().expect("whole").len(), 4);

    // What is fresh and still refused is not renewed again and again.
    let server = Scripted::new(|request| match &*request.target {
        "/v1/auth/refresh" => pair(2),
        _ => Response::problem(401, "unauthenticated"),
    });
    let (client, _) = Shared::new().client(&server.url);
    assert_eq!(client.me().expect_err("refused").status(), Some(401));
    assert_eq!(server.received().len(), 3);
}

#[test]
fn health_is_asked_as_nobody() {
    let server = Scripted::new(|_| Response::json(&json!({"status": "ok", "version": "0.1.0"})));
    let (client, _) = Shared::new().client(&server.url);
    client.health().expect("health");
    client.ready().expect("ready");
    assert!(
        server
            .received()
            .iter()
            .all(|request| request.token().is_none())
    );
}
