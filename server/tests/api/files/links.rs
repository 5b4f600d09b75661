//! `POST /v1/files/{file_id}/links`, and where the links lead.

use serde_json::json;

use super::{made, of};
use crate::api::client::Client;
use crate::api::model::Model;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_link_needs_no_credential_and_shows_what_its_maker_sees,
    whatever_is_wrong_with_a_link_is_one_404,
    links_take_a_key_to_sign_with,
);

fn link(client: &Client, file: &str, body: &serde_json::Value) -> String {
    let link = client
        .post(&format!("{file}/links"), body)
        .expect(201)
        .json();
    link["url"].as_str().expect("a path").to_owned()
}

async fn a_link_needs_no_credential_and_shows_what_its_maker_sees(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let viewer = world.as_user("viewer@acme.test");
    let model = Model::new(&owner, world.acme)
        .with_row(&owner)
        .with_file(&world, &owner, "f")
        .await;
    let file = format!("/v1/files/{}", model.file);
    let plain = link(&viewer, &file, &json!({"expires_in": 60}));
    let by_key = link(
        &world.as_key(&["read"]),
        &file,
        &json!({"expires_in": 60, "inline": true}),
    );
    for (path, way) in [(&plain, "attachment"), (&by_key, "inline")] {
        let response = world.nobody.get(path).expect(200);
        assert_eq!(response.body, "f");
        assert_eq!(response.header("cache-control"), Some("private, no-cache"));
        assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(
            response.header("cross-origin-resource-policy"),
            Some("cross-origin")
        );
        assert!(
            response
                .header("content-disposition")
                .expect("a way")
                .starts_with(way)
        );
        // A credential that comes along is not looked at.
        let stranger = world.as_user("stranger@other.test");
        assert_eq!(stranger.get(path).expect(200).body, "f");
        assert_eq!(
            world.nobody.with("nonsense").get(path).expect(200).body,
            "f"
        );
        let part = world
            .nobody
            .send("GET", path, &[("range", "bytes=-1")], None);
        assert_eq!(part.expect(206).body, "f");
    }
    // It ends with the sight of its maker,
    let own = json!({"config": {"rowAccess": "own"}});
    owner
        .patch(&format!("/v1/features/{}", model.feature), &own)
        .expect(200);
    world.nobody.get(&plain).refused(404, "not_found");
    world.nobody.get(&by_key).expect(200);
    let all = json!({"config": {"rowAccess": "all"}});
    owner
        .patch(&format!("/v1/features/{}", model.feature), &all)
        .expect(200);
    world.nobody.get(&plain).expect(200);
    let me = viewer.get("/v1/me").json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    owner
        .delete(&world.path(&format!("/members/{me}")))
        .expect(204);
    world.nobody.get(&plain).refused(404, "not_found");
    // with its file,
    owner.delete(&format!("{file}?force=true")).expect(204);
    world.nobody.get(&by_key).refused(404, "not_found");
    // and with its time.
    let file = of(&made(&owner, &model.workspace, "g", b"g"));
    let short = link(&owner, &file, &json!({"expires_in": 10}));
    world.wait(9);
    world.nobody.get(&short).expect(200);
    world.wait(1);
    world.nobody.get(&short).refused(404, "not_found");
}

async fn whatever_is_wrong_with_a_link_is_one_404(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let file = made(&owner, &workspace, "f", b"f");
    let path = link(&owner, &of(&file), &json!({"expires_in": 60}));
    let (place, _) = path.split_once('?').expect("a query");
    let refused = world.nobody.get(place).refused(404, "not_found");
    let signature = path.find("signature=").expect("a signature") + 10;
    let by = path.find("by=").expect("a maker") + 3;
    let swap = |at: usize| {
        let other = if &path[at..=at] == "A" { "B" } else { "A" };
        format!("{}{other}{}", &path[..at], &path[at + 1..])
    };
    for wrong in [
        format!("{path}&inline=true"),
        format!("{path}&x=1"),
        format!("{path}&expires=1"),
        format!("{path}A"),
        path.replace("expires=1", "expires=2"),
        path.replace("signature=", "signature=%00"),
        swap(signature),
        swap(by),
        path[..signature].to_owned(),
        place.to_owned(),
    ] {
        let response = world.nobody.get(&wrong).refused(404, "not_found");
        assert_eq!(response.body, refused.body, "{wrong}");
    }
    let nowhere = path.replace(file["id"].as_str().expect("an id"), "no-uuid");
    world.nobody.get(&nowhere).refused(404, "not_found");
    let links = format!("{}/links", of(&file));
    for body in [
        json!({}),
        json!({"expires_in": 0}),
        json!({"expires_in": 3601}),
        json!({"expires_in": "60"}),
        json!({"expires_in": 60, "inline": "yes"}),
        json!({"expires_in": 60, "x": 1}),
    ] {
        owner.post(&links, &body).refused(422, "validation_failed");
    }
    // Made again under a key it is another link.
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let body = br#"{"expires_in":60}"#;
    let first = owner.send("POST", &links, &headers, Some(body)).expect(201);
    world.wait(1);
    let second = owner.send("POST", &links, &headers, Some(body)).expect(201);
    assert_ne!(first.body, second.body);
    world
        .as_user("stranger@other.test")
        .post(&links, &json!({"expires_in": 60}))
        .refused(404, "not_found");
}

async fn links_take_a_key_to_sign_with(place: Place) {
    let config = tplkit_server::app::Config {
        rate: None,
        ..tplkit_server::app::Config::default()
    };
    let world = World::with(place, config).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let file = made(&owner, &workspace, "f", b"f");
    let refused = owner.post(&format!("{}/links", of(&file)), &json!({"expires_in": 60}));
    let refused = refused.refused(503, "store_unavailable");
    assert!(refused.body.contains("TPLKIT_SECRET_KEY"), "{refused:?}");
}
