//! How long and how large answers may be, and answers that are none.

use std::time::Duration;

use serde_json::json;
use tplkit::client::{Cause, Credential, Error, Options};

use crate::host::{client_as, client_in};
use crate::scripted::{Reply, Scripted};

#[test]
fn an_answer_has_a_size_and_a_time() {
    let large = json!({"kind": "user", "id": "u".repeat(1000)});
    let options = Options {
        largest: 1000,
        retries: 0,
        ..Options::default()
    };
    let server = Scripted::new(move |_| Reply::json(&large));
    let (client, _) = client_as(&server.url, Credential::None, options);
    let error = client.me().expect_err("too large");
    assert!(
        matches!(error, Error::TooLarge { largest: 1000, .. }),
        "{error}"
    );

    let (hold, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let server = Scripted::new(move |_| {
        // Answers when the test is over.
        wait.lock().expect("whole").recv().ok();
        Reply::json(&json!({}))
    });
    let options = Options {
        whole: Duration::from_millis(50),
        ..options
    };
    let (client, _) = client_as(&server.url, Credential::None, options);
    let error = client.me().expect_err("too slow");
    let timeout = Cause::Timeout;
    assert!(
        matches!(&error, Error::Unreachable { cause, .. } if *cause == timeout),
        "{error}"
    );
    drop(hold);
}

#[test]
fn an_answer_that_comes_in_drops_ends_in_time() {
    let server = Scripted::new(|_| Reply::json(&json!({"kind": "user", "id": "u"})));
    let options = Options {
        retries: 0,
        ..Options::default()
    };
    for (step, comes) in [(options.whole, true), (options.whole * 2, false)] {
        let (client, _) = client_in(&server.url, Credential::None, options, step);
        let me = client.me();
        assert_eq!(me.is_ok(), comes, "{me:?}");
        assert!(
            comes
                || me
                    .expect_err("late")
                    .to_string()
                    .ends_with("no whole answer in time")
        );
    }
}

#[test]
fn what_is_no_tls_is_told_and_not_tried_again() {
    let server = Scripted::new(|_| Reply::text(200, "{}"));
    let url = server.url.replace("http://", "https://");
    let (client, waits) = client_as(&url, Credential::None, Options::default());
    let error = client.me().expect_err("no TLS there");
    assert!(
        matches!(
            &error,
            Error::Unreachable {
                cause: Cause::Tls,
                tries: 1,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(waits.lock().expect("whole").len(), 0);
}

#[test]
fn a_success_that_is_none_is_told() {
    for (body, why) in [
        ("<html>welcome</html>", "no JSON at line 1, column 1"),
        ("", "it is empty"),
        ("{\"kind\": 7}", "unexpected content at line 1, column 10"),
    ] {
        let server = Scripted::new(move |_| Reply::text(200, body));
        let (client, _) = client_as(&server.url, Credential::None, Options::default());
        let error = client.me().expect_err(body).to_string();
        let told = format!("the answer to GET /v1/me is not that of the API: {why}");
        assert_eq!(error, told);
    }
}

#[test]
fn a_prefix_and_a_version_in_the_address_are_understood() {
    let server = Scripted::new(|_| Reply::json(&json!({"status": "ok"})));
    for end in ["", "/", "/v1", "/v1/"] {
        let url = format!("{}/api{end}", server.url);
        let (client, _) = client_as(&url, Credential::None, Options::default());
        let health = client.health().expect("health");
        assert_eq!(
            (health.status.as_deref(), health.version),
            (Some("ok"), None)
        );
    }
    assert_eq!(server.lines(), ["GET /api/v1/health"; 4]);
}
