//! The routes of the catalog and of jobs: what is sent, and what may be sent again.

use serde_json::json;
use tplkit::client::{Client, Credential, JobOutcome, Options};

use crate::host::client_as;
use crate::scripted::{Response, Scripted};

fn record() -> Response {
    Response::json(
        &json!({"id": "t", "name": "sales", "status": "completed", "jobId": "j", "result": 7}),
    )
}

fn client(server: &Scripted) -> Client {
    client_as(&server.url, Credential::None, Options::default()).0
}

#[test]
fn every_call_goes_to_its_route() {
    let server = Scripted::new(|_| record());
    let client = client(&server);
    assert_eq!(client.template("t/x").expect("template").record.id, "t");
    assert!(client.package("t").expect("package").contains("sales"));
    client.replace_package("t", "{\"p\":1}").expect("replace");
    client.import(Some("o"), "{\"p\":2}").expect("import");
    client.import(None, "{\"p\":3}").expect("import");
    let members = json!({"visibility": "org"});
    client.change_template("t", &members).expect("change");
    client
        .put_payload("t", "u_1", "{\"p\":4}")
        .expect("payload");
    client.delete_payload("t", "u_1").expect("payload");
    client.delete_template("t").expect("delete");
    client.export("w", &json!({"rows": "all"})).expect("export");
    assert_eq!(
        client.apply("t", &json!({"a": 1})).expect("apply").job_id,
        "j"
    );
    let job = client.job("j").expect("job");
    assert_eq!(job.record.ended(), Some(JobOutcome::Completed));
    client.undo("j", false).expect("undo");
    client.undo("j", true).expect("undo");
    client.cancel("j").expect("cancel");
    assert_eq!(client.count("f").expect("count"), 7);
    let sent: Vec<(String, String, bool)> = server
        .received()
        .iter()
        .map(|one| {
            let keyed = one.header("idempotency-key").is_some();
            (one.line(), one.body.clone(), keyed)
        })
        .collect();
    let expected = [
        ("GET /v1/templates/t%2Fx", "", false),
        ("GET /v1/templates/t/package", "", false),
        ("PUT /v1/templates/t/package", "{\"p\":1}", false),
        (
            "POST /v1/templates/import?organization_id=o",
            "{\"p\":2}",
            true,
        ),
        ("POST /v1/templates/import", "{\"p\":3}", true),
        ("PATCH /v1/templates/t", "{\"visibility\":\"org\"}", false),
        ("PUT /v1/templates/t/payloads/u%5F1", "{\"p\":4}", false),
        ("DELETE /v1/templates/t/payloads/u%5F1", "", false),
        ("DELETE /v1/templates/t", "", false),
        ("POST /v1/workspaces/w/export", "{\"rows\":\"all\"}", true),
        ("POST /v1/templates/t/apply", "{\"a\":1}", true),
        ("GET /v1/template-jobs/j", "", false),
        ("POST /v1/template-jobs/j/undo", "", true),
        ("POST /v1/template-jobs/j/undo?force=true", "", true),
        ("POST /v1/template-jobs/j/cancel", "", true),
        ("GET /v1/features/f/rows:aggregate?op=count", "", false),
    ];
    let expected = expected.map(|(line, body, keyed)| (line.to_owned(), body.to_owned(), keyed));
    assert_eq!(sent, expected);
}

#[test]
fn lists_keep_the_documents_of_the_server() {
    let server = Scripted::new(|_| {
        Response::text(
            200,
            r#"{"items": [{"id": "t", "status": "rows", "more": 1.10}], "next_cursor": null}"#,
        )
    });
    let client = client(&server);
    let mut templates = client.templates(Some("module"), None);
    let page = templates.next().expect("a page").expect("templates");
    assert!(page.items[0].document.get().contains("1.10"));
    let mut jobs = client.jobs(Some("w"));
    let page = jobs.next().expect("a page").expect("jobs");
    assert_eq!(page.items[0].record.ended(), None);
    let payloads = client
        .payloads("t")
        .next()
        .expect("a page")
        .expect("payloads");
    assert!(payloads.items[0].get().contains("1.10"));
    assert_eq!(
        server.lines(),
        [
            "GET /v1/templates?scope=module&limit=200",
            "GET /v1/template-jobs?workspace_id=w&limit=200",
            "GET /v1/templates/t/payloads?limit=200",
        ]
    );
}

#[test]
fn reads_are_sent_again_without_a_key() {
    let plan = json!({"digest": "d", "refusals": [], "create": [], "bind": [], "rename": [],
        "replaced_configs": [], "dropped_keys": [], "rows": {}, "go_live": []});
    let server = Scripted::in_order(vec![
        Response::hang_up(),
        Response::json(&plan),
        Response::problem(503, "store_unavailable"),
        Response::json(&json!({"ok": true})),
    ]);
    let client = client(&server);
    assert_eq!(
        client.plan("t", &json!({})).expect("a plan").record.digest,
        "d"
    );
    assert!(
        client
            .validate_automation("{}")
            .expect("a verdict")
            .record
            .ok
    );
    let received = server.received();
    assert_eq!(received.len(), 4);
    assert!(
        received
            .iter()
            .all(|one| one.header("idempotency-key").is_none())
    );
}
