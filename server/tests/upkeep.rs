//! The background tasks, and the command that does them alone.

use serde_json::json;
use tplkit_server::work::{remove_expired_sessions, remove_kept_answers};

use crate::api::world::{PASSWORD, World};
use crate::process::{Serving, database, run as command, stderr};
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    sessions_go_when_nobody_can_use_them_any_more,
    kept_answers_go_after_a_day,
);

async fn sessions_go_when_nobody_can_use_them_any_more(place: Place) {
    const DAY: i64 = 24 * 3600;
    let world = World::new(place).await;
    let first = world.token("owner@acme.test", PASSWORD).expect(200).json();
    world.wait(20 * DAY);
    let body = json!({"refresh_token": first["refresh_token"]});
    let second = world.nobody.post("/v1/auth/refresh", &body).expect(200);
    let removed = async || remove_expired_sessions(&world.store, &world.context).await;
    assert_eq!(removed().await, Ok(0));
    world.wait(10 * DAY);
    // The first pair of the family; the second one holds.
    assert_eq!(removed().await, Ok(1));
    assert_eq!(removed().await, Ok(0));
    let body = json!({"refresh_token": second.json()["refresh_token"]});
    world.nobody.post("/v1/auth/refresh", &body).expect(200);
}

async fn kept_answers_go_after_a_day(place: Place) {
    let world = World::new(place).await;
    let owner = world.as_user("owner@acme.test");
    let create = |key: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = json!({"organization_id": world.acme, "label": key}).to_string();
        let answer = owner.send("POST", "/v1/workspaces", &headers, Some(body.as_bytes()));
        answer.expect(201)
    };
    create("first");
    world.wait(3000);
    create("second");
    world.wait(24 * 3600 - 3000 + 1);
    let removed = async || remove_kept_answers(&world.store, &world.context).await;
    assert_eq!(removed().await, Ok(1));
    assert_eq!(removed().await, Ok(0));
    world.wait(3000);
    assert_eq!(removed().await, Ok(1));
}

#[test]
fn a_file_has_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = database(folder.path());
    let _serving = Serving::start(&database);
    let output = command(&["worker", "--database", &database]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("another process"),
        "{}",
        stderr(&output)
    );
}

#[cfg(unix)]
#[test]
fn a_worker_runs_until_it_is_told_to_stop() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a folder");
    let mut worker = crate::process::command(&["worker", "--database", &database(folder.path())])
        .args(["--log-format", "text"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut log = std::io::BufReader::new(worker.stderr.take().expect("a pipe"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut log, &mut line).expect("a line");
    assert!(line.contains("working"), "{line}");
    let pid = worker.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.expect("kill exists").success());
    assert_eq!(worker.wait().expect("ends").code(), Some(0));
}
