//! How long and how large responses may be, and responses that are none.

use std::time::Duration;

use serde_json::json;
use tplkit::client::{Cause, Credential, Error, Options};

use crate::host::{client_as, client_in};
use crate::scripted::{Response, Scripted};

#[test]
fn a_response_has_a_size_and_a_time() {
    let large = json!({"kind": "user", "id": "u".repeat(1000)});
    let options = Options {
        largest: 1000,
        retries: 0,
        ..Options::default()
    };
    let server = Scripted::new(move |_| Response::json(&large));
    let (client, _) = client_as(&server.url, Credential::None, options);
    let error = client.me().expect_err("too large");
    assert!(
        matches!(error, Error::TooLarge { largest: 1000, .. }),
        "{error}"
    );

    let (hold, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let server = Scripted::new(move |_| {
        // Responds when the test is over.
        wait.lock().expect("whole").recv().ok();
        Response::json(&json!({}))
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

/// Serves one connection with those bytes, and then nothing until it is closed.
fn silent_after(bytes: &'static [u8]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("connects");
            std::thread::spawn(move || {
                use std::io::{Read as _, Write as _};
                let mut buffer = [0; 4096];
                let read = stream.read(&mut buffer).is_ok_and(|length| length > 0);
                assert!(read, "a request");
                stream.write_all(bytes).ok();
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
            });
        }
    });
    format!("http://{address}")
}

#[test]
fn a_server_that_stays_silent_or_boasts_is_left_at_once() {
    let options = Options {
        silence: Duration::from_millis(50),
        ..Options::default()
    };
    for bytes in [
        &b""[..],
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    ] {
        let (client, waits) = client_as(&silent_after(bytes), Credential::None, options);
        let error = client.me().expect_err("too slow");
        let late = matches!(&error, Error::Unreachable { cause, tries: 1, .. } if *cause == Cause::Timeout);
        assert!(late, "{error}");
        assert!(waits.lock().expect("whole").is_empty(), "not tried again");
    }
    // Nothing of it is read: with the usual patience this would take half a minute.
    let claim = b"HTTP/1.1 200 OK\r\ncontent-length: 1099511627776\r\n\r\n{";
    let (client, _) = client_as(&silent_after(claim), Credential::None, Options::default());
    let error = client.me().expect_err("too large");
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}

#[test]
fn a_response_that_comes_in_drops_ends_in_time() {
    let server = Scripted::new(|_| Response::json(&json!({"kind": "user", "id": "u"})));
    let options = Options {
        retries: 0,
        ..Options::default()
    };
    for (step, comes) in [(options.silence, true), (options.silence * 2, false)] {
        let (client, _) = client_in(&server.url, Credential::None, options, step);
        let me = client.me();
        assert_eq!(me.is_ok(), comes, "{me:?}");
        assert!(
            comes
                || me
                    .expect_err("late")
                    .to_string()
                    .ends_with("no complete response in time")
        );
    }
}

#[test]
fn what_is_not_tls_is_reported_and_not_tried_again() {
    let server = Scripted::new(|_| Response::text(200, "{}"));
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
fn a_success_that_is_none_is_reported() {
    for (body, why) in [
        ("<html>welcome</html>", "no JSON at line 1, column 1"),
        ("", "it is empty"),
        ("{\"kind\": 7}", "unexpected content at line 1, column 10"),
    ] {
        let server = Scripted::new(move |_| Response::text(200, body));
        let (client, _) = client_as(&server.url, Credential::None, Options::default());
        let error = client.me().expect_err(body).to_string();
        let expected = format!("the response to GET /v1/me is not that of the API: {why}");
        assert_eq!(error, expected);
    }
}

#[test]
fn a_prefix_and_a_version_in_the_address_are_understood() {
    let server = Scripted::new(|_| Response::json(&json!({"status": "ok"})));
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
