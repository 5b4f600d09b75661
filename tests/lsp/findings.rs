//! Diagnostics: what is a package, and what is said of it.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, TestFolder, run_in};
use crate::packages::{cases, indented, valid};

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics
        .iter()
        .map(|one| one["code"].as_str().expect("a code"))
        .collect()
}

#[test]
fn only_packages_have_findings() {
    let folder = TestFolder::new();
    let mut client = Client::start();
    let plain = folder.uri("plain.json");
    for (version, text) in [(1, "{"), (2, "[1, 2]"), (3, ""), (4, "{\"a\": 1}")] {
        if version == 1 {
            client.open(&plain, text);
        } else {
            client.replace(&plain, version, text);
        }
        assert_eq!(
            client.diagnostics(&plain, version),
            Vec::<Value>::new(),
            "{text}"
        );
    }
    // Once it was a package, it is one until it is closed.
    client.replace(&plain, 5, "{\"templateVersion\": 2");
    assert_eq!(codes(&client.diagnostics(&plain, 5)), ["J001"]);
    client.replace(&plain, 6, "{}");
    assert_eq!(codes(&client.diagnostics(&plain, 6)), ["J003"]);
    client.notify(
        "textDocument/didClose",
        &json!({"textDocument": {"uri": plain}}),
    );
    assert_eq!(client.published(), json!({"uri": plain, "diagnostics": []}));
    client.open(&plain, "{}");
    assert_eq!(client.diagnostics(&plain, 1), Vec::<Value>::new());
    // A name says so, too.
    let named = folder.uri("new.tplkit.json");
    client.open(&named, "");
    assert_eq!(codes(&client.diagnostics(&named, 1)), ["J001"]);
    client.replace(&named, 2, &indented("base-tiny"));
    assert_eq!(client.diagnostics(&named, 2), Vec::<Value>::new());
}

/// Every mutant of the sample cases, in the bytes of its file.
#[test]
fn diagnostics_are_the_findings_of_check() {
    let folder = cases().join("mutants");
    let document: Value =
        serde_json::from_str(&run_in(&folder, &["check", "--format", "json", "."])).expect("JSON");
    let mut client = Client::start();
    let mut compared = 0;
    for file in document["files"].as_array().expect("files") {
        let path = folder.join(file["path"].as_str().expect("a path"));
        // A client has text, and sends no other bytes.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let findings = file["findings"].as_array().expect("findings");
        // Not every mutant is a package for an editor, which goes by the word.
        if !text.contains("templateVersion") {
            continue;
        }
        let uri = format!("untitled:{}", path.display());
        client.open(&uri, &text);
        let diagnostics = client.diagnostics(&uri, 1);
        assert_eq!(diagnostics.len(), findings.len(), "{}", path.display());
        for (diagnostic, finding) in diagnostics.iter().zip(findings) {
            compare(diagnostic, finding, &text);
            compared += 1;
        }
        client.notify(
            "textDocument/didClose",
            &json!({"textDocument": {"uri": uri}}),
        );
    }
    assert!(compared > 100, "{compared}");
}

fn compare(diagnostic: &Value, finding: &Value, text: &str) {
    assert_eq!(diagnostic["code"], finding["code"]);
    assert_eq!(diagnostic["source"], "tplkit");
    let severity = match finding["severity"].as_str().expect("severity") {
        "error" => 1,
        "warning" => 2,
        _ => 3,
    };
    assert_eq!(diagnostic["severity"], severity);
    let number = |key: &str| usize::try_from(finding[key].as_u64().expect(key)).expect("fits");
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let start = number("offset") + mark;
    let span = &text[start..start + number("length")];
    let first = span.split(['\r', '\n']).next().expect("a line");
    // The client speaks UTF-8: columns are bytes.
    let line = text[..start].matches('\n').count();
    let column = start - text[..start].rfind('\n').map_or(0, |at| at + 1);
    let range = json!({
        "start": {"line": line, "character": column},
        "end": {"line": line, "character": column + first.len()},
    });
    assert_eq!(diagnostic["range"], range, "{finding}");
    let related = finding["related"].as_array().expect("related");
    let shown = diagnostic["relatedInformation"]
        .as_array()
        .expect("related");
    assert_eq!(shown.len(), related.len());
    for (shown, related) in shown.iter().zip(related) {
        assert_eq!(shown["message"], related["message"]);
        let line = related["line"].as_u64().expect("line") - 1;
        assert_eq!(shown["location"]["range"]["start"]["line"], line);
    }
}

#[test]
fn every_version_is_published_and_can_be_pulled() {
    let mut client = Client::with(&json!({"textDocument": {"diagnostic": {}}}));
    let (good, bad) = (
        indented("base-tiny"),
        indented("base-tiny").replace("\"$f_notes\"", "\"$f_note\""),
    );
    client.open("untitled:a", &good);
    for version in 2..40 {
        client.replace(
            "untitled:a",
            version,
            if version % 2 == 0 { &bad } else { &good },
        );
    }
    for version in 1..40 {
        let found = client.published();
        assert_eq!(found["version"], version);
        let none = found["diagnostics"].as_array().expect("a list").is_empty();
        assert_eq!(none, version % 2 == 1, "{found}");
    }
    client.replace("untitled:a", 40, &bad);
    let pulled = client.request(
        "textDocument/diagnostic",
        &json!({"textDocument": {"uri": "untitled:a"}}),
    );
    assert_eq!(pulled["kind"], "full");
    assert_eq!(
        pulled["items"],
        Value::Array(client.diagnostics("untitled:a", 40))
    );
}

/// A package of more than so many bytes, with one finding.
fn large(bytes: usize) -> String {
    let text = valid("base-tiny").replace(
        "\"templateVersion\": 2",
        "\"semver\": \"one\", \"templateVersion\": 2",
    );
    let text = text.replace(
        "\"templateVersion\":2",
        "\"semver\":\"one\",\"templateVersion\":2",
    );
    let room = " ".repeat(bytes.saturating_sub(text.len()));
    format!("{text}{room}\n")
}

#[test]
fn a_large_package_is_checked_once_changes_pause() {
    let mut client = Client::start();
    let text = large(1_000_001);
    client.open("untitled:a", &text);
    assert_eq!(codes(&client.diagnostics("untitled:a", 1)), ["M003"]);
    let end = json!({"line": 1, "character": 0});
    for version in 2..12 {
        client.change(
            "untitled:a",
            version,
            &json!([{"range": {"start": end, "end": end}, "text": " "}]),
        );
    }
    #[expect(clippy::disallowed_methods, reason = "how long the findings take")]
    let sent = Instant::now();
    // None of those in between, and the last one soon.
    let found = client.published();
    assert_eq!(found["version"], 11);
    assert_eq!(found["diagnostics"].as_array().map(Vec::len), Some(1));
    assert!(
        sent.elapsed() < Duration::from_secs(10),
        "{:?}",
        sent.elapsed()
    );
}
