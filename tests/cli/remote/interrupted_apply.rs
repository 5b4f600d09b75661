//! Applies whose way is not smooth: networks that go away, servers that know less, people who stop.

#[cfg(unix)]
use std::io::{BufRead as _, BufReader, Read as _};
#[cfg(unix)]
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::{Value, json};

use super::TestEnv;
use super::applying::apply;
use super::routes::{
    JOB, ORGANIZATION, Routes, TEMPLATE, WORKSPACE, apply_route, catalog, job, job_document, page,
    plan, plan_route, record, started,
};
use crate::scripted::Response;
#[cfg(target_os = "linux")]
use crate::support::Ran;
use crate::support::unread;

#[test]
fn the_network_may_be_lost_in_the_middle() {
    // Away for longer than one question is tried.
    let mut jobs = vec![job("structure")];
    jobs.extend(std::iter::repeat_n(Response::hang_up(), 7));
    jobs.extend([
        job("rows"),
        Response::problem(503, "store_unavailable"),
        job("completed"),
    ]);
    let server = catalog(jobs).serve();
    let ran = apply(&server, &[]).exits(0);
    assert!(ran.out.contains("completed"), "{}", ran.out);

    let server = catalog([job("structure"), Response::hang_up()]).serve();
    let ran = apply(&server, &["--wait", "2s"]).exits(5);
    assert_eq!(ran.out, format!("{JOB}\n"));
    assert!(
        ran.err.contains(&format!("tplkit job watch {JOB}")),
        "{}",
        ran.err
    );
    let document = apply(&server, &["--wait", "1s", "--format", "json"])
        .exits(5)
        .json();
    assert_eq!(document["errors"][0]["job_id"], JOB);
}

#[test]
fn an_apply_whose_response_is_lost_is_sent_again_under_its_key() {
    let responses = [
        Response::hang_up(),
        Response::problem(503, "store_unavailable"),
        started(),
    ];
    let server = catalog([job("completed")])
        .on(&apply_route(TEMPLATE), responses)
        .serve();
    apply(&server, &[]).exits(0);
    let received = server.received();
    let keys = received
        .iter()
        .filter(|one| one.line() == apply_route(TEMPLATE));
    let keys: Vec<_> = keys.map(|one| one.header("idempotency-key")).collect();
    assert_eq!(keys.len(), 3);
    assert!(
        keys[0].is_some() && keys.iter().all(|key| *key == keys[0]),
        "{keys:?}"
    );

    let server = catalog([])
        .on(&apply_route(TEMPLATE), [Response::hang_up()])
        .serve();
    let ran = apply(&server, &[]).exits(5);
    let back = format!("tplkit job list --workspace {WORKSPACE}");
    assert!(ran.err.contains(&back), "{}", ran.err);
}

#[test]
fn a_server_with_the_routes_of_the_specification_applies_all_the_same() {
    let done = json!({"jobId": JOB, "status": "succeeded", "progress": 1, "lockedUntil": null, "report": {"rows": []}});
    let server = Routes::new()
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "sales")])])
        .on(&apply_route(TEMPLATE), [started()])
        .on(
            &format!("GET /v1/template-jobs/{JOB}"),
            [Response::json(&done)],
        )
        .serve();
    let ran = apply(&server, &[]).exits(0);
    assert_eq!(ran.out, format!("{JOB}\nsucceeded\n"));
    let env = TestEnv::with_key(&server.url);
    for words in [
        &["plan", TEMPLATE, "--workspace", WORKSPACE][..],
        &["apply", TEMPLATE, "--workspace", WORKSPACE, "--dry-run"],
        &["template", "show", TEMPLATE],
        &["template", "pull", "sales"],
        &["template", "promote", TEMPLATE, "--to", "public"],
        &["template", "delete", TEMPLATE],
    ] {
        let ran = env.run(words).exits(1);
        assert!(
            ran.err.contains("only the routes of the specification"),
            "{}",
            ran.err
        );
    }
    // What is not there at all is missing, not a route.
    let ran = env.run(&["template", "delete", ORGANIZATION]).exits(1);
    assert!(ran.err.contains("404"), "{}", ran.err);
}

/// The end of a job whose rows failed in part.
fn partial() -> Response {
    let rows = json!({"f_clients": {"inserted": 2, "failed": 1, "errors_more": 0}});
    let report = json!({"rows": rows, "published": 0, "unresolved": [], "errors": []});
    Response::json(&job_document("completed", &json!({"report": report})))
}

fn words<'w>(more: &[&'w str]) -> Vec<&'w str> {
    let head = ["apply", TEMPLATE, "--workspace", WORKSPACE, "--yes"];
    [&head[..], more].concat()
}

/// Whoever reads the id of the job and leaves does not end the wait for it.
#[test]
fn a_reader_that_leaves_ends_no_apply() {
    for more in [&[][..], &["--format", "json"]] {
        let server = catalog([job("rows"), partial()]).serve();
        let env = TestEnv::with_key(&server.url);
        let ran = unread(env.command(&words(more))).exits(68);
        assert!(ran.err.contains("applied in part"), "{}", ran.err);
        let ran = unread(env.command(&words(&[more, &["--detach"]].concat()))).exits(0);
        let back = format!("tplkit job watch {JOB}");
        assert!(ran.err.contains(&back), "{}", ran.err);
        // What was planned is refused, whoever reads why.
        let refusals = json!([{"code": "mapping_required", "ref": "f_far", "detail": "decide."}]);
        let refused = plan(&json!({"refusals": refusals}));
        let server = catalog([])
            .on(&plan_route(TEMPLATE), [Response::json(&refused)])
            .serve();
        let env = TestEnv::with_key(&server.url);
        let line = [&["plan", TEMPLATE, "--workspace", WORKSPACE][..], more].concat();
        unread(env.command(&line)).exits(1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_hides_no_job() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return;
    };
    for (more, back) in [
        (&[][..], "watch"),
        (&["--detach"], "watch"),
        (&["--detach", "--format", "json"], "watch"),
        (&["--format", "json"], "show"),
        (&["--format", "json", "--wait", "0s"], "watch"),
    ] {
        let end = if more.contains(&"0s") {
            "rows"
        } else {
            "completed"
        };
        let server = catalog([job(end)]).serve();
        let env = TestEnv::with_key(&server.url);
        let mut command = env.command(&words(more));
        command.stdout(full.try_clone().expect("a handle"));
        let ran = Ran::from(command.output().expect("run")).exits(2);
        let back = format!("tplkit job {back} {JOB}");
        assert!(
            ran.err.contains("cannot write to standard output") && ran.err.contains(&back),
            "{more:?}: {}",
            ran.err
        );
    }
}

/// Starts a command, and waits until it reports that the job is at its rows; what it says from then on.
#[cfg(unix)]
fn until_rows(command: &mut Command) -> (Child, BufReader<ChildStderr>) {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("start");
    let mut err = BufReader::new(child.stderr.take().expect("stderr"));
    // The phase is reported once the job has been asked for.
    let mut reported = String::new();
    while !reported.ends_with("rows…\n") && err.read_line(&mut reported).expect("a line") > 0 {}
    assert!(reported.contains("rows"), "{reported}");
    (child, err)
}

#[cfg(unix)]
fn kill(signal: &str, child: &Child) {
    let id = child.id().to_string();
    let killed = Command::new("kill").args([signal, &id]).status();
    assert!(killed.expect("kill").success());
}

/// What ends a command. Of tests that are to outlive their terminal a hang-up ends none.
#[cfg(unix)]
fn signals() -> Vec<&'static str> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let mut signals = vec!["-INT", "-TERM"];
    if ignored.is_none_or(|mask| mask & 1 == 0) {
        signals.push("-HUP");
    }
    signals
}

#[cfg(unix)]
#[test]
fn an_interrupted_apply_shows_how_to_resume() {
    let back = format!("tplkit job watch {JOB}");
    for signal in signals() {
        for format in ["text", "json"] {
            let server = catalog([job("rows")]).serve();
            let env = TestEnv::with_key(&server.url);
            let mut command = env.command(&words(&["-v", "--format", format]));
            let (mut child, mut err) = until_rows(&mut command);
            kill(signal, &child);
            let mut rest = String::new();
            err.read_to_string(&mut rest).expect("stderr");
            let mut out = String::new();
            child
                .stdout
                .take()
                .expect("stdout")
                .read_to_string(&mut out)
                .expect("stdout");
            let code = child.wait().expect("end").code();
            assert_eq!(code, Some(130), "{signal}: {rest}");
            assert!(rest.contains(&back), "{signal}: {rest}");
            if format == "json" {
                let document: Value = serde_json::from_str(&out).expect(&out);
                assert_eq!(
                    (&document["outcome"], &document["job_id"]),
                    (&json!("failed"), &json!(JOB))
                );
            } else {
                assert_eq!(out, format!("{JOB}\n"));
            }
        }
    }
}

/// `nohup tplkit apply …`, and the terminal is closed.
#[cfg(target_os = "linux")]
#[test]
fn an_apply_that_is_to_outlive_its_terminal_does() {
    let mut jobs = vec![job("rows"); 4];
    jobs.push(job("completed"));
    let server = catalog(jobs).serve();
    let env = TestEnv::with_key(&server.url);
    let started = env.command(&words(&["-v"]));
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    command
        .arg(started.get_program())
        .args(started.get_args())
        .current_dir(started.get_current_dir().expect("a folder"));
    for (name, value) in started.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let (mut child, mut err) = until_rows(&mut command);
    kill("-HUP", &child);
    let mut rest = String::new();
    err.read_to_string(&mut rest).expect("stderr");
    assert_eq!(child.wait().expect("end").code(), Some(0), "{rest}");
}
