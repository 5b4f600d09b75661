//! An undo under an `Idempotency-Key` whose response is lost, or that comes to nothing, is sent again.

use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::app::Config;

use super::shop::{Shop, applied, named, working, workspace};
use crate::api::client::{Client, Response};
use crate::api::model::uuid;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores, run};

on_both_stores!(
    a_lost_response_is_made_up_for,
    who_asks_again_meanwhile_learns_that_it_goes_on,
);

/// A job that is over, and how its undo is asked for under a key.
struct AppliedJob {
    editor: Client,
    there: String,
    job: Value,
}

impl AppliedJob {
    async fn new(world: &World) -> AppliedJob {
        let editor = world.as_user("editor@acme.test");
        let admin = world.as_user("admin@acme.test");
        let shop = Shop::new(&editor, world.acme);
        let template = shop.template(&editor, &admin, &json!({"rows": "all"}));
        let there = workspace(&editor, world.acme);
        let workers = working(world);
        let job = applied(&editor, &template, &json!({"workspaceId": there})).await;
        workers.ends();
        AppliedJob { editor, there, job }
    }

    fn id(&self) -> &str {
        self.job["id"].as_str().expect("an id")
    }

    fn undo(&self, key: &str) -> Response {
        let path = format!("/v1/template-jobs/{}/undo", self.id());
        let headers = [("idempotency-key", key)];
        self.editor.send("POST", &path, &headers, None)
    }
}

/// As if the process had died before it kept its response.
fn lose_responses(world: &World) {
    let lost = "UPDATE main.idempotency SET status = 0";
    world.place.execute(lost);
}

fn is_replayed(response: &Response) -> bool {
    response.header("idempotency-replayed") == Some("true")
}

async fn a_lost_response_is_made_up_for(place: Place) {
    let world = World::new(place).await;
    let applied = AppliedJob::new(&world).await;
    applied.undo("k").expect(200);
    lose_responses(&world);
    // Nobody knows that the first one runs no more.
    applied.undo("k").refused(409, "idempotency_in_progress");
    world.wait(61);
    let again = applied.undo("k").expect(200);
    assert!(!is_replayed(&again), "{again:?}");
    assert_eq!(again.json()["status"], "undone");
    let replayed = applied.undo("k").expect(200);
    assert!(is_replayed(&replayed), "{replayed:?}");
    assert_eq!(replayed.body, again.body);
    // Another request is the second one, and so is what somebody else has asked for.
    applied.undo("l").refused(409, "conflict");
    lose_responses(&world);
    world
        .place
        .execute("UPDATE main.template_jobs SET undone_by = NULL");
    world.wait(61);
    applied.undo("k").refused(409, "conflict");
}

async fn who_asks_again_meanwhile_learns_that_it_goes_on(place: Place) {
    let config = Config {
        rate: None,
        undo_wait: Duration::ZERO,
        ..Config::default()
    };
    let world = World::with(place, config).await;
    let applied = AppliedJob::new(&world).await;
    world.has_written(uuid(applied.id()), 3000).await;
    applied.undo("k").expect(202);
    lose_responses(&world);
    world.wait(61);
    let again = applied.undo("k").expect(202);
    assert!(!is_replayed(&again), "{again:?}");
    assert_eq!(again.json()["status"], "undoing");
}

async fn one_that_came_to_nothing_is_done_by_the_next(place: Place) {
    let world = World::new(place).await;
    let applied = AppliedJob::new(&world).await;
    world.place.refuse("DELETE", "rows");
    let refused = applied.undo("k");
    assert!(refused.status >= 500, "{refused:?}");
    world.place.admit("rows");
    let done = applied.undo("k").expect(200);
    assert!(!is_replayed(&done), "{done:?}");
    assert_eq!(named(&applied.editor, &applied.there, "clients"), None);
}

#[test]
fn one_that_came_to_nothing_is_done_by_the_next_on_sqlite() {
    run(
        Some(Place::sqlite()),
        one_that_came_to_nothing_is_done_by_the_next,
    );
}

#[cfg(unix)]
#[test]
fn one_that_came_to_nothing_is_done_by_the_next_on_postgres() {
    run(
        Place::plain_postgres(),
        one_that_came_to_nothing_is_done_by_the_next,
    );
}
