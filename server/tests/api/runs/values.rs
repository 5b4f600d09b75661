//! What cells bring into requests and mails: data, and never another resource or another addressee.

use serde_json::{Value, json};

use super::integrations::settings;
use super::{Stage, ended};
use crate::sinks::{HttpSink, MailSink};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_cell_never_decides_which_resource_is_asked,
    a_cell_that_is_the_whole_path_stays_below_the_connection,
    a_cell_is_one_mailbox,
);

/// Runs an automation on a row for each value, in its column `note`, and gives the runs in that order.
async fn runs(stage: &Stage, steps: &Value, values: &[Value]) -> Vec<Value> {
    let it = stage.fires(&json!({"type": "manual"}), steps).await;
    for value in values {
        let row = stage.row(&stage.model.feature, &json!({"cell": value}));
        let begin = json!({"row_id": row, "feature_id": stage.model.feature});
        stage.editor.post_to(&it, "/runs", &begin).expect(202);
    }
    stage
        .executor_with(settings())
        .run_due()
        .await
        .expect("runs");
    let mut runs = stage.runs(&it);
    assert_eq!(runs.len(), values.len());
    runs.sort_by_key(|run| run["id"].as_str().map(str::to_owned));
    runs
}

/// A stage whose table takes any value in the column `cell`.
async fn open_stage(place: Place) -> Stage {
    let stage = Stage::new(place).await;
    let column = json!({"label": "cell", "type": "json"});
    stage.editor.create(&stage.model.columns(), &column);
    stage
}

fn request(path: &str) -> Value {
    json!([{"key": "http.request", "config": {"connectionName": "api", "method": "GET", "path": path}}])
}

/// The targets that came, in order.
fn targets(sink: &HttpSink) -> Vec<String> {
    let received = sink.received();
    let target = |head: &str| head.split(' ').nth(1).unwrap_or_default().to_owned();
    received
        .iter()
        .map(|request| target(&request.head))
        .collect()
}

async fn a_cell_never_decides_which_resource_is_asked(place: Place) {
    let stage = open_stage(place).await;
    let sink = HttpSink::start("200 OK", "{}");
    stage.connection("api", "http", &sink.url, None).await;
    let path = "/customers/{{record.cell}}?q={{record.cell}}";
    let good = [
        ("7", "7"),
        ("../admin", "..%2Fadmin"),
        ("../../v1/admin/delete", "..%2F..%2Fv1%2Fadmin%2Fdelete"),
        ("%2e%2e/admin", "%252e%252e%2Fadmin"),
        ("./../admin", ".%2F..%2Fadmin"),
        ("x?role=admin", "x%3Frole%3Dadmin"),
        ("x#y", "x%23y"),
        ("a\\b", "a%5Cb"),
        ("//evil", "%2F%2Fevil"),
        ("a&b=c", "a%26b%3Dc"),
    ];
    let mut values: Vec<Value> = good.iter().map(|(value, _)| json!(value)).collect();
    values.push(json!(7.5));
    let bad = [
        json!(""),
        json!("."),
        json!(".."),
        json!("%2e%2E"),
        json!("a\nb"),
        json!(["a"]),
        json!({"a": "b"}),
        json!(null),
    ];
    values.extend(bad.clone());
    let runs = runs(&stage, &request(path), &values).await;
    for (run, value) in runs.iter().zip(&values) {
        let fails = bad.contains(value);
        let status = if fails { "failed" } else { "succeeded" };
        assert_eq!(ended(run).0, status, "{value} {run}");
        assert!(!fails || ended(run).1.contains("`path`"), "{run}");
    }
    let mut expected: Vec<String> = good
        .iter()
        .map(|(_, one)| format!("/v1/customers/{one}?q={one}"))
        .collect();
    expected.push("/v1/customers/7.5?q=7.5".to_owned());
    assert_eq!(targets(&sink), expected);
}

async fn a_cell_that_is_the_whole_path_stays_below_the_connection(place: Place) {
    let stage = open_stage(place).await;
    let sink = HttpSink::start("200 OK", "{}");
    stage.connection("api", "http", &sink.url, None).await;
    let good = ["/orders/1", "/", "/orders?x=1&y=../.."];
    let bad = [
        "orders",
        "//evil",
        "/../admin",
        "/a/%2e%2e/%2e%2e/admin",
        "/a//b",
        "/a/..%2fb",
        "/a\\..\\b",
        "/a#b",
        "/a\r\nb",
        "",
    ];
    let values: Vec<Value> = good.iter().chain(&bad).map(|value| json!(value)).collect();
    let runs = runs(&stage, &request("{{record.cell}}"), &values).await;
    for (run, value) in runs.iter().zip(good.iter().chain(&bad)) {
        let status = if good.contains(value) {
            "succeeded"
        } else {
            "failed"
        };
        assert_eq!(ended(run).0, status, "{value:?} {run}");
    }
    assert_eq!(
        targets(&sink),
        ["/v1/orders/1", "/v1/", "/v1/orders?x=1&y=../.."]
    );
}

async fn a_cell_is_one_mailbox(place: Place) {
    let stage = open_stage(place).await;
    let sink = MailSink::start();
    stage.connection("post", "smtp", &sink.url, None).await;
    let steps = json!([{"key": "email.send", "config": {"connectionName": "post",
        "to": "desk@acme.test, {{record.cell}}", "subject": "s", "body": "b"}}]);
    let good = [
        (json!("ana@acme.test"), vec!["ana@acme.test"]),
        (json!("Eve <eve@acme.test>"), vec!["eve@acme.test"]),
        (
            json!("\"Doe, Jane <x@y.z>\" <jane@acme.test>"),
            vec!["jane@acme.test"],
        ),
        (
            json!(["a@acme.test", "B <b@acme.test>"]),
            vec!["a@acme.test", "b@acme.test"],
        ),
    ];
    let bad = [
        json!("a@acme.test, evil@example.org"),
        json!("Eve <a@acme.test>, <evil@example.org>"),
        json!("\"a@acme.test\", evil@example.org"),
        json!("friends: a@acme.test, evil@example.org;"),
        json!("a@acme.test\r\nBcc: evil@example.org"),
        json!("a@acme.test (evil@example.org)"),
        json!(["a@acme.test, evil@example.org"]),
        json!(["a@acme.test", ["evil@example.org"]]),
        json!({"a": "evil@example.org"}),
        json!("nobody"),
        json!(""),
        json!(null),
    ];
    let values: Vec<Value> = good
        .iter()
        .map(|(value, _)| value)
        .chain(&bad)
        .cloned()
        .collect();
    let runs = runs(&stage, &steps, &values).await;
    for (run, value) in runs.iter().zip(&values) {
        let fails = bad.contains(value);
        let status = if fails { "failed" } else { "succeeded" };
        assert_eq!(ended(run).0, status, "{value} {run}");
        assert!(!fails || ended(run).1.contains("`to`"), "{run}");
    }
    let sent = sink.mails();
    assert_eq!(sent.len(), good.len());
    for (mail, (_, to)) in sent.iter().zip(&good) {
        assert_eq!(mail.to[0], "desk@acme.test");
        assert_eq!(mail.to[1..], to[..], "{mail:?}");
    }
}
