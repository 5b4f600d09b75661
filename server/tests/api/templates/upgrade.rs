//! A template whose package is another one: what was applied is upgraded, and taken back.

use serde_json::{Value, json};
use tplkit::workspace::ledger::Entry;
use uuid::Uuid;

use super::shop::{AppliedShop, Shop, applied, apply, named, rows, working, workspace};
use crate::api::model::id;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_upgrade_asks_writes_and_is_taken_back,
    a_job_whose_ledger_tells_no_base_is_upgraded,
    an_upgrade_starts_from_the_line_of_a_job,
    what_people_changed_after_an_upgrade_stays_when_it_is_undone,
    members_that_say_nothing_are_refused_without_an_upgrade,
    what_an_upgrade_or_its_undo_writes_has_changed_later,
);

/// The args of the step that creates what has that name.
pub(super) fn args<'j>(package: &'j mut Value, tool: &str, name: &str) -> &'j mut Value {
    let steps = package["manifest"]["plan"]["steps"].as_array_mut();
    let mut steps = steps.expect("steps").iter_mut();
    let step = steps.find(|step| step["tool"] == tool && step["args"]["name"] == name);
    &mut step.expect("a step")["args"]
}

async fn an_upgrade_asks_writes_and_is_taken_back(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let plan_path = format!("/v1/templates/{template}/plan");
    let upgrade = json!({"workspaceId": there, "upgrade": true});
    let plan = editor.post(&plan_path, &upgrade).expect(200).json();
    assert_eq!(plan["refusals"][0]["code"], "no_base");
    apply(&editor, &template, &upgrade).refused(422, "no_base");
    let first = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    let orders = named(&editor, &there, "orders").expect("a table");

    // The author changes a label, a column and a cell of reference data; people change labels.
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    args(&mut package, "create_feature", "clients")["label"] = "Customers".into();
    args(&mut package, "create_feature", "orders")["label"] = "Sales".into();
    args(&mut package, "create_column", "name")["label"] = "Full name".into();
    let entries = package["payloads"]
        .as_array_mut()
        .expect("payloads")
        .iter_mut();
    for entry in entries {
        for row in entry["rows"].as_array_mut().expect("rows") {
            if row["data"]["code"] == "a" {
                row["data"]["name"] = "New name".into();
            }
        }
    }
    admin.json("PUT", &kept, &package.to_string()).expect(200);
    let feature = |id: &str| format!("/v1/features/{id}");
    editor
        .json("PATCH", &feature(&clients), r#"{"label": "Ours"}"#)
        .expect(200);

    let plan = editor.post(&plan_path, &upgrade).expect(200).json();
    assert_eq!(plan["base"]["job_id"], first["id"]);
    assert_eq!(plan["refusals"][0]["code"], "upgrade_conflicts", "{plan}");
    let conflict = &plan["conflicts"][0];
    assert_eq!(
        (&conflict["code"], &conflict["path"]),
        (&json!("changed"), &json!("label"))
    );
    assert_eq!(
        (&conflict["base"], &conflict["theirs"], &conflict["ours"]),
        (&json!("Clients"), &json!("Customers"), &json!("Ours"))
    );
    let refused = apply(&editor, &template, &upgrade)
        .refused(422, "upgrade_conflicts")
        .json();
    assert_eq!(refused["conflicts"], plan["conflicts"]);
    assert_eq!(editor.items("/v1/template-jobs").len(), 1);

    let reference = conflict["ref"].as_str().expect("a ref");
    let no_side = json!({"workspaceId": there, "upgrade": true, "decisions": {reference: {"config.titleColumn": {"take": "rename"}}}});
    for route in [
        apply(&editor, &template, &no_side),
        editor.post(&plan_path, &no_side),
    ] {
        let refused = route.refused(422, "validation_failed").json();
        let place = format!("decisions.{reference}.config.titleColumn");
        assert_eq!(refused["errors"][0]["path"], place, "{refused}");
    }
    let decided = json!({"workspaceId": there, "upgrade": true, "decisions": {reference: {"label": {"take": "ours", "ours": "Ours"}}}});
    let job = applied(&editor, &template, &decided).await;
    let report = &job["report"];
    assert_eq!(
        (&report["structure_updated"], &report["decided"]),
        (&json!(2), &json!(1)),
        "{report}"
    );
    let kept = report["kept"].as_array().map(Vec::len);
    assert_eq!((kept, &report["left"]), (Some(1), &json!([])), "{report}");
    let label = |id: &str| editor.get(&feature(id)).expect(200).json()["label"].clone();
    assert_eq!(
        (label(&clients), label(&orders)),
        (json!("Ours"), json!("Sales"))
    );
    let names: Vec<Value> = rows(&editor, &clients)
        .iter()
        .map(|row| row["name"].clone())
        .collect();
    assert_eq!(names, ["New name", "N"]);

    // Decided, it is silent, and nothing is left to do.
    let again = editor.post(&plan_path, &upgrade).expect(200).json();
    assert_eq!(
        (&again["refusals"], &again["update"]),
        (&json!([]), &json!([])),
        "{again}"
    );

    // Its report says all of it, too.
    let nothing = applied(&editor, &template, &upgrade).await;
    for (member, empty) in [
        ("decided", json!(0)),
        ("structure_updated", json!(0)),
        ("left", json!([])),
    ] {
        assert_eq!(nothing["report"][member], empty, "{nothing}");
    }
    assert!(nothing["report"]["kept"].is_array(), "{nothing}");

    // The upgrade goes first.
    let undo = |job: &Value| {
        let id = job["id"].as_str().expect("an id");
        editor.send("POST", &format!("/v1/template-jobs/{id}/undo"), &[], None)
    };
    undo(&first).refused(409, "conflict");
    undo(&nothing).expect(200);
    undo(&job).expect(200);
    assert_eq!(
        (label(&clients), label(&orders)),
        (json!("Ours"), json!("Orders"))
    );
    assert_eq!(rows(&editor, &clients)[0]["name"], "N");
    undo(&first).expect(200);
    assert_eq!(named(&editor, &there, "clients"), None);
}

/// Takes out of the ledger of a job what older ledgers did not hold.
async fn forget_base(world: &World, job: &Value) {
    let job: Uuid = job["id"].as_str().expect("an id").parse().expect("an id");
    let sql = "SELECT number, entry FROM template_job_entries WHERE job_id = $1";
    for row in world.sql(sql, vec![job.into()]).await {
        let (number, text): (i64, String) =
            (row.get(0).expect("a number"), row.get(1).expect("a text"));
        let mut entry: Entry = serde_json::from_str(&text).expect("an entry");
        let Entry::Structure(structure) = &mut entry else {
            continue;
        };
        assert!(!structure.base.is_empty());
        structure.base.clear();
        let sql = "UPDATE main.template_job_entries SET entry = $3 \
             WHERE job_id = $1 AND number = $2";
        let text = serde_json::to_string(&entry).expect("JSON");
        let parameters = vec![job.into(), number.into(), text.into()];
        world.sql(sql, parameters).await;
    }
}

async fn a_job_whose_ledger_tells_no_base_is_upgraded(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let first = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    let orders = named(&editor, &there, "orders").expect("a table");
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    args(&mut package, "create_feature", "orders")["label"] = "Sales".into();
    admin.json("PUT", &kept, &package.to_string()).expect(200);
    let feature = |id: &str| format!("/v1/features/{id}");
    editor
        .json("PATCH", &feature(&clients), r#"{"label": "Ours"}"#)
        .expect(200);

    let plan_path = format!("/v1/templates/{template}/plan");
    let upgrade = json!({"workspaceId": there, "upgrade": true});
    let plan = editor.post(&plan_path, &upgrade).expect(200).json();
    assert_eq!(plan["update"].as_array().map(Vec::len), Some(1), "{plan}");
    forget_base(&world, &first).await;
    let plan_without_base = editor.post(&plan_path, &upgrade).expect(200).json();
    assert_eq!(plan_without_base, plan);
    let job = applied(&editor, &template, &upgrade).await;
    assert_eq!(job["report"]["structure_updated"], 1, "{job}");
    // A completed job goes on with nothing.
    for completed in [&first, &job] {
        let by = json!({"workspaceId": there, "upgrade": true, "jobId": completed["id"]});
        editor
            .post(&plan_path, &by)
            .refused(422, "validation_failed");
        apply(&editor, &template, &by).refused(422, "validation_failed");
    }
    let both = json!({"workspaceId": there, "upgrade": true, "copy": true});
    apply(&editor, &template, &both).refused(422, "validation_failed");
    editor
        .post(&plan_path, &both)
        .refused(422, "validation_failed");
    let label = |id: &str| editor.get(&feature(id)).expect(200).json()["label"].clone();
    assert_eq!(
        (label(&clients), label(&orders)),
        (json!("Ours"), json!("Sales"))
    );
}

async fn an_upgrade_starts_from_the_line_of_a_job(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let first = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let copy = applied(
        &editor,
        &template,
        &json!({"workspaceId": there, "copy": true}),
    )
    .await;
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    args(&mut package, "create_feature", "orders")["label"] = "Sales".into();
    admin.json("PUT", &kept, &package.to_string()).expect(200);

    let plan_path = format!("/v1/templates/{template}/plan");
    let upgrade_from =
        |job: &Value| json!({"workspaceId": there, "upgrade": true, "baseJob": job["id"]});
    let newest = json!({"workspaceId": there, "upgrade": true});
    let plan = editor.post(&plan_path, &newest).expect(200).json();
    assert_eq!(plan["base"]["job_id"], copy["id"]);
    let plan = editor
        .post(&plan_path, &upgrade_from(&first))
        .expect(200)
        .json();
    assert_eq!(plan["base"]["job_id"], first["id"]);
    let orders = named(&editor, &there, "orders").expect("a table");
    assert_eq!(plan["update"][0]["id"], orders, "{plan}");
    let upgrade = applied(&editor, &template, &upgrade_from(&first)).await;
    assert_eq!(upgrade["report"]["base"]["job_id"], first["id"]);
    assert_eq!(upgrade["report"]["structure_updated"], 1);
    // Its line is the newest now, and what it starts from is not taken back before it.
    let plan = editor.post(&plan_path, &newest).expect(200).json();
    assert_eq!(plan["base"]["job_id"], upgrade["id"]);
    assert_eq!(plan["update"], json!([]));
    let plan = editor
        .post(&plan_path, &upgrade_from(&copy))
        .expect(200)
        .json();
    assert_eq!(plan["update"].as_array().map(Vec::len), Some(1), "{plan}");
    let undo = |job: &Value| {
        let id = job["id"].as_str().expect("an id");
        editor.send("POST", &format!("/v1/template-jobs/{id}/undo"), &[], None)
    };
    undo(&first).refused(409, "conflict");
    undo(&copy).expect(200);

    // What cannot be started from.
    editor
        .post(
            &plan_path,
            &json!({"workspaceId": there, "baseJob": first["id"]}),
        )
        .refused(422, "validation_failed");
    for (job, wanted) in [(json!({"id": Uuid::from_u128(7)}), 404), (copy, 409)] {
        let code = if wanted == 404 {
            "not_found"
        } else {
            "conflict"
        };
        apply(&editor, &template, &upgrade_from(&job)).refused(wanted, code);
        let planned = editor.post(&plan_path, &upgrade_from(&job));
        if wanted == 404 {
            planned.refused(404, "not_found");
        } else {
            let plan = planned.expect(200).json();
            let codes = plan["refusals"].as_array().expect("refusals").iter();
            let codes = codes.map(|refusal| &refusal["code"]);
            assert_eq!(codes.collect::<Vec<_>>(), ["conflict"], "{plan}");
        }
    }
    let elsewhere = workspace(&editor, world.acme);
    let other = applied(&editor, &template, &json!({"workspaceId": elsewhere})).await;
    apply(&editor, &template, &upgrade_from(&other)).refused(404, "not_found");
    // Another template is the same by its id alone.
    for (id, status) in [(Value::Null, 404), (json!("shop"), 202)] {
        let mut package = package.clone();
        if id != Value::Null {
            package["manifest"]["id"] = id;
            admin.json("PUT", &kept, &package.to_string()).expect(200);
            applied(&editor, &template, &newest).await;
        }
        let import = format!("/v1/templates/import?organization_id={}", world.acme);
        let twin = admin
            .json("POST", &import, &package.to_string())
            .expect(201)
            .json();
        let twin = twin["id"].as_str().expect("an id");
        let newest = editor.post(&plan_path, &newest).expect(200).json()["base"]["job_id"].clone();
        let body = upgrade_from(&json!({"id": newest}));
        if status == 404 {
            apply(&editor, twin, &body).refused(404, "not_found");
        } else {
            let job = applied(&editor, twin, &body).await;
            assert_eq!(job["report"]["structure_updated"], 0, "{job}");
            assert_eq!(job["report"]["base"]["job_id"], newest);
        }
    }
}

async fn what_people_changed_after_an_upgrade_stays_when_it_is_undone(place: Place) {
    let AppliedShop {
        editor,
        admin,
        template,
        there,
        ..
    } = &AppliedShop::new(place).await;
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    args(&mut package, "create_feature", "orders")["label"] = "Sales".into();
    args(&mut package, "create_feature", "clients")["label"] = "Customers".into();
    args(&mut package, "create_column", "name")["label"] = "Full name".into();
    admin.json("PUT", &kept, &package.to_string()).expect(200);
    let upgrade = json!({"workspaceId": there, "upgrade": true});
    let job = applied(editor, template, &upgrade).await;
    let orders = named(editor, there, "orders").expect("a table");
    let feature = format!("/v1/features/{orders}");
    editor
        .json("PATCH", &feature, r#"{"label": "Since"}"#)
        .expect(200);
    let undo = |query: &str| {
        let id = job["id"].as_str().expect("an id");
        let path = format!("/v1/template-jobs/{id}/undo{query}");
        editor.send("POST", &path, &[], None)
    };
    // Whoever sees the table sees what is in it.
    let clients = named(editor, there, "clients").expect("a table");
    let columns = format!("/v1/features/{clients}/columns");
    let held = editor.get(&columns).expect(200).json();
    let mut name = held.as_array().expect("a list").iter();
    let name = name.find(|column| column["name"] == "name");
    let name = name.expect("a column")["id"].as_str();
    let name = format!("{columns}/{}", name.expect("an id"));
    let since = json!({"label": "Since"});
    editor.json("PATCH", &name, &since.to_string()).expect(200);
    let refused = undo("").refused(409, "not_empty").json();
    let detail = refused["detail"].as_str().expect("a text");
    assert!(
        detail.contains("column \"Full name\" has 1 leaf")
            && detail.contains("table \"Sales\" has"),
        "{detail}"
    );
    let before = json!({"label": "Full name"});
    editor.json("PATCH", &name, &before.to_string()).expect(200);
    let undone = undo("?force=true").expect(200).json();
    let report = &undone["report"];
    let reference = package["manifest"]["plan"]["steps"]
        .as_array()
        .expect("steps")
        .iter();
    let mut reference = reference.filter(|step| step["args"]["label"] == "Sales");
    let reference = &reference.next().expect("a step")["ref"];
    assert_eq!(
        report["undo_left"],
        json!([{"kind": "feature", "ref": reference, "id": orders, "path": "label"}]),
        "{undone}"
    );
    assert_eq!(report["structure_updated"], 3);
    assert_eq!(editor.get(&feature).expect(200).json()["label"], "Since");
    let clients = named(editor, there, "clients").expect("a table");
    let clients = editor
        .get(&format!("/v1/features/{clients}"))
        .expect(200)
        .json();
    assert_eq!(clients["label"], "Clients");
}

async fn members_that_say_nothing_are_refused_without_an_upgrade(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let plan = format!("/v1/templates/{template}/plan");
    for (name, value) in [
        ("decisions", json!({})),
        ("allowDowngrade", json!(false)),
        ("allowDestructive", json!(false)),
    ] {
        let body = json!({"workspaceId": there, name: value});
        for response in [apply(&editor, &template, &body), editor.post(&plan, &body)] {
            let refused = response.refused(422, "validation_failed").json();
            assert!(refused.to_string().contains(name), "{refused}");
        }
    }
    assert_eq!(editor.items("/v1/template-jobs").len(), 0, "no job");
}

/// The clock stands: what is written is later than the last change all the same.
async fn what_an_upgrade_or_its_undo_writes_has_changed_later(place: Place) {
    let shop = AppliedShop::new(place).await;
    let (editor, template) = (&shop.editor, &shop.template);
    let orders = named(editor, &shop.there, "orders").expect("a table");
    let clients = named(editor, &shop.there, "clients").expect("a table");
    let times = || {
        let feature = editor.get(&format!("/v1/features/{orders}")).expect(200);
        let rows = editor.items(&format!("/v1/features/{clients}/rows?filter=code:eq:a"));
        [&feature.json(), &rows[0]].map(|record| record["updated_at"].to_string())
    };
    let kept = format!("/v1/templates/{template}/package");
    let mut package = shop.admin.get(&kept).expect(200).json();
    args(&mut package, "create_feature", "orders")["label"] = "Sales".into();
    for entry in package["payloads"].as_array_mut().expect("payloads") {
        for row in entry["rows"].as_array_mut().expect("rows") {
            if row["data"]["code"] == "a" {
                row["data"]["name"] = "New name".into();
            }
        }
    }
    let put = shop.admin.json("PUT", &kept, &package.to_string());
    put.expect(200);
    let first = times();
    let upgrade = json!({"workspaceId": shop.there, "upgrade": true});
    let job = applied(editor, template, &upgrade).await;
    let upgraded = times();
    let undo = format!("/v1/template-jobs/{}/undo", id(&job));
    editor.send("POST", &undo, &[], None).expect(200);
    let undone = times();
    for at in 0..2 {
        assert!(first[at] < upgraded[at], "{first:?} {upgraded:?}");
        assert!(upgraded[at] < undone[at], "{upgraded:?} {undone:?}");
    }
}
