//! Plans of a package in place of the template's.

use serde_json::{Map, Value, json};

use super::shop::{AppliedShop, Shop, feature, row};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_package_is_planned_as_if_it_stood_in_the_template,
    how_a_package_is_laid_out_is_nothing_that_a_plan_rests_on,
    a_package_that_is_none_is_refused,
);

async fn a_package_is_planned_as_if_it_stood_in_the_template(place: Place) {
    let AppliedShop {
        world,
        editor,
        admin,
        shop,
        template,
        there,
        ..
    } = &AppliedShop::new(place).await;
    // The next version: a row more and a table more.
    row(editor, &shop.orders, &json!({"title": "four"}));
    feature(editor, &shop.workspace, "Later");
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let body = json!({"onto": template, "rows": "all"});
    let package = editor.post(&export, &body).expect(200).body;
    let plan = format!("/v1/templates/{template}/plan");
    let request_body = format!("{{\"package\": {package}, \"workspaceId\": \"{there}\"}}");
    let viewer = world.as_user("viewer@acme.test");
    let before = viewer.json("POST", &plan, &request_body).expect(200).json();
    let orders = &before["rows"]["f_orders"];
    assert_eq!(
        (&orders["insert"], &orders["skipped"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(
        before["create"].as_array().map(Vec::len),
        Some(1),
        "{before}"
    );
    // It is what the plan shows once the package is there.
    let path = format!("/v1/templates/{template}/package");
    let without_digest = |mut plan: Value| {
        plan["digest"] = Value::Null;
        plan
    };
    let stays = editor
        .post(&plan, &json!({"workspaceId": there}))
        .expect(200)
        .json();
    assert_eq!(stays["create"], json!([]), "nothing was written");
    admin.json("PUT", &path, &package).expect(200);
    let after = editor
        .post(&plan, &json!({"workspaceId": there}))
        .expect(200)
        .json();
    let created = |plan: &Value| plan["create"][0]["name"].clone();
    assert_eq!(created(&before), created(&after));
    assert_eq!(without_digest(before), without_digest(after));
}

/// The same with the keys of every object in another order.
fn reordered(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(reordered).collect(),
        Value::Object(members) => {
            let members = members.iter().rev();
            let members: Map<String, Value> = members
                .map(|(key, value)| (key.clone(), reordered(value)))
                .collect();
            members.into()
        }
        other => other.clone(),
    }
}

async fn how_a_package_is_laid_out_is_nothing_that_a_plan_rests_on(place: Place) {
    let AppliedShop {
        editor,
        shop,
        template,
        there,
        ..
    } = &AppliedShop::new(place).await;
    row(editor, &shop.orders, &json!({"title": "four"}));
    feature(editor, &shop.workspace, "Later");
    let export = format!("/v1/workspaces/{}/export", shop.workspace);
    let body = json!({"onto": template, "rows": "all"});
    let package = editor.post(&export, &body).expect(200).body;
    let value: Value = serde_json::from_str(&package).expect("JSON");
    let path = format!("/v1/templates/{template}/plan");
    for upgrade in ["", ", \"upgrade\": true"] {
        let plan = |package: &str| {
            let body = format!("{{\"package\": {package}, \"workspaceId\": \"{there}\"{upgrade}}}");
            editor.json("POST", &path, &body).expect(200).json()
        };
        let planned = plan(&package);
        assert_eq!(planned["refusals"], json!([]), "{planned}");
        for same in [value.to_string(), reordered(&value).to_string()] {
            assert_eq!(plan(&same), planned);
        }
        let other = package.replace("\"four\"", "\"five\"");
        assert_ne!(plan(&other)["digest"], planned["digest"]);
    }
}

async fn a_package_that_is_none_is_refused(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({}));
    let plan = format!("/v1/templates/{template}/plan");
    let refusal = |package: Value| {
        let body = json!({"workspaceId": shop.workspace, "package": package});
        let refused = editor.post(&plan, &body).refused(422, "validation_failed");
        refused.json()["errors"][0].clone()
    };
    for package in [json!(null), json!("x"), json!([])] {
        assert_eq!(refusal(package)["path"], "package");
    }
    let error = refusal(json!({"a": 1}));
    assert_eq!(
        (&error["code"], &error["path"]),
        (&json!("J003"), &json!("/package"))
    );
    let broken = json!({"templateVersion": 1, "plan": {}});
    assert_eq!(refusal(broken)["code"], "J006");
    // An apply takes none.
    let body = json!({"workspaceId": shop.workspace, "package": {}});
    let apply = format!("/v1/templates/{template}/apply");
    let refused = editor.post(&apply, &body).refused(422, "validation_failed");
    assert_eq!(refused.json()["errors"][0]["path"], "package");
}
