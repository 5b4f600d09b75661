//! Shows what came of tests.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use serde_json::json;
use tplkit::finding::render::counted;
use tplkit::package_tests::TestFailure;
use tplkit::printable::{self, visible};

use super::FinishedTest;
use crate::cli::document;
use crate::cli::exit::Exit;

pub(super) fn text(tested: &[FinishedTest]) -> String {
    let mut out = String::new();
    for test in tested {
        let word = if test.failures.is_empty() {
            "ok"
        } else {
            "FAIL"
        };
        // Writing to a String cannot fail, here and below.
        let (name, file) = (printable::line(&test.name), printable::path(&test.file));
        let _ = writeln!(out, "{word:<4}  {name}  {file}");
        for failure in &test.failures {
            let _ = writeln!(out, "        {}", line(failure));
        }
    }
    let failed = tested.iter().filter(|test| !test.failures.is_empty());
    if !tested.is_empty() {
        let failed = failed.count();
        let all = counted(tested.len(), "test");
        let _ = writeln!(
            out,
            "{all}: {} passed, {failed} failed.",
            tested.len() - failed
        );
    }
    out
}

fn line(failure: &TestFailure) -> String {
    let TestFailure {
        path,
        expected,
        found,
    } = failure;
    let text = format!(
        "{path}: expected {}, found {}",
        expected.write(),
        found.write()
    );
    printable::line(&text)
}

pub(super) fn json(tested: &[FinishedTest], exit: Exit) -> String {
    let outcome = match exit {
        Exit::Done => "clean",
        _ => "findings",
    };
    let failure = |failure: &TestFailure| {
        json!({
            "path": failure.path,
            "expected": document::of(&failure.expected),
            "found": document::of(&failure.found),
        })
    };
    let tests = tested.iter().map(|test| {
        json!({
            "file": test.file.to_string_lossy(),
            "name": test.name,
            "passed": test.failures.is_empty(),
            "failures": test.failures.iter().map(failure).collect::<Vec<_>>(),
        })
    });
    document::write(outcome, &json!({"tests": tests.collect::<Vec<_>>()}))
}

pub(super) fn junit(package: &Path, tested: &[FinishedTest], now: Timestamp) -> String {
    let failed = tested
        .iter()
        .filter(|test| !test.failures.is_empty())
        .count();
    let name = escape(&package.to_string_lossy());
    let started = now.strftime("%Y-%m-%dT%H:%M:%S");
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        out,
        "  <testsuite id=\"0\" name=\"{name}\" package=\"tplkit\" timestamp=\"{started}\" hostname=\"localhost\" \
         tests=\"{}\" failures=\"{failed}\" errors=\"0\" time=\"0\">\n    <properties/>",
        tested.len()
    );
    for test in tested {
        let file = escape(&test.file.to_string_lossy());
        let name = escape(&test.name);
        let _ = write!(
            out,
            "    <testcase name=\"{name}\" classname=\"{file}\" time=\"0\""
        );
        if test.failures.is_empty() {
            out.push_str("/>\n");
            continue;
        }
        let lines: Vec<String> = test.failures.iter().map(line).collect();
        let message = escape(&lines.join("; "));
        let _ = writeln!(
            out,
            ">\n      <failure type=\"failed\" message=\"{message}\"/>\n    </testcase>"
        );
    }
    out.push_str("    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n");
    out
}

fn escape(text: &str) -> String {
    let text: String = text.chars().map(visible).collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
