//! Processes that share a distributed database.

use std::thread;

use serde_json::{Value, json};
use tplkit_server_testkit::citus;

use super::{ROUNDS, person, request, serve, sign_in, workspace};
use crate::kill::Wire;
use crate::load::{all, table};
use crate::process::{EMAIL, Serving, owner};
use crate::stores::Place;

/// How many clients want the same at once.
const RACERS: usize = 16;

#[test]
fn processes_agree_about_a_distributed_database() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    let organization = owner(&place.url);
    let processes = [(); 3].map(|()| serve(&place));
    let (mut one, _) = sign_in(&processes[0], EMAIL);
    let mut two = Wire::new(&processes[1], &one.token);
    let workspace = workspace(&mut one, &organization);
    let feature = table(&mut one, &workspace, "t");
    let rows = format!("/v1/features/{feature}/rows");
    let columns = format!("/v1/features/{feature}/columns");
    for round in 0..ROUNDS {
        // Sessions: a pair is refreshed, its first token is used up, and signing out is seen everywhere.
        let (_, tokens) = sign_in(&processes[round % 3], EMAIL);
        let refresh = json!({"refresh_token": tokens["refresh_token"]});
        let mut other = Wire::new(&processes[(round + 1) % 3], "");
        let (status, next) = request(&mut other, "POST", "/v1/auth/refresh", Some(&refresh));
        assert_eq!(status, 200, "{next}");
        other.token = next["access_token"].as_str().expect("a token").to_owned();
        assert_eq!(request(&mut other, "GET", "/v1/me", None).0, 200);
        let end = json!({"refresh_token": next["refresh_token"]});
        assert_eq!(
            request(&mut two, "POST", "/v1/auth/logout", Some(&end)).0,
            204
        );
        assert_eq!(request(&mut other, "GET", "/v1/me", None).0, 401);

        // Keys.
        let body =
            json!({"organization_id": organization, "name": "k", "scopes": ["read", "write"]});
        let (status, key) = request(&mut one, "POST", "/v1/api-keys", Some(&body));
        assert_eq!(status, 201, "{key}");
        let secret = key["key"].as_str().expect("a key").to_owned();
        let mut keyed = Wire::new(&processes[(round + 2) % 3], &secret);
        assert_eq!(request(&mut keyed, "GET", &rows, None).0, 200);
        let id = key["id"].as_str().expect("an id");
        let gone = request(&mut two, "DELETE", &format!("/v1/api-keys/{id}"), None);
        assert_eq!(gone.0, 204);
        assert_eq!(request(&mut keyed, "GET", &rows, None).0, 401);

        // Columns: what one process requires, another one demands.
        let name = format!("c{round}");
        let column =
            json!({"name": name, "label": name, "type": "text", "config": {"required": true}});
        let (status, column) = request(&mut one, "POST", &columns, Some(&column));
        assert_eq!(status, 201, "{column}");
        let strict = format!("{rows}?validate=strict");
        let without = json!({"data": {"note": "n"}});
        assert_eq!(request(&mut two, "POST", &strict, Some(&without)).0, 422);
        let with = json!({"data": {"note": "n", name: "x"}});
        let (status, row) = request(&mut two, "POST", &strict, Some(&with));
        assert_eq!(status, 201, "{row}");
        let id = column["id"].as_str().expect("an id");
        let dropped = request(
            &mut two,
            "DELETE",
            &format!("{columns}/{id}?force=true"),
            None,
        );
        assert!([200, 204].contains(&dropped.0), "{dropped:?}");
        let (status, row) = request(&mut one, "POST", &strict, Some(&without));
        assert_eq!(status, 201, "{row}");
    }

    // Of many that send one request at once, one is carried out.
    let racers = |path: &str, body: &dyn Fn(usize) -> Value, key: &str| -> Vec<u16> {
        thread::scope(|scope| {
            let racers: Vec<_> = (0..RACERS)
                .map(|racer| {
                    let mut wire = Wire::new(&processes[racer % 3], &one.token);
                    let body = body(racer);
                    scope.spawn(move || {
                        let response = wire.ask_with_key(key, "POST", path, Some(&body));
                        response.expect("a response").0
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().expect("ends"))
                .collect()
        })
    };
    let before = all(&mut one_of(&processes[0], &two.token), &rows).len();
    for round in 0..ROUNDS {
        let key = format!("key-{round}");
        let statuses = racers(&rows, &|_| json!({"data": {"note": "once"}}), &key);
        assert!(
            statuses.iter().all(|status| [201, 409].contains(status)),
            "{statuses:?}"
        );
        assert!(statuses.contains(&201));
    }
    let mut wire = one_of(&processes[1], &two.token);
    assert_eq!(all(&mut wire, &rows).len(), before + ROUNDS);

    let unique = json!({"name": "u", "label": "u", "type": "text", "config": {"unique": true}});
    let (status, made) = request(&mut wire, "POST", &columns, Some(&unique));
    assert_eq!(status, 201, "{made}");
    for round in 0..ROUNDS {
        let body = |_: usize| json!({"data": {"note": "n", "u": format!("value-{round}")}});
        let statuses = racers(&rows, &body, "");
        let made = statuses.iter().filter(|status| **status == 201).count();
        assert_eq!(made, 1, "{statuses:?}");
        assert!(
            statuses.iter().all(|status| [201, 409].contains(status)),
            "{statuses:?}"
        );
    }

    // A person is taken down, up and out.
    let member = person(&place.url, &organization, "member@acme.test", "viewer");
    let (mut theirs, _) = sign_in(&processes[2], "member@acme.test");
    let path = format!("/v1/organizations/{organization}/members/{member}");
    let row = json!({"data": {"note": "theirs", "u": "theirs"}});
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 200);
    assert_eq!(request(&mut theirs, "POST", &rows, Some(&row)).0, 403);
    let editor = json!({"role": "editor"});
    assert_eq!(request(&mut wire, "PATCH", &path, Some(&editor)).0, 200);
    assert_eq!(request(&mut theirs, "POST", &rows, Some(&row)).0, 201);
    // The workspace is closed, opened to them, and closed with their membership.
    let this = format!("/v1/workspaces/{workspace}");
    let closed = json!({"access": "members"});
    assert_eq!(request(&mut wire, "PATCH", &this, Some(&closed)).0, 200);
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 404);
    let listed = format!("{this}/members/{member}");
    assert_eq!(request(&mut wire, "PUT", &listed, Some(&json!({}))).0, 204);
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 200);
    assert_eq!(request(&mut wire, "DELETE", &path, None).0, 204);
    assert_eq!(request(&mut theirs, "GET", &rows, None).0, 404);
    let left = format!("SELECT count(*) FROM main.workspace_members WHERE user_id = '{member}'");
    assert_eq!(place.ask(&left), "0");
}

fn one_of(serving: &Serving, token: &str) -> Wire {
    Wire::new(serving, token)
}
