//! What an upgrade that somebody has to decide about first is refused with.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, named, working, workspace};
use super::upgrade::args;
use crate::api::model::uuid;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(conflicts_are_listed_and_those_left_out_are_counted);

/// More cells than a plan lists.
const ROWS: usize = 1_002;

/// Another name for every client; of the first version as many clients as there are to be.
fn rename(package: &mut Value, name: &str) {
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let of_rows = items
        .iter_mut()
        .filter(|item| item["kind"] == "rows" && item["count"] == 2);
    for item in of_rows {
        item["count"] = ROWS.into();
    }
    for entry in package["payloads"].as_array_mut().expect("payloads") {
        let rows = entry["rows"].as_array_mut().expect("rows");
        if !rows.iter().any(|row| row["data"]["code"] == "a") {
            continue;
        }
        for number in rows.len()..ROWS {
            let mut row = rows[0].clone();
            row["uid"] = format!("u_00000000-0000-4000-8000-{number:012x}").into();
            row["data"]["code"] = format!("c{number}").into();
            if row["data"].get("id").is_some() {
                row["data"]["id"] = format!("id{number}").into();
            }
            rows.push(row);
        }
        for row in rows {
            row["data"]["name"] = name.into();
        }
        entry["count"] = ROWS.into();
    }
}

async fn conflicts_are_listed_and_those_left_out_are_counted(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let there = workspace(&editor, world.acme);
    let kept = format!("/v1/templates/{template}/package");
    let mut package = admin.get(&kept).expect(200).json();
    rename(&mut package, "before");
    admin.json("PUT", &kept, &package.to_string()).expect(200);
    applied(&editor, &template, &json!({"workspaceId": there})).await;
    rename(&mut package, "theirs");
    args(&mut package, "create_feature", "clients")["label"] = "Customers".into();
    admin.json("PUT", &kept, &package.to_string()).expect(200);
    let clients = named(&editor, &there, "clients").expect("a table");
    let feature = format!("/v1/features/{clients}");
    editor
        .patch(&feature, &json!({"label": "Ours"}))
        .expect(200);

    let plan_path = format!("/v1/templates/{template}/plan");
    let executor = format!("/apply/templates/{template}");
    let upgrade = json!({"workspaceId": there, "upgrade": true});
    // One conflict, and nothing is left out.
    let label = json!([{"path": "decisions.f_clients.label", "code": "changed",
        "message": "the package and people changed it; decide `ours`, `theirs` or a value"}]);
    let refused = apply(&editor, &template, &upgrade);
    let refused = refused.refused(422, "upgrade_conflicts").json();
    assert_eq!(refused["errors"], label);
    assert_eq!(refused.get("conflicts_more"), None);

    let sql = if world.place.url.starts_with("sqlite:") {
        "UPDATE main.rows SET data = replace(data, 'before', 'ours') WHERE feature_id = $1"
    } else {
        "UPDATE main.rows SET data = replace(data::text, 'before', 'ours')::json \
         WHERE feature_id = $1"
    };
    world.sql(sql, vec![uuid(&clients).into()]).await;
    let plan = editor.post(&plan_path, &upgrade).expect(200).json();
    let conflicts = plan["conflicts"].as_array().expect("a list");
    assert_eq!(
        (conflicts.len(), &plan["conflicts_more"]),
        (1_001, &json!(2))
    );
    let refused = apply(&editor, &template, &upgrade);
    let refused = refused.refused(422, "upgrade_conflicts").json();
    let by_executor = editor.post(&executor, &upgrade).expect(422).json();
    for refused in [&refused, &by_executor] {
        assert_eq!(refused["conflicts"], plan["conflicts"]);
        assert_eq!(refused["conflicts_more"], 2);
        let errors = refused["errors"].as_array().expect("a list");
        assert_eq!((errors.len(), &errors[0]), (100, &label[0]));
        // Each is decided at its place.
        for (error, conflict) in errors.iter().zip(conflicts) {
            let path = conflict["path"].as_str().expect("a path");
            assert_eq!(error["path"], format!("decisions.f_clients.{path}"));
            assert_eq!(error["code"], conflict["code"]);
        }
    }
}
