//! Changes of the model next to each other.

use std::thread;

use serde_json::json;

use super::client::Response;
use super::model::{Model, id};
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    what_is_created_next_to_a_delete_is_there_or_never_was,
    views_that_ask_for_slots_at_once_all_get_some,
    changes_of_different_fields_all_stay,
    each_change_is_later_than_the_one_before,
    columns_of_one_table_at_once_leave_it_whole,
);

fn at_once(count: usize, send: impl Fn(usize) -> Response + Sync) -> Vec<Response> {
    thread::scope(|scope| {
        let send = &send;
        let sent: Vec<_> = (0..count)
            .map(|number| scope.spawn(move || send(number)))
            .collect();
        let responses = sent.into_iter().map(|sent| sent.join().expect("responds"));
        responses.collect()
    })
}

async fn what_is_created_next_to_a_delete_is_there_or_never_was(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    for _ in 0..3 {
        let model = Model::new(&editor, world.acme);
        let responses = at_once(12, |number| match number {
            5 => editor.delete(&format!("/v1/modules/{}?force=true", model.module)),
            6 => editor.delete(&format!("/v1/features/{}?force=true", model.feature)),
            7 => editor.delete(&format!("/v1/workspaces/{}?force=true", model.workspace)),
            number if number % 3 == 0 => {
                let body = json!({"module_id": model.module, "label": "x"});
                editor.post("/v1/rails", &body)
            }
            number if number % 3 == 1 => {
                let body = json!({"workspace_id": model.workspace, "label": "x"});
                editor.post("/v1/features", &body)
            }
            _ => {
                let body = json!({"label": "x", "type": "text", "config": {"unique": true}});
                editor.post(&model.columns(), &body)
            }
        });
        for response in responses {
            assert!([201, 204, 404].contains(&response.status), "{response:?}");
        }
    }
    assert!(world.counts().await.iter().all(|(_, count)| *count == 0));
}

async fn views_that_ask_for_slots_at_once_all_get_some(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    for number in 0..10 {
        let body = json!({"label": format!("n{number}"), "type": "text"});
        editor.create(&model.columns(), &body);
    }
    let responses = at_once(10, |number| {
        let config = json!({"sort": {"column": format!("n{number}")}});
        let body = json!({
            "feature_id": model.feature, "label": "x", "type": "table", "config": config,
        });
        editor.post("/v1/views", &body)
    });
    for response in responses {
        response.expect(201);
    }
    let sql = "SELECT count(*) FROM columns WHERE slot IS NOT NULL";
    assert_eq!(world.sql(sql, vec![]).await[0].get::<i64>(0), Ok(10));
}

async fn changes_of_different_fields_all_stay(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let path = format!("/v1/modules/{}", model.module);
    let body =
        json!({"config": {"color": "red"}, "icon": "i", "label": "l", "order": 7, "name": "n"});
    let fields: Vec<_> = body.as_object().expect("fields").iter().collect();
    let responses = at_once(fields.len(), |number| {
        let (key, value) = fields[number];
        editor.patch(&path, &json!({key: value}))
    });
    for response in responses {
        response.expect(200);
    }
    let module = editor.get(&path).expect(200).json();
    for (key, value) in fields {
        assert_eq!(&module[key], value);
    }
}

async fn each_change_is_later_than_the_one_before(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme);
    for path in [
        world.path(""),
        format!("/v1/workspaces/{}", model.workspace),
        format!("/v1/modules/{}", model.module),
        format!("/v1/rails/{}", model.rail),
        format!("/v1/features/{}", model.feature),
        format!("/v1/views/{}", model.view),
        format!("{}/{}", model.columns(), model.column),
    ] {
        let change = |body: &serde_json::Value| {
            let changed = owner.patch(&path, body).expect(200).json();
            changed["updated_at"]
                .as_str()
                .expect("an instant")
                .to_owned()
        };
        let responses = at_once(12, |number| {
            owner.patch(&path, &json!({"label": format!("l{number}")}))
        });
        let mut times: Vec<String> = responses
            .into_iter()
            .map(|response| response.expect(200).json()["updated_at"].to_string())
            .collect();
        times.sort();
        times.dedup();
        assert_eq!(times.len(), 12, "{path}");
        let stored = change(&json!({}));
        assert_eq!(times[11], format!("\"{stored}\""), "{path}");
        // By a process whose clock is behind.
        world.wait(-60);
        let later = change(&json!({"label": "later"}));
        assert!(later > stored, "{path}: {later} {stored}");
        assert_eq!(change(&json!({})), later, "{path}");
        world.wait(60);
    }
}

async fn columns_of_one_table_at_once_leave_it_whole(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    world.row(&model, None, r#"{"c":"x"}"#).await;
    let path = format!("{}/{}", model.columns(), model.column);
    let responses = at_once(16, |number| match number % 4 {
        0 => editor.patch(&path, &json!({"config": {"unique": number % 8 == 0}})),
        1 => editor.patch(&path, &json!({"type": "email"})),
        2 => {
            let body = json!({"label": "u", "type": "text", "config": {"unique": true}});
            editor.post(&model.columns(), &body)
        }
        _ => editor.patch(
            &format!("/v1/features/{}", model.feature),
            &json!({"label": format!("f{number}")}),
        ),
    });
    for response in responses {
        assert!([200, 201].contains(&response.status), "{response:?}");
    }
    editor
        .patch(&path, &json!({"config": {"unique": true}}))
        .expect(200);
    assert!(world.counts().await.contains(&("values", 1)));
    let columns = editor.get(&model.columns()).expect(200).json();
    let mut names: Vec<String> = columns
        .as_array()
        .expect("a list")
        .iter()
        .map(|column| column["name"].to_string())
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 5);
    assert_eq!(id(&columns[0]), model.column);
}
