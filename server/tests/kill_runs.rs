//! The process is killed while it executes runs. Every row that was acknowledged has its run, no step that
//! finished is done twice, and of mails one at most is repeated for each kill, as the same mail. A run that
//! was being executed at three kills is given up.
//! `TPLKIT_KILLS` says how often (5).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tplkit_server::context::random;

use crate::kill::{Wire, kills, signed_in};
use crate::load::all;
use crate::process::{Serving, admin, owner};
use crate::sinks::MailSink;
use crate::stores::{Place, on_both_stores};

on_both_stores!(no_finished_step_runs_twice_and_no_event_is_lost);

fn start(database: &str, sink: &MailSink) -> Serving {
    let arguments = ["--lease-seconds", "1", "--rate-limit", "off"];
    let environment = [("TPLKIT_SMTP_URL", sink.url.as_str())];
    Serving::start_with(database, &arguments, &environment)
}

/// Creates rows until the server dies; gives the notes that were acknowledged.
fn create(wire: &mut Wire, rows: &str, kill: usize, over: &AtomicBool) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            break;
        }
        let note = format!("{kill}-{number}");
        let body = json!({"data": {"note": note}});
        match wire.ask("POST", rows, Some(&body)) {
            Some((status, row)) => assert_eq!(status, 201, "{row}"),
            None => break,
        }
        acknowledged.push(note);
        thread::sleep(Duration::from_millis(10));
    }
    acknowledged
}

async fn no_finished_step_runs_twice_and_no_event_is_lost(place: Place) {
    let database = place.url.as_str();
    let sink = MailSink::start();
    let organization = owner(database);
    let mut serving = start(database, &sink);
    let mut wire = signed_in(&serving);
    let body = json!({"organization_id": organization, "label": "W"});
    let workspace = wire.made("/v1/workspaces", &body);
    let mut table = |label: &str| {
        let feature = wire.made(
            "/v1/features",
            &json!({"workspace_id": workspace, "label": label}),
        );
        wire.made(
            &format!("/v1/features/{feature}/columns"),
            &json!({"label": "note", "type": "text"}),
        );
        feature
    };
    let (from, to) = (table("from"), table("to"));
    let write = |text: &str| {
        json!({"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": to,
        "bindings": [{"targetColumn": "note", "value": text}]}})
    };
    let automation = json!({
        "workspace_id": workspace, "name": "a", "is_draft": false,
        "trigger_config": {"type": "record.event", "config": {"modes": ["created"], "featureId": from}},
        "graph_config": {"steps": [
            write("before {{record.note}}"),
            {"key": "email.send", "config": {"to": "a@b.c", "subject": "{{record.note}}", "body": "x"}},
            write("after {{record.note}}"),
        ]},
    });
    let (_, made) = wire
        .ask("POST", "/v1/workflows-v2", Some(&automation))
        .expect("a response");
    let it = made["workflow_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{made}"))
        .to_owned();
    admin(database, &["automation", "activate", &it], "").expect("a record");

    let token = wire.token.clone();
    let rows = format!("/v1/features/{from}/rows");
    let mut acknowledged = Vec::new();
    for number in 0..kills() {
        let over = AtomicBool::new(false);
        let new = thread::scope(|scope| {
            let mut wire = Wire::new(&serving, &token);
            let (rows, over) = (&rows, &over);
            let creating = scope.spawn(move || create(&mut wire, rows, number, over));
            let [any] = random::<1>();
            thread::sleep(Duration::from_millis(150 + 2 * u64::from(any)));
            serving.signal("-KILL");
            over.store(true, Ordering::SeqCst);
            creating.join().expect("ends")
        });
        acknowledged.extend(new);
        let _ = serving.child.wait();
        serving = start(database, &sink);
    }
    let mut wire = Wire::new(&serving, &token);
    let runs = loop {
        let runs = all(&mut wire, &format!("/v1/workflows-v2/{it}/runs"));
        // What was written and not acknowledged has its run, too.
        let rows = all(&mut wire, &rows).len();
        if runs.len() == rows && runs.iter().all(|run| run["finished_at"].is_string()) {
            break runs;
        }
        thread::sleep(Duration::from_millis(100));
    };
    // Whoever was being executed each time when the process was killed is given up at the third.
    let (ended, given_up): (Vec<Value>, Vec<Value>) = runs
        .into_iter()
        .partition(|run| run["status"] == "succeeded");
    let abandoned = |run: &Value| run["error"]["code"] == "abandoned";
    assert!(given_up.iter().all(abandoned), "{given_up:#?}");
    let (ended, given_up) = (ended.len(), given_up.len());
    let runs = ended..=ended + given_up;
    assert!(*runs.end() >= acknowledged.len() && !acknowledged.is_empty());
    let mut written: BTreeMap<String, usize> = BTreeMap::new();
    for row in all(&mut wire, &format!("/v1/features/{to}/rows")) {
        *written
            .entry(row["data"]["note"].as_str().expect("a note").to_owned())
            .or_default() += 1;
    }
    assert!(written.values().all(|times| *times == 1), "{written:?}");
    assert!((2 * ended..=2 * runs.end()).contains(&written.len()));
    let after = |note: &&String| written.contains_key(&format!("after {note}"));
    let missing = acknowledged.len() - acknowledged.iter().filter(after).count();
    assert!(missing <= given_up, "{missing} of {given_up}");
    let mut mails: BTreeMap<String, usize> = BTreeMap::new();
    for mail in sink.mails() {
        *mails.entry(mail.header("Message-ID")).or_default() += 1;
    }
    assert!(
        runs.contains(&mails.len()),
        "a mail for each run: {}",
        mails.len()
    );
    let repeated: usize = mails.values().map(|times| times - 1).sum();
    assert!(repeated <= kills(), "{repeated} repeated");
    serving.signal("-TERM");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0), "{log}");
}
