//! `/v1/templates/{template_id}/payloads`

use serde_json::{Value, json};

use crate::api::model::{ITEM, id, package};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    an_entry_is_put_replaced_and_taken_out,
    an_entry_may_disagree_with_the_manifest_but_not_with_itself,
    entries_are_listed_over_pages,
    a_page_of_large_entries_is_short,
);

fn entry(uid: &str, titles: &[&str]) -> Value {
    let rows: Vec<Value> = titles
        .iter()
        .zip(1..)
        .map(|(title, number)| {
            let uid = format!("u_00000000-0000-4000-8000-{number:012}");
            json!({"uid": uid, "data": {"title": title}})
        })
        .collect();
    json!({
        "featureRef": "f_notes", "itemUid": uid, "count": rows.len(), "keyColumn": null,
        "keyUnique": false, "columns": ["title"], "rows": rows,
    })
}

async fn an_entry_is_put_replaced_and_taken_out(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let manifest = &package("Notes")["manifest"];
    let body = json!({"organization_id": world.acme, "manifest": manifest});
    let made = admin.create("/v1/templates", &body);
    let template = format!("/v1/templates/{}", id(&made));
    let path = format!("{template}/payloads/{ITEM}");
    admin.delete(&path).refused(404, "not_found");
    world.wait(5);
    let one = entry(ITEM, &["a"]);
    let put = admin
        .json("PUT", &path, &one.to_string())
        .expect(201)
        .json();
    assert_eq!(put, admin.items(&format!("{template}/payloads"))[0]);
    let members: Vec<&String> = put.as_object().expect("an object").keys().collect();
    assert_eq!(
        members,
        ["item_uid", "row_count", "created_at", "updated_at", "entry"]
    );
    assert_eq!(
        (&put["item_uid"], &put["row_count"]),
        (&json!(ITEM), &json!(1))
    );
    assert_eq!(put["entry"], one);
    assert_eq!(admin.get(&template).json()["updated_at"], put["updated_at"]);
    world.wait(5);
    let two = entry(ITEM, &["a", "b"]);
    let again = admin
        .json("PUT", &path, &two.to_string())
        .expect(200)
        .json();
    assert_eq!(
        (&again["row_count"], &again["created_at"]),
        (&json!(2), &put["created_at"])
    );
    assert_ne!(again["updated_at"], put["updated_at"]);
    assert_eq!(
        admin.get(&format!("{template}/package")).json()["payloads"],
        json!([two])
    );
    // Those who see it, those who do not.
    let editor = world.as_user("editor@acme.test");
    assert_eq!(editor.items(&format!("{template}/payloads")).len(), 1);
    editor.json("PUT", &path, "{").refused(403, "forbidden");
    editor.delete(&path).refused(403, "forbidden");
    let stranger = world.as_user("stranger@other.test");
    stranger.json("PUT", &path, "{").refused(404, "not_found");
    stranger.delete(&path).refused(404, "not_found");
    admin.delete(&path).expect(204);
    assert_eq!(admin.items(&format!("{template}/payloads")).len(), 0);
}

async fn an_entry_may_disagree_with_the_manifest_but_not_with_itself(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let template = format!("/v1/templates/{}", id(&made));
    let orphan = "u_00000000-0000-4000-8000-0000000000bb";
    let path = format!("{template}/payloads/{orphan}");
    let mut other = entry(orphan, &["a", "b"]);
    other["featureRef"] = "f_elsewhere".into();
    admin.json("PUT", &path, &other.to_string()).expect(201);
    for (change, message) in [
        (json!({"count": 3}), "R003"),
        (json!({"rows": null}), "J005"),
        (json!({"columns": []}), "R004"),
        (json!({"itemUid": ITEM}), "itemUid"),
        (
            json!({"rows": [{"uid": "u_1", "data": {}}], "count": 1}),
            "I001",
        ),
    ] {
        let mut bad = other.clone();
        for (key, value) in change.as_object().expect("an object") {
            bad[key] = value.clone();
        }
        let refused = admin.json("PUT", &path, &bad.to_string());
        let refused = refused.refused(422, "validation_failed");
        assert!(refused.body.contains(message), "{message} {refused:?}");
    }
    for bad in ["{", "", r#"{"rows":[{"data":{"a":1,"a":1}}]}"#, "],["] {
        admin.json("PUT", &path, bad).refused(422, "invalid_json");
    }
    for bad in ["[]", "{}", "1"] {
        admin
            .json("PUT", &path, bad)
            .refused(422, "validation_failed");
    }
    let no_uid = format!("{template}/payloads/none");
    admin
        .json("PUT", &no_uid, &other.to_string())
        .refused(422, "validation_failed");
    admin.delete(&no_uid).refused(422, "validation_failed");
    // What was there is still there.
    let found = admin.items(&format!("{template}/payloads"));
    assert_eq!(found[1]["entry"], other);
}

async fn entries_are_listed_over_pages(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let template = format!("/v1/templates/{}", id(&made));
    let uid = |number: u8| format!("u_00000000-0000-4000-8000-{number:012}");
    for number in (1..=4).rev() {
        let path = format!("{template}/payloads/{}", uid(number));
        let body = entry(&uid(number), &["a"]).to_string();
        admin.json("PUT", &path, &body).expect(201);
    }
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("{template}/payloads?limit=2{cursor}"));
        let page = page.expect(200).json();
        let items = page["items"].as_array().expect("a list");
        found.extend(
            items
                .iter()
                .map(|item| item["item_uid"].as_str().expect("a uid").to_owned()),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected: Vec<String> = (1..=4).map(uid).chain([ITEM.to_owned()]).collect();
    assert_eq!(found, expected);
    for bad in ["limit=0", "x=1"] {
        let path = format!("{template}/payloads?{bad}");
        admin.get(&path).refused(422, "validation_failed");
    }
    let other = admin.create("/v1/templates/import", &package("Notes"));
    let path = format!("/v1/templates/{}/payloads?limit=2{cursor}", id(&other));
    admin.get(&path).refused(422, "invalid_cursor");
}

async fn a_page_of_large_entries_is_short(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made = admin.create("/v1/templates/import", &package("Notes"));
    let template = format!("/v1/templates/{}", id(&made));
    let large = "x".repeat(20 << 20);
    for number in 1..=2 {
        let uid = format!("u_00000000-0000-4000-8000-{number:012}");
        let body = entry(&uid, &[&large]).to_string();
        let path = format!("{template}/payloads/{uid}");
        admin.json("PUT", &path, &body).expect(201);
    }
    let page = admin
        .get(&format!("{template}/payloads"))
        .expect(200)
        .json();
    assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
    // Each of the two fills a page by itself; the third is the entry of the package.
    let mut page = page;
    for _ in 0..2 {
        let cursor = page["next_cursor"].as_str().expect("another page");
        let next = format!("{template}/payloads?cursor={cursor}");
        page = admin.get(&next).expect(200).json();
        assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(page["next_cursor"], Value::Null);
}
