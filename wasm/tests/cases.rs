//! On the host: the calls give what the library gives, in documents.

use serde_json::Value;
use tplkit::context::{FixedClock, Seeded};
use tplkit_wasm::{Failure, check, diff, fix, fmt, graph, promote, report, simulate};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/cases");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

fn read(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn document(text: Result<String, Failure>) -> Value {
    serde_json::from_str(&text.expect("a result")).expect("JSON")
}

#[test]
fn the_sample_packages_have_the_codes_of_the_table() {
    let table: Value =
        serde_json::from_slice(&read(&format!("{CASES}/expected.json"))).expect("a table");
    for (name, required) in table["mutants"].as_object().expect("mutants") {
        let bytes = read(&format!("{CASES}/mutants/{name}.json"));
        let found = document(check(&bytes, ""));
        let findings = found["files"][0]["findings"].as_array().expect("a list");
        let mut codes: Vec<&Value> = findings.iter().map(|finding| &finding["code"]).collect();
        codes.sort_unstable_by_key(|code| code.as_str());
        codes.dedup();
        let mut wanted: Vec<&Value> = required["codes"]
            .as_array()
            .expect("codes")
            .iter()
            .collect();
        wanted.sort_unstable_by_key(|code| code.as_str());
        assert_eq!(codes, wanted, "{name}");
        let verdicts = document(promote(&bytes, ""));
        let measured = !required["promotion"].is_null();
        assert_eq!(
            verdicts["files"][0]["promotion"].is_array(),
            measured,
            "{name}"
        );
    }
}

#[test]
fn a_package_is_fixed_drawn_reported_and_simulated() {
    let bytes = read(&format!("{EXAMPLES}/crm.json"));
    assert_eq!(
        document(check(&bytes, r#"{"promotion": "system"}"#))["outcome"],
        "clean"
    );
    let canonical = fmt(&bytes, "").expect("canonical");
    assert_eq!(
        document(diff(&bytes, canonical.as_bytes(), "{}"))["identical"],
        true
    );
    assert!(graph(&bytes, "").expect("a picture").starts_with("<svg"));
    let page = report(&bytes, r#"{"stylesheet": "http://a/report.css"}"#).expect("a page");
    assert!(page.contains("href=\"http://a/report.css\"") && !page.contains("<style"));
    let (clock, ids) = (FixedClock(jiff::Timestamp::UNIX_EPOCH), &mut Seeded::new(7));
    let simulated = document(simulate(&bytes, "", &clock, ids));
    assert_eq!(simulated["undo"]["restored"], true);
    let broken = read(&format!("{EXAMPLES}/broken-invoices.json"));
    let fixed = fix(&broken, "").expect("a text");
    let left = document(check(fixed.as_bytes(), ""))["summary"]["errors"].as_u64();
    assert!(left < document(check(&broken, ""))["summary"]["errors"].as_u64());
    assert_eq!(
        document(simulate(&broken, "", &clock, ids))["files"][0]["kind"],
        "package"
    );
}

#[test]
fn what_has_no_result_says_why() {
    let failure = graph(b"[1,", "").expect_err("no package");
    assert!(
        failure
            .document
            .is_some_and(|document| document.contains("J001"))
    );
    for options in [
        r#"{"select": ["Z9"]}"#,
        r#"{"promotion": 3}"#,
        "[",
        r#"{"definitions": "["}"#,
    ] {
        let failure = check(b"{}", options).expect_err(options);
        assert_eq!(failure.document, None, "{options}");
    }
    assert!(graph(b"{\"templateVersion\": 1}", r#"{"kind": "x"}"#).is_err());
}
