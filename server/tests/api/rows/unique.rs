//! What no two rows of a table hold.

use serde_json::json;

use super::seed::{COLUMNS, path, table, table_in, workspace};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    equality_is_that_of_json,
    empty_cells_do_not_collide,
    the_scope_is_one_table,
    of_many_rows_those_are_named_whose_values_are_taken,
    a_batch_that_repeats_a_value_still_names_those_that_are_taken,
);

const COLUMN: [super::seed::Column; 1] = [("v", "json", "jsoneditor", r#"{"unique":true}"#)];

async fn equality_is_that_of_json(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMN).await;
    let editor = world.as_user("editor@acme.test");
    let post = |raw: &str| {
        let body = format!(r#"{{"data":{{"v":{raw}}}}}"#);
        editor.json("POST", &path(feature, ""), &body)
    };
    for groups in [
        vec!["1", "1.0", "1e0", "10e-1"],
        vec!["\"1\"", "\"\\u0031\""],
        vec!["\"a\""],
        vec!["\"A\""],
        vec!["\"é\"", "\"\\u00e9\""],
        // Another text, although it looks the same.
        vec!["\"e\u{301}\""],
        vec!["\"\""],
        vec!["[]"],
        vec!["{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}"],
        vec!["true"],
        vec!["0", "-0", "0.00"],
    ] {
        post(groups[0]).expect(201);
        for same in groups {
            let refused = post(same).refused(409, "unique_violation").json();
            assert_eq!(refused["column"], "v", "{same}");
        }
    }
}

async fn empty_cells_do_not_collide(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMN).await;
    let editor = world.as_user("editor@acme.test");
    let body =
        json!({"rows": [{"data": {}}, {"data": {}}, {"data": {"v": null}}, {"data": {"v": null}}]});
    for mode in ["on", "off"] {
        editor
            .post(&path(feature, &format!(":batch?validate={mode}")), &body)
            .expect(201);
    }
}

/// Values enter many at a time, in few statements; what is refused is still reported row by row.
async fn of_many_rows_those_are_named_whose_values_are_taken(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMN).await;
    let editor = world.as_user("editor@acme.test");
    let batch = path(feature, ":batch");
    let rows = |from: usize, count: usize| -> Vec<serde_json::Value> {
        let values = (from..from + count).rev();
        values.map(|n| json!({"data": {"v": n}})).collect()
    };
    editor
        .post(&batch, &json!({"rows": rows(0, 237)}))
        .expect(201);
    let mut more = rows(1000, 321);
    for (at, taken) in [(0, 236), (7, 100), (110, 0), (320, 5)] {
        more[at] = json!({"data": {"v": taken}});
    }
    let refused = editor.post(&batch, &json!({"rows": more}));
    let refused = refused.refused(409, "unique_violation").json();
    let errors = refused["errors"].as_array().expect("errors");
    let paths: Vec<&str> = errors
        .iter()
        .filter_map(|error| error["path"].as_str())
        .collect();
    let expected = [0, 7, 110, 320].map(|at| format!("rows[{at}].data.v"));
    assert_eq!(paths, expected);
    // Nothing of it was kept.
    editor
        .post(&batch, &json!({"rows": rows(1000, 321)}))
        .expect(201);
}

/// What the rows of a batch take from each other hides nothing that other rows have.
async fn a_batch_that_repeats_a_value_still_names_those_that_are_taken(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMN).await;
    let editor = world.as_user("editor@acme.test");
    let taken = json!({"data": {"v": "taken"}});
    editor.post(&path(feature, ""), &taken).expect(201);
    let named = |values: &[&str]| -> Vec<String> {
        let rows = values.iter().map(|v| json!({"data": {"v": v}}));
        let body = json!({"rows": rows.collect::<Vec<_>>()});
        let refused = editor.post(&path(feature, ":batch"), &body);
        let refused = refused.refused(409, "unique_violation").json();
        let errors = refused["errors"].as_array().expect("errors").iter();
        errors
            .map(|error| error["path"].as_str().expect("a path").to_owned())
            .collect()
    };
    for (values, rows) in [
        (&["taken", "b", "b"][..], &[0, 2][..]),
        (&["b", "b", "taken"], &[1, 2]),
        (&["b", "taken", "b", "taken", "b"], &[1, 2, 3, 4]),
        (&["b", "b"], &[1]),
    ] {
        let rows = rows.iter().map(|at| format!("rows[{at}].data.v"));
        assert_eq!(named(values), rows.collect::<Vec<_>>(), "{values:?}");
    }
    // Nothing of it was kept.
    let b = json!({"data": {"v": "b"}});
    editor.post(&path(feature, ""), &b).expect(201);
}

async fn the_scope_is_one_table(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"name": "n", "sku": "a"}});
    let one = table(&world, &COLUMNS).await;
    let other = table(&world, &COLUMNS).await;
    let foreign = workspace(&world, world.other, "organization").await;
    let foreign = table_in(&world, (world.other, foreign), false, &COLUMNS).await;
    editor.post(&path(one, ""), &body).expect(201);
    editor.post(&path(other, ""), &body).expect(201);
    let stranger = world.as_user("stranger@other.test");
    stranger.post(&path(foreign, ""), &body).expect(201);
    editor
        .post(&path(one, ""), &body)
        .refused(409, "unique_violation");
}
