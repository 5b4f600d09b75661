//! `DELETE /v1/templates/{template_id}?unused=true`

use std::thread;

use serde_json::json;

use super::shop::{apply, workspace};
use crate::api::client::Client;
use crate::api::model::{id, package};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_nobody_has_used_is_removed,
    what_a_job_has_applied_stays,
    what_has_changed_stays,
    a_template_is_removed_or_applied,
);

/// A new template, and its path.
fn made(client: &Client) -> (String, String) {
    let template = id(&client.create("/v1/templates/import", &package("Notes")));
    let path = format!("/v1/templates/{template}");
    (template, path)
}

fn remove_unused(client: &Client, path: &str, status: u16) {
    let response = client.delete(&format!("{path}?unused=true"));
    if status == 409 {
        response.refused(409, "not_empty");
        client.get(path).expect(200);
    } else {
        response.expect(status);
        client.get(path).refused(404, "not_found");
    }
}

async fn what_nobody_has_used_is_removed(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let (_, path) = made(&admin);
    let unused = format!("{path}?unused=true");
    editor.delete(&unused).refused(403, "forbidden");
    admin
        .delete(&format!("{path}?unused=1"))
        .refused(422, "validation_failed");
    world.wait(5);
    // It changes nothing.
    admin.patch(&path, &json!({})).expect(200);
    remove_unused(&admin, &path, 204);
    admin.delete(&unused).refused(404, "not_found");
}

async fn what_a_job_has_applied_stays(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    let (template, path) = made(&admin);
    let there = workspace(&editor, world.acme);
    let accepted = apply(&editor, &template, &json!({"workspaceId": there}));
    accepted.expect(202);
    let members = json!({"access": "members"});
    owner
        .patch(&format!("/v1/workspaces/{there}"), &members)
        .expect(200);
    remove_unused(&admin, &path, 409);
    // A job that has ended counts as well.
    let sql = "UPDATE main.template_jobs SET status = 'undone'";
    world.sql(sql, vec![]).await;
    remove_unused(&admin, &path, 409);
    admin.delete(&format!("{path}?unused=false")).expect(204);
}

async fn what_has_changed_stays(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let text = package("Notes").to_string();
    let entry = package("Notes")["payloads"][0].clone();
    let uid = entry["itemUid"].as_str().expect("a uid").to_owned();
    for what in ["label", "package", "payload"] {
        let (_, path) = made(&admin);
        world.wait(5);
        let changed = match what {
            "label" => admin.patch(&path, &json!({"label": "Another"})),
            "package" => admin.json("PUT", &format!("{path}/package"), &text),
            _ => admin.delete(&format!("{path}/payloads/{uid}")),
        };
        assert!(changed.status < 300, "{what}: {changed:?}");
        remove_unused(&admin, &path, 409);
        admin.delete(&path).expect(204);
    }
}

/// Never both: who has applied a template finds it in the catalog.
async fn a_template_is_removed_or_applied(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let editor = world.as_user("editor@acme.test");
    for _ in 0..8 {
        let (template, path) = made(&admin);
        let there = workspace(&editor, world.acme);
        let body = json!({"workspaceId": there});
        let [removed, applied] = thread::scope(|scope| {
            let removed = scope.spawn(|| admin.delete(&format!("{path}?unused=true")).status);
            let applied = scope.spawn(|| apply(&editor, &template, &body).status);
            [removed, applied].map(|sent| sent.join().expect("responds"))
        });
        assert!(
            [(204, 404), (409, 202)].contains(&(removed, applied)),
            "{removed} {applied}"
        );
    }
}
