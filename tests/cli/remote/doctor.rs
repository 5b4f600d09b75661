//! `tplkit doctor`: each part with its verdict.

use serde_json::{Value, json};

use super::{KEY, TestEnv, respond, server};
use crate::scripted::{Response, Scripted, nobody};

/// Name and verdict of every part.
fn verdicts(env: &TestEnv, exit: i32) -> Vec<(String, String)> {
    let document = env.run(&["doctor", "--format", "json"]).exits(exit).json();
    let outcome = match exit {
        0 => "clean",
        1 => "findings",
        _ => "failed",
    };
    assert_eq!(document["outcome"], outcome);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let checks = document["checks"].as_array().expect("a list");
    for check in checks {
        assert_ne!(check["why"], "");
        assert_eq!(
            check["help"].is_string(),
            check["verdict"] == "wrong",
            "{check}"
        );
    }
    checks
        .iter()
        .map(|check| (text(&check["name"]), text(&check["verdict"])))
        .collect()
}

#[track_caller]
fn wrong(env: &TestEnv, exit: i32, name: &str) {
    let verdicts = verdicts(env, exit);
    assert_eq!(verdicts.len(), 11);
    let wrong = verdicts.iter().filter(|(_, verdict)| verdict == "wrong");
    let wrong: Vec<&str> = wrong.map(|(name, _)| name.as_str()).collect();
    assert_eq!(wrong, [name], "{verdicts:?}");
}

#[test]
fn a_set_up_that_is_fine_exits_0() {
    let server = server();
    for env in [
        TestEnv::with_key(&server.url),
        TestEnv::with_session(&server.url),
    ] {
        let verdicts = verdicts(&env, 0);
        assert_eq!(verdicts.len(), 11);
        assert!(
            verdicts.iter().all(|(_, verdict)| verdict == "ok"),
            "{verdicts:?}"
        );
        let ran = env.run(&["doctor"]).exits(0);
        assert_eq!(ran.out.lines().count(), 11, "{}", ran.out);
        assert!(
            ran.out.contains("ok       sign-in      ana@a.test, by "),
            "{}",
            ran.out
        );
        assert_eq!(ran.err, "");
    }
    let received = server.received();
    let public = ["GET /v1/health", "GET /v1/ready"];
    assert!(
        received.iter().all(|request| {
            public.contains(&request.line().as_str()) == request.token().is_none()
        })
    );
}

#[test]
fn the_doctor_names_the_part_that_fails() {
    wrong(&TestEnv::new(), 2, "server");
    wrong(&TestEnv::new().set("TPLKIT_URL", "nowhere"), 2, "server");
    wrong(&TestEnv::with_key(&nobody()), 5, "reachable");
    let server = server();
    let tls = server.url.replace("http://", "https://");
    wrong(&TestEnv::with_key(&tls), 5, "tls");
    wrong(&TestEnv::new().set("TPLKIT_URL", &server.url), 4, "sign-in");
    let env = TestEnv::new()
        .set("TPLKIT_URL", &server.url)
        .set("TPLKIT_TOKEN", "no");
    wrong(&env, 4, "sign-in");

    let but = |path: &'static str, response: Response| {
        Scripted::new(move |request| {
            if request.target == path {
                return response.clone();
            }
            respond(request)
        })
    };
    for (path, response, exit, name) in [
        ("/v1/health", Response::text(200, "<html>"), 5, "health"),
        ("/v1/health", Response::text(404, ""), 1, "health"),
        (
            "/v1/health",
            Response::json(&json!({"version": "9.9.9"})),
            1,
            "version",
        ),
        (
            "/v1/health",
            Response::json(&json!({})).with("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            1,
            "clock",
        ),
        (
            "/v1/ready",
            Response::problem(503, "store_unavailable"),
            5,
            "ready",
        ),
        (
            "/v1/schema/definitions",
            Response::json(&json!({"version": "x"})),
            1,
            "definitions",
        ),
        (
            "/v1/schema/definitions",
            Response::problem(500, "internal"),
            5,
            "definitions",
        ),
    ] {
        wrong(&TestEnv::with_key(&but(path, response).url), exit, name);
    }
    let foreign = but("/v1/ready", Response::text(404, ""));
    assert_eq!(verdicts(&TestEnv::with_key(&foreign.url), 0).len(), 11);
}

#[test]
fn an_unknown_profile_lists_the_known_ones() {
    let server = server();
    let env = TestEnv::with_session(&server.url);
    let words = ["doctor", "--profile", "nope", "--format", "json"];
    let error = env.run(&words).exits(2).json()["errors"][0].clone();
    let found = error["candidates"].as_array().expect("candidates").clone();
    assert_eq!(found[0]["name"], "default", "{error}");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|why| why.contains("`nope`"))
    );
}

#[test]
fn what_cannot_be_read_is_reported_part_by_part() {
    let server = server();
    let env = TestEnv::with_session(&server.url);
    env.write_profiles("[");
    let reported = verdicts(&env, 2);
    assert_eq!(reported[1], ("profiles".to_owned(), "wrong".to_owned()));
    let env = TestEnv::new()
        .set("TPLKIT_URL", &server.url)
        .set("TPLKIT_TOKEN", "a b");
    let reported = verdicts(&env, 2);
    assert_eq!(reported[0], ("environment".to_owned(), "wrong".to_owned()));
    let env = TestEnv::with_key("http://198.51.100.1:9").set("http_proxy", &server.url);
    let ran = env.run(&["doctor"]);
    assert!(
        ran.out.contains("plain HTTP to another machine"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains(KEY));
}
