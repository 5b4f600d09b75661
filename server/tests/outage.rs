//! The database goes away and comes back; the server stays.

mod connections;
mod runs;

use std::thread;
use std::time::Duration;

use crate::cluster::{self, Cluster};
use crate::process::{Serving, admin, run, stderr};

fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or_default()
}

/// Asks until the response has that status.
fn until(serving: &Serving, path: &str, wanted: &str) {
    while status(&serving.get(path)) != wanted {
        thread::sleep(Duration::from_millis(50));
    }
}

fn reported_as_outage(serving: &Serving) {
    assert_eq!(status(&serving.get("/v1/health")), "200");
    let ready = serving.get("/v1/ready");
    assert_eq!(status(&ready), "503", "{ready}");
    assert!(ready.contains("retry-after: 1\r\n"), "{ready}");
    assert!(ready.contains("store_unavailable"), "{ready}");
    let sign_in = r#"{"email":"ann@acme.test","password":"x"}"#;
    let length = sign_in.len();
    let refused = serving.ask(&format!(
        "POST /v1/auth/token HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{sign_in}"
    ));
    assert_eq!(status(&refused), "503", "{refused}");
}

#[test]
fn an_outage_is_reported_and_ends_by_itself() {
    let Some(programs) = cluster::programs() else {
        return;
    };
    let mut cluster = Cluster::start(programs).expect("starts");
    let url = cluster.url("postgres");
    // Nothing is there yet when the server starts.
    cluster.pause().expect("stops");
    let arguments = ["--rate-limit", "off"];
    let serving = Serving::start_with(&url, &arguments, &[]);
    reported_as_outage(&serving);
    cluster.resume().expect("starts");
    until(&serving, "/v1/ready", "200");
    // It was migrated meanwhile.
    admin(&url, &["create-organization", "--label", "Acme"], "").expect("a record");
    // Gone in the middle, twice.
    for _ in 0..2 {
        cluster.pause().expect("stops");
        reported_as_outage(&serving);
        cluster.resume().expect("starts");
        until(&serving, "/v1/ready", "200");
    }
    serving.signal("-TERM");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0));
    // What happened can be read, with its cause.
    assert!(log.contains("the store is there"), "{log}");
    assert!(log.contains("os error"), "{log}");
}

#[test]
fn what_will_not_fix_itself_ends_the_start() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let url = cluster.url("no_such_database");
    for command in ["serve", "worker"] {
        let output = run(&[command, "--database", &url]);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("no_such_database"),
            "{}",
            stderr(&output)
        );
    }
}
