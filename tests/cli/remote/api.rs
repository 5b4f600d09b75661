//! `tplkit api`: requests as they are typed, responses as they come.

use serde_json::json;

use super::{KEY, TestEnv};
use crate::scripted::{Response, Scripted, nobody};
use crate::support::unread;
#[cfg(target_os = "linux")]
use crate::terminal::Terminal;

#[test]
fn the_body_is_written_as_it_came() {
    let body = "{\"a\": 1.10, \"b\":12345678901234567890123}\n";
    let server = Scripted::new(move |_| Response::text(200, body));
    let env = TestEnv::with_key(&server.url);
    let words = [
        "api",
        "get",
        "/v1/x?a=1",
        "--query",
        "filter=b:eq:c&d e",
        "--header",
        "X-Own: yes",
    ];
    assert_eq!(env.run(&words).exits(0).out, body);
    let request = &server.received()[0];
    assert_eq!(request.line(), "GET /v1/x?a=1&filter=b%3Aeq%3Ac%26d+e");
    assert_eq!(
        (request.header("x-own"), request.token()),
        (Some("yes"), Some(KEY))
    );
    assert_eq!(request.header("idempotency-key"), None);
    let words = [&words[..], &["--format", "json"]].concat();
    let ran = env.run(&words).exits(0);
    // Every digit is kept.
    assert!(
        ran.out
            .contains("\"data\": {\"a\": 1.10, \"b\":12345678901234567890123}"),
        "{}",
        ran.out
    );
    let document = ran.json();
    assert_eq!(
        (
            &document["schemaVersion"],
            &document["outcome"],
            &document["status"]
        ),
        (&json!(1), &json!("clean"), &json!(200))
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_body_is_escaped_for_a_terminal_and_unchanged_in_a_pipe() {
    let page = "{\"items\":[\"a\u{9b}31m\u{202e}b\"],\r\"next_cursor\":null}";
    let text = "a\u{9b}31m\u{1b}[2J\rb";
    let server = Scripted::new(move |request| match request.target.as_str() {
        "/v1/text" => Response::text(200, text),
        _ => Response::text(200, page),
    });
    let env = TestEnv::with_key(&server.url);
    let harmless = r#"{"items":["a\u009b31m\u202eb"],"next_cursor":null}"#;
    for (words, shown) in [
        ("api /v1/page", harmless),
        ("api /v1/page --paginate", harmless),
        ("api /v1/text", "a\u{fffd}31m\u{241b}[2J\u{240d}b"),
    ] {
        let Some(terminal) = Terminal::around(&env.command(&[]), words) else {
            return;
        };
        let (code, seen) = terminal.ends();
        assert_eq!(code, Some(0), "{words}: {seen}");
        assert!(seen.contains(&format!("{shown}\r\n")), "{words}: {seen:?}");
        let steers = seen.contains(['\u{9b}', '\u{202e}', '\u{1b}']);
        assert!(!steers, "{words}: {seen:?}");
    }
    assert_eq!(env.run(&["api", "/v1/page"]).exits(0).out, page);
    assert_eq!(env.run(&["api", "/v1/text"]).exits(0).out, text);
    let ran = env.run(&["api", "/v1/page", "--paginate"]).exits(0);
    assert_eq!(ran.out, page.replace('\r', "") + "\n");
}

#[test]
fn a_refusal_that_nobody_reads_is_one_all_the_same() {
    let server = Scripted::new(|_| Response::problem(404, "not_found"));
    let env = TestEnv::with_key(&server.url);
    for more in [&[][..], &["--format", "json"]] {
        let words = [&["api", "GET", "/v1/x"][..], more].concat();
        let ran = unread(env.command(&words)).exits(1);
        assert!(ran.err.contains("not_found"), "{}", ran.err);
    }
}

#[test]
fn paths_are_completed_and_stay_on_the_server() {
    let server = Scripted::new(|_| Response::text(204, ""));
    let env = TestEnv::with_key(&format!("{}/api/v1", server.url));
    for path in ["/v1/me", "v1/me", "me"] {
        assert_eq!(env.run(&["api", "GET", path]).exits(0).out, "");
    }
    assert_eq!(server.lines(), ["GET /api/v1/me"; 3]);
    let document = env
        .run(&["api", "DELETE", "me", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (&document["data"], &document["status"]),
        (&json!(null), &json!(204))
    );
    for path in [
        "http://other.test/v1/me",
        "/../me",
        "/v1/../../me",
        "/v1/me#x",
    ] {
        env.run(&["api", "GET", path]).exits(2);
    }
    assert_eq!(server.received().len(), 4);
}

#[test]
fn a_post_carries_data_and_a_key_that_stays() {
    let server = Scripted::in_order(vec![
        Response::problem(503, "store_unavailable").with("Retry-After", "0"),
        Response::hang_up(),
        Response::text(201, "{}"),
    ]);
    let env = TestEnv::with_key(&server.url);
    env.place.write("body.json", "{\"label\": \"é\"}");
    let ran = env
        .run(&["api", "POST", "/v1/workspaces", "--data", "body.json", "-v"])
        .exits(0);
    let received = server.received();
    assert_eq!(received.len(), 3);
    let key = received[0]
        .header("idempotency-key")
        .expect("a key")
        .to_owned();
    assert!(
        ran.err.contains(&format!("Idempotency-Key: {key}")),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("returned 503; again in "), "{}", ran.err);
    for request in received {
        assert_eq!(request.header("idempotency-key"), Some(&*key));
        assert_eq!(request.body, "{\"label\": \"é\"}");
    }
    // Every run has its own, unless one is given.
    env.feed(&["api", "POST", "/v1/workspaces", "--data", "-"], "[]")
        .exits(0);
    env.run(&["api", "POST", "/v1/x", "--idempotency-key", "mine"])
        .exits(0);
    env.run(&["api", "POST", "/v1/x", "--header", "idempotency-key: its"])
        .exits(0);
    let words = [
        "api",
        "POST",
        "/v1/api-keys",
        "--header",
        "Content-Type: text/plain",
        "--data",
        "-",
    ];
    env.feed(&words, "x").exits(0);
    let received = server.received();
    let keys: Vec<Option<&str>> = received[3..]
        .iter()
        .map(|request| request.header("idempotency-key"))
        .collect();
    assert_ne!(keys[0], Some(&*key));
    assert_eq!(keys[1..], [Some("mine"), Some("its"), None]);
    assert_eq!(received[3].body, "[]");
    assert_eq!(received[6].header("content-type"), Some("text/plain"));
}

#[test]
fn pages_become_one() {
    let server = Scripted::new(|request| match request.target.as_str() {
        "/v1/x?limit=2" => Response::text(200, "{\"items\": [1.10, 2], \"next_cursor\": \"c\"}"),
        "/v1/x?limit=2&cursor=c" => Response::text(200, "{\"items\": [3], \"next_cursor\": null}"),
        _ => Response::problem(422, "validation_failed"),
    });
    let env = TestEnv::with_key(&server.url);
    let words = ["api", "GET", "/v1/x?limit=2", "--paginate"];
    let one = "{\"items\":[1.10,2,3],\"next_cursor\":null}";
    assert_eq!(env.run(&words).exits(0).out, format!("{one}\n"));
    let ran = env
        .run(&[&words[..], &["--format", "json"]].concat())
        .exits(0);
    assert!(ran.out.contains(&format!("\"data\": {one}")), "{}", ran.out);
    env.run(&["api", "POST", "/v1/x", "--paginate"]).exits(2);
    // A walk that breaks leaves no half of it.
    let ran = env.run(&["api", "GET", "/v1/y", "--paginate"]).exits(1);
    assert_eq!(ran.out, "");
}

#[test]
fn every_refusal_has_its_exit_code() {
    for (status, exit, outcome) in [
        (401, 4, "failed"),
        (403, 4, "failed"),
        (404, 1, "findings"),
        (409, 1, "findings"),
        (422, 1, "findings"),
        (500, 5, "failed"),
        (501, 5, "failed"),
    ] {
        let server = Scripted::new(move |_| Response::problem(status, "made_up"));
        let env = TestEnv::with_key(&server.url);
        let ran = env.run(&["api", "GET", "/v1/x"]).exits(exit);
        assert!(ran.out.contains("\"code\":\"made_up\""), "{}", ran.out);
        let expected =
            format!("error: GET /v1/x was refused with {status} `made_up`: detail of made_up");
        assert!(
            ran.err.starts_with(&expected) && ran.err.contains("\n  help: "),
            "{}",
            ran.err
        );
        let document = env
            .run(&["api", "GET", "/v1/x", "--format", "json"])
            .exits(exit)
            .json();
        assert_eq!(document["outcome"], outcome);
        assert_eq!(document["status"], status);
        assert_eq!(document["data"]["code"], "made_up");
        assert_eq!(document["errors"][0]["code"], "made_up");
    }
}

#[test]
fn what_stays_unavailable_exits_5() {
    for response in [
        Response::problem(429, "rate_limited").with("Retry-After", "60"),
        Response::problem(503, "store_unavailable").with("Retry-After", "60"),
        Response::text(504, "<html>"),
    ] {
        let server = Scripted::new(move |_| response.clone());
        let env = TestEnv::with_key(&server.url);
        env.run(&["api", "PATCH", "/v1/x"]).exits(5);
    }
    let env = TestEnv::with_key(&nobody());
    let ran = env.run(&["api", "GET", "/v1/x"]).exits(5);
    assert!(ran.err.contains("(tried 5 times)"), "{}", ran.err);
    let document = env
        .run(&["api", "PATCH", "/v1/x", "--format", "json"])
        .exits(5)
        .json();
    assert_eq!(document["outcome"], "failed");
}

#[test]
fn a_redirect_elsewhere_is_reported() {
    let other = Scripted::new(|_| Response::text(200, "{}"));
    let to = format!("{}/v1/me", other.url);
    let server = Scripted::new(move |_| Response::text(308, "").with("Location", &to));
    let ran = TestEnv::with_key(&server.url)
        .run(&["api", "GET", "/v1/me"])
        .exits(2);
    let help = format!("tplkit login --url {}`", other.url);
    assert!(ran.err.contains(&help), "{}", ran.err);
    assert_eq!(other.lines(), Vec::<String>::new());
}

#[test]
fn a_credential_is_no_argument() {
    let env = TestEnv::with_key(&nobody());
    for header in [
        "Authorization: Bearer do-not-show",
        "AUTHORIZATION:x",
        "Host: x",
        "no-colon do-not-show",
    ] {
        let ran = env
            .run(&["api", "GET", "/v1/me", "--header", header])
            .exits(2);
        assert!(!ran.err.contains("do-not-show"), "{}", ran.err);
    }
}

#[test]
fn without_a_server_or_a_credential_it_says_so() {
    let ran = TestEnv::new().run(&["api", "GET", "/v1/me"]).exits(4);
    assert!(ran.err.contains("tplkit login --url URL"), "{}", ran.err);
    TestEnv::new()
        .set("TPLKIT_TOKEN", KEY)
        .run(&["api", "GET", "/v1/me"])
        .exits(2);
    let env = TestEnv::new().set("TPLKIT_URL", "https://ana:do-not-show@a.test");
    let ran = env.run(&["api", "GET", "/v1/me"]).exits(2);
    assert!(!ran.err.contains("do-not-show"), "{}", ran.err);
    // What is public needs nobody.
    let server = super::server();
    let env = TestEnv::new().set("TPLKIT_URL", &server.url);
    env.run(&["api", "GET", "/v1/health"]).exits(0);
}

#[test]
fn fields_make_a_body_and_a_post() {
    let server = Scripted::new(|_| Response::json(&json!({"id": "w"})));
    let env = TestEnv::with_key(&server.url);
    let field = |words: &[&str]| env.run(&[&["api"][..], words].concat());
    field(&[
        "/v1/workspaces",
        "--field",
        "label=Tea",
        "--field",
        "config.order:=7",
        "--field",
        "price:=12345678901234567890.10",
    ])
    .exits(0);
    field(&["PATCH", "workspaces/w", "--field", "label=Tea"]).exits(0);
    field(&["/v1/workspaces"]).exits(0);
    let received = server.received();
    let sent: Vec<(String, &str)> = received
        .iter()
        .map(|one| (one.line(), one.body.as_str()))
        .collect();
    assert_eq!(
        sent,
        [
            (
                "POST /v1/workspaces".to_owned(),
                r#"{"label":"Tea","config":{"order":7},"price":12345678901234567890.10}"#
            ),
            ("PATCH /v1/workspaces/w".to_owned(), r#"{"label":"Tea"}"#),
            ("GET /v1/workspaces".to_owned(), ""),
        ]
    );
    env.place.write("body.json", "{}");
    field(&["/v1/x", "--field", "a=b", "--data", "body.json"]).exits(2);
    field(&["/v1/x", "--field", "a:=nope"]).exits(2);
    field(&["GET"]).exits(2);
    assert_eq!(server.received().len(), 3);
}

#[test]
fn json_in_place_of_a_file_is_sent_to_the_fields() {
    let env = TestEnv::with_key("http://127.0.0.1:9");
    let words = ["api", "POST", "/v1/x", "--data", "{\"secret\": \"s3cret\"}"];
    let ran = env.run(&words).exits(2);
    assert!(ran.err.contains("--field NAME=TEXT"), "{}", ran.err);
    assert!(!ran.err.contains("s3cret"), "{}", ran.err);
}
