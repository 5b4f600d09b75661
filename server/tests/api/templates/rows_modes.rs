//! Which rows of a package enter.

use serde_json::{Value, json};

use super::shop::{Shop, applied, apply, column, feature, named, row, rows, working, workspace};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    without_rows_no_mode_matters,
    a_key_that_is_there_keeps_its_row_out,
    links_within_a_table_are_closed_with_it,
    two_tables_that_point_at_each_other_enter_in_order,
);

fn refs(client: &Client, template: &str) -> Vec<String> {
    let package = client
        .get(&format!("/v1/templates/{template}/package"))
        .json();
    let payloads = package["payloads"].as_array().expect("payloads");
    let refs = payloads
        .iter()
        .map(|entry| entry["featureRef"].as_str().expect("a ref").to_owned());
    refs.collect()
}

async fn without_rows_no_mode_matters(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    // Two orders of one title: a table without a key.
    row(&editor, &shop.orders, &json!({"title": "one"}));
    let admin = world.as_user("admin@acme.test");
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let refs = refs(&editor, &template);
    let there = workspace(&editor, world.acme);
    let modes = json!({refs[1].as_str(): "missingByKey"});
    let body = json!({"workspaceId": there, "rowsModes": modes});
    let refused = apply(&editor, &template, &body).refused(422, "rows_mode_without_key");
    assert_eq!(refused.json()["ref"], refs[1].as_str());
    assert_eq!(editor.items("/v1/template-jobs").len(), 0);
    let _working = working(&world);
    let body = json!({"workspaceId": there, "includeRows": false, "rowsModes": modes});
    let job = applied(&editor, &template, &body).await;
    assert!(
        !job["report"].to_string().contains("\"inserted\":1"),
        "{job}"
    );
    let clients = named(&editor, &there, "clients").expect("a table");
    assert_eq!(rows(&editor, &clients).len(), 0);
}

async fn a_key_that_is_there_keeps_its_row_out(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let shop = Shop::new(&editor, world.acme);
    let admin = world.as_user("admin@acme.test");
    let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
    let refs = refs(&editor, &template);
    let there = workspace(&editor, world.acme);
    let none = json!({refs[0].as_str(): "none", refs[1].as_str(): "none"});
    let first = json!({"workspaceId": there, "rowsModes": none});
    applied(&editor, &template, &first).await;
    let clients = named(&editor, &there, "clients").expect("a table");
    // As it is written, blanks and case and all.
    for code in ["A", "a ", "b"] {
        row(&editor, &clients, &json!({"code": code, "name": "here"}));
    }
    let mode = json!({refs[0].as_str(): "missingByKey"});
    let body = json!({"workspaceId": there, "rowsModes": mode});
    let job = applied(&editor, &template, &body).await;
    let counts = &job["report"]["rows"][refs[0].as_str()];
    assert_eq!(
        (
            &counts["inserted"],
            &counts["existing"],
            &counts["recorded"]
        ),
        (&json!(1), &json!(1), &json!(1))
    );
    let clients = rows(&editor, &clients);
    let codes = clients
        .iter()
        .map(|row| row["code"].as_str().expect("text"));
    let mut codes: Vec<&str> = codes.collect();
    codes.sort_unstable();
    assert_eq!(codes, ["A", "a", "a ", "b"]);
    // A row that was left out is still what others point at: the one that was there.
    let orders = named(&editor, &there, "orders").expect("a table");
    let linked: Vec<Value> = rows(&editor, &orders)
        .iter()
        .map(|row| row["client"].clone())
        .collect();
    let of = |code: &str| {
        clients
            .iter()
            .find(|row| row["code"] == code)
            .map(|row| row["id"].clone())
    };
    assert_eq!(
        linked.iter().cloned().map(Some).collect::<Vec<_>>(),
        [of("a"), of("b"), of("a")]
    );
}

async fn links_within_a_table_are_closed_with_it(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let source = workspace(&editor, world.acme);
    let people = feature(&editor, &source, "People");
    column(
        &editor,
        &people,
        &json!({"label": "Id", "name": "id", "type": "text", "default_component": "id"}),
    );
    column(
        &editor,
        &people,
        &json!({"label": "Name", "type": "text", "config": {"unique": true}}),
    );
    let link = json!({"linkedFeatureId": people, "linkedValueColumn": "id"});
    column(
        &editor,
        &people,
        &json!({"label": "Boss", "type": "linked_select", "config": link}),
    );
    column(
        &editor,
        &people,
        &json!({"label": "Friends", "type": "linked_select", "config": {
        "linkedFeatureId": people, "linkedValueColumn": "id", "isMultiSelect": true}}),
    );
    let ids: Vec<Value> = ["a", "b", "c"]
        .iter()
        .map(|name| row(&editor, &people, &json!({"name": name}))["id"].clone())
        .collect();
    let all = editor.items(&format!("/v1/features/{people}/rows"));
    // Forward, backward, and each other.
    for (at, boss, friends) in [
        (0, 1, json!([ids[1], ids[2]])),
        (1, 0, json!([ids[0]])),
        (2, 2, json!([])),
    ] {
        let path = format!(
            "/v1/features/{people}/rows/{}?merge=true",
            all[at]["id"].as_str().expect("an id")
        );
        let data = json!({"boss": ids[boss], "friends": friends});
        editor.patch(&path, &json!({"data": data})).expect(200);
    }
    let export = format!("/v1/workspaces/{source}/export");
    let package = editor.post(&export, &json!({"rows": "all"})).expect(200);
    let admin = world.as_user("admin@acme.test");
    let made = admin
        .json("POST", "/v1/templates/import", &package.body)
        .expect(201)
        .json();
    let there = workspace(&editor, world.acme);
    let template = crate::api::model::id(&made);
    let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
    let counts = job["report"]["rows"]
        .as_object()
        .and_then(|rows| rows.values().next())
        .expect("a table");
    assert_eq!(
        (&counts["inserted"], &counts["linked"]),
        (&json!(3), &json!(5)),
        "{job}"
    );
    assert_eq!(job["report"]["unresolved"], json!([]));
    let copied = rows(&editor, &named(&editor, &there, "people").expect("a table"));
    let new: Vec<&Value> = copied.iter().map(|row| &row["id"]).collect();
    assert_eq!(copied[0]["boss"], *new[1]);
    assert_eq!(copied[1]["boss"], *new[0]);
    assert_eq!(copied[2]["boss"], *new[2]);
    assert_eq!(copied[0]["friends"], json!([new[1], new[2]]));
}

async fn two_tables_that_point_at_each_other_enter_in_order(place: Place) {
    let world = World::new(place).await;
    let _working = working(&world);
    let editor = world.as_user("editor@acme.test");
    let source = workspace(&editor, world.acme);
    let identity = json!({"label": "Id", "name": "id", "type": "text", "default_component": "id"});
    let (one, two) = (
        feature(&editor, &source, "One"),
        feature(&editor, &source, "Two"),
    );
    column(&editor, &one, &identity);
    column(&editor, &two, &identity);
    for (table, other) in [(&one, &two), (&two, &one)] {
        let link = json!({"linkedFeatureId": other, "linkedValueColumn": "id"});
        column(
            &editor,
            table,
            &json!({"label": "Link", "type": "linked_select", "config": link}),
        );
    }
    let first = row(&editor, &one, &json!({}));
    let second = row(&editor, &two, &json!({"link": first["id"]}));
    let path = editor.items(&format!("/v1/features/{one}/rows"))[0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let data = json!({"data": {"link": second["id"]}});
    editor
        .patch(&format!("/v1/features/{one}/rows/{path}?merge=true"), &data)
        .expect(200);
    let export = format!("/v1/workspaces/{source}/export");
    let package = editor.post(&export, &json!({"rows": "all"})).expect(200);
    let admin = world.as_user("admin@acme.test");
    let made = admin
        .json("POST", "/v1/templates/import", &package.body)
        .expect(201)
        .json();
    let there = workspace(&editor, world.acme);
    let job = applied(
        &editor,
        &crate::api::model::id(&made),
        &json!({"workspaceId": there}),
    )
    .await;
    let unresolved = job["report"]["unresolved"].as_array().expect("a list");
    let reasons: Vec<&str> = unresolved
        .iter()
        .map(|entry| entry["reason"].as_str().expect("why"))
        .collect();
    assert!(
        reasons.contains(&"payload_cycle") && reasons.contains(&"row_ref_dropped"),
        "{job}"
    );
    let ones = rows(&editor, &named(&editor, &there, "one").expect("a table"));
    let twos = rows(&editor, &named(&editor, &there, "two").expect("a table"));
    let (forward, back) = (&ones[0]["link"], &twos[0]["link"]);
    assert_eq!(
        usize::from(forward.is_null()) + usize::from(back.is_null()),
        1,
        "{ones:?} {twos:?}"
    );
    assert!(*forward == twos[0]["id"] || *back == ones[0]["id"]);
}
