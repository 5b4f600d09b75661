//! A credential stays with the server that it is for.

use serde_json::json;
use tplkit::client::{Error, Request};

use crate::host::{TOKEN, client};
use crate::scripted::{Response, Scripted};

fn me() -> Response {
    Response::json(&json!({"kind": "user", "id": "u"}))
}

#[test]
fn redirects_to_another_server_are_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let other = Scripted::new(|_| me());
        let to = format!("{}/v1/me?secret=1", other.url);
        let server = Scripted::new(move |_| Response::text(status, "").with("Location", &to));
        let (client, _) = client(&server.url);
        let Err(Error::Redirected { to, .. }) = client.me() else {
            panic!("{status} was followed");
        };
        assert_eq!(to, format!("{}/v1/me", other.url));
        assert_eq!(server.received()[0].token(), Some(TOKEN));
        assert_eq!(other.lines(), Vec::<String>::new());
    }
}

#[test]
fn another_scheme_is_another_place() {
    let server = Scripted::new(|request| {
        let host = request.header("host").unwrap_or_default();
        Response::text(307, "").with("Location", &format!("https://{host}/v1/me"))
    });
    let (client, _) = client(&server.url);
    assert!(matches!(client.me(), Err(Error::Redirected { .. })));
    assert_eq!(server.received().len(), 1);
}

#[test]
fn the_same_server_is_followed_where_that_changes_nothing() {
    let server = Scripted::new(|request| match request.target.as_str() {
        "/v1/me" => Response::text(301, "").with("Location", "/v2/me"),
        "/v1/kept" => Response::text(307, "").with("Location", "/v2/me"),
        "/v1/lost" => Response::text(302, "").with("Location", "/v2/me"),
        "/v1/round" => Response::text(302, "").with("Location", "/v1/round"),
        _ => me(),
    });
    let (client, _) = client(&server.url);
    assert_eq!(client.me().expect("me").id, "u");
    assert_eq!(server.received()[1].token(), Some(TOKEN));
    let post = |path: &str| client.call(&Request::post(path, &json!({"a": 1})));
    assert!(post("/v1/kept").is_ok());
    let received = server.received();
    let last = received.last().expect("one");
    assert_eq!(
        (last.line().as_str(), last.body.as_str()),
        ("POST /v2/me", "{\"a\":1}")
    );
    // A POST that would become a GET is reported instead.
    assert!(matches!(post("/v1/lost"), Err(Error::Redirected { .. })));
    let round = client.call(&Request::get("/v1/round"));
    assert!(matches!(round, Err(Error::Redirected { .. })));
}
