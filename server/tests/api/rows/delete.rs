//! `DELETE …/rows/{row_id}`

use serde_json::json;

use super::seed::{COLUMNS, number, path, table};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_row_goes_with_all_that_it_held,
    who_may_not_delete_finds_nothing
);

async fn a_row_goes_with_all_that_it_held(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"name": "n", "sku": "a"}});
    for _ in 0..2 {
        let row = editor.post(&path(feature, ""), &body).expect(201).json();
        let one = path(feature, &format!("/{}", row["id"].as_str().expect("an id")));
        editor
            .delete(&format!("{one}?force=true"))
            .refused(422, "validation_failed");
        assert_eq!(editor.delete(&one).expect(204).body, "");
        editor.delete(&one).refused(404, "not_found");
        editor.get(&one).refused(404, "not_found");
    }
    for sql in [
        "SELECT count(*) FROM rows",
        "SELECT count(*) FROM row_values",
        "SELECT CAST(sum(count) AS bigint) FROM row_counts",
    ] {
        assert_eq!(number(&world, sql, vec![]).await, 0, "{sql}");
    }
}

async fn who_may_not_delete_finds_nothing(place: Place) {
    let world = World::new(place).await;
    let feature = table(&world, &COLUMNS).await;
    let editor = world.as_user("editor@acme.test");
    let body = json!({"data": {"name": "n"}});
    let row = editor.post(&path(feature, ""), &body).expect(201).json();
    let one = path(feature, &format!("/{}", row["id"].as_str().expect("an id")));
    let viewer = world.as_user("viewer@acme.test");
    viewer.get(&one).expect(200);
    let not_allowed = viewer.delete(&one).refused(404, "not_found");
    let missing = world.as_user("stranger@other.test").delete(&one);
    assert_eq!(not_allowed.body, missing.refused(404, "not_found").body);
    // Changing it is another matter: it is seen.
    viewer.patch(&one, &body).refused(403, "forbidden");
    viewer.patch(&one, &json!([])).refused(403, "forbidden");
    viewer
        .post(&path(feature, ""), &body)
        .refused(403, "forbidden");
    viewer
        .post(&path(feature, ":batch"), &json!({}))
        .refused(403, "forbidden");
    let key = world.as_key(&["read"]);
    key.delete(&one).refused(403, "missing_scope");
    key.patch(&one, &body).refused(403, "missing_scope");
    world.as_key(&["write"]).delete(&one).expect(204);
}
