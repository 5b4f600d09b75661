//! Unique values that rows take from each other in an upgrade.

use serde_json::{Value, json};

use super::shop::{Shop, applied, named, rows, working, workspace};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(rows_take_what_others_give_up_and_undo_gives_it_back,);

async fn rows_take_what_others_give_up_and_undo_gives_it_back(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let admin = world.as_user("admin@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let cases: [(&[&str], bool); 4] = [
        (&["b", "a"], false),
        (&["b", "c"], false),
        (&["b", "a"], true),
        // The last one is new.
        (&["b", "c", "a"], false),
    ];
    for (codes, nulls) in cases {
        let kept = format!("/v1/templates/{template}/package");
        let old = editor.get(&kept).expect(200).json();
        let mut new = old.clone();
        let clients = |package: &mut Value, change: &dyn Fn(usize, &mut Value)| {
            for entry in package["payloads"].as_array_mut().expect("payloads") {
                let rows = entry["rows"].as_array_mut().expect("rows").iter_mut();
                let rows = rows.filter(|row| row["data"].get("code").is_some());
                rows.enumerate()
                    .for_each(|(at, row)| change(at, &mut row["data"]));
            }
        };
        if codes.len() > 2 {
            add_client(&mut new);
        }
        clients(&mut new, &|at, data| data["code"] = codes[at].into());
        let mut first = old.clone();
        if nulls {
            clients(&mut first, &|_, data| data["name"] = Value::Null);
        }
        let put = |package: &Value| {
            admin.json("PUT", &kept, &package.to_string()).expect(200);
        };
        put(&first);
        let there = workspace(&editor, world.acme);
        applied(&editor, &template, &json!({"workspaceId": there})).await;
        let table = named(&editor, &there, "clients").expect("a table");
        let before = rows(&editor, &table);
        put(&new);
        let upgrade = json!({"workspaceId": there, "upgrade": true});
        let plan = format!("/v1/templates/{template}/plan");
        let plan = editor.post(&plan, &upgrade).expect(200).json();
        let job = applied(&editor, &template, &upgrade).await;
        for counts in [&plan["rows"], &job["report"]["rows"]] {
            let mut counts = counts.as_object().expect("tables").values();
            assert!(counts.all(|one| one["failed"] == 0), "{plan} {job}");
        }
        let stands: Vec<Value> = rows(&editor, &table)
            .iter()
            .map(|row| row["code"].clone())
            .collect();
        assert_eq!(stands, codes, "{job}");
        let undo = format!(
            "/v1/template-jobs/{}/undo",
            job["id"].as_str().expect("an id")
        );
        editor.send("POST", &undo, &[], None).expect(200);
        let after = rows(&editor, &table);
        assert_eq!(after, before);
        assert_eq!(after[0]["name"].is_null(), nulls, "{after:?}");
        assert!(after[0].get("name").is_some(), "{after:?}");
        put(&old);
    }
}

/// One more row in the table of clients.
fn add_client(package: &mut Value) {
    let entries = package["payloads"].as_array_mut().expect("payloads");
    let mut entries = entries.iter_mut();
    let entry = entries.find(|entry| entry["rows"][0]["data"].get("code").is_some());
    let entry = entry.expect("clients");
    let rows = entry["rows"].as_array_mut().expect("rows");
    let mut row = rows[0].clone();
    row["uid"] = "u_00000000-0000-4000-8000-000000000777".into();
    rows.push(row);
    let count = Value::from(rows.len());
    entry["count"] = count.clone();
    let of = entry["itemUid"].clone();
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let item = items.iter_mut().find(|item| item["uid"] == of);
    item.expect("an item")["count"] = count;
}
