//! Mails, requests, models: over real sockets.

use serde_json::{Value, json};
use tplkit_server::automation::Settings;
use tplkit_server::store::{Row, Scope, StoreError};

use super::{Stage, code, ended, key};
use crate::api::model::uuid;
use crate::api::workflows::{PATH, graph, path};
use crate::sinks::{HttpSink, MailSink};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    mails_are_sent_with_values_as_text,
    requests_go_to_connections_and_nowhere_else,
    a_model_chooses_a_route,
    secrets_of_steps_are_used_and_never_shown,
    a_token_that_a_partner_echoes_is_masked,
    what_is_not_there_is_reported,
    a_request_is_sent_once_however_deep_its_response_nests,
    a_response_with_a_character_that_no_store_holds_stays_a_text,
    numbers_and_localhost_take_no_permission,
);

pub(super) fn settings() -> Settings {
    Settings {
        secret_key: Some(key()),
        // The partners are on this machine.
        allow_private: true,
        ..Settings::default()
    }
}

async fn run(stage: &Stage, steps: Value, settings: Settings, row: &Value) -> Value {
    let row = stage.row(&stage.model.feature, row);
    let it = stage.fires(&json!({"type": "manual"}), &steps).await;
    let begin = json!({"row_id": row, "feature_id": stage.model.feature});
    stage.editor.post_to(&it, "/runs", &begin).expect(202);
    stage.executor_with(settings).run_due().await.expect("runs");
    stage.run(&it)
}

async fn mails_are_sent_with_values_as_text(place: Place) {
    let stage = Stage::new(place).await;
    let sink = MailSink::start();
    stage.connection("post", "smtp", &sink.url, None).await;
    let mail = |connection: &str| {
        let mut step = json!({"key": "email.send", "id": "stp_00000000000m", "config":
            {"to": "ana@acme.test, bo@acme.test", "subject": "Olá {{record.note}}", "body": "<p>{{record.note}}</p>"}});
        if !connection.is_empty() {
            step["config"]["connectionName"] = json!(connection);
        }
        json!([step])
    };
    let row = json!({"note": "<b>Bo & Ana</b>"});
    let sent = run(&stage, mail("post"), settings(), &row).await;
    assert_eq!(ended(&sent), ("succeeded", ""), "{sent}");
    let mails = sink.mails();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].to, ["ana@acme.test", "bo@acme.test"]);
    assert!(
        mails[0].text.contains("&lt;b&gt;Bo &amp; Ana&lt;/b&gt;"),
        "{mails:?}"
    );
    let id = mails[0].header("Message-ID");
    assert!(
        id.contains(sent["id"].as_str().expect("an id")) && id.contains("stp_00000000000m"),
        "{id}"
    );
    assert_eq!(
        sent["steps"][0]["output"],
        json!({"messageId": id, "accepted": ["ana@acme.test", "bo@acme.test"]})
    );
    // There are no mailboxes: the mail leaves all the same, and says so.
    let mut from_mailbox = mail("post");
    from_mailbox[0]["config"]["mailboxId"] = json!(stage.world.context.id());
    let sent = run(&stage, from_mailbox, settings(), &row).await;
    assert_eq!(ended(&sent), ("succeeded", ""), "{sent}");
    let note = sent["steps"][0]["output"]["note"].as_str();
    assert!(
        note.is_some_and(|note| note.contains("mailboxes")),
        "{sent}"
    );
    // Without a connection the mail goes through the organization's transport.
    let with = Settings {
        smtp_url: Some(sink.url.clone()),
        ..settings()
    };
    assert_eq!(
        ended(&run(&stage, mail(""), with, &row).await).0,
        "succeeded"
    );
    assert_eq!(sink.mails().len(), 3);
    let without = run(&stage, mail(""), settings(), &row).await;
    assert!(ended(&without).1.contains("TPLKIT_SMTP_URL"), "{without}");
    let split = json!({"note": "a\r\nBcc: evil@x.test"});
    let refused = run(&stage, mail("post"), settings(), &split).await;
    assert!(
        ended(&refused).1.contains("`subject`") && ended(&refused).1.contains("{{record.note}}"),
        "{refused}"
    );
    let mut nobody = mail("post");
    nobody[0]["config"]["to"] = json!("{{record.note}}");
    let refused = run(&stage, nobody, settings(), &row).await;
    assert!(
        ended(&refused).1.contains(
            r#"`to` is "{{record.note}}", which yields "<b>Bo & Ana</b>": is not an address"#
        ),
        "{refused}"
    );
    // The server does not say that it takes addresses of any letters.
    let mut beyond_ascii = mail("post");
    beyond_ascii[0]["config"]["to"] = json!("ana@acme.test, bo@exämple.test");
    let refused = run(&stage, beyond_ascii, settings(), &row).await;
    assert!(
        ended(&refused).1.contains(
            r#"`to` is "ana@acme.test, bo@exämple.test", which yields "bo@exämple.test": the mail server"#
        ),
        "{refused}"
    );
    assert_eq!(sink.mails().len(), 3);
}

async fn requests_go_to_connections_and_nowhere_else(place: Place) {
    let stage = Stage::new(place).await;
    let sink = HttpSink::start("201 Created", r#"{"number":7}"#);
    stage
        .connection("api", "http", &sink.url, Some("s3cret"))
        .await;
    let ask = |path: &str| {
        json!([
            {"key": "http.request", "id": "stp_00000000000h", "config": {"connectionName": "api", "method": "PUT", "path": path,
                "body": {"note": "{{record.note}}", "list": [1, "{{record.n}}"]}}},
            super::write("updateTrigger", &stage.model.feature, &[("n", json!("{{vars.steps.stp_00000000000h.status}}"))]),
        ])
    };
    let finished = run_on(&stage, ask("/orders/{{record.n}}?x=1")).await;
    assert_eq!(ended(&finished), ("succeeded", ""), "{finished}");
    assert_eq!(
        finished["steps"][0]["output"],
        json!({"status": 201, "body": {"number": 7}})
    );
    assert!(!finished.to_string().contains("s3cret"));
    let came = sink.received();
    assert_eq!(came.len(), 1);
    assert!(
        came[0].head.starts_with("PUT /v1/orders/5?x=1 "),
        "{came:?}"
    );
    assert!(
        came[0]
            .head
            .to_lowercase()
            .contains("authorization: bearer s3cret")
    );
    assert_eq!(
        serde_json::from_str::<Value>(&came[0].body).expect("JSON"),
        json!({"note": "hi", "list": [1, 5]})
    );
    // What an editor wrote is held to the connection, too.
    for path in ["../admin", "/%2e%2e/admin"] {
        let refused = run_on(&stage, ask(path)).await;
        assert!(ended(&refused).1.contains("leads out"), "{refused}");
    }
    // What will not do is reported with the expression that it came from.
    let row = json!({"note": "../admin", "n": 5});
    let refused = run(&stage, ask("{{record.note}}"), settings(), &row).await;
    assert!(
        ended(&refused)
            .1
            .contains(r#"`path` is "{{record.note}}", which yields "../admin": "#),
        "{refused}"
    );
    assert_eq!(sink.received().len(), 1);
    // Redirects are not followed: that is a response like others.
    let away = HttpSink::start("302 Found", "");
    stage.connection("api", "http", &away.url, None).await;
    assert_eq!(
        run_on(&stage, ask("")).await["steps"][0]["output"]["status"],
        302
    );
}

async fn run_on(stage: &Stage, steps: Value) -> Value {
    run(stage, steps, settings(), &json!({"note": "hi", "n": 5})).await
}

async fn a_model_chooses_a_route(place: Place) {
    let stage = Stage::new(place).await;
    let says = HttpSink::start(
        "200 OK",
        r#"{"choices":[{"message":{"content":"Complaint."}}]}"#,
    );
    stage
        .connection(
            "brain",
            "llm",
            &format!("{}?model=small", says.url),
            Some("k3y"),
        )
        .await;
    let say = |text: &str| {
        json!([super::write(
            "updateTrigger",
            &stage.model.feature,
            &[("status", json!(text))]
        )])
    };
    let route = |connection: &str| {
        json!([{"key": "agent.route", "config": {"prompt": "About: {{record.note}}", "connectionName": connection,
            "routes": [{"name": "refund", "steps": say("r")}, {"name": "complaint", "description": "angry", "steps": say("c")}]}}])
    };
    let chosen = run_on(&stage, route("brain")).await;
    assert_eq!(ended(&chosen), ("succeeded", ""), "{chosen}");
    assert_eq!(chosen["steps"][0]["output"], json!({"route": "complaint"}));
    assert_eq!(chosen["steps"][1]["path"], "0.routes.1.steps.0");
    let came = says.received();
    assert!(
        came[0].head.starts_with("POST /v1/chat/completions "),
        "{came:?}"
    );
    let body: Value = serde_json::from_str(&came[0].body).expect("JSON");
    assert_eq!(body["model"], "small");
    assert_eq!(body["messages"][1]["content"], "About: hi");
    let none = run_on(&stage, route("")).await;
    assert!(ended(&none).1.contains("connection"), "{none}");
    let lost = HttpSink::start(
        "200 OK",
        r#"{"choices":[{"message":{"content":"no idea of MODEL-KEY-1234"}}]}"#,
    );
    let address = format!("{}?model=small", lost.url);
    let secret = Some("MODEL-KEY-1234");
    stage.connection("brain", "llm", &address, secret).await;
    let failed = run_on(&stage, route("brain")).await;
    assert!(ended(&failed).1.contains("refund, complaint"), "{failed}");
    assert!(ended(&failed).1.contains("no idea of ********"), "{failed}");
}

async fn secrets_of_steps_are_used_and_never_shown(place: Place) {
    let stage = Stage::new(place).await;
    let sink = HttpSink::start("200 OK", "{}");
    stage.connection("api", "http", &sink.url, None).await;
    let step = |secret: &str| {
        json!([{"key": "http.request", "id": "stp_00000000000h",
            "config": {"connectionName": "api", "bearerToken": secret}}])
    };
    let manual = json!({"type": "manual"});
    let it = stage.fires(&manual, &step("t0ken")).await;
    let shown = |response: &Value| {
        assert!(!response.to_string().contains("t0ken"), "{response}");
        let config = &response["graph_config"]["steps"][0]["config"];
        assert_eq!(config["bearerToken"], "********", "{response}");
    };
    shown(&stage.editor.get(&path(&it, "")).expect(200).json());
    for version in stage.editor.items(PATH) {
        if version["workflow_id"] == it.as_str() {
            shown(&version);
        }
    }
    let kept = stage.world.store.read(&Scope::Operator, (), |tx, ()| {
        Box::pin(async move {
            let sql = "SELECT graph_config FROM workflow_versions {across test}";
            let rows: Vec<Row> = tx.query(sql, &[]).await?;
            let texts = rows.iter().map(|row| row.get::<String>(0));
            texts.collect::<Result<Vec<String>, StoreError>>()
        })
    });
    let kept = kept.await.expect("reads").concat();
    assert!(
        kept.contains("sealed:") && !kept.contains("t0ken"),
        "{kept}"
    );
    // What a response holds may be sent back: the mask stands for what is kept.
    let versions = |graph: &Value| {
        stage
            .editor
            .post_to(&it, "/versions", &json!({"graph_config": graph}))
    };
    let next = versions(&graph(&step("********"))).expect(201).json();
    shown(&next);
    shown(
        &stage
            .editor
            .post_to(&it, "/apply", &json!({}))
            .expect(200)
            .json(),
    );
    // One that leaves the graph out has it as well.
    let renamed = json!({"name": "b"});
    shown(
        &stage
            .editor
            .post_to(&it, "/versions", &renamed)
            .expect(201)
            .json(),
    );
    shown(
        &stage
            .editor
            .post_to(&it, "/apply", &json!({}))
            .expect(200)
            .json(),
    );
    for _ in 0..2 {
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    }
    stage
        .executor_with(settings())
        .run_due()
        .await
        .expect("runs");
    let runs = stage.runs(&it);
    assert!(
        runs.iter().all(|run| run["status"] == "succeeded"),
        "{runs:#?}"
    );
    assert!(!json!(runs).to_string().contains("t0ken"));
    let came = sink.received();
    assert_eq!(came.len(), 2);
    for request in came {
        let head = request.head.to_lowercase();
        assert!(head.contains("authorization: bearer t0ken"), "{head}");
    }
    // Another step has no secret that the mask could stand for.
    let mut other = step("********");
    other[0]["id"] = json!("stp_00000000000x");
    let refused = versions(&graph(&other)).refused(422, "secret_required");
    assert!(
        refused.json()["detail"]
            .as_str()
            .is_some_and(|reported| reported.contains("bearerToken"))
    );
    let body = json!({"workspace_id": stage.model.workspace, "name": "c",
        "trigger_config": manual, "graph_config": graph(&step("********"))});
    stage
        .editor
        .post(PATH, &body)
        .refused(422, "secret_required");
    // A package takes it nowhere.
    let workspace = &stage.model.workspace;
    let export = format!("/v1/workspaces/{workspace}/export");
    let owner = stage.world.as_user("owner@acme.test");
    let package = owner
        .post(&export, &json!({}))
        .expect(200)
        .json()
        .to_string();
    assert!(package.contains("bearerToken") && !package.contains("t0ken"));
    assert!(!package.contains("sealed:") && !package.contains("plain:"));
}

async fn a_token_that_a_partner_echoes_is_masked(place: Place) {
    let stage = Stage::new(place).await;
    let out = stage.table();
    for (at, (of_connection, of_step, response, kept)) in [
        (
            Some("CONN-SECRET-1234"),
            "",
            r#""Bearer CONN-SECRET-1234""#,
            "Bearer ********",
        ),
        (
            Some("CONN-SECRET-1234"),
            "STEP/SECRET-1234",
            r#""Bearer STEP\/SECRET\u002d1234""#,
            "Bearer ********",
        ),
        // So few characters stand in many texts.
        (Some("s3cret"), "", r#""s3cret""#, "s3cret"),
        (None, "", r#""CONN-SECRET-1234""#, "CONN-SECRET-1234"),
    ]
    .into_iter()
    .enumerate()
    {
        let sink = HttpSink::start("200 OK", response);
        stage
            .connection("api", "http", &sink.url, of_connection)
            .await;
        let mut request = json!({"key": "http.request", "id": "stp_00000000000h", "config": {"connectionName": "api"}});
        if !of_step.is_empty() {
            request["config"]["bearerToken"] = json!(of_step);
        }
        let auth = json!("{{vars.steps.stp_00000000000h.body}}");
        let insert = super::write("insert", &out, &[("note", auth)]);
        let done = run_on(&stage, json!([request, insert])).await;
        assert_eq!(ended(&done), ("succeeded", ""), "{done}");
        let body = &done["steps"][0]["output"]["body"];
        assert_eq!(*body, kept);
        assert_eq!(stage.all(&out)[at]["note"], kept);
    }
}

async fn what_is_not_there_is_reported(place: Place) {
    let stage = Stage::new(place).await;
    stage
        .connection("api", "http", "http://127.0.0.1:1/", Some("s"))
        .await;
    let ask = |connection: &str| json!([{"key": "http.request", "config": {"connectionName": connection}}]);
    for (connection, settings, message) in [
        ("nope", settings(), "no connection `nope`"),
        ("api", settings(), "no response came"),
        ("api", Settings::default(), "TPLKIT_SECRET_KEY"),
    ] {
        let failed = run(&stage, ask(connection), settings, &json!({})).await;
        assert!(ended(&failed).1.contains(message), "{message} {failed}");
    }
    stage.connection("api", "timer", "delay:1", None).await;
    let failed = run(&stage, ask("api"), settings(), &json!({})).await;
    assert!(ended(&failed).1.contains("of kind timer"), "{failed}");
}

async fn a_request_is_sent_once_however_deep_its_response_nests(place: Place) {
    let stage = Stage::new(place).await;
    let wait = json!({"key": "delay", "config": {"seconds": 1}});
    let insert = super::write("insert", &stage.model.feature, &[("n", json!(1))]);
    let request = json!({"key": "http.request", "id": "stp_00000000000h", "config": {"connectionName": "api"}});
    let steps = json!([request, wait, insert, wait, insert]);
    let goes_on = async || {
        let executor = stage.executor_with(settings());
        executor.run_due().await.expect("runs");
        stage.world.wait(2);
    };
    let begun = async |levels: usize| {
        let body = "[".repeat(levels) + &"]".repeat(levels);
        let sink = HttpSink::start("200 OK", body.leak());
        stage.connection("api", "http", &sink.url, None).await;
        let it = stage.fires(&json!({"type": "manual"}), &steps).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        goes_on().await;
        (it, sink)
    };
    for (levels, is_text) in [(122, false), (123, true), (127, true), (128, true)] {
        let (it, sink) = begun(levels).await;
        goes_on().await;
        goes_on().await;
        let run = stage.run(&it);
        assert_eq!(ended(&run), ("succeeded", ""), "{levels}");
        let body = &run["steps"][0]["output"]["body"];
        assert_eq!(body.is_string(), is_text, "{levels}");
        assert_eq!(sink.received().len(), 1, "{levels}");
    }
    // An output that nobody can read ends the run.
    let (it, sink) = begun(1).await;
    let id = uuid(stage.run(&it)["id"].as_str().expect("an id"));
    let sql = "UPDATE main.workflow_steps SET output = 'null' \
         WHERE run_id = $1 AND key = 'http.request' RETURNING run_id";
    assert_eq!(stage.world.sql(sql, vec![id.into()]).await.len(), 1);
    goes_on().await;
    let run = stage.run(&it);
    assert_eq!((ended(&run).0, code(&run)), ("failed", "abandoned"));
    assert!(ended(&run).1.contains("stp_00000000000h"), "{run}");
    assert_eq!(run["steps"][1]["status"], "skipped");
    assert_eq!(sink.received().len(), 1);
}

async fn a_response_with_a_character_that_no_store_holds_stays_a_text(place: Place) {
    let stage = Stage::new(place).await;
    let out = stage.table();
    let request = json!({"key": "http.request", "id": "stp_00000000000h", "config": {"connectionName": "api"}});
    let body = json!("{{vars.steps.stp_00000000000h.body}}");
    let steps = json!([request, super::write("insert", &out, &[("note", body)])]);
    let it = stage.fires(&json!({"type": "manual"}), &steps).await;
    let responses = [
        r#""a\u0000b""#,
        r#"{"k":"\u0000b"}"#,
        r#"{"\u0000b":1}"#,
        r#"["b",["\u0000"]]"#,
    ];
    for (at, response) in responses.into_iter().enumerate() {
        let sink = HttpSink::start("200 OK", response);
        stage.connection("api", "http", &sink.url, None).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        let executor = stage.executor_with(settings());
        executor.run_due().await.expect("runs");
        let run = &stage.runs(&it)[at];
        assert_eq!(ended(run), ("succeeded", ""), "{run}");
        assert_eq!(run["steps"][0]["output"]["body"], response);
    }
    let notes: Vec<Value> = stage
        .all(&out)
        .iter()
        .map(|row| row["note"].clone())
        .collect();
    assert_eq!(notes, responses);
    // Nobody is kept from the table by it.
    for (query, rows) in [
        ("filter=note:contains:b", 4),
        ("filter=note:eq:a", 0),
        ("sort=note", 4),
    ] {
        let path = format!("{}?{query}", Stage::rows(&out));
        assert_eq!(stage.editor.items(&path).len(), rows, "{query}");
    }
    let owner = stage.world.as_user("owner@acme.test");
    let export = format!("/v1/workspaces/{}/export", stage.model.workspace);
    let all = json!({"features": [out], "modules": [], "workflows": [], "rows": "all"});
    let package = owner.post(&export, &all).expect(200).json();
    owner.post("/v1/templates/import", &package).expect(201);
}

async fn numbers_and_localhost_take_no_permission(place: Place) {
    let stage = Stage::new(place).await;
    let strict = || Settings {
        allow_private: false,
        ..settings()
    };
    let (mails, requests) = (MailSink::start(), HttpSink::start("200 OK", "{}"));
    let request = json!([{"key": "http.request", "config": {"connectionName": "x"}}]);
    let mail = json!([{"key": "email.send",
        "config": {"to": "a@b.c", "subject": "s", "body": "b", "connectionName": "x"}}]);
    for (kind, url, steps) in [
        ("http", &requests.url, &request),
        ("smtp", &mails.url, &mail),
    ] {
        for host in ["127.0.0.1", "localhost"] {
            let url = url.replace("127.0.0.1", host);
            stage.connection("x", kind, &url, None).await;
            let done = run(&stage, steps.clone(), strict(), &json!({})).await;
            assert_eq!(ended(&done), ("succeeded", ""), "{url} {done}");
        }
    }
    assert_eq!((mails.mails().len(), requests.received().len()), (2, 2));
}
