//! `tplkit rows list`: all pages, in four forms.

use serde_json::json;

use super::{KEY, TestEnv};
use crate::scripted::{Response, Scripted};
use crate::support::unread;
#[cfg(target_os = "linux")]
use crate::terminal::Terminal;

const FEATURE: &str = "0198c0de-0000-7000-8000-00000000000f";

/// A table `clients` with 201 rows, and two tables `twice`.
fn server() -> Scripted {
    Scripted::new(|request| {
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        if request.token() != Some(KEY) {
            return Response::problem(401, "unauthenticated");
        }
        let rows = format!("/v1/features/{FEATURE}/rows");
        let row = |number: usize| {
            format!(
                "{{\"id\":\"r{number}\",\"data\":{{\"name\":\"n, {number}\",\"amount\":{number}.50}}}}"
            )
        };
        if path == rows && query.contains("filter=bad") {
            return Response::problem(422, "invalid_filter");
        }
        if path == rows {
            let after = query.contains("cursor=next");
            let numbers = if after { 200..201 } else { 0..200 };
            let limit = query
                .split('&')
                .find_map(|pair| pair.strip_prefix("limit="));
            let limit: usize = limit.and_then(|limit| limit.parse().ok()).unwrap_or(25);
            let more = !after;
            let items: Vec<String> = numbers.take(limit).map(row).collect();
            let next = json!(more.then_some("next"));
            let body = format!("{{\"items\":[{}],\"next_cursor\":{next}}}", items.join(","));
            let response = Response::text(200, &body);
            if query.contains("sort=colour") {
                return response.with("X-Unknown-Columns", "col%2Cour");
            }
            return response;
        }
        if path == format!("{rows}:aggregate") && query.contains("op=count") {
            return Response::json(&json!({"op": "count", "result": 201}));
        }
        match path {
            "/v1/features" => Response::json(&json!({"items": [
                {"id": FEATURE, "name": "clients", "workspace_id": "w"},
                {"id": "t1", "name": "twice", "workspace_id": "w"},
                {"id": "t2", "name": "twice"},
            ]})),
            _ if path.ends_with("/columns") => Response::json(&json!([
                {"id": "c1", "name": "name", "type": "text"},
                {"id": "c2", "name": "amount", "type": "currency"},
                {"id": "c3", "name": "empty", "type": "text"},
            ])),
            _ => Response::problem(404, "not_found"),
        }
    })
}

#[test]
fn pages_that_nobody_reads_are_not_asked_for() {
    let server = server();
    let env = TestEnv::with_key(&server.url);
    let rows = format!("GET /v1/features/{FEATURE}/rows?");
    for (form, asked) in [("text", 1), ("csv", 1), ("jsonl", 1), ("json", 2)] {
        let before = server.lines().len();
        let words = ["rows", "list", FEATURE, "--format", form];
        let ran = unread(env.command(&words)).exits(0);
        assert_eq!(ran.err, "", "{form}");
        let lines = server.lines();
        let pages = lines[before..].iter();
        let pages = pages.filter(|line| line.starts_with(&rows)).count();
        assert_eq!(pages, asked, "{form}");
    }
}

#[test]
fn all_pages_are_listed_in_every_form() {
    let server = server();
    let env = TestEnv::with_key(&server.url);
    let list = |form: &str| {
        env.run(&["rows", "list", FEATURE, "--format", form])
            .exits(0)
    };
    let text = list("text").out;
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("id    name    amount  empty"));
    assert_eq!(lines.next(), Some("r0    n, 0    0.50"));
    assert_eq!(lines.last(), Some("r200  n, 200  200.50"));

    let csv = list("csv").out;
    assert_eq!(csv.lines().count(), 202);
    assert!(
        csv.starts_with("id,name,amount,empty\nr0,\"n, 0\",0.50,\n"),
        "{csv}"
    );

    let lines = list("jsonl").out;
    assert_eq!(lines.lines().count(), 201);
    assert_eq!(
        lines.lines().last(),
        Some("{\"id\":\"r200\",\"data\":{\"name\":\"n, 200\",\"amount\":200.50}}")
    );

    let ran = list("json");
    assert!(ran.out.contains("\"amount\":0.50"), "{}", ran.out);
    let document = ran.json();
    assert_eq!(
        (&document["schemaVersion"], &document["outcome"]),
        (&json!(1), &json!("clean"))
    );
    assert_eq!(
        document["data"]["items"].as_array().map(Vec::len),
        Some(201)
    );
    assert_eq!(document["data"]["next_cursor"], json!(null));
    assert_eq!(ran.err, "");
}

#[test]
fn the_query_is_passed_on() {
    let server = server();
    let env = TestEnv::with_key(&server.url);
    let words = [
        "rows",
        "list",
        FEATURE,
        "--filter",
        "name:eq:a:b",
        "--filter",
        "amount:gtn:1",
        "--match",
        "any",
        "--sort",
        "-amount",
        "--fields",
        "name,amount",
        "--limit",
        "3",
        "--format",
        "json",
    ];
    let ran = env.run(&words).exits(0);
    assert_eq!(
        ran.json()["data"]["items"].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(ran.json()["data"]["next_cursor"], "next");
    assert!(ran.err.contains("there are more rows"), "{}", ran.err);
    let query = "filter=name%3Aeq%3Aa%3Ab&filter=amount%3Agtn%3A1&match=any&sort=-amount&fields=name%2Camount&limit=3";
    assert_eq!(
        server.lines(),
        [format!("GET /v1/features/{FEATURE}/rows?{query}")]
    );
    let ran = env
        .run(&["rows", "list", FEATURE, "--sort", "colour", "-q"])
        .exits(0);
    assert_eq!(ran.err, "");
    let ran = env
        .run(&["rows", "list", FEATURE, "--sort", "colour"])
        .exits(0);
    assert!(ran.err.contains("has no column `col,our`"), "{}", ran.err);
}

#[test]
fn a_table_is_found_by_its_name() {
    let server = server();
    let env = TestEnv::with_key(&server.url);
    env.run(&["rows", "list", "clients"]).exits(0);
    let ran = env.run(&["rows", "list", "twice"]).exits(2);
    assert!(ran.err.contains("t1 (workspace w)\n"), "{}", ran.err);
    assert!(ran.err.contains("  t2\n"), "{}", ran.err);
    let ran = env.run(&["rows", "list", "gone"]).exits(2);
    assert!(ran.err.contains("no table `gone`"), "{}", ran.err);
}

#[test]
fn refusals_leave_one_document() {
    let server = server();
    let env = TestEnv::with_key(&server.url);
    let words = [
        "rows", "list", FEATURE, "--filter", "bad", "--format", "json",
    ];
    let document = env.run(&words).exits(1).json();
    assert_eq!(
        (&document["outcome"], &document["errors"][0]["code"]),
        (&json!("findings"), &json!("invalid_filter"))
    );
    let ran = TestEnv::new()
        .set("TPLKIT_URL", &server.url)
        .run(&words)
        .exits(4);
    assert_eq!(ran.json()["outcome"], "failed");
    assert!(ran.err.contains("not signed in to"), "{}", ran.err);
    for form in ["text", "csv", "jsonl"] {
        let words = ["rows", "list", FEATURE, "--filter", "bad", "--format", form];
        assert_eq!(env.run(&words).exits(1).out, "", "{form}");
        let words = ["rows", "list", FEATURE, "--limit", "0", "--format", form];
        env.run(&words).exits(0);
    }
    env.run(&["rows", "list"]).exits(2);
    env.run(&["rows", "list", FEATURE, "--limit", "-1"])
        .exits(2);
    env.run(&["rows", "list", "0198c0de-0000-7000-8000-0000000000ff"])
        .exits(1);
}

/// The rows that a filter finds are counted, too.
#[cfg(target_os = "linux")]
#[test]
fn the_number_of_rows_is_known_before_a_bar_is_drawn() {
    let server = server();
    let env = TestEnv::with_key(&server.url);
    let line = format!("rows list {FEATURE} --filter name:eq:x --match any --format json");
    let Some(mut terminal) = Terminal::around(&env.command(&[]), &line) else {
        return;
    };
    terminal.shows("201/201");
    terminal.shows("/s");
    terminal.shows(" left");
    assert_eq!(terminal.ends().0, Some(0));
    let lines = server.lines();
    let counted = lines.iter().find(|line| line.contains("rows:aggregate"));
    let counted = counted.unwrap_or_else(|| panic!("{lines:#?}"));
    for part in ["op=count", "filter=name", "match=any"] {
        assert!(counted.contains(part), "{counted}");
    }
}
