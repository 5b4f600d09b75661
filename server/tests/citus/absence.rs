//! Workers that are away, or slow.

use std::thread;
use std::time::Duration;

use serde_json::json;
use tplkit_server_testkit::citus::{self, Citus};

use super::tenant::{Tenant, on_two_workers, others};
use super::{ROUNDS, person, request, serve, sign_in, workspace};
use crate::kill::Wire;
use crate::load::{Load, all, assert_exact, notes};
use crate::process::admin;
use crate::stores::Place;

/// Imports a package into the one organization of the caller, and has a job apply it to a new workspace.
fn applies_a_template(wire: &mut Wire) {
    let (status, found) = request(wire, "GET", "/v1/organizations", None);
    assert_eq!(status, 200, "{found}");
    let organization = found["items"][0]["id"].as_str().expect("an id").to_owned();
    let package = include_str!("../../../examples/reading-list.json");
    let package = serde_json::from_str(package).expect("JSON");
    let path = format!("/v1/templates/import?organization_id={organization}");
    let template = wire.made(&path, &package);
    let body = json!({"workspaceId": workspace(wire, &organization), "resolutions": {}});
    let path = format!("/v1/templates/{template}/apply");
    let (status, job) = request(wire, "POST", &path, Some(&body));
    assert_eq!(status, 202, "{job}");
    let job = format!(
        "/v1/template-jobs/{}",
        job["jobId"].as_str().expect("an id")
    );
    loop {
        let (_, found) = request(wire, "GET", &job, None);
        match found["status"].as_str() {
            Some("completed") => return,
            Some("failed") => panic!("{found}"),
            _ => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Takes a worker away from a database, or gives it back: for the coordinator it is as if it did not run.
fn away(citus: &Citus, node: &str, place: &Place, is_away: bool) {
    let name = place.database_name();
    let close = format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS {}; \
         SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'",
        !is_away
    );
    citus
        .on_node(node, "postgres", &close)
        .expect("is carried out");
}

#[test]
fn organizations_go_on_while_the_worker_of_others_is_away() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    others(&place, 100, 100);
    let serving = serve(&place);
    let [lost, kept] = on_two_workers(&place, &serving);
    let (owner, _) = sign_in(&serving, kept.email);
    // An editor of both.
    let email = "both@other.test";
    person(&place.url, &lost.id, email, "editor");
    let add = ["add-member", "--organization", &kept.id];
    let also = [&add[..], &["--email", email, "--role", "editor"]].concat();
    admin(&place.url, &also, "").expect("a record");
    let (mut both, _) = sign_in(&serving, email);
    assert_eq!(request(&mut both, "GET", &kept.rows(), None).0, 200);
    let load = Load::start(3, &serving.address, &owner.token, &kept.feature);
    load.wait_for(20);
    away(citus, &lost.node, &place, true);
    load.wait_for(20);

    // What is kept from them on the lost worker is not known. Their rows of the other one are about that one alone.
    let row = json!({"data": {"note": "both"}});
    let key = "of-both";
    let made = both.ask_with_key(key, "POST", &kept.rows(), Some(&row));
    assert_eq!(made.expect("a response").0, 201);
    assert_eq!(request(&mut both, "GET", &kept.rows(), None).0, 200);
    assert_eq!(both.ask("GET", "/v1/me", None), None, "503");

    // Who is of an organization that lies elsewhere notices nothing, whether known to the process or not.
    for serving in [&serve(&place), &serving] {
        for email in [kept.email, kept.member] {
            let (mut wire, _) = sign_in(serving, email);
            for path in ["/v1/me", "/v1/workspaces", &kept.rows()] {
                let (status, found) = request(&mut wire, "GET", path, None);
                assert_eq!(status, 200, "{email} {path} {found}");
            }
        }
        let mut keyed = Wire::new(serving, &kept.key);
        assert_eq!(request(&mut keyed, "GET", &kept.rows(), None).0, 200);
        // The others sign in, and wait for what lies on the lost worker: also the name of their organization.
        for email in [lost.email, lost.member] {
            let (mut theirs, _) = sign_in(serving, email);
            for path in ["/v1/me", &lost.rows()] {
                assert_eq!(theirs.ask("GET", path, None), None, "503");
            }
        }
        assert!(serving.get("/v1/ready").starts_with("HTTP/1.1 200"));
    }
    applies_a_template(&mut Wire::new(&serving, &owner.token));
    load.wait_for(20);
    let written = load.stop();
    let mut wire = Wire::new(&serving, &owner.token);
    let mut found = notes(&mut wire, &kept.feature);
    assert_eq!(found.remove("both"), Some(1));
    assert_exact(&written, &found);
    // What happened to the rows has its effects while the worker is away.
    while notes(&mut wire, &kept.copies).len() <= found.len() {
        thread::sleep(Duration::from_millis(50));
    }

    away(citus, &lost.node, &place, false);
    let (mut theirs, _) = sign_in(&serving, lost.email);
    let row = json!({"data": {"note": "back"}});
    while theirs.ask("POST", &lost.rows(), Some(&row)).is_none() {
        thread::sleep(Duration::from_millis(50));
    }
    while notes(&mut theirs, &lost.copies).is_empty() {
        thread::sleep(Duration::from_millis(50));
    }
}

/// What an organization has to do on a worker that does not respond waits, and others go on.
#[test]
fn a_slow_worker_holds_up_its_own_organizations_alone() {
    let Some(citus) = citus::required() else {
        return;
    };
    let place = Place::distributed(citus);
    others(&place, 100, 100);
    let serving = serve(&place);
    let [slow, other] = on_two_workers(&place, &serving);
    let locked = citus.lock(&slow.node, place.database_name(), "workflow_runs");
    let locked = locked.expect("is locked");
    let [mut theirs, mut wire] = [&slow, &other].map(|tenant| Wire::new(&serving, &tenant.key));
    let row = json!({"data": {"note": "n"}});
    let copies = |wire: &mut Wire, tenant: &Tenant| {
        all(wire, &format!("/v1/features/{}/rows", tenant.copies)).len()
    };
    for round in 1..=ROUNDS {
        for (wire, tenant) in [(&mut theirs, &slow), (&mut wire, &other)] {
            let (status, made) = request(wire, "POST", &tenant.rows(), Some(&row));
            assert_eq!(status, 201, "{made}");
        }
        while copies(&mut wire, &other) < round {
            thread::sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(copies(&mut theirs, &slow), 0);
    drop(locked);
    while copies(&mut theirs, &slow) < ROUNDS {
        thread::sleep(Duration::from_millis(50));
    }
}
