//! What each kind of step does in the store.

use serde_json::{Value, json};
use tokio::sync::watch;
use tplkit_server::automation::channels::{NewChannel, create_channel};

use super::{Stage, ended, write};
use crate::api::client::Client;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    reads_find_what_they_ask_for,
    writes_follow_the_rules_of_rows,
    no_empty_text_is_written_where_it_is_no_value,
    rows_are_found_by_a_column,
    a_column_that_is_gone_is_not_written,
    people_are_reported,
    notifications_are_read_by_whom_they_are_for,
    automations_run_others,
    a_delay_survives,
    a_delay_that_is_over_survives_the_end_of_a_process,
    routes_and_variables,
);

fn manual() -> Value {
    json!({"type": "manual"})
}

async fn a_column_that_is_gone_is_not_written(place: Place) {
    let stage = Stage::new(place).await;
    let out = stage.table();
    let kept = write("insert", &out, &[("status", json!("before"))]);
    let gone = write(
        "insert",
        &out,
        &[("status", json!("x")), ("note", json!("secret word"))],
    );
    let it = stage.fires(&manual(), &json!([kept, gone])).await;
    let columns = format!("/v1/features/{out}/columns");
    let listed = stage.editor.get(&columns).expect(200).json();
    let note = listed.as_array().expect("columns").iter();
    let note = note
        .clone()
        .find(|column| column["name"] == "note")
        .expect("note");
    let note = format!("{columns}/{}", crate::api::model::id(note));
    stage.editor.delete(&note).expect(204);
    for dry in [true, false] {
        let begin = json!({ "dry_run": dry });
        stage.editor.post_to(&it, "/runs", &begin).expect(202);
    }
    stage.run_due().await;
    for run in stage.runs(&it) {
        assert_eq!(ended(&run).0, "failed", "{run}");
        let message = ended(&run).1;
        assert!(
            message.contains("bindings.note") && message.contains("no longer has a column `note`"),
            "{run}"
        );
    }
    // What came before it stays, and nothing of the step itself.
    assert_eq!(stage.all(&out), [json!({"status": "before"})]);
}

async fn reads_find_what_they_ask_for(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    for (status, n) in [("open", 1), ("open", 10), ("won", 9), ("", 100)] {
        stage.row(&feature, &json!({"status": status, "n": n}));
    }
    stage.world.wait(1);
    stage.row(&feature, &json!({"n": 5}));
    let out = stage.table();
    let read = |config: Value| {
        let mut config = config;
        config["featureId"] = json!(feature);
        json!([
            {"key": "feature.read", "id": "stp_000000000001", "config": config},
            write("insert", &out, &[("n", json!("{{vars.steps.stp_000000000001.count}}")), ("note", json!("{{record.n}},{{records.1.n}}"))]),
        ])
    };
    let rule = |column: &str, operator: &str, value: Value| json!({"columnName": column, "operator": operator, "value": value});
    let rules = |rules: Value| json!({"filterGroup": {"combinator": "and", "rules": rules}});
    let mut expected = Vec::new();
    for (config, count, first) in [
        (json!({}), 5, "1,10"),
        (
            rules(json!([rule("status", "equals", json!("open"))])),
            2,
            "1,10",
        ),
        (
            rules(json!([rule("n", "greaterThan", json!(9))])),
            2,
            "10,100",
        ),
        (
            rules(json!([rule("n", "between", json!([5, 10]))])),
            3,
            "10,9",
        ),
        (
            rules(json!([rule("status", "isEmpty", Value::Null)])),
            2,
            "100,5",
        ),
        (
            rules(json!([
                rule("status", "isEmpty", Value::Null),
                rule("n", "lessThan", json!(50))
            ])),
            1,
            "5,",
        ),
        (
            rules(json!([rule("status", "isNotEmpty", Value::Null)])),
            3,
            "1,10",
        ),
        (
            rules(json!([rule("status", "notEquals", json!("open"))])),
            2,
            "9,100",
        ),
        (
            rules(json!([rule("status", "contains", json!("P"))])),
            2,
            "1,10",
        ),
        (
            json!({"orderBy": {"column": "n", "desc": true}, "limit": 2}),
            2,
            "100,10",
        ),
        // What every row has, and a day that stands for its beginning.
        (
            json!({"orderBy": {"column": "created_at", "desc": true}, "limit": 1}),
            1,
            "5,",
        ),
        (
            rules(json!([rule(
                "created_at",
                "greaterOrEqual",
                json!("{{sys.today}}")
            )])),
            5,
            "1,10",
        ),
        (
            rules(json!([rule(
                "updated_at",
                "lessThan",
                json!("{{sys.today}}")
            )])),
            0,
            ",",
        ),
    ] {
        let it = stage.fires(&manual(), &read(config)).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        stage.run_due().await;
        let run = stage.run(&it);
        assert_eq!(ended(&run), ("succeeded", ""), "{run}");
        expected.push(json!({"n": count, "note": first}));
    }
    assert_eq!(stage.all(&out), expected);
}

async fn writes_follow_the_rules_of_rows(place: Place) {
    let stage = Stage::new(place).await;
    let feature = stage.model.feature.clone();
    for (label, kind, config) in [
        ("key", "text", json!({"unique": true})),
        ("price", "currency", json!({})),
        ("must", "text", json!({"required": true})),
    ] {
        stage.editor.create(
            &stage.model.columns(),
            &json!({"label": label, "type": kind, "config": config}),
        );
    }
    let row = stage.row(&feature, &json!({"key": "taken", "must": "x"}));
    for (bindings, error) in [
        (
            vec![
                ("must", json!("x")),
                ("price", json!(1.005)),
                ("key", json!("new")),
            ],
            "",
        ),
        (vec![("must", json!("x")), ("key", json!("taken"))], "key"),
        (vec![("must", json!("{{vars.trigger.nothing}}"))], "must"),
        (
            vec![("must", json!("x")), ("n", json!("five"))],
            "bindings.n",
        ),
        (
            vec![
                ("must", json!("x")),
                ("price", json!("{{vars.trigger.key}}")),
            ],
            "taken",
        ),
    ] {
        let it = stage
            .fires(&manual(), &json!([write("insert", &feature, &bindings)]))
            .await;
        stage
            .editor
            .post_to(&it, "/runs", &json!({"row_id": row, "feature_id": feature}))
            .expect(202);
        stage.run_due().await;
        let run = stage.run(&it);
        if error.is_empty() {
            assert_eq!(ended(&run), ("succeeded", ""), "{run}");
        } else {
            assert_eq!(ended(&run).0, "failed", "{run}");
            assert!(ended(&run).1.contains(error), "{error} {run}");
        }
    }
    let rows = stage.all(&feature);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1], json!({"must": "x", "price": 1.01, "key": "new"}));
}

async fn no_empty_text_is_written_where_it_is_no_value(place: Place) {
    let stage = Stage::new(place).await;
    let out = stage.table();
    for (column, written) in [("n", false), ("status", true)] {
        let before = stage.all(&out).len();
        let steps = json!([write("insert", &out, &[(column, json!(""))])]);
        let workflow = stage.fires(&manual(), &steps).await;
        let runs = super::path(&workflow, "/runs");
        stage.editor.post(&runs, &json!({})).expect(202);
        stage.run_due().await;
        let status = if written { "succeeded" } else { "failed" };
        assert_eq!(stage.run(&workflow)["status"], status, "{column}");
        let rows = stage.all(&out);
        assert_eq!(rows.len(), before + usize::from(written), "{rows:?}");
    }
}

async fn rows_are_found_by_a_column(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    for (status, n) in [("a", 1), ("a", 2), ("b", 3)] {
        stage.row(&feature, &json!({"status": status, "n": n}));
    }
    let by = |mode: &str, value: Value| {
        let mut step = write(mode, &feature, &[("status", value), ("note", json!("hit"))]);
        step["config"]["matchColumn"] = json!("status");
        step["id"] = json!("stp_000000000001");
        json!([
            step,
            write(
                "insert",
                &out,
                &[("n", json!("{{vars.steps.stp_000000000001.count}}"))]
            )
        ])
    };
    for (mode, value) in [
        ("update", "a"),
        ("update", "none"),
        ("upsert", "b"),
        ("upsert", "new"),
    ] {
        let it = stage.fires(&manual(), &by(mode, json!(value))).await;
        stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
        stage.run_due().await;
        assert_eq!(ended(&stage.run(&it)), ("succeeded", ""));
    }
    let counts: Vec<_> = stage.all(&out).iter().map(|row| row["n"].clone()).collect();
    assert_eq!(counts, [2, 0, 1, 1]);
    let rows = stage.all(&feature);
    assert_eq!(
        rows[..3],
        [
            json!({"status": "a", "n": 1, "note": "hit"}),
            json!({"status": "a", "n": 2, "note": "hit"}),
            json!({"status": "b", "n": 3, "note": "hit"}),
        ]
    );
    assert_eq!(rows[3], json!({"status": "new", "note": "hit"}));
}

async fn people_are_reported(place: Place) {
    let stage = Stage::new(place).await;
    let new = NewChannel {
        id: stage.world.context.id(),
        organization: stage.world.acme,
        name: "desk".to_owned(),
        now: stage.world.context.now(),
    };
    let channel = create_channel(&stage.world.store, new)
        .await
        .expect("creates")
        .id;
    let steps = json!([{"key": "notify", "id": "stp_000000000001", "config":
        {"scopeType": "channel", "scopeId": channel, "title": "T {{record.n}}", "body": "<b>"}}]);
    let it = stage.fires(&manual(), &steps).await;
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    let run = stage.run(&it);
    let sql = "SELECT id, scope_type, scope_id, title, body, step_id FROM notifications";
    let notifications = stage.world.sql(sql, vec![]).await;
    assert_eq!(notifications.len(), 1);
    let text = |at: usize| notifications[0].get::<String>(at).expect("a text");
    assert_eq!(
        (
            text(1).as_str(),
            text(3).as_str(),
            text(4).as_str(),
            text(5).as_str()
        ),
        ("channel", "T ", "<b>", "stp_000000000001")
    );
    assert_eq!(notifications[0].get::<uuid::Uuid>(2), Ok(channel));
    let id = notifications[0].get::<uuid::Uuid>(0).expect("an id");
    assert_eq!(run["steps"][0]["output"], json!({"notificationId": id}));
}

async fn notifications_are_read_by_whom_they_are_for(place: Place) {
    let stage = Stage::new(place).await;
    let (viewer, stranger) = (
        stage.world.as_user("viewer@acme.test"),
        stage.world.as_user("stranger@other.test"),
    );
    let me = |client: &Client| {
        let document = client.get("/v1/me").expect(200).json();
        document["id"].as_str().expect("an id").to_owned()
    };
    let notify = |title: &str, scope: &str, to: Option<String>| json!({"key": "notify", "config": {"scopeType": scope, "scopeId": to.unwrap_or_default(), "title": title}});
    let steps = json!([
        notify("all", "organization", None),
        notify("viewer", "user", Some(me(&viewer))),
        notify("editor", "user", Some(me(&stage.editor))),
    ]);
    let it = stage.fires(&manual(), &steps).await;
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    let run = stage.run(&it);
    let titles = |client: &Client| {
        let all = client.items("/v1/notifications");
        let titles = all
            .iter()
            .map(|notification| notification["title"].as_str().expect("a text").to_owned());
        titles.collect::<Vec<String>>()
    };
    assert_eq!(titles(&viewer), ["viewer", "all"]);
    assert_eq!(titles(&stage.editor), ["editor", "all"]);
    assert_eq!(titles(&stranger), [""; 0]);
    let first = viewer.get("/v1/notifications?limit=1").expect(200).json();
    let cursor = first["next_cursor"].as_str().expect("another page");
    let second = viewer.get(&format!("/v1/notifications?limit=1&cursor={cursor}"));
    let second = second.expect(200).json();
    assert_eq!(second["items"][0]["title"], "all");
    assert_eq!(second["next_cursor"], Value::Null);
    let notification = &first["items"][0];
    assert_eq!(notification["scope_type"], "user");
    assert_eq!(notification["scope_id"], me(&viewer));
    assert_eq!(
        (&notification["run_id"], &notification["step_id"]),
        (&run["id"], &run["steps"][1]["id"])
    );
    viewer.get("/v1/notifications?cursor=nonsense").expect(422);
}

async fn automations_run_others(place: Place) {
    let stage = Stage::new(place).await;
    let inner = stage.published(
        &manual(),
        &json!([write(
            "insert",
            &stage.model.feature,
            &[("note", json!("inner"))]
        )]),
    );
    let outer = stage
        .fires(
            &manual(),
            &json!([{"key": "automation.run", "config": {"workflowId": inner}}]),
        )
        .await;
    stage
        .editor
        .post_to(&outer, "/runs", &json!({}))
        .expect(202);
    stage.run_due().await;
    let failed = stage.run(&outer);
    assert!(ended(&failed).1.contains("not active"), "{failed}");
    stage.world.switch(&inner, true).await;
    stage
        .editor
        .post_to(&outer, "/runs", &json!({}))
        .expect(202);
    assert_eq!(stage.run_due().await, 2);
    let run = stage.run(&inner);
    assert_eq!(
        (&run["trigger"], &run["status"]),
        (&json!("automation"), &json!("succeeded"))
    );
    assert_eq!(
        stage.runs(&outer)[1]["steps"][0]["output"],
        json!({"runId": run["id"]})
    );
    assert_eq!(stage.all(&stage.model.feature).len(), 1);
}

async fn a_delay_survives(place: Place) {
    let stage = Stage::new(place).await.lasting();
    stage.connection("lunch", "timer", "delay:60", None).await;
    let feature = stage.model.feature.clone();
    let steps = json!([
        write("insert", &feature, &[("note", json!("before"))]),
        {"key": "delay", "config": {"seconds": 3600}},
        write("insert", &feature, &[("note", json!("between"))]),
        {"key": "delay", "config": {"timerProfile": "lunch", "seconds": 5}},
        write("insert", &feature, &[("note", json!("after"))]),
    ]);
    let it = stage.fires(&manual(), &steps).await;
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    assert_eq!(stage.run_due().await, 1);
    assert_eq!(stage.run(&it)["status"], "running");
    assert_eq!(stage.run(&it)["steps"][1]["status"], "running");
    for (wait, executed, rows) in [(3599, 0, 1), (1, 1, 2), (59, 0, 2), (1, 1, 3)] {
        stage.world.wait(wait);
        // Another executor each time, as after a restart.
        assert_eq!(
            (stage.run_due().await, stage.all(&feature).len()),
            (executed, rows)
        );
    }
    assert_eq!(ended(&stage.run(&it)), ("succeeded", ""));
    assert_eq!(stage.run(&it)["steps"].as_array().expect("a list").len(), 5);
}

async fn a_delay_that_is_over_survives_the_end_of_a_process(place: Place) {
    let stage = Stage::new(place).await.lasting();
    let feature = stage.model.feature.clone();
    let steps = json!([
        {"key": "delay", "config": {"seconds": 3600}},
        write("insert", &feature, &[("note", json!("after"))]),
    ]);
    let it = stage.fires(&manual(), &steps).await;
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    stage.world.wait(3600);
    // A process that is to stop by then takes the run up, and gives it back.
    let (_stop, stopped) = watch::channel(true);
    Box::pin(stage.executor().work(stopped)).await;
    assert_eq!(stage.all(&feature), [Value::Null; 0]);
    assert_eq!(stage.run_due().await, 1);
    assert_eq!(ended(&stage.run(&it)), ("succeeded", ""));
    assert_eq!(stage.all(&feature).len(), 1);
}

async fn routes_and_variables(place: Place) {
    let stage = Stage::new(place).await;
    let (feature, out) = (stage.model.feature.clone(), stage.table());
    let say = |text: &str| json!([write("insert", &out, &[("note", json!(text))])]);
    let steps = json!([
        {"key": "var.set", "config": {"name": "kind", "value": "{{record.status}}"}},
        {"key": "switch", "id": "stp_000000000001", "config": {"subject": "{{vars.kind}}",
            "routes": [{"value": "a", "steps": say("A")}, {"value": 2, "steps": say("two")}],
            "default": say("none")}},
        write("insert", &out, &[("note", json!("route {{vars.steps.stp_000000000001.route}}"))]),
    ]);
    let it = stage
        .fires(&Stage::on(&feature, &["created"], &[]), &steps)
        .await;
    for status in ["a", "2", "x"] {
        stage.row(&feature, &json!({"status": status}));
    }
    stage.run_due().await;
    let notes: Vec<_> = stage
        .all(&out)
        .iter()
        .map(|row| row["note"].clone())
        .collect();
    assert_eq!(
        notes,
        ["A", "route a", "two", "route 2", "none", "route default"]
    );
    // What the run remembers for itself is nobody's output.
    assert_eq!(
        stage.runs(&it)[0]["steps"][1]["output"],
        json!({"route": "a"})
    );
}
