//! Several hosts in the URL of a database: the one that takes writes is found, and followed when a standby is
//! promoted. Nothing that was acknowledged is lost and nothing is there twice, automations included, and a primary
//! that comes back as it was gets nothing any more.

use std::io::Read as _;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::replication::pair;
use crate::cluster::{self, Cluster};
use crate::kill::{Wire, signed_in};
use crate::load::{Load, all, assert_exact, notes, now, table};
use crate::process::{Serving, admin, owner, run, stderr};

const CLIENTS: usize = 6;

fn serve(url: &str) -> Serving {
    Serving::start_with(url, &["--rate-limit", "off", "--lease-seconds", "1"], &[])
}

fn url(hosts: &str) -> String {
    format!("postgres://postgres:a-secret@{hosts}/postgres?target_session_attrs=read-write")
}

fn ready(serving: &Serving) -> bool {
    serving.get("/v1/ready").starts_with("HTTP/1.1 200")
}

/// What the next transaction that writes would get: the same as long as nobody writes.
fn next_write(cluster: &Cluster) -> String {
    let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())";
    cluster.psql(next).expect("a result")
}

/// An automation that enters a row into `to` for each that is written into `from`.
fn copies(wire: &mut Wire, database: &str, workspace: &str, from: &str, to: &str) -> String {
    let automation = json!({
        "workspace_id": workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "record.event", "config": {"modes": ["created"], "featureId": from}},
        "graph_config": {"steps": [
            {"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": to,
                "bindings": [{"targetColumn": "note", "value": "{{record.note}}"}]}},
        ]},
    });
    let made = wire.ask("POST", "/v1/workflows-v2", Some(&automation));
    let (status, made) = made.expect("a response");
    assert_eq!(status, 201, "{made}");
    let id = made["workflow_id"].as_str().expect("an id").to_owned();
    admin(database, &["automation", "activate", &id], "").expect("a record");
    id
}

#[test]
fn a_promoted_standby_has_all_that_was_acknowledged_once() {
    let Some(programs) = cluster::programs() else {
        return;
    };
    let (mut primary, standby) = pair(&programs).expect("a pair");
    let url = url(&format!("{},{}", primary.address(), standby.address()));
    let organization = owner(&url);
    let serving = serve(&url);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let from = table(&mut wire, &workspace, "from");
    let to = table(&mut wire, &workspace, "to");
    let automation = copies(&mut wire, &url, &workspace, &from, &to);
    let load = Load::start(CLIENTS, &serving.address, &wire.token, &from);
    load.wait_for(200);

    primary.kill().expect("dies");
    let killed = now();
    while ready(&serving) {
        thread::sleep(Duration::from_millis(5));
    }
    println!("not ready {:?} after the kill", killed.elapsed());
    // The standby is there, and is not taken for what it is not.
    thread::sleep(Duration::from_millis(500));
    assert!(!ready(&serving));
    let asked = now();
    standby.promote().expect("is promoted");
    let promoted = now();
    load.wait_for(1);
    println!(
        "promoted {:?} after it was asked for, first write {:?} later",
        promoted - asked,
        promoted.elapsed()
    );
    while !ready(&serving) {
        thread::sleep(Duration::from_millis(5));
    }
    println!("ready {:?} after the promotion", promoted.elapsed());
    load.wait_for(200);

    // The old primary comes back as it was, and takes writes as far as it knows. Every connection is lost, again and
    // again, and a server starts that knows nothing.
    primary.resume().expect("starts");
    let untouched = next_write(&primary);
    let lose = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE application_name = 'tplkit-server'";
    for _ in 0..5 {
        standby.psql(lose).expect("a result");
        load.wait_for(50);
    }
    let second = serve(&url);
    let mut other = Wire::new(&second, &wire.token);
    table(&mut other, &workspace, "second");
    admin(&url, &["create-organization", "--label", "B"], "").expect("a record");
    assert_eq!(next_write(&primary), untouched);
    load.wait_for(50);
    let written = load.stop();

    let mut wire = Wire::new(&serving, &wire.token);
    let found = notes(&mut wire, &from);
    assert_exact(&written, &found);
    // Every row has its run, and each run had its effect once.
    let runs = format!("/v1/workflows-v2/{automation}/runs");
    let ended = |run: &Value| run["finished_at"].is_string();
    loop {
        let runs = all(&mut wire, &runs);
        if runs.len() == found.len() && runs.iter().all(ended) {
            let succeeded = |run: &Value| run["status"] == "succeeded";
            assert!(runs.iter().all(succeeded), "{runs:#?}");
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    assert_exact(&written, &notes(&mut wire, &to));
    let failed: usize = written.iter().map(|written| written.failed.len()).sum();
    println!("{} rows, {failed} requests sent again", found.len());
    serving.signal("-TERM");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0), "{log}");
    for host in [&primary, &standby] {
        assert!(log.contains(&host.address()), "{log}");
    }
    assert!(!log.contains("a-secret"), "{log}");
}

/// A primary that hangs takes connections and says nothing more; another one is found all the same.
#[test]
fn a_host_that_says_nothing_delays_nobody_for_long() {
    let Some(programs) = cluster::programs() else {
        return;
    };
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in silent.incoming().flatten() {
            thread::spawn(move || while let Ok(1..) = stream.read(&mut [0; 1024]) {});
        }
    });
    let (primary, standby) = pair(&programs).expect("a pair");
    for hosts in [
        format!("{address},{}", primary.address()),
        format!("{address},{},{}", standby.address(), primary.address()),
    ] {
        let url = url(&hosts);
        let output = run(&["migrate", "--database", &url]);
        assert!(output.status.success(), "{}", stderr(&output));
        let serving = serve(&url);
        while !ready(&serving) {
            thread::sleep(Duration::from_millis(20));
        }
    }
    let hosts = format!("{address},{},127.0.0.1:1", standby.address());
    let output = run(&["migrate", "--database", &url(&hosts)]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    // What each of them said is shown, in their order, and nothing of what they do not know.
    let places = [
        format!("{address}: the database does not respond"),
        format!("{}: ", standby.address()),
        "does not allow writes".to_owned(),
        "127.0.0.1:1: ".to_owned(),
        "refused".to_owned(),
    ]
    .map(|words| {
        said.find(&words)
            .unwrap_or_else(|| panic!("{words} {said}"))
    });
    assert!(places.is_sorted(), "{said}");
    assert!(!said.contains("a-secret"), "{said}");
}

/// A database that stops to take writes while it is connected to, as one does whose disk is full.
#[test]
fn a_database_that_takes_no_writes_any_more_is_an_outage() {
    let Some(programs) = cluster::programs() else {
        return;
    };
    let cluster = Cluster::start(programs).expect("starts");
    let database = cluster.url("postgres");
    let organization = owner(&database);
    let serving = serve(&database);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    wire.made("/v1/workspaces", &body);
    let says = |value: &str| {
        let setting = format!("ALTER SYSTEM SET default_transaction_read_only = {value}");
        cluster.psql(&setting).expect("a result");
        cluster.psql("SELECT pg_reload_conf()").expect("a result");
    };
    says("on");
    // Until it has heard of it, a connection takes writes.
    while wire.ask("POST", "/v1/workspaces", Some(&body)).is_some() {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!ready(&serving));
    says("off");
    while wire.ask("POST", "/v1/workspaces", Some(&body)).is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    let log = serving.log();
    assert!(log.contains("no longer takes writes"), "{log}");
}

#[test]
fn what_a_url_wants_of_its_hosts_is_refused_where_it_is_of_no_use() {
    for (url, said) in [
        (
            "postgres://u:a-secret@one:1,two:2/db?target_session_attrs=read-only",
            "postgres://…@one:1,two:2/db: target_session_attrs=read-only: the server writes",
        ),
        (
            "postgres://u:a-secret@one:1,two:no/db",
            "postgres://…@one:1,two:no/db: ",
        ),
        ("postgre://u:a-secret@one/db", "postgre://…@one/db"),
    ] {
        for command in [
            &["serve"][..],
            &["worker"],
            &["migrate"],
            &["admin", "list-users"],
        ] {
            let output = run(&[command, &["--database", url]].concat());
            assert_eq!(output.status.code(), Some(2), "{command:?} {url}");
            let found = stderr(&output);
            assert!(found.contains(said), "{command:?} {found}");
            assert!(!found.contains("a-secret"), "{found}");
        }
    }
}
