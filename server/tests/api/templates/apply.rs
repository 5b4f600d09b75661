//! A template is applied: the job, its report, applied again, resumed, copied.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, finished, named, row, rows, working, workspace};
use crate::api::model::package;
use crate::api::workflows::{self, PATH};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_template_is_applied_elsewhere,
    applying_again_writes_nothing_twice,
    a_copy_stands_next_to,
    a_completed_job_passes_again,
    a_job_that_passes_again_finds_what_later_ones_made,
    a_job_is_seen_by_who_sees_its_workspace,
    who_may_apply,
    an_apply_sent_twice_is_one_job,
    the_executor_responds_in_its_own_form,
    a_package_in_parts_that_do_not_fit_is_refused,
    a_dollar_in_a_cell_is_data,
    a_draft_whose_table_was_created_again_is_published,
);

const ALL: &str = r#"{"rows": "all"}"#;

fn all() -> Value {
    serde_json::from_str(ALL).expect("JSON")
}

async fn a_template_is_applied_elsewhere(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let stranger = world.as_user("stranger@other.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &stranger, &all());
    let there = workspace(&stranger, world.other);
    let body = json!({"workspaceId": there});
    let accepted = apply(&stranger, &template, &body).expect(202);
    let members: Vec<String> = accepted
        .json()
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    assert_eq!(members, ["jobId", "status"]);
    assert_eq!(accepted.json()["status"], "pending");
    let job = finished(&stranger, accepted).await;
    assert_eq!(job["status"], "completed", "{job}");
    assert_eq!(
        (&job["template_id"], &job["workspace_id"]),
        (&json!(template), &json!(there))
    );
    assert_eq!(
        (&job["locked_until"], &job["error"]),
        (&Value::Null, &Value::Null)
    );
    let report = &job["report"];
    assert_eq!(
        (&report["published"], &report["unresolved"]),
        (&json!(0), &json!([]))
    );
    let tables_report = &report["rows"];
    let tables: Vec<&String> = tables_report.as_object().expect("tables").keys().collect();
    assert_eq!(tables.len(), 2);
    for (table, inserted) in tables.iter().zip([2, 3]) {
        let counts = &tables_report[table.as_str()];
        assert_eq!(
            (&counts["inserted"], &counts["recorded"]),
            (&json!(inserted), &json!(inserted))
        );
        assert_eq!(
            (&counts["skipped"], &counts["existing"]),
            (&json!(0), &json!(0))
        );
        assert!(counts.get("linked").is_none(), "{counts}");
    }
    let clients = named(&stranger, &there, "clients").expect("a table");
    let orders = named(&stranger, &there, "orders").expect("a table");
    let (clients, orders) = (rows(&stranger, &clients), rows(&stranger, &orders));
    // Rows have identities of their own, and links hold them.
    let source = rows(&editor, &shop.clients);
    assert_ne!(clients[0]["id"], source[0]["id"]);
    let linked: Vec<&Value> = orders.iter().map(|order| &order["client"]).collect();
    assert_eq!(
        linked,
        [&clients[0]["id"], &clients[1]["id"], &clients[0]["id"]]
    );
}

async fn applying_again_writes_nothing_twice(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &all());
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    let first = applied(&editor, &template, &body).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    // What a person removed stays removed; what a person added stays.
    let all = editor.items(&format!("/v1/features/{clients}/rows"));
    let path = format!(
        "/v1/features/{clients}/rows/{}",
        all[1]["id"].as_str().expect("an id")
    );
    editor.delete(&path).expect(204);
    row(&editor, &clients, &json!({"code": "c"}));
    let before = rows(&editor, &clients);
    let second = applied(&editor, &template, &body).await;
    assert_ne!(first["id"], second["id"]);
    for (table, counts) in second["report"]["rows"].as_object().expect("tables") {
        assert_eq!(counts["inserted"], 0, "{table} {counts}");
        assert!(counts["skipped"].as_u64() > Some(0), "{table} {counts}");
        assert!(counts.get("recorded").is_none(), "{table} {counts}");
    }
    assert_eq!(rows(&editor, &clients), before);
    assert_eq!(
        editor
            .items(&format!("/v1/features?workspace_id={there}"))
            .len(),
        2
    );
    let jobs = editor.ids(&format!("/v1/template-jobs?workspace_id={there}"));
    assert_eq!(
        jobs,
        [first["id"].as_str(), second["id"].as_str()].map(|id| id.expect("an id").to_owned())
    );
}

async fn a_copy_stands_next_to(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    let copy = applied(
        &editor,
        &template,
        &json!({"workspaceId": there, "copy": true}),
    )
    .await;
    let renamed: Vec<(&Value, &Value)> = copy["report"]["renamed"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|renamed| (&renamed["from"], &renamed["to"]))
        .collect();
    assert!(
        renamed.contains(&(&json!("clients"), &json!("clients_2"))),
        "{renamed:?}"
    );
    let clients = named(&editor, &there, "clients_2").expect("a copy");
    assert_eq!(rows(&editor, &clients).len(), 2);
}

async fn a_job_that_passes_again_finds_what_later_ones_made(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    let tables = || editor.items(&format!("/v1/features?workspace_id={there}"));
    for copy in [false, true] {
        let (clients, orders) = if copy {
            ("clients_2", "orders_2")
        } else {
            ("clients", "orders")
        };
        let first = json!({"workspaceId": there, "copy": copy});
        let first = applied(&editor, &template, &first).await;
        let gone = named(&editor, &there, orders).expect("a table");
        let path = format!("/v1/features/{gone}?force=true");
        editor.delete(&path).expect(204);
        // A later job puts another table in its place, and fills it.
        let second = applied(&editor, &template, &json!({"workspaceId": there})).await;
        assert_ne!(first["id"], second["id"]);
        let made = named(&editor, &there, orders).expect("a table");
        assert_ne!(made, gone);
        let before = (tables(), rows(&editor, &made));
        let again = json!({"workspaceId": there, "jobId": first["id"]});
        let plan = format!("/v1/templates/{template}/plan");
        let plan = editor.post(&plan, &again).expect(200).json();
        assert_eq!(plan["create"], json!([]), "{plan}");
        let again = applied(&editor, &template, &again).await;
        assert_eq!(again["id"], first["id"]);
        for (table, counts) in again["report"]["rows"].as_object().expect("tables") {
            assert_eq!(counts["inserted"], 0, "{table} {counts}");
            assert!(counts["skipped"].as_u64() > Some(0), "{table} {counts}");
        }
        assert_eq!((tables(), rows(&editor, &made)), before);
        let clients = named(&editor, &there, clients).expect("a table");
        assert_eq!(rows(&editor, &clients).len(), 2);
    }
}

async fn a_completed_job_passes_again(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let again = json!({"workspaceId": there, "jobId": job["id"]});
    let same = applied(&editor, &template, &again).await;
    assert_eq!(same["id"], job["id"]);
    assert_eq!(same["report"]["published"], 0);
    for counts in same["report"]["rows"].as_object().expect("tables").values() {
        assert_eq!(counts["inserted"], 0, "{counts}");
    }
    // A job of another template, another workspace, another organization, or of nobody.
    let elsewhere = workspace(&editor, world.acme);
    let other = shop.template(&editor, &world.as_user("admin@acme.test"), &json!({}));
    let stranger = world.as_user("stranger@other.test");
    let theirs = workspace(&stranger, world.other);
    let foreign = shop.template(&editor, &stranger, &json!({}));
    let foreign = applied(&stranger, &foreign, &json!({"workspaceId": theirs})).await;
    let missing = world.context.id().to_string();
    for (template, workspace, job) in [
        (&template, &elsewhere, &job["id"]),
        (&other, &there, &job["id"]),
        (&template, &there, &foreign["id"]),
        (&template, &there, &json!(missing)),
    ] {
        let body = json!({"workspaceId": workspace, "jobId": job});
        let refused = apply(&editor, template, &body).refused(404, "not_found");
        let executor = format!("/apply/templates/{template}");
        editor.post(&executor, &body).refused(404, "not_found");
        assert!(!refused.body.contains("job"), "{refused:?}");
    }
}

async fn a_job_is_seen_by_who_sees_its_workspace(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let path = format!("/v1/template-jobs/{}", job["id"].as_str().expect("an id"));
    let list = format!("/v1/template-jobs?workspace_id={there}");
    let viewer = world.as_user("viewer@acme.test");
    assert_eq!(viewer.get(&path).expect(200).json(), job);
    assert_eq!(viewer.items(&list), std::slice::from_ref(&job));
    assert_eq!(viewer.items("/v1/template-jobs"), [job]);
    let stranger = world.as_user("stranger@other.test");
    stranger.get(&path).refused(404, "not_found");
    stranger.get(&list).refused(404, "not_found");
    stranger
        .post(&format!("{path}/undo"), &json!({}))
        .refused(404, "not_found");
    assert_eq!(stranger.items("/v1/template-jobs"), [Value::Null; 0]);
    let closed = json!({"access": "members"});
    let owner = world.as_user("owner@acme.test");
    owner
        .patch(&format!("/v1/workspaces/{there}"), &closed)
        .expect(200);
    viewer.get(&path).refused(404, "not_found");
    viewer.get(&list).refused(404, "not_found");
    assert_eq!(viewer.items("/v1/template-jobs"), [Value::Null; 0]);
    owner.get(&path).expect(200);
    for bad in ["limit=0", "workspace_id=x", "x=1"] {
        owner
            .get(&format!("/v1/template-jobs?{bad}"))
            .refused(422, "validation_failed");
    }
}

async fn who_may_apply(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &all());
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    let viewer = world.as_user("viewer@acme.test");
    apply(&viewer, &template, &body).refused(403, "forbidden");
    viewer
        .post(&format!("/v1/templates/{template}/plan"), &body)
        .expect(200);
    for scopes in [&["read"][..], &["write"]] {
        apply(&world.as_key(scopes), &template, &body).refused(403, "missing_scope");
    }
    // A template of others, a workspace of others: as if there were none.
    let stranger = world.as_user("stranger@other.test");
    let theirs = workspace(&stranger, world.other);
    let missing = world.context.id().to_string();
    let refusal = |client: &crate::api::client::Client, template: &str, workspace: &str| {
        let response = apply(client, template, &json!({"workspaceId": workspace}));
        response
            .refused(404, "not_found")
            .body
            .replace(template, "…")
    };
    assert_eq!(
        refusal(&editor, &template, &theirs),
        refusal(&editor, &template, &missing)
    );
    assert_eq!(
        refusal(&stranger, &template, &theirs),
        refusal(&stranger, &missing, &theirs)
    );
    // A public template of others is applied by everybody, where they may write.
    let public = json!({"visibility": "public"});
    admin
        .patch(&format!("/v1/templates/{template}"), &public)
        .expect(200);
    apply(&stranger, &template, &json!({"workspaceId": theirs})).expect(202);
    apply(&stranger, &template, &body).refused(404, "not_found");
    apply(&world.as_key(&["write", "structure"]), &template, &body).expect(202);
    // What is wrong with a body.
    let elsewhere = workspace(&editor, world.acme);
    for (body, place) in [
        (json!({}), "workspaceId"),
        (json!({"workspaceId": null}), "workspaceId"),
        (json!({"workspaceId": "x"}), "workspaceId"),
        (json!({"workspaceId": elsewhere, "jobId": "x"}), "jobId"),
        (json!({"workspaceId": elsewhere, "jobId": null}), "jobId"),
        (
            json!({"workspaceId": elsewhere, "includeRows": 1}),
            "includeRows",
        ),
        (json!({"workspaceId": elsewhere, "copy": "yes"}), "copy"),
        (
            json!({"workspaceId": elsewhere, "resolutions": []}),
            "resolutions",
        ),
        (
            json!({"workspaceId": elsewhere, "rowsModes": {"f_orders": "some"}}),
            "rowsModes.f_orders",
        ),
        (
            json!({"workspaceId": elsewhere, "workspace_id": elsewhere}),
            "workspace_id",
        ),
    ] {
        for path in ["apply", "plan"] {
            let refused = editor.post(&format!("/v1/templates/{template}/{path}"), &body);
            let refused = refused.refused(422, "validation_failed");
            assert_eq!(refused.json()["errors"][0]["path"], place, "{refused:?}");
        }
    }
    let path = format!("/v1/templates/{template}/apply");
    editor.json("POST", &path, "{").refused(422, "invalid_json");
    let twice = format!(r#"{{"workspaceId":"{elsewhere}","workspaceId":"{elsewhere}"}}"#);
    editor
        .json("POST", &path, &twice)
        .refused(422, "invalid_json");
    let query = format!("{path}?x=1");
    editor
        .post(&query, &json!({"workspaceId": elsewhere}))
        .refused(422, "validation_failed");
    assert_eq!(
        editor
            .items(&format!("/v1/template-jobs?workspace_id={elsewhere}"))
            .len(),
        0
    );
}

async fn an_apply_sent_twice_is_one_job(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let body = json!({"workspaceId": there}).to_string();
    for path in [
        format!("/v1/templates/{template}/apply"),
        format!("/apply/templates/{template}"),
    ] {
        let send = || editor.send("POST", &path, &headers, Some(body.as_bytes()));
        let (first, second) = (send(), send());
        assert_eq!((first.status, &first.body), (second.status, &second.body));
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        assert_eq!(first.header("content-type"), Some("application/json"));
    }
    assert_eq!(editor.items("/v1/template-jobs").len(), 1);
}

async fn the_executor_responds_in_its_own_form(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    let path = format!("/apply/templates/{template}");
    let body = json!({"workspaceId": there, "resolutions": {"f_nothing": {"action": "skip"}}});
    let as_json = |response: crate::api::client::Response, status: u16| {
        assert_eq!(response.header("content-type"), Some("application/json"));
        response.expect(status).json()
    };
    let refused = as_json(editor.post(&path, &body), 422);
    assert_eq!(refused["error"], "unknown_resolution_ref");
    assert_eq!(refused["ref"], "f_nothing");
    assert!(
        refused["detail"].is_string() && refused.get("code").is_none(),
        "{refused}"
    );
    // The same layers as everything under /v1.
    assert_eq!(
        as_json(world.nobody.post(&path, &body), 401)["error"],
        "unauthenticated"
    );
    let key = world.as_key(&["write"]);
    assert_eq!(
        as_json(key.post(&path, &body), 403)["error"],
        "missing_scope"
    );
    assert_eq!(
        as_json(editor.get(&path), 405)["error"],
        "method_not_allowed"
    );
    assert_eq!(
        as_json(editor.json("POST", &path, "{"), 422)["error"],
        "invalid_json"
    );
    let text = [("content-type", "text/plain")];
    let response = editor.send("POST", &path, &text, Some(b"x"));
    assert_eq!(as_json(response, 415)["error"], "unsupported_media_type");
    let body = json!({"workspaceId": there});
    let accepted = as_json(editor.post(&path, &body), 202);
    assert_eq!(accepted["status"], "pending");
    let active = as_json(editor.post(&path, &body), 409);
    assert_eq!(
        (&active["error"], &active["jobId"]),
        (&json!("job_active"), &accepted["jobId"])
    );
    assert_eq!(active["status"], "pending");
}

async fn a_package_in_parts_that_do_not_fit_is_refused(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let manifest = &package("Notes")["manifest"];
    let body = json!({"organization_id": world.acme, "manifest": manifest});
    let made = admin.create("/v1/templates", &body);
    let template = crate::api::model::id(&made);
    let mut entry = package("Notes")["payloads"][0].clone();
    entry["featureRef"] = "f_elsewhere".into();
    let path = format!(
        "/v1/templates/{template}/payloads/{}",
        crate::api::model::ITEM
    );
    admin.json("PUT", &path, &entry.to_string()).expect(201);
    let there = workspace(&admin, world.acme);
    let body = json!({"workspaceId": there});
    let refused = apply(&admin, &template, &body)
        .refused(422, "validation_failed")
        .json();
    assert_eq!(refused["errors"][0]["code"], "R002", "{refused}");
    let plan = admin
        .post(&format!("/v1/templates/{template}/plan"), &body)
        .expect(200)
        .json();
    assert_eq!(plan["refusals"][0]["code"], "validation_failed");
    assert!(
        plan["refusals"][0]["detail"]
            .as_str()
            .expect("text")
            .contains("R002")
    );
    assert_eq!(admin.items("/v1/template-jobs").len(), 0);
    // Without its payloads it has no rows, and without a version it is of the first.
    admin.delete(&path).expect(204);
    let _working = working(&world);
    applied(&admin, &template, &body).await;
    let body = json!({"organization_id": world.acme, "manifest": {"plan": manifest["plan"]}});
    let first = crate::api::model::id(&admin.create("/v1/templates", &body));
    let elsewhere = workspace(&admin, world.acme);
    applied(&admin, &first, &json!({"workspaceId": elsewhere})).await;
    assert!(named(&admin, &elsewhere, "notes").is_some());
}

async fn a_dollar_in_a_cell_is_data(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    row(&editor, &shop.orders, &json!({"title": "$f_clients"}));
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    assert_eq!(rows(&editor, &orders)[3]["title"], "$f_clients");
}

async fn a_draft_whose_table_was_created_again_is_published(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let mut draft = workflows::body(&shop.workspace, true);
    draft["trigger_config"] = json!({"type": "record.event",
        "config": {"modes": ["created"], "featureId": shop.orders}});
    editor.create(PATH, &draft);
    let template = shop.template(&editor, &world.as_user("admin@acme.test"), &all());
    let there = workspace(&editor, world.acme);
    let body = json!({"workspaceId": there});
    applied(&editor, &template, &body).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    editor
        .delete(&format!("/v1/features/{orders}?force=true"))
        .expect(204);
    applied(&editor, &template, &body).await;
    let orders = named(&editor, &there, "orders").expect("a table");
    let versions = editor.items(&format!("{PATH}?workspace_id={there}"));
    assert_eq!(versions.len(), 2, "{versions:?}");
    assert!(
        versions
            .iter()
            .all(|one| one["is_draft"] == true && one["base_version"] == Value::Null),
        "{versions:?}"
    );
    let it = workflows::workflow(&versions[0]);
    let published = editor.post_to(&it, "/apply", &json!({})).expect(200).json();
    let watched = &published["trigger_config"]["config"]["featureId"];
    assert_eq!(
        (&published["version"], watched),
        (&json!(2), &json!(orders))
    );
}
