//! `/v1/connections`

use serde_json::{Value, json};
use tplkit_server::app::Config;
use tplkit_server::automation::connections::{ConnectionKind, open};
use tplkit_server::secret_key::SecretKey;

use super::client::Client;
use super::model::id;
use super::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    connections_are_created_changed_and_removed,
    every_member_lists_them_and_administrators_change_them,
    what_makes_no_sense_is_refused,
    private_networks_take_permission,
    a_secret_goes_in_and_never_comes_out,
    a_secret_stays_with_the_server_that_it_was_entered_for,
    without_a_key_no_secret_is_taken,
);

const PATH: &str = "/v1/connections";
const URL: &str = "https://canary-host.example/base";

fn of(world: &World) -> String {
    format!("{PATH}?organization_id={}", world.acme)
}

fn body(world: &World, name: &str, kind: &str, url: &str) -> Value {
    json!({"organization_id": world.acme, "name": name, "kind": kind, "url": url})
}

/// Address and secret, as a step finds them.
async fn opened(world: &World, name: &str, kind: ConnectionKind) -> (String, Option<String>) {
    let key = SecretKey::parse(&"0a".repeat(32));
    let opened = open(&world.store, key.as_ref(), world.acme, name, kind).await;
    let opened = opened.expect("reads").expect("opens");
    (opened.url, opened.secret)
}

async fn connections_are_created_changed_and_removed(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let made: Vec<Value> = [
        ("api", "http", URL),
        ("post", "smtp", "smtps://desk@mail.example:465?from=a@b.c"),
        ("brain", "llm", "http://localhost:1/v1?model=small"),
        ("night", "timer", "cron:0 3 * * *"),
        ("later", "timer", "delay:3600"),
    ]
    .iter()
    .map(|(name, kind, url)| admin.create(PATH, &body(&world, name, kind, url)))
    .collect();
    let names: Vec<&String> = made[0].as_object().expect("a record").keys().collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(
        (
            &made[0]["name"],
            &made[0]["kind"],
            &made[0]["organization_id"]
        ),
        (&json!("api"), &json!("http"), &json!(world.acme))
    );
    assert_eq!(admin.items(&of(&world)), made);
    let timers = admin.items(&format!("{}&kind=timer", of(&world)));
    assert_eq!(timers, made[3..]);
    // A cursor belongs to its kind.
    let first = format!("{}&kind=timer&limit=1", of(&world));
    let cursor = admin.get(&first).expect(200).json()["next_cursor"].clone();
    let cursor = cursor.as_str().expect("one more");
    assert_eq!(admin.items(&format!("{first}&cursor={cursor}")), made[4..]);
    admin
        .get(&format!("{}&kind=http&cursor={cursor}", of(&world)))
        .refused(422, "invalid_cursor");

    admin
        .post(PATH, &body(&world, "api", "llm", URL))
        .refused(409, "conflict");
    let one = format!("{PATH}/{}", id(&made[0]));
    admin
        .patch(&one, &json!({"name": "post"}))
        .refused(409, "conflict");
    let change = json!({"name": "partner", "url": "https://other.example"});
    let changed = admin.patch(&one, &change).expect(200).json();
    assert_eq!(changed["name"], "partner");
    assert_eq!(changed["created_at"], made[0]["created_at"]);
    assert_eq!(admin.patch(&one, &json!({})).expect(200).json(), changed);
    let (url, secret) = opened(&world, "partner", ConnectionKind::Http).await;
    assert_eq!((url.as_str(), secret), ("https://other.example", None));
    // The old name is free.
    admin.create(PATH, &body(&world, "api", "http", URL));
    assert_eq!(admin.delete(&one).expect(204).body, "");
    admin.delete(&one).refused(404, "not_found");
    admin
        .patch(&one, &json!({"name": "x"}))
        .refused(404, "not_found");
    assert_eq!(admin.items(&of(&world)).len(), 5);
}

async fn every_member_lists_them_and_administrators_change_them(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let new = body(&world, "api", "http", URL);
    let made = admin.create(PATH, &new);
    let one = format!("{PATH}/{}", id(&made));
    for reader in [
        world.as_user("viewer@acme.test"),
        world.as_user("editor@acme.test"),
        world.as_key(&["read"]),
    ] {
        let listed = reader.get(&of(&world)).expect(200);
        assert_eq!(listed.json()["items"], json!([made]));
        assert!(!listed.body.contains("canary-host"), "{listed:?}");
    }
    for role in ["viewer", "editor"] {
        let below = world.as_user(&format!("{role}@acme.test"));
        below.post(PATH, &new).refused(403, "forbidden");
        below
            .patch(&one, &json!({"name": "x"}))
            .refused(403, "forbidden");
        below.delete(&one).refused(403, "forbidden");
    }
    world
        .as_key(&["read", "write"])
        .post(PATH, &new)
        .refused(403, "missing_scope");
    let key = world.as_key(&["write", "structure"]);
    let by_key = key.create(PATH, &body(&world, "by key", "http", URL));
    let by_key = format!("{PATH}/{}", id(&by_key));
    key.patch(&by_key, &json!({"secret": "s"})).expect(200);
    key.delete(&by_key).expect(204);

    let stranger = world.as_user("stranger@other.test");
    stranger.get(&of(&world)).refused(404, "not_found");
    stranger.post(PATH, &new).refused(404, "not_found");
    stranger
        .patch(&one, &json!({"name": "x"}))
        .refused(404, "not_found");
    stranger.delete(&one).refused(404, "not_found");
    assert_eq!(admin.items(&of(&world)), [made]);
}

async fn what_makes_no_sense_is_refused(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let refused = |body: &Value, path: &str| {
        let refused = admin.post(PATH, body).refused(422, "validation_failed");
        let errors = refused.json()["errors"].clone();
        assert_eq!(errors[0]["path"], path, "{errors}");
    };
    for (kind, url) in [
        ("http", "ftp://x"),
        ("http", "x"),
        ("http", ""),
        ("llm", "smtp://x"),
        ("smtp", "http://x"),
        ("smtp", "smtp:"),
        ("timer", "daily"),
        ("timer", "https://x.example"),
        ("timer", "cron:0 0 30 2 *"),
    ] {
        refused(&body(&world, "x", kind, url), "url");
    }
    refused(&body(&world, "x", "ftp", "ftp://x"), "kind");
    for name in ["", &"x".repeat(256)] {
        refused(&body(&world, name, "http", URL), "name");
    }
    for field in ["name", "kind", "url", "organization_id"] {
        let mut lacking = body(&world, "x", "http", URL);
        lacking.as_object_mut().expect("fields").remove(field);
        refused(&lacking, field);
    }
    for field in ["secret", "url", "kind", "name"] {
        let mut odd = body(&world, "x", "http", URL);
        odd[field] = json!(null);
        refused(&odd, field);
    }
    for query in ["", "&kind=ftp", "&kind=", "&kind=http&kind=http"] {
        let path = if query.is_empty() {
            PATH.to_owned()
        } else {
            format!("{}{query}", of(&world))
        };
        admin.get(&path).refused(422, "validation_failed");
    }
    let longest = "é".repeat(255);
    let made = admin.create(PATH, &body(&world, &longest, "http", URL));
    let one = format!("{PATH}/{}", id(&made));
    for frozen in ["kind", "id", "organization_id", "created_at", "updated_at"] {
        admin
            .patch(&one, &json!({"name": "x", frozen: "http"}))
            .refused(403, "forbidden");
    }
    for body in [
        json!({"url": "smtp://x"}),
        json!({"url": ""}),
        json!({"name": ""}),
        json!({"secret": null}),
        json!({"x": 1}),
    ] {
        admin.patch(&one, &body).refused(422, "validation_failed");
    }
    assert_eq!(admin.items(&of(&world)), [made]);
}

async fn private_networks_take_permission(place: Place) {
    let strict = Config {
        rate: None,
        ..Config::default()
    };
    let world = World::with(place, strict).await;
    let admin = world.as_user("admin@acme.test");
    let key = world.as_key(&["write", "structure"]);
    let allowing = Config {
        rate: None,
        allow_private: true,
        ..Config::default()
    };
    let allowing = world.second_server(world.store.clone(), allowing).await;
    let allowed = allowing.with(admin.credential().expect("a token"));
    let open = [("http", URL), ("smtp", "smtp://mail.example")].map(|(kind, url)| {
        let made = admin.create(PATH, &body(&world, &format!("open {kind}"), kind, url));
        (kind, format!("{PATH}/{}", id(&made)))
    });
    let refused = |response: super::client::Response, url: &str| {
        let error = response.refused(422, "validation_failed").json()["errors"][0].clone();
        assert_eq!(error["path"], "url", "{url} {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("--allow-private-addresses"),
            "{url} {error}"
        );
    };
    for (number, (kind, url)) in [
        ("http", "http://127.0.0.1:8080/x"),
        ("http", "http://2130706433"),
        ("http", "http://0x7f.1"),
        ("http", "http://[::ffff:127.0.0.1]"),
        ("http", "http://10.0.0.1"),
        ("http", "http://169.254.169.254/latest"),
        ("http", "https://[fc00::1]:8443"),
        ("http", "http://localhost"),
        ("http", "http://a.localhost"),
        ("llm", "http://192.168.1.1/v1?model=m"),
        ("smtp", "smtp://127.0.0.1:25?from=a@b.c"),
        ("smtp", "smtp://2130706433"),
        ("smtp", "smtps://LOCALHOST."),
        ("smtp", "smtp://user@[::1]:25"),
    ]
    .into_iter()
    .enumerate()
    {
        let new = body(&world, &format!("x {number}"), kind, url);
        refused(admin.post(PATH, &new), url);
        refused(key.post(PATH, &new), url);
        let made = allowed.create(PATH, &new);
        // What is there stays, and may get another name.
        let one = format!("{PATH}/{}", id(&made));
        let name = json!({"name": format!("y {number}")});
        admin.patch(&one, &name).expect(200);
        for (_, one) in open.iter().filter(|(open, _)| *open == kind) {
            refused(admin.patch(one, &json!({"url": url})), url);
        }
    }
    for url in ["http://1.1.1.1/x", "https://localhost.example"] {
        admin.create(PATH, &body(&world, url, "http", url));
    }
}

/// A connection with a secret; gives its path.
fn secret_one(admin: &Client, world: &World) -> String {
    let mut new = body(world, "api", "http", "https://user@api.example:8443/v1");
    new["secret"] = json!("s3cret");
    let made = admin.post(PATH, &new).expect(201);
    assert!(!made.body.contains("s3cret"), "{made:?}");
    format!("{PATH}/{}", id(&made.json()))
}

async fn a_secret_goes_in_and_never_comes_out(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let one = secret_one(&admin, &world);
    let (_, secret) = opened(&world, "api", ConnectionKind::Http).await;
    assert_eq!(secret.as_deref(), Some("s3cret"));
    for change in [
        json!({"secret": "an0ther"}),
        json!({"name": "partner", "secret": "an0ther"}),
        json!({}),
    ] {
        let response = admin.patch(&one, &change).expect(200);
        assert!(!response.body.contains("an0ther"), "{response:?}");
    }
    let (_, secret) = opened(&world, "partner", ConnectionKind::Http).await;
    assert_eq!(secret.as_deref(), Some("an0ther"));
    // It goes along under another name.
    admin.patch(&one, &json!({"name": "api"})).expect(200);
    let (_, secret) = opened(&world, "api", ConnectionKind::Http).await;
    assert_eq!(secret.as_deref(), Some("an0ther"));
    // A password in the address is a secret, too.
    let mail = "smtp://ann:pa55@mail.example?from=a@b.c";
    let made = admin.create(PATH, &body(&world, "mail", "smtp", mail));
    let (url, secret) = opened(&world, "mail", ConnectionKind::Smtp).await;
    assert_eq!(url, "smtp://ann@mail.example?from=a@b.c");
    assert_eq!(secret.as_deref(), Some("pa55"));
    let listed = admin.get(&of(&world)).expect(200);
    for hidden in ["s3cret", "an0ther", "pa55", "mail.example", "api.example"] {
        assert!(!listed.body.contains(hidden), "{hidden} {listed:?}");
    }
    let sql = "SELECT url FROM connections WHERE secret IS NOT NULL";
    assert_eq!(world.sql(sql, vec![]).await.len(), 2);
    let mail = format!("{PATH}/{}", id(&made));
    let moved = json!({"url": "smtp://ann:n3w@other.example"});
    admin.patch(&mail, &moved).expect(200);
    let (url, secret) = opened(&world, "mail", ConnectionKind::Smtp).await;
    assert_eq!(url, "smtp://ann@other.example");
    assert_eq!(secret.as_deref(), Some("n3w"));
}

async fn a_secret_stays_with_the_server_that_it_was_entered_for(place: Place) {
    let world = World::new(place).await;
    let admin = world.as_user("admin@acme.test");
    let one = secret_one(&admin, &world);
    let path = json!({"url": "https://api.example:8443/v2"});
    admin.patch(&one, &path).expect(200);
    for url in [
        "https://evil.example:8443/v1",
        "https://api.example/v1",
        "http://api.example:8443/v1",
        "https://api.example.evil.example:8443/v1",
    ] {
        let change = json!({"url": url, "name": "moved"});
        let refused = admin.patch(&one, &change).refused(422, "secret_required");
        assert_eq!(refused.json()["errors"][0]["path"], "secret", "{url}");
    }
    let (url, secret) = opened(&world, "api", ConnectionKind::Http).await;
    assert_eq!(url, "https://api.example:8443/v2");
    assert_eq!(secret.as_deref(), Some("s3cret"));
    // Entered anew, or taken away, it hinders nobody.
    let anew = json!({"url": "https://b.example", "secret": "n3w"});
    admin.patch(&one, &anew).expect(200);
    let (_, secret) = opened(&world, "api", ConnectionKind::Http).await;
    assert_eq!(secret.as_deref(), Some("n3w"));
    let none = json!({"url": "https://c.example", "secret": ""});
    admin.patch(&one, &none).expect(200);
    let (url, secret) = opened(&world, "api", ConnectionKind::Http).await;
    assert_eq!((url.as_str(), secret), ("https://c.example", None));
    let free = json!({"url": "https://d.example"});
    admin.patch(&one, &free).expect(200);
}

async fn without_a_key_no_secret_is_taken(place: Place) {
    let world = World::new(place).await;
    let one = secret_one(&world.as_user("admin@acme.test"), &world);
    let config = Config {
        rate: None,
        ..Config::default()
    };
    let keyless = world.second_server(world.store.clone(), config).await;
    let token = world.token("admin@acme.test", super::world::PASSWORD);
    let token = token.expect(200).json()["access_token"].clone();
    let admin = keyless.with(token.as_str().expect("a token"));
    let mut with_secret = body(&world, "b", "http", URL);
    with_secret["secret"] = json!("s");
    let lacks_key = |response: super::client::Response| {
        let refused = response.refused(503, "store_unavailable");
        assert!(refused.body.contains("TPLKIT_SECRET_KEY"), "{refused:?}");
    };
    lacks_key(admin.post(PATH, &with_secret));
    lacks_key(admin.post(PATH, &body(&world, "b", "smtp", "smtp://a:b@mail.example")));
    lacks_key(admin.patch(&one, &json!({"secret": "s"})));
    // It would have to be encrypted anew.
    lacks_key(admin.patch(&one, &json!({"name": "b"})));
    assert_eq!(admin.items(&of(&world)).len(), 1);
    admin.create(PATH, &body(&world, "b", "http", URL));
    admin.patch(&one, &json!({"secret": ""})).expect(200);
    admin.patch(&one, &json!({"name": "c"})).expect(200);
}
