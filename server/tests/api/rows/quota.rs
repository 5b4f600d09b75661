//! How many rows an organization may have.

use serde_json::{Value, json};

use super::seed::{ask, number, path, table, table_in, workspace};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_quota_counts_all_rows_of_an_organization,
    a_quota_holds_in_a_race,
);

async fn quota(world: &World, rows: i64) {
    let sql = "UPDATE main.organizations SET row_quota = $2 WHERE id = $1";
    ask(world, sql, vec![world.acme.into(), rows.into()]).await;
}

async fn a_quota_counts_all_rows_of_an_organization(place: Place) {
    let world = World::new(place).await;
    quota(&world, 5).await;
    let one = table(&world, &[]).await;
    // Also those that the caller does not see.
    let closed = workspace(&world, world.acme, "members").await;
    let other = table_in(&world, (world.acme, closed), false, &[]).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let rows = |count: usize| {
        let rows: Vec<Value> = (0..count).map(|_| json!({"data": {}})).collect();
        json!({"rows": rows})
    };
    owner.post(&path(other, ":batch"), &rows(3)).expect(201);
    editor
        .post(&path(one, ":batch"), &rows(3))
        .refused(409, "quota_exceeded");
    let last = editor.post(&path(one, ":batch"), &rows(2)).expect(201);
    editor
        .post(&path(one, ""), &json!({"data": {}}))
        .refused(409, "quota_exceeded");
    let id = last.json()["items"][0]["id"].clone();
    let id = id.as_str().expect("an id");
    // Changing takes no room, removing makes some.
    editor
        .patch(&path(one, &format!("/{id}")), &json!({"data": {"a": 1}}))
        .expect(200);
    editor.delete(&path(one, &format!("/{id}"))).expect(204);
    editor
        .post(&path(one, ""), &json!({"data": {}}))
        .expect(201);
    // The other organization has no part in it.
    let foreign = workspace(&world, world.other, "organization").await;
    let foreign = table_in(&world, (world.other, foreign), false, &[]).await;
    let stranger = world.as_user("stranger@other.test");
    stranger
        .post(&path(foreign, ":batch"), &rows(9))
        .expect(201);
}

pub(in crate::api) async fn a_quota_holds_in_a_race(place: Place) {
    let world = World::new(place).await;
    quota(&world, 7).await;
    let feature = table(&world, &[]).await;
    let editor = world.as_user("editor@acme.test");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|_| scope.spawn(|| editor.post(&path(feature, ""), &json!({"data": {}})).status))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a response"))
            .collect()
    });
    let of = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((of(201), of(409)), (7, 13), "{statuses:?}");
    assert_eq!(number(&world, "SELECT count(*) FROM rows", vec![]).await, 7);
}
