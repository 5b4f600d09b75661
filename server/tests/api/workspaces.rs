//! `/v1/workspaces` and who sees them.

use std::thread;

use serde_json::json;

use super::client::{Client, Response};
use super::model::{Model, id, uuid};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_workspace_is_created_read_changed_and_deleted,
    what_is_wrong_with_a_workspace_is_reported,
    the_target_organization_is_one_of_the_callers,
    names_follow_from_labels_and_are_counted_on,
    many_of_one_label_at_once_all_get_a_name,
    a_workspace_for_members_hides_everything_in_it,
    who_sees_what_is_decided_by_administrators,
    what_is_kept_from_somebody_is_kept_at_once,
    members_of_workspaces_are_the_administrators_business,
    a_workspace_that_holds_something_goes_only_by_force_and_leaves_no_orphan,
    a_repeated_create_is_done_once,
);

async fn a_workspace_is_created_read_changed_and_deleted(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"organization_id": world.acme, "label": "Ordens de serviço"});
    let made = editor.create("/v1/workspaces", &body);
    let path = format!("/v1/workspaces/{}", id(&made));
    assert_eq!(
        made,
        json!({
            "id": made["id"], "organization_id": world.acme, "name": "ordens_de_servico",
            "label": "Ordens de serviço", "access": "organization", "config": {},
            "created_at": "2023-11-14T22:13:20.000000Z", "updated_at": "2023-11-14T22:13:20.000000Z",
        })
    );
    assert_eq!(uuid(&id(&made)).get_version_num(), 7);
    assert_eq!(editor.get(&path).expect(200).json(), made);
    assert_eq!(editor.ids("/v1/workspaces"), [id(&made)]);
    world.wait(1);
    assert_eq!(editor.patch(&path, &json!({})).expect(200).json(), made);
    let body = json!({"label": "New", "name": "new name", "config": {"theme": "dark"}});
    let changed = editor.patch(&path, &body).expect(200).json();
    assert_eq!(changed["label"], "New");
    assert_eq!(changed["name"], "new name");
    assert_eq!(changed["config"], json!({"theme": "dark"}));
    assert_eq!(changed["created_at"], made["created_at"]);
    assert_eq!(changed["updated_at"], "2023-11-14T22:13:21.000000Z");
    assert_eq!(editor.get(&path).json(), changed);
    // A config is replaced whole.
    let changed = editor.patch(&path, &json!({"config": {}})).expect(200);
    assert_eq!(changed.json()["config"], json!({}));
    editor.delete(&path).expect(204);
    editor.get(&path).refused(404, "not_found");
    editor.delete(&path).refused(404, "not_found");
}

/// Where a refusal finds its faults.
#[track_caller]
pub(crate) fn faults(response: Response) -> Vec<String> {
    let problem = response.refused(422, "validation_failed").json();
    let errors = problem["errors"].as_array().expect("errors").clone();
    let paths = errors.iter().map(|error| error["path"].as_str());
    paths.map(|path| path.expect("a path").to_owned()).collect()
}

async fn what_is_wrong_with_a_workspace_is_reported(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let post = |body| editor.post("/v1/workspaces", &body);
    for (body, path) in [
        (json!({"label": "x"}), "organization_id"),
        (
            json!({"organization_id": null, "label": "x"}),
            "organization_id",
        ),
        (
            json!({"organization_id": "x", "label": "x"}),
            "organization_id",
        ),
        (json!({"organization_id": world.acme}), "label"),
        (
            json!({"organization_id": world.acme, "label": null}),
            "label",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "name": null}),
            "name",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "name": "a.b"}),
            "name",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "name": ""}),
            "name",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "access": "all"}),
            "access",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "order": 1}),
            "order",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "id": world.acme}),
            "id",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "created_at": 1}),
            "created_at",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "config": []}),
            "config",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "config": null}),
            "config",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "config": {"tehme": "x"}}),
            "config.tehme",
        ),
        (
            json!({"organization_id": world.acme, "label": "x", "config": {"theme": 1}}),
            "config.theme",
        ),
    ] {
        assert_eq!(faults(post(body.clone())), [path], "{body}");
    }
    let made = editor.create(
        "/v1/workspaces",
        &json!({"organization_id": world.acme, "label": "x"}),
    );
    let path = format!("/v1/workspaces/{}", id(&made));
    for (body, fault) in [
        (json!({"label": null}), "label"),
        (json!({"name": "a:b"}), "name"),
        (json!({"other": 1}), "other"),
        (json!({"access": null}), "access"),
        (
            json!({"config": {"defaultModuleId": 1}}),
            "config.defaultModuleId",
        ),
        (
            json!({"config": {"defaultModuleId": "x"}}),
            "config.defaultModuleId",
        ),
        (
            json!({"config": {"defaultModuleId": world.acme}}),
            "config.defaultModuleId",
        ),
    ] {
        assert_eq!(faults(editor.patch(&path, &body)), [fault], "{body}");
    }
    for frozen in [
        "id",
        "organization_id",
        "created_at",
        "updated_at",
        "created_by",
        "seats",
        "row_quota",
    ] {
        let body = json!({frozen: world.other, "label": "y"});
        editor.patch(&path, &body).refused(403, "forbidden");
    }
    assert_eq!(editor.get(&path).json(), made);
    assert_eq!(faults(editor.get(&format!("{path}?x=1"))), ["query.x"]);
    assert_eq!(
        faults(editor.get("/v1/workspaces/x")),
        ["path.workspace_id"]
    );
    for force in ["1", "TRUE", "", "true&force=true"] {
        let refused = editor.delete(&format!("{path}?force={force}"));
        assert_eq!(faults(refused), ["query.force"], "{force}");
    }
    editor.delete(&format!("{path}?force=false")).expect(204);
}

async fn the_target_organization_is_one_of_the_callers(place: Place) {
    let world = World::new(place).await;
    let post = |client: &Client, organization| {
        let body = json!({"organization_id": organization, "label": "x", "nonsense": 1});
        client.post("/v1/workspaces", &body)
    };
    let editor = world.as_user("editor@acme.test");
    let hidden = post(&editor, world.other).refused(404, "not_found");
    let missing = post(&editor, world.context.id()).refused(404, "not_found");
    assert_eq!(hidden.body, missing.body);
    post(&world.as_user("viewer@acme.test"), world.acme).refused(403, "forbidden");
    post(&editor, world.acme).refused(422, "validation_failed");
    let key = world.as_key(&["write", "structure"]);
    post(&key, world.other).refused(404, "not_found");
    key.create(
        "/v1/workspaces",
        &json!({"organization_id": world.acme, "label": "x"}),
    );
}

async fn names_follow_from_labels_and_are_counted_on(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let name = |client: &Client, label: &str| {
        let body = json!({"organization_id": world.acme, "label": label});
        client.create("/v1/workspaces", &body)["name"].clone()
    };
    assert_eq!(name(&admin, "ÉTÉ -- 2024!"), "ete_2024");
    assert_eq!(name(&admin, "Été 2024"), "ete_2024_2");
    assert_eq!(name(&admin, "2024"), "n_2024");
    assert_eq!(name(&admin, "日本"), "workspace");
    assert_eq!(name(&admin, "!!!"), "workspace_2");
    let long = "a".repeat(80);
    assert_eq!(name(&admin, &long), "a".repeat(63));
    assert_eq!(name(&admin, &long), format!("{}_2", "a".repeat(61)));
    let taken = json!({"organization_id": world.acme, "label": "x", "name": "ete_2024"});
    admin
        .post("/v1/workspaces", &taken)
        .refused(409, "conflict");
    let other = admin.create(
        "/v1/workspaces",
        &json!({"organization_id": world.acme, "label": "x", "access": "members"}),
    );
    let rename = admin.patch(
        &format!("/v1/workspaces/{}", id(&other)),
        &json!({"name": "ete_2024"}),
    );
    rename.refused(409, "conflict");
    // What one cannot see takes its name all the same.
    assert_eq!(name(&world.as_user("editor@acme.test"), "x"), "x_2");
    // Elsewhere it is free.
    let body = json!({"organization_id": world.other, "label": "x"});
    let stranger = world.as_user("stranger@other.test");
    assert_eq!(stranger.create("/v1/workspaces", &body)["name"], "x");
}

async fn many_of_one_label_at_once_all_get_a_name(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let workspace = json!({"organization_id": world.acme, "label": "Same"});
    let model = Model::new(&editor, world.acme);
    let column = json!({"label": "Same", "type": "text"});
    let columns = model.columns();
    for (path, body) in [("/v1/workspaces", &workspace), (columns.as_str(), &column)] {
        let mut names: Vec<String> = thread::scope(|scope| {
            let sent: Vec<_> = (0..12)
                .map(|_| scope.spawn(|| editor.create(path, body)["name"].to_string()))
                .collect();
            let names = sent.into_iter().map(|sent| sent.join().expect("responds"));
            names.collect()
        });
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 12, "{names:?}");
    }
}

async fn a_workspace_for_members_hides_everything_in_it(place: Place) {
    let world = World::new(place).await;
    let [admin, editor, viewer] = ["admin@acme.test", "editor@acme.test", "viewer@acme.test"]
        .map(|email| world.as_user(email));
    let hidden = Model::new(&admin, world.acme);
    let shown = Model::new(&admin, world.acme);
    let workspace = format!("/v1/workspaces/{}", hidden.workspace);
    let access = |word: &str| {
        let body = json!({"access": word});
        let changed = admin.patch(&workspace, &body).expect(200).json();
        assert_eq!(changed["access"], word);
    };
    editor.get(&workspace).expect(200);
    access("members");
    let missing = Model::missing(&world);
    let same = |method: &str, path: &str, body: Option<serde_json::Value>| {
        let of = |model: &Model| {
            let body = body.as_ref().map(|body| model.put_into(&body.to_string()));
            let json = [("content-type", "application/json")];
            let path = model.put_into(path);
            let response = editor.send(method, &path, &json, body.as_deref().map(str::as_bytes));
            model.take_out_of(&response.refused(404, "not_found").body)
        };
        assert_eq!(of(&hidden), of(&missing), "{method} {path}");
    };
    for path in [
        "/v1/workspaces/{workspace_id}",
        "/v1/modules/{module_id}",
        "/v1/rails/{rail_id}",
        "/v1/features/{feature_id}",
        "/v1/views/{view_id}",
        "/v1/features/{feature_id}/columns/{column_id}",
    ] {
        if !path.contains("column") {
            same("GET", path, None);
        }
        // Even with a body that is wrong, and with a query that is.
        same("PATCH", path, Some(json!({"nonsense": 1})));
        same("PATCH", path, Some(json!({"id": 1})));
        same("DELETE", path, None);
        same("DELETE", &format!("{path}?nonsense=1"), None);
    }
    same("GET", "/v1/features/{feature_id}/columns?nonsense=1", None);
    same(
        "GET",
        "/v1/modules?workspace_id={workspace_id}&nonsense=1",
        None,
    );
    same("GET", "/v1/modules?workspace_id={workspace_id}", None);
    same("GET", "/v1/rails?module_id={module_id}", None);
    same("GET", "/v1/schema?workspace_id={workspace_id}&x=1", None);
    same("GET", "/v1/schema?workspace_id={workspace_id}", None);
    for (path, parent) in [
        ("/v1/modules", "workspace_id"),
        ("/v1/rails", "module_id"),
        ("/v1/features", "workspace_id"),
        ("/v1/views", "feature_id"),
    ] {
        let body = json!({parent: format!("{{{parent}}}"), "nonsense": 1});
        same("POST", path, Some(body));
    }
    same("POST", "/v1/features/{feature_id}/columns", Some(json!({})));
    for (list, own) in [
        ("/v1/workspaces", &shown.workspace),
        ("/v1/modules", &shown.module),
        ("/v1/rails", &shown.rail),
        ("/v1/features", &shown.feature),
        ("/v1/views", &shown.view),
    ] {
        assert_eq!(editor.ids(list), [own.as_str()], "{list}");
        assert_eq!(admin.ids(list).len(), 2, "{list}");
    }
    for (list, parent) in [("features", "workspace_id"), ("views", "feature_id")] {
        let path = hidden.put_into(&format!("/v1/{list}?{parent}={{{parent}}}"));
        assert_eq!(editor.ids(&path), [""; 0]);
        assert_eq!(admin.ids(&path).len(), 1);
    }
    let seen = editor.get("/v1/schema").expect(200).body;
    assert!(seen.contains(&shown.feature) && !seen.contains(&hidden.feature));
    world.as_key(&["read"]).get(&workspace).expect(200);
    // On the list, off the list, open again.
    let me = id(&editor.get("/v1/me").json());
    let member = format!("{workspace}/members/{me}");
    admin.send("PUT", &member, &[], None).expect(204);
    editor.get(&workspace).expect(200);
    viewer.get(&workspace).refused(404, "not_found");
    assert_eq!(editor.ids("/v1/views").len(), 2);
    admin.delete(&member).expect(204);
    editor.get(&workspace).refused(404, "not_found");
    access("organization");
    viewer.get(&workspace).expect(200);
}

/// Who sees a workspace and whose rows a table shows is decided by administrators alone, by what it comes
/// to and not by how it is written.
async fn who_sees_what_is_decided_by_administrators(place: Place) {
    let world = World::new(place).await;
    let [editor, admin, owner] = ["editor@acme.test", "admin@acme.test", "owner@acme.test"]
        .map(|email| world.as_user(email));
    let key = world.as_key(&["read", "write", "structure"]);
    let body =
        |access: &str| json!({"organization_id": world.acme, "label": "x", "access": access});
    editor
        .post("/v1/workspaces", &body("members"))
        .refused(403, "forbidden");
    let made = editor.create("/v1/workspaces", &body("organization"));
    let workspace = format!("/v1/workspaces/{}", id(&made));
    let table = |config: serde_json::Value| json!({"workspace_id": id(&made), "label": "t", "config": config});
    for config in [
        json!({"rowAccess": "own"}),
        json!({"rowAccess": "own", "icon": "x"}),
    ] {
        editor
            .post("/v1/features", &table(config))
            .refused(403, "forbidden");
    }
    let feature = editor.create("/v1/features", &table(json!({"rowAccess": "all"})));
    let feature = format!("/v1/features/{}", id(&feature));
    let of = |client: &crate::api::client::Client, path: &str| client.get(path).expect(200).json();
    for by in [&admin, &owner, &key] {
        // What stays as it is may be written by editors, in either spelling.
        for config in [json!({}), json!({"rowAccess": "all"}), json!({"icon": "x"})] {
            editor
                .patch(&feature, &json!({"config": config}))
                .expect(200);
        }
        let change = json!({"access": "organization", "label": "y"});
        editor.patch(&workspace, &change).expect(200);
        // What would change it may not, also inside a wider change; nothing of that is done.
        let (before, table) = (of(&editor, &workspace), of(&editor, &feature));
        let change = json!({"access": "members", "label": "z"});
        editor.patch(&workspace, &change).refused(403, "forbidden");
        let change = json!({"config": {"rowAccess": "own"}, "label": "z"});
        editor.patch(&feature, &change).refused(403, "forbidden");
        assert_eq!(
            (before, table),
            (of(&editor, &workspace), of(&editor, &feature))
        );
        by.patch(&feature, &json!({"config": {"rowAccess": "own"}}))
            .expect(200);
        for config in [json!({}), json!({"rowAccess": "all"}), json!({"icon": "x"})] {
            editor
                .patch(&feature, &json!({"config": config}))
                .refused(403, "forbidden");
        }
        let same = json!({"config": {"rowAccess": "own", "icon": "y"}});
        editor.patch(&feature, &same).expect(200);
        by.patch(&feature, &json!({"config": {}})).expect(200);
        by.patch(&workspace, &json!({"access": "members"}))
            .expect(200);
        editor.get(&workspace).refused(404, "not_found");
        let me = of(&editor, "/v1/me");
        let listed = format!("{workspace}/members/{}", id(&me));
        admin.send("PUT", &listed, &[], None).expect(204);
        // A listed member sees it, and may not open it.
        editor
            .patch(&workspace, &json!({"access": "organization"}))
            .refused(403, "forbidden");
        editor
            .patch(&workspace, &json!({"access": "members", "label": "w"}))
            .expect(200);
        by.patch(&workspace, &json!({"access": "organization"}))
            .expect(200);
        admin.delete(&listed).expect(204);
    }
}

/// Callers are remembered between requests, and so is where tables lie.
async fn what_is_kept_from_somebody_is_kept_at_once(place: Place) {
    let world = World::new(place).await;
    let [editor, admin] = ["editor@acme.test", "admin@acme.test"].map(|email| world.as_user(email));
    let body = json!({"organization_id": world.acme, "label": "x"});
    let made = editor.create("/v1/workspaces", &body);
    let [listed, new] = [(), ()].map(|()| {
        let table = json!({"workspace_id": id(&made), "label": "t"});
        let feature = admin.create("/v1/features", &table);
        let feature = format!("/v1/features/{}", id(&feature));
        admin.create(&format!("{feature}/rows"), &json!({"data": {}}));
        feature
    });
    let rows = |feature: &str| editor.items(&format!("{feature}/rows")).len();
    assert_eq!(rows(&listed), 1);
    let own = json!({"config": {"rowAccess": "own"}});
    for feature in [&new, &listed] {
        admin.patch(feature, &own).expect(200);
        assert_eq!(rows(feature), 0);
    }
    let workspace = format!("/v1/workspaces/{}", id(&made));
    admin
        .patch(&workspace, &json!({"access": "members"}))
        .expect(200);
    for feature in [&new, &listed] {
        let rows = editor.get(&format!("{feature}/rows"));
        rows.refused(404, "not_found");
    }
}

async fn members_of_workspaces_are_the_administrators_business(place: Place) {
    let world = World::new(place).await;
    let [owner, admin, editor, viewer, stranger] = [
        "owner@acme.test",
        "admin@acme.test",
        "editor@acme.test",
        "viewer@acme.test",
        "stranger@other.test",
    ]
    .map(|email| world.as_user(email));
    let model = Model::new(&owner, world.acme);
    let user = |client: &Client| id(&client.get("/v1/me").json());
    let path = |user: &str| format!("/v1/workspaces/{}/members/{user}", model.workspace);
    let viewers = path(&user(&viewer));
    let put = |client: &Client, path: &str| client.send("PUT", path, &[], None);
    put(&stranger, &viewers).refused(404, "not_found");
    stranger.delete(&viewers).refused(404, "not_found");
    for client in [&editor, &viewer] {
        put(client, &viewers).refused(403, "forbidden");
        client.delete(&viewers).refused(403, "forbidden");
    }
    world
        .as_key(&["write"])
        .delete(&viewers)
        .refused(403, "missing_scope");
    for client in [&owner, &admin, &world.as_key(&["write", "structure"])] {
        // Once more is no more.
        for _ in 0..2 {
            put(client, &viewers).expect(204);
        }
        for _ in 0..2 {
            client.delete(&viewers).expect(204);
        }
        client.json("PUT", &viewers, "{}").expect(204);
    }
    assert!(world.counts().await.contains(&("members", 1)));
    for outside in [user(&stranger), world.context.id().to_string()] {
        let path = path(&outside);
        assert_eq!(faults(put(&admin, &path)), ["path.user_id"]);
        assert_eq!(faults(admin.delete(&path)), ["path.user_id"]);
    }
    assert_eq!(faults(put(&admin, &path("x"))), ["path.user_id"]);
    assert_eq!(faults(put(&admin, &format!("{viewers}?x=1"))), ["query.x"]);
    assert_eq!(
        faults(admin.json("PUT", &viewers, r#"{"role":1}"#)),
        ["role"]
    );
    let text = [("content-type", "text/plain")];
    let typed = admin.send("PUT", &viewers, &text, Some(b"{}"));
    typed.refused(415, "unsupported_media_type");
    // Who leaves the organization leaves its workspaces.
    owner
        .delete(&world.path(&format!("/members/{}", user(&viewer))))
        .expect(204);
    assert!(world.counts().await.contains(&("members", 0)));
}

async fn a_workspace_that_holds_something_goes_only_by_force_and_leaves_no_orphan(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let count = world.counts().await;
    let other = Model::new(&editor, world.acme);
    let left = world.counts().await;
    let model = Model::new(&editor, world.acme);
    let me = id(&editor.get("/v1/me").json());
    let admin = world.as_user("admin@acme.test");
    let member = format!("/v1/workspaces/{}/members/{me}", model.workspace);
    admin.send("PUT", &member, &[], None).expect(204);
    let unique = json!({"label": "U", "type": "text", "config": {"unique": true}});
    editor.create(&model.columns(), &unique);
    for number in 0..3 {
        world
            .row(&model, None, &format!(r#"{{"v":{number}}}"#))
            .await;
    }
    let column = json!({"label": "V", "type": "number", "config": {"unique": true}});
    editor.create(&model.columns(), &column);
    assert!(world.counts().await.contains(&("values", 3)));
    let path = format!("/v1/workspaces/{}", model.workspace);
    editor.delete(&path).refused(409, "not_empty");
    editor
        .delete(&format!("{path}?force=false"))
        .refused(409, "not_empty");
    world
        .as_user("viewer@acme.test")
        .delete(&path)
        .refused(403, "forbidden");
    editor.delete(&format!("{path}?force=true")).expect(204);
    assert_eq!(world.counts().await, left);
    // Modules alone, and features alone, keep it.
    let path = format!("/v1/workspaces/{}", other.workspace);
    editor
        .delete(&format!("/v1/modules/{}?force=true", other.module))
        .expect(204);
    editor.delete(&path).refused(409, "not_empty");
    editor
        .delete(&format!("/v1/features/{}", other.feature))
        .expect(204);
    let body = json!({"workspace_id": other.workspace, "label": "M"});
    let module = editor.create("/v1/modules", &body);
    editor.delete(&path).refused(409, "not_empty");
    editor
        .delete(&format!("/v1/modules/{}", id(&module)))
        .expect(204);
    editor.delete(&path).expect(204);
    assert_eq!(world.counts().await, count);
}

async fn a_repeated_create_is_done_once(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let send = |path: &str, body: &serde_json::Value, key: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = body.to_string();
        editor.send("POST", path, &headers, Some(body.as_bytes()))
    };
    let model = Model::new(&editor, world.acme);
    for (path, body) in [
        (
            "/v1/workspaces".to_owned(),
            json!({"organization_id": world.acme, "label": "x"}),
        ),
        (
            "/v1/modules".to_owned(),
            json!({"workspace_id": model.workspace, "label": "x"}),
        ),
        (
            "/v1/rails".to_owned(),
            json!({"module_id": model.module, "label": "x"}),
        ),
        (
            "/v1/features".to_owned(),
            json!({"workspace_id": model.workspace, "label": "x"}),
        ),
        (
            "/v1/views".to_owned(),
            json!({"feature_id": model.feature, "label": "x", "type": "table"}),
        ),
        (model.columns(), json!({"label": "x", "type": "text"})),
    ] {
        let before = world.counts().await;
        let first = send(&path, &body, "k").expect(201);
        let after = world.counts().await;
        let second = send(&path, &body, "k").expect(201);
        assert_eq!(first.body, second.body);
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        assert_ne!(before, after);
        assert_eq!(world.counts().await, after, "{path}");
        let refused = send(&path, &json!({"label": "x"}), "r");
        refused.refused(422, "validation_failed");
    }
}
