//! `POST /v1/files/{file_id}/links`, and where the links lead.

use serde_json::json;

use super::{made, of};
use crate::api::client::{Client, Response};
use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_link_needs_no_credential_and_shows_what_its_maker_sees,
    a_link_ends_with_the_key_the_workspace_and_the_role_of_its_maker,
    conditions_and_ranges_are_looked_at_behind_a_link,
    whatever_is_wrong_with_a_link_is_one_404,
    a_link_that_has_ended_is_the_same_404,
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
    // It ends when its maker sees the file no more,
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

async fn a_link_ends_with_the_key_the_workspace_and_the_role_of_its_maker(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let model = Model::new(&owner, world.acme)
        .with_row(&owner)
        .with_file(&world, &owner, "used")
        .await;
    let used = format!("/v1/files/{}", model.file);
    // Nobody sees this one through a row.
    let unused = of(&made(&owner, &model.workspace, "unused", b"unused"));
    let hour = json!({"expires_in": 3600});
    let shows = |path: &str, text: &str| assert_eq!(world.nobody.get(path).expect(200).body, text);
    let ended = |path: &str| world.nobody.get(path).refused(404, "not_found");
    let by_owner = link(&owner, &unused, &hour);
    // A key that is deleted, and one that expires.
    let key = |more: serde_json::Value| {
        let mut body = json!({"organization_id": world.acme, "name": "k", "scopes": ["read"]});
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        owner.create("/v1/api-keys", &body)
    };
    let link_of = |key: &serde_json::Value, file: &str| {
        let client = world.nobody.with(key["key"].as_str().expect("a key"));
        link(&client, file, &hour)
    };
    let deleted = key(json!({}));
    let by_deleted = link_of(&deleted, &used);
    let expiring = key(json!({"expires_at": "2023-11-14T22:14:20Z"}));
    let by_expiring = link_of(&expiring, &used);
    shows(&by_deleted, "used");
    owner
        .delete(&format!("/v1/api-keys/{}", id(&deleted)))
        .expect(204);
    ended(&by_deleted);
    world.wait(59);
    shows(&by_expiring, "used");
    world.wait(1);
    ended(&by_expiring);
    // A workspace that closes, until it opens again or its list has the maker.
    let viewer = world.as_user("viewer@acme.test");
    let by_viewer = link(&viewer, &used, &hour);
    let workspace = format!("/v1/workspaces/{}", model.workspace);
    let access = |access: &str| {
        let body = json!({ "access": access });
        owner.patch(&workspace, &body).expect(200);
    };
    shows(&by_viewer, "used");
    access("members");
    ended(&by_viewer);
    shows(&by_owner, "unused");
    let me = |client: &Client| id(&client.get("/v1/me").expect(200).json());
    let listed = format!("{workspace}/members/{}", me(&viewer));
    owner.send("PUT", &listed, &[], None).expect(204);
    shows(&by_viewer, "used");
    owner.delete(&listed).expect(204);
    ended(&by_viewer);
    access("organization");
    shows(&by_viewer, "used");
    // A role that sinks: what is used is still seen.
    let admin = world.as_user("admin@acme.test");
    let (both, alone) = (link(&admin, &used, &hour), link(&admin, &unused, &hour));
    shows(&alone, "unused");
    let member = world.path(&format!("/members/{}", me(&admin)));
    owner.patch(&member, &json!({"role": "editor"})).expect(200);
    ended(&alone);
    shows(&both, "used");
    owner.patch(&member, &json!({"role": "admin"})).expect(200);
    shows(&alone, "unused");
}

/// Whatever a link comes to has the headers of one, and a refusal is kept nowhere.
#[track_caller]
fn is_of_a_link(response: &Response) {
    let [referrer, resource, cache] = [
        "referrer-policy",
        "cross-origin-resource-policy",
        "cache-control",
    ]
    .map(|name| response.header(name));
    let policies = (referrer, resource);
    let expected = (Some("no-referrer"), Some("cross-origin"));
    assert_eq!(policies, expected, "{response:?}");
    let kept = if response.status < 400 {
        "private, no-cache"
    } else {
        "no-store"
    };
    assert_eq!(cache, Some(kept), "{response:?}");
}

async fn conditions_and_ranges_are_looked_at_behind_a_link(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let file = made(&owner, &workspace, "f", b"0123456789");
    let tag = format!("\"{}\"", file["sha256"].as_str().expect("a digest"));
    let path = link(&owner, &of(&file), &json!({"expires_in": 60}));
    let ask = |method: &str, headers: &[(&str, &str)]| {
        let response = world.nobody.send(method, &path, headers, None);
        is_of_a_link(&response);
        response
    };
    let part = ("range", "bytes=2-3");
    let head = ask("HEAD", &[part]).expect(200);
    assert_eq!(
        (&*head.body, head.header("content-length")),
        ("", Some("10"))
    );
    assert_eq!(head.header("etag"), Some(&*tag));
    let same = ask("GET", &[("if-none-match", &tag)]).expect(304);
    assert_eq!((&*same.body, same.header("etag")), ("", Some(&*tag)));
    assert_eq!(same.header("cache-control"), Some("private, no-cache"));
    assert_eq!(ask("HEAD", &[("if-none-match", "*")]).status, 304);
    ask("GET", &[("if-match", "\"other\"")]).refused(412, "precondition_failed");
    assert_eq!(ask("HEAD", &[("if-match", "\"other\"")]).status, 412);
    let some = ask("GET", &[part, ("if-range", &tag)]).expect(206);
    assert_eq!(
        (&*some.body, some.header("content-range")),
        ("23", Some("bytes 2-3/10"))
    );
    let refused = ask("GET", &[("range", "bytes=10-")]);
    let refused = refused.refused(416, "range_not_satisfiable");
    assert_eq!(refused.header("content-range"), Some("bytes */10"));
    // Behind a link that has ended there is nothing to be learned.
    world.wait(60);
    for headers in [
        &[][..],
        &[part],
        &[("range", "bytes=10-")],
        &[("if-match", "\"other\"")],
        &[("if-none-match", "*")],
    ] {
        ask("GET", headers).refused(404, "not_found");
    }
    assert_eq!(ask("HEAD", &[]).status, 404);
    is_of_a_link(&world.nobody.post(&path, &json!({})));
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
        is_of_a_link(&response);
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

async fn a_link_that_has_ended_is_the_same_404(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let editor = world.as_user("editor@acme.test");
    let workspace = Model::new(&owner, world.acme).workspace;
    let file = made(&editor, &workspace, "f", b"f");
    let (place, made_at) = (of(&file), world.context.now());
    let body = json!({"expires_in": 10});
    let short = owner.post(&format!("{place}/links"), &body).expect(201);
    let short = short.json();
    // Ten seconds after 22:13:20 of that day.
    assert_eq!(made_at, 1_700_000_000_000_000);
    assert_eq!(short["expires_at"], "2023-11-14T22:13:30.000000Z");
    let short = short["url"].as_str().expect("a path").to_owned();
    let hour = json!({"expires_in": 3600});
    let (by_editor, by_owner) = (link(&editor, &place, &hour), link(&owner, &place, &hour));
    // Nobody signed this one.
    let (unsigned, _) = short.split_once('?').expect("a query");
    let unsigned = world.nobody.get(unsigned).refused(404, "not_found");
    let is_that_404 = |path: &str| {
        let ended = world.nobody.get(path).refused(404, "not_found");
        assert_eq!(ended.body, unsigned.body, "{path}");
        is_of_a_link(&ended);
    };
    world.nobody.get(&short).expect(200);
    world.wait(10);
    is_that_404(&short);
    // Its maker is gone, and so is the file.
    world.nobody.get(&by_editor).expect(200);
    let member = id(&editor.get("/v1/me").expect(200).json());
    let member = world.path(&format!("/members/{member}"));
    owner.delete(&member).expect(204);
    is_that_404(&by_editor);
    world.nobody.get(&by_owner).expect(200);
    owner.delete(&place).expect(204);
    is_that_404(&by_owner);
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
