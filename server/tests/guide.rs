//! The guide of `/docs`: what it shows is what happens when somebody types it.
//!
//! `UPDATE=1` writes what happened into the source of the guide.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use regex::Regex;
use tplkit_server::api::documentation::guide;

use crate::process::{Serving, command, variable};

/// A step as the page shows it.
struct GuideStep {
    name: String,
    command: String,
    status: String,
    response: String,
}

/// What became of it.
struct Happened {
    status: String,
    body: String,
    printed: String,
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{start}"));
    rest.split_once(end).unwrap_or_else(|| panic!("{end}")).0
}

fn plain(markup: &str) -> String {
    let characters = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    let text = characters
        .iter()
        .fold(markup.to_owned(), |text, (entity, character)| {
            text.replace(entity, character)
        });
    assert!(!text.contains("&#"), "{text}");
    text
}

fn read_steps(page: &str) -> Vec<GuideStep> {
    let sections = page.split("<section");
    sections
        .filter_map(|section| {
            let name = ["data-step=\"", "data-further=\""];
            let name = name.iter().find(|name| section.contains(**name))?;
            Some((section, *name))
        })
        .map(|(section, named)| {
            assert!(section.contains("<h3"), "{section}");
            let (command, rest) = section.split_once("</pre>").expect("a command");
            GuideStep {
                name: between(section, named, "\"").to_owned(),
                command: plain(
                    command
                        .split_once("<pre class=\"command\">")
                        .expect("a command")
                        .1,
                ),
                status: between(rest, "<pre class=\"response\" data-status=\"", "\"").to_owned(),
                response: plain(between(
                    &rest[rest.find("data-status=").expect("a response")..],
                    ">",
                    "</pre>",
                )),
            }
        })
        .collect()
}

/// Notes the status and the body of each response that comes by.
fn recording_curl(folder: &Path) -> String {
    let real = Command::new("sh")
        .args(["-c", "command -v curl"])
        .output()
        .expect("a shell");
    let real = String::from_utf8(real.stdout).expect("UTF-8");
    let recording = folder.join("curl");
    let text = format!(
        "#!/bin/sh\nrm -f '{0}/body'\n'{1}' \"$@\" -o '{0}/body' -w '%{{http_code}}' > '{0}/status'\ncat '{0}/body'\n",
        folder.display(),
        real.trim()
    );
    fs::write(&recording, text).expect("written");
    fs::set_permissions(&recording, fs::Permissions::from_mode(0o755)).expect("executable");
    let path = variable("PATH").unwrap_or_default();
    format!("{}:{path}", folder.display())
}

/// Types all of them into one shell; the last one until the job has ended.
fn typed(steps: &[GuideStep]) -> Vec<Happened> {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().display().to_string();
    let mut script = vec!["set -u".to_owned()];
    for (at, step) in steps.iter().enumerate() {
        let once = format!("{{ {}\n}} > '{place}/{at}.printed'", step.command);
        if step.name == "watch a job" {
            let ended =
                format!("grep -q -e '\"completed\"' -e '\"failed\"' '{place}/body' && break");
            script.push(format!(
                "for try in $(seq 200); do\n{once}\n{ended}\nsleep 0.1\ndone"
            ));
        } else {
            script.push(once);
        }
        script.push(format!(
            "cp '{place}/status' '{place}/{at}.status'; cp '{place}/body' '{place}/{at}.body'"
        ));
    }
    // The second request gave what the first had given.
    let again = "idempotency";
    let at = steps.iter().position(|step| step.name == again);
    let at = at.expect(again);
    script.push(format!(
        "[ \"$FIRST\" = \"$(jq -r .id '{place}/{at}.body')\" ]"
    ));
    let output = Command::new("bash")
        .args(["-c", &script.join("\n")])
        .env("PATH", recording_curl(folder.path()))
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.is_empty(), "{error}");
    let read = |at: usize, what: &str| {
        fs::read_to_string(folder.path().join(format!("{at}.{what}"))).expect("is there")
    };
    let steps = 0..steps.len();
    steps
        .map(|at| Happened {
            status: read(at, "status"),
            body: read(at, "body"),
            printed: read(at, "printed"),
        })
        .collect()
}

/// The text without what differs from run to run.
fn shape(text: &str) -> String {
    static SHAPES: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
        let pattern = |text: &str| Regex::new(text).expect("a pattern");
        [
            (pattern("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<id>"),
            (pattern(r"\d{4}-\d{2}-\d{2}T[0-9:.]+Z"), "<instant>"),
            (pattern("tp[ar]_[A-Za-z0-9_…-]+"), "<token>"),
            (pattern("\"(done|total)\": [0-9]+"), "\"$1\": <count>"),
            (
                pattern("\"next_cursor\": \"[A-Za-z0-9_-]+\""),
                "\"next_cursor\": <cursor>",
            ),
        ]
    });
    SHAPES
        .iter()
        .fold(text.trim().to_owned(), |text, (shape, name)| {
            shape.replace_all(&text, *name).into_owned()
        })
}

fn pretty(body: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(body).expect("JSON");
    serde_json::to_string_pretty(&value).expect("JSON")
}

#[test]
fn what_the_guide_shows_happens() {
    let serving = Serving::start_with("sqlite::memory:", &["--demo"], &[]);
    let page = serving.get("/docs");
    let steps = read_steps(&page);
    let happened = typed(&steps);
    if variable("UPDATE").is_some() {
        return record(&happened);
    }
    for (step, happened) in steps.iter().zip(&happened) {
        let GuideStep { name, command, .. } = step;
        assert_eq!(
            happened.status, step.status,
            "{name}: {command}\n{}",
            happened.body
        );
        let body = shape(&pretty(&happened.body));
        assert_eq!(body, shape(&step.response), "{name}: {command}");
        // What is printed is the response, unless a variable takes it.
        let printed = shape(&happened.printed);
        assert!(printed.is_empty() || printed == body, "{name}: {printed}");
    }
    assert_eq!(page.matches("data-step=\"").count(), 11);
    assert_eq!(steps.len(), 12);
    let id = |name: &str| {
        let at = steps
            .iter()
            .position(|step| step.name == name)
            .expect("a step");
        between(&pretty(&happened[at].body), "\"id\": \"", "\"").to_owned()
    };
    assert_ne!(id("create"), id("idempotency"));
}

/// Writes the responses into the source.
fn record(happened: &[Happened]) {
    let token = Regex::new("(tp[ar]_)[A-Za-z0-9_-]+").expect("a pattern");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/api/documentation/guide.md");
    let source = fs::read_to_string(&path).expect("is there");
    let mut parts = source.split("\n```json ");
    let mut pieces = vec![parts.next().expect("a beginning").to_owned()];
    for (part, happened) in parts.zip(happened) {
        let rest = part.rsplit_once("```").expect("an end").1;
        let body = pretty(&happened.body);
        let body = token.replace_all(&body, "${1}…");
        pieces.push(format!("{}\n{body}\n```{rest}", happened.status));
    }
    let text = pieces.join("\n```json ");
    fs::write(&path, text).expect("written");
}

#[test]
fn without_a_demonstration_the_same_steps_have_variables() {
    let serving = Serving::start_with("sqlite::memory:", &[], &[]);
    let steps = read_steps(&serving.get("/docs"));
    let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
    let source = guide::steps(None);
    let expected: Vec<&str> = source.iter().map(|step| step.command.as_str()).collect();
    assert_eq!(commands, expected);
    let page = serving.get("/docs");
    assert!(
        !page.contains("platform_sk_F") && page.contains("TABLE="),
        "{page}"
    );
    // Somebody else may reach that one.
    let mut everywhere = command(&["serve", "--demo", "--listen", "0.0.0.0:0"]);
    everywhere.env_remove("TPLKIT_DATABASE_URL");
    let page = Serving::of(everywhere).get("/docs");
    assert!(page.contains("$URL") && !page.contains("demo@example.com"));
}

#[test]
fn what_stands_next_to_the_page_is_served_too() {
    let serving = Serving::start_with("sqlite::memory:", &[], &[]);
    let ask = |method: &str, path: &str, header: &str| {
        serving.ask(&format!(
            "{method} {path} HTTP/1.1\r\nhost: a\r\n{header}connection: close\r\n\r\n"
        ))
    };
    for (path, media_type) in [
        ("/docs.md", "text/markdown; charset=utf-8"),
        ("/llms.txt", "text/plain; charset=utf-8"),
        ("/docs/page.css", "text/css; charset=utf-8"),
        ("/docs/page.js", "text/javascript; charset=utf-8"),
        ("/console", "text/html; charset=utf-8"),
        ("/console/app.js", "text/javascript; charset=utf-8"),
        ("/console/console.css", "text/css; charset=utf-8"),
    ] {
        let file = ask("GET", path, "");
        assert!(file.starts_with("HTTP/1.1 200"), "{path}");
        assert!(
            file.contains(&format!("content-type: {media_type}\r\n")),
            "{path}"
        );
        let tag = between(&file, "etag: ", "\r\n");
        let known = ask("GET", path, &format!("if-none-match: {tag}\r\n"));
        assert!(known.starts_with("HTTP/1.1 304"), "{path}");
        let refused = ask("POST", path, "");
        assert!(refused.starts_with("HTTP/1.1 405"), "{path}");
        assert!(refused.contains("allow: GET, HEAD\r\n"), "{refused}");
    }
    let console = ask("GET", "/console", "");
    let policy = between(&console, "content-security-policy: ", "\r\n");
    assert!(
        policy.contains("default-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
    for path in [
        "/docs/",
        "/docs/page.html",
        "/docs/../docs",
        "/docs.md/",
        "/console/",
        "/console/index.html",
    ] {
        assert!(ask("GET", path, "").starts_with("HTTP/1.1 404"), "{path}");
    }
}
