//! What a dependency was mapped to holds for the next version of a template.

use serde_json::{Map, Value, json};

use super::shop::{Shop, applied, column, feature, working, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_mapped_column_that_the_next_version_does_not_use_is_no_fault_of_the_body,
    a_mapping_holds_through_versions_with_other_refs,
);

/// The body of an apply that maps the one dependency of a template, with so many columns, to a table of people there.
/// Gives the ref of the dependency, too.
fn mapping(editor: &Client, template: &str, there: &str, columns: usize) -> (String, Value) {
    let read = editor.get(&format!("/v1/templates/{template}"));
    let read = read.expect(200).json();
    let dependency = &read["manifest"]["dependencies"][0];
    let used = dependency["identity"]["columns"].as_array();
    let used = used.expect("columns");
    assert_eq!(used.len(), columns, "{dependency}");
    let people = feature(editor, there, "People");
    let columns: Map<String, Value> = used
        .iter()
        .map(|one| {
            let body = json!({"label": one["label"], "type": "text"});
            let own = column(editor, &people, &body);
            let reference = one["ref"].as_str().expect("a ref");
            (reference.to_owned(), own.into())
        })
        .collect();
    let reference = dependency["ref"].as_str().expect("a ref");
    let map = json!({"action": "map", "id": people, "columns": columns});
    let body = json!({"workspaceId": there, "resolutions": {reference: map}});
    (reference.to_owned(), body)
}

async fn a_mapping_holds_through_versions_with_other_refs(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"features": [shop.orders]}));
    let there = workspace(&editor, world.acme);
    let (mut reference, body) = mapping(&editor, &template, &there, 1);
    applied(&editor, &template, &body).await;
    let kept = format!("/v1/templates/{template}/package");
    let body = json!({"workspaceId": there, "upgrade": true});
    for other in ["f_persons", "f_folks"] {
        // As a name and as what is used (`$f_…`).
        let text = admin.get(&kept).expect(200).body;
        let text = text.replace(&format!("{reference}\""), &format!("{other}\""));
        admin.json("PUT", &kept, &text).expect(200);
        other.clone_into(&mut reference);
        let plan = editor.post(&format!("/v1/templates/{template}/plan"), &body);
        let plan = plan.expect(200).json();
        assert_eq!(plan["refusals"], json!([]), "{plan}");
        assert_eq!(plan["update"], json!([]), "{plan}");
        applied(&editor, &template, &body).await;
        let drift = format!("/v1/workspaces/{there}/templates/{template}/drift?rows=true");
        let drift = editor.get(&drift).expect(200).json();
        assert_eq!(drift["drift"], false, "{drift}");
    }
}

async fn a_mapped_column_that_the_next_version_does_not_use_is_no_fault_of_the_body(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    // A second link, which shows another column of the clients.
    let shown = json!({"label": "Code", "type": "linked_select",
        "config": {"linkedFeatureId": shop.clients, "linkedValueColumn": "code"}});
    let shown = column(&editor, &shop.orders, &shown);
    let template = shop.template(&editor, &admin, &json!({"features": [shop.orders]}));
    let there = workspace(&editor, world.acme);
    let (_, body) = mapping(&editor, &template, &there, 2);
    applied(&editor, &template, &body).await;

    let path = format!("/v1/features/{}/columns/{shown}?force=true", shop.orders);
    editor.delete(&path).expect(204);
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let package = editor.post(&export, &json!({"onto": template})).expect(200);
    let kept = format!("/v1/templates/{template}/package");
    admin.json("PUT", &kept, &package.body).expect(200);

    let body = json!({"workspaceId": there, "upgrade": true});
    let plan = editor.post(&format!("/v1/templates/{template}/plan"), &body);
    let plan = plan.expect(200).json();
    assert_eq!(plan["refusals"], json!([]), "{plan}");
    applied(&editor, &template, &body).await;
    let drift = format!("/v1/workspaces/{there}/templates/{template}/drift?rows=true");
    let drift = editor.get(&drift).expect(200).json();
    assert_eq!(drift["drift"], false, "{drift}");
}
