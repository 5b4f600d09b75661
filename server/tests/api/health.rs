//! `/v1/health` and `/v1/ready`.

use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(health_and_readiness_are_public);

async fn health_and_readiness_are_public(place: Place) {
    let world = World::new(place).await;
    let health = world.nobody.get("/v1/health").expect(200);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        health.body,
        format!(r#"{{"status":"ok","version":"{version}"}}"#)
    );
    assert!(health.header("x-request-id").is_some());
    assert_eq!(health.header("ratelimit-limit"), None);
    world.nobody.get("/v1/ready").expect(200);
    for path in ["/v1/health?x=1", "/v1/ready?x=1"] {
        world.nobody.get(path).refused(422, "validation_failed");
    }
    // A credential that does not hold makes no difference to what is public.
    world.nobody.with("nonsense").get("/v1/health").expect(200);
    let head = world
        .nobody
        .send("HEAD", "/v1/health", &[], None)
        .expect(200);
    assert_eq!(head.body, "");
}

/// The database goes: health stays, all else is 503, and nothing hangs.
#[cfg(unix)]
#[test]
fn without_its_database_the_server_says_so() {
    use crate::cluster::{self, Cluster};
    let Some(programs) = cluster::programs() else {
        return;
    };
    let cluster = Cluster::start(programs).expect("the cluster starts");
    let place = Place::at(cluster.url("postgres"));
    crate::stores::run(Some(place), |place| async {
        let world = World::new(place).await;
        let owner = world.as_user("owner@acme.test");
        owner.get("/v1/me").expect(200);
        drop(cluster);
        world.nobody.get("/v1/health").expect(200);
        for _ in 0..2 {
            world
                .nobody
                .get("/v1/ready")
                .refused(503, "store_unavailable");
            let refused = owner.get("/v1/me").refused(503, "store_unavailable");
            assert_eq!(refused.header("retry-after"), Some("1"));
            world
                .token("owner@acme.test", "x")
                .refused(503, "store_unavailable");
        }
        // What needs no store is reported first.
        world.nobody.get("/v1/me").refused(401, "unauthenticated");
        world.nobody.get("/v1/nothing").refused(404, "not_found");
    });
}
