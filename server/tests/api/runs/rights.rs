//! What a run may see, and what of it whom is shown: nothing hidden comes out by an automation.

use serde_json::{Value, json};
use tplkit_server::auth::Role;

use super::{Stage, code, ended, runs, write};
use crate::api::client::Client;
use crate::api::model::{Model, id, uuid};
use crate::api::templates::shop;
use crate::api::workflows::{PATH, graph, path, workflow};
use crate::sinks::{HttpSink, MailSink};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    runs_write_into_tables_of_own_rows,
    a_run_sees_what_its_publisher_sees,
    nothing_hidden_comes_out_whoever_publishes,
    a_publisher_who_lost_access_ends_the_run,
    a_template_publishes_for_who_started_the_job,
    a_called_automation_sees_what_the_caller_sees,
    who_reads_what_of_a_run,
    what_was_hidden_when_a_run_was_given_up_stays_so,
);

/// What nobody but administrators and its creator may ever read.
const WORD: &str = "hushhush";

fn manual() -> Value {
    json!({"type": "manual"})
}

fn guard(owner: &Client, feature: &str, how: &str) {
    let config = json!({"config": {"rowAccess": how}});
    owner
        .patch(&format!("/v1/features/{feature}"), &config)
        .expect(200);
}

fn publish(client: &Client, workspace: &str, trigger: &Value, steps: &Value) -> String {
    let body = json!({"workspace_id": workspace, "name": "a", "is_draft": false,
        "trigger_config": trigger, "graph_config": graph(steps)});
    workflow(&client.create(PATH, &body))
}

fn me(client: &Client) -> String {
    id(&client.get("/v1/me").expect(200).json())
}

fn insert(client: &Client, feature: &str, data: &Value) -> String {
    id(&client.create(&Stage::rows(feature), &json!({"data": data})))
}

fn notes(client: &Client, feature: &str) -> Vec<Value> {
    let rows = client.items(&format!("{}?limit=200", Stage::rows(feature)));
    rows.into_iter()
        .map(|row| row["data"]["note"].clone())
        .collect()
}

async fn runs_write_into_tables_of_own_rows(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let (own, out) = (stage.model.feature.clone(), stage.table());
    insert(&owner, &own, &json!({"note": WORD}));
    guard(&owner, &own, "own");
    let read =
        |step: &str| json!({"key": "feature.read", "id": step, "config": {"featureId": own}});
    let mut upsert = write("upsert", &own, &[("note", json!("two")), ("n", json!(2))]);
    upsert["config"]["matchColumn"] = json!("note");
    let mut update = write("update", &own, &[("note", json!("one")), ("n", json!(3))]);
    update["config"]["matchColumn"] = json!("note");
    let branch = json!({"key": "ifElse", "config": {"condition": {"subject": "expression", "expression": "x",
        "op": "isNotEmpty"}, "then": [upsert.clone()], "else": []}});
    let steps = json!([
        write("insert", &own, &[("note", json!("one"))]),
        branch,
        upsert,
        update,
        read("stp_000000000001"),
        {"key": "delay", "config": {"seconds": 2}},
        read("stp_000000000002"),
        write("insert", &out, &[("n", json!("{{vars.steps.stp_000000000001.count}}")),
            ("note", json!("and {{vars.steps.stp_000000000002.count}}"))]),
    ]);
    let it = stage.fires(&manual(), &steps).await;
    for body in [json!({"dry_run": true}), json!({})] {
        stage.editor.post_to(&it, "/runs", &body).expect(202);
    }
    stage.run_due().await;
    stage.world.wait(3);
    stage.run_due().await;
    for run in stage.runs(&it) {
        assert_eq!(ended(&run), ("succeeded", ""), "{run}");
        // It sees what it wrote itself, also after a wait, and not the row of another.
        assert_eq!(run["steps"][5]["output"]["count"], 2, "{run}");
        assert!(!run.to_string().contains(WORD));
        // Who began it reads it whole.
        assert_eq!(run["steps"][0]["input"]["bindings"][0]["value"], "one");
    }
    assert_eq!(stage.all(&out), [json!({"n": 2, "note": "and 2"})]);
    // The rows belong to nobody.
    assert_eq!(stage.all(&own), [Value::Null; 0]);
    assert_eq!(
        notes(&owner, &own),
        [json!(WORD), json!("one"), json!("two")]
    );
    // Another run of the same person does not see them either.
    stage.editor.post_to(&it, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    stage.world.wait(3);
    stage.run_due().await;
    assert_eq!(notes(&owner, &own).len(), 5);
}

async fn a_run_sees_what_its_publisher_sees(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let (own, out, other) = (stage.model.feature.clone(), stage.table(), stage.table());
    let copy = json!([
        {"key": "feature.read", "id": "stp_000000000001", "config": {"featureId": own}},
        write("insert", &out, &[("note", json!("{{record.note}}")),
            ("n", json!("{{vars.steps.stp_000000000001.count}}"))]),
    ]);
    let modes = ["created", "updated", "deleted"];
    let events = stage.fires(&Stage::on(&own, &modes, &[]), &copy).await;
    let elsewhere = stage
        .fires(&Stage::on(&other, &["created"], &[]), &copy)
        .await;
    let clock = json!({"type": "cron", "config": {"mode": "hourly"}});
    let clock = stage.fires(&clock, &copy).await;
    let hidden = insert(&owner, &own, &json!({"note": WORD}));
    let mine = stage.row(&own, &json!({"note": "mine"}));
    guard(&owner, &own, "own");
    stage.run_due().await;
    // What happened in full view before it was hidden has no run that sees it now.
    for row in [&hidden, &mine] {
        let path = format!("{}/{row}", Stage::rows(&own));
        owner
            .patch(&path, &json!({"data": {"note": WORD, "n": 1}}))
            .expect(200);
    }
    stage.row(&other, &json!({"note": "x"}));
    stage.run_due().await;
    owner
        .delete(&format!("{}/{hidden}", Stage::rows(&own)))
        .expect(204);
    insert(&owner, &own, &json!({"note": WORD}));
    stage.run_due().await;
    let mine_too = stage.row(&own, &json!({"note": "mine too"}));
    stage
        .editor
        .delete(&format!("{}/{mine_too}", Stage::rows(&own)))
        .expect(204);
    stage.run_due().await;
    // Of own rows it hears all: created before and after, changed by somebody else, removed.
    let seen = runs(&owner, &events);
    let of = seen
        .iter()
        .map(|run| run["row_id"].as_str().expect("a row"));
    assert_eq!(of.collect::<Vec<_>>(), [&mine, &mine, &mine_too, &mine_too]);
    assert!(
        seen.iter().all(|run| run["status"] == "succeeded"),
        "{seen:#?}"
    );
    // A run that an event elsewhere began sees the publisher's row alone, which somebody else has filled.
    assert_eq!(runs(&owner, &elsewhere).len(), 1);
    let counts: Vec<Value> = stage.all(&out).iter().map(|row| row["n"].clone()).collect();
    assert!(
        counts
            .iter()
            .all(|count| [json!(1), json!(2)].contains(count)),
        "{counts:?}"
    );
    stage.world.wait(3601);
    stage.run_due().await;
    let run = runs(&stage.world.as_key(&["read"]), &clock)
        .pop()
        .expect("a run");
    assert_eq!(run["steps"][0]["output"]["count"], 1, "{run}");
}

/// Everything that a person can read who is not an administrator.
fn readable(client: &Client, stage: &Stage, tables: &[&str], automations: &[String]) -> String {
    let mut all = String::new();
    for table in tables {
        all += &client
            .get(&format!("{}?limit=200", Stage::rows(table)))
            .body;
    }
    for it in automations {
        all += &client.get(&path(it, "/runs?limit=200")).body;
        for run in client.items(&path(it, "/runs?limit=200")) {
            let run = format!("/v1/workflow-runs/{}", id(&run));
            all += &client.get(&run).expect(200).body;
        }
        let version = client.get(&path(it, "")).expect(200).json();
        let body = json!({"workspace_id": stage.model.workspace, "workflow_id": it,
            "trigger_config": version["trigger_config"], "graph_config": version["graph_config"]});
        all += &client
            .post("/v1/workflows-v2/validate", &body)
            .expect(200)
            .body;
    }
    all + &client.get("/v1/notifications?limit=200").expect(200).body
}

/// Every kind of step, about rows of a table: what they find is carried into everything that can be read.
fn every_step((table, fired): (&str, bool), into: &str, recipient: &Value, other: &str) -> Value {
    let fired = if fired { "{{vars.trigger.note}}" } else { "" };
    let found = format!("{{{{record.note}}}}{{{{records.1.note}}}}{fired}");
    let word = format!("{found}{{{{vars.w}}}}");
    let mut notify = recipient.clone();
    notify["title"] = json!(word);
    notify["body"] = json!(word);
    let mut upsert = write(
        "upsert",
        into,
        &[("note", json!(word)), ("status", json!("u"))],
    );
    upsert["config"]["matchColumn"] = json!("note");
    let rules = json!([{"id": "r", "columnName": "note", "operator": "contains", "value": "hush"}]);
    let insert = write("insert", into, &[("note", json!(word))]);
    json!([
        {"key": "feature.read", "id": "stp_000000000001", "config": {"featureId": table,
            "filterGroup": {"combinator": "and", "rules": rules}}},
        {"key": "var.set", "config": {"name": "w", "value": found}},
        {"key": "ifElse", "config": {"condition": {"subject": "var", "var": "w", "op": "contains", "value": "hush"},
            "then": [insert], "else": []}},
        {"key": "switch", "config": {"subject": word, "routes": [{"value": "hush", "steps": []}],
            "default": [insert]}},
        write("insert", into, &[("note", json!(word)), ("n", json!("{{vars.steps.stp_000000000001.count}}"))]),
        upsert,
        {"key": "notify", "config": notify},
        {"key": "email.send", "config": {"to": "a@b.c", "subject": word, "body": word, "connectionName": "post"}},
        {"key": "http.request", "config": {"connectionName": "api", "path": "/x", "body": {"w": word}}},
        {"key": "automation.run", "config": {"workflowId": other}},
        {"key": "delay", "config": {"seconds": 1}},
        write("insert", into, &[("n", json!(word))]),
    ])
}

async fn nothing_hidden_comes_out_whoever_publishes(place: Place) {
    let stage = Stage::new(place).await;
    let [owner, admin, viewer] = ["owner@acme.test", "admin@acme.test", "viewer@acme.test"]
        .map(|who| stage.world.as_user(who));
    let key = stage.world.as_key(&["read", "write", "structure"]);
    let (mails, requests) = (MailSink::start(), HttpSink::start("200 OK", "{}"));
    stage.connection("post", "smtp", &mails.url, None).await;
    stage.connection("api", "http", &requests.url, None).await;
    let (own, out) = (stage.model.feature.clone(), stage.table());
    // A table that is hidden as a whole: shared, in a workspace that will be closed.
    let closed = Model::new(&owner, stage.world.acme);
    let note = json!({"label": "note", "type": "text"});
    owner.create(&closed.columns(), &note);
    owner
        .patch(
            &format!("/v1/features/{}", closed.feature),
            &json!({"is_shared": true}),
        )
        .expect(200);
    let person = json!({"scopeType": "user", "scopeId": me(&owner)});
    let everybody = json!({"scopeType": "organization"});
    let nothing = stage.fires(&manual(), &json!([{"key": "delay"}])).await;
    // What administrators do with what they see is theirs to decide: they keep it among themselves here.
    let kept = own.as_str();
    let mut automations = Vec::new();
    let mut by_editor = Vec::new();
    for table in [own.as_str(), closed.feature.as_str()] {
        for (client, into, recipient) in [
            (&owner, kept, &person),
            (&admin, kept, &person),
            (&key, kept, &person),
            (&stage.editor, out.as_str(), &everybody),
        ] {
            let modes = ["created", "updated", "deleted"];
            // Writing into what one watches would go on for ever.
            let mut triggers = vec![
                manual(),
                json!({"type": "cron", "config": {"mode": "hourly"}}),
            ];
            if table != kept || into != kept {
                triggers.push(Stage::on(table, &modes, &[]));
            }
            for trigger in triggers {
                let fired = trigger["type"] != "cron";
                let steps = every_step((table, fired), into, recipient, &nothing);
                let it = publish(client, &stage.model.workspace, &trigger, &steps);
                assert!(stage.world.switch(&it, true).await);
                if into == out {
                    by_editor.push(it.clone());
                }
                automations.push(it);
            }
        }
    }
    // An editor's automation that calls those of others.
    for it in automations.clone() {
        let call = json!([{"key": "automation.run", "config": {"workflowId": it}}]);
        let it = stage.fires(&manual(), &call).await;
        by_editor.push(it.clone());
        automations.push(it);
    }
    guard(&owner, &own, "own");
    owner
        .patch(
            &format!("/v1/workspaces/{}", closed.workspace),
            &json!({"access": "members"}),
        )
        .expect(200);
    let executor = stage.executor_with(tplkit_server::automation::Settings {
        secret_key: Some(super::key()),
        allow_private: true,
        ..Default::default()
    });
    for table in [&own, &closed.feature] {
        let row = insert(&owner, table, &json!({"note": WORD}));
        let path = format!("{}/{row}", Stage::rows(table));
        owner
            .patch(&path, &json!({"data": {"note": WORD, "c": "x"}}))
            .expect(200);
        insert(&owner, table, &json!({"note": WORD}));
    }
    for it in &automations {
        for body in [json!({}), json!({"dry_run": true})] {
            stage.editor.post_to(it, "/runs", &body).expect(202);
        }
    }
    for _ in 0..3 {
        executor.run_due().await.expect("runs");
        stage.world.wait(2);
    }
    stage.world.wait(3400);
    executor.run_due().await.expect("runs");
    stage.world.wait(2);
    executor.run_due().await.expect("runs");
    // They did work: whoever may see it finds it, and every run has ended.
    let all = readable(&owner, &stage, &[&own, &out], &automations);
    assert!(all.matches(WORD).count() > 20);
    for it in &automations {
        for run in runs(&owner, it) {
            assert!(run["finished_at"].is_string(), "{run}");
            let whole = run.to_string();
            assert!(!whole.contains("went wrong"), "{run}");
        }
    }
    for client in [&stage.editor, &viewer] {
        let all = readable(client, &stage, &[&own, &out], &automations);
        let at = all.find(WORD).unwrap_or(all.len());
        let around = at.saturating_sub(300)..(at + 100).min(all.len());
        assert_eq!(
            at,
            all.len(),
            "{}",
            String::from_utf8_lossy(&all.as_bytes()[around])
        );
    }
    // No event about a hidden row began a run of theirs.
    for it in &by_editor {
        for run in runs(&owner, it) {
            assert_ne!(run["trigger"], "record.event", "{run}");
        }
    }
    assert!(!mails.mails().is_empty() && !requests.received().is_empty());
}

async fn a_publisher_who_lost_access_ends_the_run(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let out = stage.table();
    let world = &stage.world;
    let body = json!({"organization_id": world.acme, "name": "k", "scopes": ["read", "write", "structure"]});
    let made = owner.post("/v1/api-keys", &body).expect(201).json();
    let key = world.nobody.with(made["key"].as_str().expect("a key"));
    world.person("second@acme.test").await;
    world
        .member(world.acme, "second@acme.test", Role::Editor)
        .await;
    let second = world.as_user("second@acme.test");
    let watch = Stage::on(&stage.model.feature, &["created"], &[]);
    let steps = json!([
        {"key": "feature.read", "config": {"featureId": stage.model.feature}},
        write("insert", &out, &[("note", json!("{{record.note}}"))]),
    ]);
    let mut its = Vec::new();
    for client in [&key, &second, &stage.editor] {
        let it = publish(client, &stage.model.workspace, &watch, &steps);
        assert!(world.switch(&it, true).await);
        its.push(it);
    }
    let fire = async || {
        insert(&owner, &stage.model.feature, &json!({"note": "x"}));
        stage.run_due().await;
        let last = |it: &String| runs(&owner, it).pop().expect("a run");
        its.iter().map(last).collect::<Vec<_>>()
    };
    assert!(fire().await.iter().all(|run| run["status"] == "succeeded"));
    owner
        .delete(&format!("/v1/api-keys/{}", id(&made)))
        .expect(204);
    let members = world.path("/members");
    owner
        .delete(&format!("{members}/{}", me(&second)))
        .expect(204);
    let editor = format!("{members}/{}", me(&stage.editor));
    owner.patch(&editor, &json!({"role": "viewer"})).expect(200);
    let before = notes(&owner, &out).len();
    let ends = fire().await;
    for run in &ends[..2] {
        assert_eq!(
            (ended(run).0, code(run)),
            ("failed", "publisher_lost_access")
        );
        // No row was read.
        assert_eq!(run["steps"], json!([]));
    }
    // Who may not write any more reads, and is refused at the first write.
    assert_eq!(code(&ends[2]), "forbidden");
    assert_eq!(ends[2]["steps"][0]["status"], "succeeded");
    assert_eq!(code(&ends[2]["steps"][1]), "forbidden");
    assert_eq!(notes(&owner, &out).len(), before);
    // A workspace that the publisher does not see any more.
    owner.patch(&editor, &json!({"role": "editor"})).expect(200);
    let workspace = format!("/v1/workspaces/{}", stage.model.workspace);
    owner
        .patch(&workspace, &json!({"access": "members"}))
        .expect(200);
    assert_eq!(code(&fire().await[2]), "publisher_lost_access");
    owner
        .patch(&workspace, &json!({"access": "organization"}))
        .expect(200);
    // Published again by a member, it goes on; who activates it does not matter.
    assert!(world.switch(&its[0], false).await && world.switch(&its[0], true).await);
    assert_eq!(code(&fire().await[0]), "publisher_lost_access");
    owner
        .post(&path(&its[0], "/versions"), &json!({}))
        .expect(201);
    owner.post(&path(&its[0], "/apply"), &json!({})).expect(200);
    assert_eq!(fire().await[0]["status"], "succeeded");
}

async fn a_template_publishes_for_who_started_the_job(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let (own, out) = (stage.model.feature.clone(), stage.table());
    let copy = json!([write("insert", &out, &[("note", json!("{{record.note}}"))])]);
    let watch = Stage::on(&own, &["created"], &[]);
    let it = publish(&owner, &stage.model.workspace, &watch, &copy);
    assert!(stage.world.switch(&it, true).await);
    guard(&owner, &own, "own");
    let source = shop::Shop {
        workspace: stage.model.workspace.clone(),
        clients: own,
        orders: out,
    };
    let template = source.template(&owner, &owner, &json!({}));
    let _working = shop::working(&stage.world);
    for (client, sees) in [(&stage.editor, false), (&owner, true)] {
        let fresh = shop::workspace(&owner, stage.world.acme);
        let job = shop::applied(client, &template, &json!({"workspaceId": fresh})).await;
        assert_eq!(job["report"]["published"], 1, "{job}");
        let active = owner.items(&format!("{PATH}?workspace_id={fresh}&active=true"));
        let it = workflow(&active[0]);
        let feature = &active[0]["trigger_config"]["config"]["featureId"];
        let feature = feature.as_str().expect("an id");
        insert(&owner, feature, &json!({"note": WORD}));
        stage.run_due().await;
        assert_eq!(runs(&owner, &it).len(), usize::from(sees));
        // Of rows of their own they hear.
        insert(client, feature, &json!({"note": "mine"}));
        stage.run_due().await;
        assert_eq!(runs(&owner, &it).len(), 1 + usize::from(sees));
    }
}

async fn a_called_automation_sees_what_the_caller_sees(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let (own, out, start) = (stage.model.feature.clone(), stage.table(), stage.table());
    insert(&owner, &own, &json!({"note": WORD}));
    guard(&owner, &own, "own");
    let read = json!([
        {"key": "feature.read", "id": "stp_000000000001", "config": {"featureId": own}},
        write("insert", &out, &[("n", json!("{{vars.steps.stp_000000000001.count}}"))]),
    ]);
    let called = publish(&owner, &stage.model.workspace, &manual(), &read);
    assert!(stage.world.switch(&called, true).await);
    let call = json!([{"key": "automation.run", "config": {"workflowId": called}}]);
    let by_hand = stage.fires(&manual(), &call).await;
    let watch = Stage::on(&start, &["created"], &[]);
    stage.fires(&watch, &call).await;
    let counts = || {
        stage
            .all(&out)
            .iter()
            .map(|row| row["n"].clone())
            .collect::<Vec<_>>()
    };
    // Begun by an editor, and by a row through an editor's automation, whoever wrote it.
    stage
        .editor
        .post_to(&by_hand, "/runs", &json!({}))
        .expect(202);
    stage.run_due().await;
    insert(&owner, &start, &json!({"note": "x"}));
    stage.run_due().await;
    assert_eq!(counts(), [json!(0), json!(0)]);
    owner.post_to(&by_hand, "/runs", &json!({})).expect(202);
    stage.run_due().await;
    assert_eq!(counts(), [json!(0), json!(0), json!(1)]);
    for run in runs(&owner, &called) {
        assert_eq!(
            (run["trigger"].as_str(), ended(&run).0),
            (Some("automation"), "succeeded")
        );
    }
    // What a run's write fires sees what the publisher of what is fired sees.
    let fired = publish(
        &owner,
        &stage.model.workspace,
        &Stage::on(&out, &["created"], &[]),
        &read_of(&own),
    );
    assert!(stage.world.switch(&fired, true).await);
    stage
        .editor
        .post_to(&by_hand, "/runs", &json!({}))
        .expect(202);
    stage.run_due().await;
    let run = runs(&owner, &fired).pop().expect("a run");
    assert_eq!(run["steps"][0]["output"]["count"], 1, "{run}");
}

fn read_of(feature: &str) -> Value {
    json!([{"key": "feature.read", "config": {"featureId": feature}}])
}

async fn who_reads_what_of_a_run(place: Place) {
    let stage = Stage::new(place).await;
    let [owner, admin, viewer] = ["owner@acme.test", "admin@acme.test", "viewer@acme.test"]
        .map(|who| stage.world.as_user(who));
    let feature = stage.model.feature.clone();
    let steps = json!([
        {"key": "var.set", "config": {"name": "x", "value": "{{record.note}}"}},
        write("insert", &feature, &[("n", json!("{{record.note}}"))]),
    ]);
    let it = stage
        .fires(&Stage::on(&feature, &["updated"], &[]), &steps)
        .await;
    let begin = |client: &Client, row: &str| {
        let body = json!({"row_id": row, "dry_run": true});
        let begun = client.post_to(&it, "/runs", &body).expect(202).json();
        format!("/v1/workflow-runs/{}", id(&begun))
    };
    let row = insert(&owner, &feature, &json!({"note": WORD}));
    let open = begin(&owner, &row);
    stage.run_due().await;
    let is_open = |client: &Client, run: &str| {
        let run = client.get(run).expect(200).json();
        assert_eq!(code(&run), "validation_failed", "{run}");
        let step = &run["steps"][0];
        let members = ["input", "output", "envelope"].map(|key| step[key].is_object());
        let members = [
            &members[..],
            &[
                run["error"]["detail"].is_string(),
                run["row_id"].is_string(),
            ],
        ]
        .concat();
        let error = &run["steps"][1]["error"];
        assert_eq!(error["detail"].is_string(), members[0]);
        assert_eq!(run.to_string().contains(WORD), members[0]);
        assert!(
            step.as_object()
                .expect("an object")
                .contains_key("envelope")
        );
        members
            .iter()
            .all(|shown| *shown)
            .then_some(true)
            .or_else(|| {
                assert!(members.iter().all(|shown| !shown), "{run}");
                Some(false)
            })
    };
    // While nothing is hidden, everybody reads it whole.
    for client in [&owner, &admin, &stage.editor, &viewer] {
        assert_eq!(is_open(client, &open), Some(true));
    }
    guard(&owner, &feature, "own");
    let hidden = begin(&owner, &row);
    stage.run_due().await;
    let key = stage.world.as_key(&["read"]);
    for run in [&open, &hidden] {
        for (client, reads) in [
            (&owner, true),
            (&admin, true),
            (&key, true),
            (&stage.editor, false),
            (&viewer, false),
        ] {
            assert_eq!(is_open(client, run), Some(reads));
        }
    }
    // What was hidden when it ended stays so; what was open then is open again.
    guard(&owner, &feature, "all");
    for client in [&stage.editor, &viewer] {
        assert_eq!(is_open(client, &open), Some(true));
        let run = client.get(&hidden).expect(200).json();
        // The row itself is seen again.
        assert_eq!(run["row_id"], json!(row));
        assert_eq!(
            (&run["steps"][0]["input"], &run["error"]["detail"]),
            (&Value::Null, &Value::Null)
        );
    }
    guard(&owner, &feature, "own");
    // Who began it reads it whole, whatever is hidden.
    let mine = stage.row(&feature, &json!({"note": WORD}));
    let mine = begin(&stage.editor, &mine);
    stage.run_due().await;
    assert_eq!(is_open(&stage.editor, &mine), Some(true));
    let run = viewer.get(&mine).expect(200).json();
    assert_eq!(
        (&run["row_id"], &run["steps"][0]["output"]),
        (&Value::Null, &Value::Null)
    );
    // A shared table elsewhere that its steps name counts like one of the workspace.
    guard(&owner, &feature, "all");
    let elsewhere = Model::new(&owner, stage.world.acme);
    owner
        .patch(
            &format!("/v1/features/{}", elsewhere.feature),
            &json!({"is_shared": true}),
        )
        .expect(200);
    let names = publish(
        &owner,
        &stage.model.workspace,
        &manual(),
        &read_of(&elsewhere.feature),
    );
    let not = publish(
        &owner,
        &stage.model.workspace,
        &manual(),
        &read_of(&feature),
    );
    guard(&owner, &elsewhere.feature, "own");
    let mut shown = Vec::new();
    for it in [&names, &not] {
        owner
            .post_to(it, "/runs", &json!({"dry_run": true}))
            .expect(202);
        stage.run_due().await;
        let run = runs(&stage.editor, it).pop().expect("a run");
        shown.push(run["steps"][0]["output"].is_object());
    }
    assert_eq!(shown, [false, true]);
}

async fn what_was_hidden_when_a_run_was_given_up_stays_so(place: Place) {
    let stage = Stage::new(place).await;
    let owner = stage.world.as_user("owner@acme.test");
    let elsewhere = Model::new(&owner, stage.world.acme).feature;
    let shared = json!({"is_shared": true});
    owner
        .patch(&format!("/v1/features/{elsewhere}"), &shared)
        .expect(200);
    guard(&owner, &elsewhere, "own");
    insert(&owner, &elsewhere, &json!({"note": WORD}));
    let steps = json!([
        {"key": "feature.read", "config": {"featureId": elsewhere}},
        {"key": "delay", "config": {"seconds": 60}},
    ]);
    let it = publish(&owner, &stage.model.workspace, &manual(), &steps);
    assert!(stage.world.switch(&it, true).await);
    let begun = owner.post_to(&it, "/runs", &json!({})).expect(202).json();
    stage.run_due().await;
    // The process that held it is the third that is no more.
    let sql = "UPDATE main.workflow_runs SET crashes = 2, lease_owner = $1, locked_until = 1, wake_at = NULL \
         WHERE id = $2";
    let parameters = vec![stage.world.context.id().into(), uuid(&id(&begun)).into()];
    stage.world.sql(sql, parameters).await;
    stage.run_due().await;
    guard(&owner, &elsewhere, "all");
    for (client, reads) in [(&owner, true), (&stage.editor, false)] {
        let run = runs(client, &it).pop().expect("a run");
        assert_eq!(code(&run), "abandoned");
        let shown = (
            run["steps"][0]["output"].is_object(),
            run["error"]["detail"].is_string(),
            run.to_string().contains(WORD),
        );
        assert_eq!(shown, (reads, reads, reads), "{run}");
    }
}
