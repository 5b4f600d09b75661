//! What is sent again, what is not, and after how long.

use std::time::Duration;

use serde_json::json;
use tplkit::client::{Cause, Credential, Error, Method, Options, Request, Secret};

use crate::host::{TOKEN, client, client_as};
use crate::scripted::{Response, Scripted, nobody};

#[test]
fn a_post_is_sent_again_under_the_same_key() {
    let server = Scripted::in_order(vec![
        Response::problem(503, "store_unavailable"),
        Response::hang_up(),
        Response::text(502, "<html>gateway</html>"),
        Response::json(&json!({"id": "x"})),
    ]);
    let (client, waits) = client(&server.url);
    let request = client.keyed(Request::post("/v1/workspaces", &json!({"label": "a"})));
    assert_eq!(client.call(&request).expect("done").status, 200);
    let received = server.received();
    assert_eq!(received.len(), 4);
    let key = request.idempotency_key.as_deref();
    assert!(key.is_some());
    for again in &received {
        assert_eq!(again.header("idempotency-key"), key);
        assert_eq!(again.body, r#"{"label":"a"}"#);
        assert_eq!(again.header("content-type"), Some("application/json"));
        assert_eq!(again.token(), Some(TOKEN));
    }
    assert_eq!(waits.lock().expect("whole").len(), 3);
}

#[test]
fn a_repeated_post_waits_for_the_one_before() {
    let server = Scripted::in_order(vec![
        Response::text(504, ""),
        Response::problem(409, "idempotency_in_progress"),
        Response::json(&json!({})),
    ]);
    let (caller, _) = client(&server.url);
    let request = caller.keyed(Request::post("/v1/workspaces", &json!({})));
    assert_eq!(caller.call(&request).expect("done").status, 200);
    assert_eq!(server.received().len(), 3);
    // The first try meets somebody else's.
    let server = Scripted::in_order(vec![Response::problem(409, "idempotency_in_progress")]);
    let (caller, _) = client(&server.url);
    assert_eq!(
        caller.call(&request).expect_err("refused").status(),
        Some(409)
    );
    assert_eq!(server.received().len(), 1);
}

#[test]
fn what_might_be_done_twice_is_sent_once() {
    for request in [
        Request::post("/v1/workspaces", &json!({})),
        Request::post("/v1/api-keys", &json!({})).key("k"),
        Request::post("/v1/auth/refresh", &json!({})).key("k"),
        Request::new(Method::PATCH, "/v1/workspaces/x").key("k"),
    ] {
        let server = Scripted::in_order(vec![Response::problem(503, "store_unavailable")]);
        let (client, waits) = client(&server.url);
        let error = client.call(&request).expect_err("refused");
        assert_eq!(error.status(), Some(503), "{request}");
        assert_eq!(server.received().len(), 1, "{request}");
        assert_eq!(waits.lock().expect("whole").len(), 0);
    }
}

#[test]
fn retry_after_is_honoured_up_to_a_bound() {
    let limited = |value: &str| Response::problem(429, "rate_limited").with("Retry-After", value);
    let server = Scripted::in_order(vec![
        limited("7"),
        limited("Fri, 02 Jan 2026 12:00:09 GMT"),
        Response::json(&json!({"kind": "user", "id": "u"})),
    ]);
    let (caller, waits) = client(&server.url);
    assert_eq!(caller.me().expect("me").id, "u");
    let waits = waits.lock().expect("whole").clone();
    assert_eq!(waits, [Duration::from_secs(7), Duration::from_secs(9)]);

    let server = Scripted::in_order(vec![limited("3600")]);
    let (caller, waits) = client(&server.url);
    let Err(Error::Refused(problem)) = caller.me() else {
        panic!("an hour was waited");
    };
    assert_eq!(problem.retry_after.as_deref(), Some("3600"));
    assert_eq!(server.received().len(), 1);
    assert_eq!(waits.lock().expect("whole").len(), 0);
}

#[test]
fn tries_are_counted() {
    let server = Scripted::in_order(vec![Response::problem(503, "store_unavailable")]);
    let options = Options {
        retries: 2,
        ..Options::default()
    };
    let (caller, waits) = client_as(&server.url, Credential::None, options);
    assert_eq!(caller.me().expect_err("refused").status(), Some(503));
    assert_eq!(server.received().len(), 3);
    assert_eq!(waits.lock().expect("whole").len(), 2);

    let (caller, waits) = client_as(&nobody(), Credential::None, options);
    let error = caller.me().expect_err("nobody is there");
    let Error::Unreachable { cause, tries, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((*cause, *tries), (Cause::Connection, 3));
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(error.to_string().ends_with("(tried 3 times)"), "{error}");
    assert_eq!(waits.lock().expect("whole").len(), 2);
}

#[test]
fn a_server_that_repeats_secrets_is_not_repeated() {
    let server = Scripted::new(|request| {
        let sent = format!("{} {}", request.body, request.token().unwrap_or_default());
        Response::text(422, &json!({"code": "x", "detail": sent}).to_string())
    });
    let (client, _) = client(&server.url);
    let error = client.me().expect_err("refused");
    let password = Secret::new("pass\"word");
    let sign_in = client.token("a@b.test", &password).expect_err("refused");
    let response = client.send(&Request::get("/v1/x")).expect("a response");
    let texts = [
        format!("{client:?} {password:?}"),
        format!("{error} {error:?}"),
        format!("{sign_in} {sign_in:?}"),
        String::from_utf8_lossy(&response.body).into_owned(),
    ];
    let texts = texts.join("\n");
    assert!(texts.contains("a@b.test"), "{texts}");
    for secret in [TOKEN, "pass", "word\""] {
        let shown = texts.replace("password", "");
        assert!(!shown.contains(secret), "{secret}: {texts}");
    }
}
