//! No credential in any output, however a command ends.

use serde_json::json;

use super::routes::WORKSPACE;
use super::{ACCESS, KEY, PASSWORD, REFRESH, TestEnv};
use crate::scripted::{Received, Response, Scripted};
use crate::support::{Ran, tiny};

/// Everything that was sent, credential included.
fn echo(request: &Received) -> String {
    let token = request.token().unwrap_or_default();
    format!("{token} {}", request.body)
}

#[test]
fn no_output_repeats_a_credential() {
    let servers = [
        Scripted::new(|request| {
            let detail = echo(request);
            let body = json!({"code": detail, "detail": detail, "errors": [{"path": detail, "message": detail}]});
            Response::text(401, &body.to_string())
        }),
        Scripted::new(|request| Response::text(422, &json!({"error": echo(request)}).to_string())),
        Scripted::new(|request| Response::text(500, &echo(request))),
        Scripted::new(|request| {
            let to = format!(
                "http://{}@127.0.0.1:1/?q={}",
                request.token().unwrap_or("x"),
                request.token().unwrap_or("x")
            );
            Response::text(307, "").with("Location", &to)
        }),
        // What succeeds is data, and shown as it is.
        Scripted::new(|request| {
            if request.target.ends_with("refused") {
                return Response::hang_up();
            }
            Response::json(&json!({"access_token": format!("{} \n", echo(request))}))
        }),
        Scripted::new(|_| Response::text(200, "{\"access_token\": 7, \"kind\": 7}")),
    ];
    for server in &servers {
        let url = server.url.as_str();
        let mut reported = Vec::new();
        let by_key = TestEnv::with_key(url);
        let by_session = TestEnv::with_session(url);
        for env in [&by_key, &by_session] {
            env.place.write("p.json", &tiny());
            for words in [
                &["whoami"][..],
                &["doctor"],
                &["rows", "list", "x"],
                &["template", "list"],
                &["template", "push", "p.json"],
                &["plan", "p.json", "--workspace", WORKSPACE],
                &["apply", WORKSPACE, "--workspace", WORKSPACE, "--yes"],
                &["apply", "p.json", "--workspace", WORKSPACE, "--yes"],
                &["job", "watch", "x", "--wait", "0s"],
                &["export", "--workspace", WORKSPACE],
                &["api", "PATCH", "/v1/refused"],
                &["api", "POST", "/v1/auth/refused"],
                &["logout"],
            ] {
                // Documents are reported next to the words on stderr.
                let words = [words, &["-v", "--format", "json"]].concat();
                let ran = env.run(&words);
                reported.push(format!("{words:?}\n{}\n{}", ran.out, ran.err));
            }
        }
        for (words, input) in [
            (&["--email", "a@a.test", "--password-stdin"][..], PASSWORD),
            (&["--api-key-stdin"], KEY),
        ] {
            let words = [&["login", "-v", "--url", url][..], words].concat();
            let ran = TestEnv::new().feed(&words, input);
            assert_ne!(ran.code, Some(0), "{}", ran.out);
            assert_ne!(ran.code, Some(101), "{}", ran.err);
            reported.push(format!("{words:?}\n{}\n{}", ran.out, ran.err));
        }
        let reported = reported.join("\n");
        for secret in [KEY, ACCESS, REFRESH, PASSWORD] {
            assert!(!reported.contains(secret), "{secret}:\n{reported}");
        }
    }
}

#[test]
fn ctrl_c_ends_a_request_at_once() {
    if !cfg!(unix) {
        return;
    }
    let (reached, wait) = std::sync::mpsc::channel::<()>();
    let reached = std::sync::Mutex::new(reached);
    let server = Scripted::new(move |_| {
        reached.lock().expect("whole").send(()).ok();
        loop {
            std::thread::park();
        }
    });
    let env = TestEnv::with_key(&server.url);
    for words in [&["whoami"][..], &["whoami", "--format", "json"]] {
        let mut command = env.command(words);
        command.stdout(std::process::Stdio::piped());
        let child = command.spawn().expect("start");
        wait.recv().expect("a request");
        let killed = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(killed.expect("kill").success());
        let ran = Ran::from(child.wait_with_output().expect("end")).exits(130);
        if words.len() > 1 {
            assert_eq!(ran.json()["outcome"], "failed");
        } else {
            assert_eq!(ran.out, "");
        }
    }
}
