//! All sample packages, held against what is required for each (`tests/fixtures/cases/expected.json`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Place, case};

fn expected() -> Value {
    let text = std::fs::read_to_string(case("expected.json")).expect("fixture");
    serde_json::from_str(&text).expect("JSON")
}

/// The one file of a run's document.
fn run(place: &Place, command: &str, name: &str) -> (Option<i32>, Value) {
    let path = case(name);
    let ran = place.run(&[command, "--format", "json", path.to_str().expect("text")]);
    let file = ran.json()["files"][0].clone();
    (ran.code, file)
}

fn findings(file: &Value) -> &Vec<Value> {
    file["findings"].as_array().expect("a list")
}

/// What is wrong with the report on one mutant.
fn faults(place: &Place, name: &str, required: &Value) -> Vec<String> {
    let file_name = format!("mutants/{name}.json");
    let mut faults = Vec::new();
    let mut hold = |holds: bool, fault: String| {
        if !holds {
            faults.push(format!("{name}: {fault}"));
        }
    };
    let (code, file) = run(place, "check", &file_name);
    let found: BTreeSet<&str> = findings(&file)
        .iter()
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    let codes: BTreeSet<&str> = required["codes"]
        .as_array()
        .expect("list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    hold(
        found == codes,
        format!("codes {found:?}, expected {codes:?}"),
    );
    hold(
        json!(code) == required["exit"]["check"],
        format!(
            "check exits {code:?}, expected {}",
            required["exit"]["check"]
        ),
    );
    if required["main"].is_string() && codes == found {
        let one_of = |list: &str, value: Value| {
            required
                .get(list)
                .is_none_or(|list| list.as_array().is_some_and(|list| list.contains(&value)))
        };
        let reported: Vec<&Value> = findings(&file)
            .iter()
            .filter(|finding| finding["code"] == required["main"])
            .collect();
        let place_of = |finding: &Value| json!([finding["line"], finding["column"]]);
        let fits = |finding: &&Value| {
            one_of("pointers", finding["pointer"].clone())
                && one_of("positions", place_of(finding))
                && finding["severity"] == required["severity"]
        };
        let places: Vec<String> = reported
            .iter()
            .map(|finding| {
                format!(
                    "{} {} {}",
                    finding["severity"],
                    finding["pointer"],
                    place_of(finding)
                )
            })
            .collect();
        hold(
            reported.iter().any(fits),
            format!(
                "at {places:?}, expected {} {} {}",
                required["severity"], required["pointers"], required["positions"]
            ),
        );
    }
    let (code, file) = run(place, "promote", &file_name);
    let verdicts = match &file["promotion"] {
        Value::Array(verdicts) => verdicts
            .iter()
            .map(|verdict| {
                (
                    verdict["code"].as_str().unwrap_or_default().to_owned(),
                    verdict["passed"].clone(),
                )
            })
            .collect(),
        _ => Value::Null,
    };
    hold(
        verdicts == required["promotion"],
        format!("promotion {verdicts}, expected {}", required["promotion"]),
    );
    hold(
        json!(code) == required["exit"]["promote"],
        format!(
            "promote exits {code:?}, expected {}",
            required["exit"]["promote"]
        ),
    );
    faults
}

#[test]
fn valid_packages_have_no_finding() {
    let place = Place::new();
    let expected = expected();
    let names = expected["valid"].as_object().expect("object").keys();
    let faults: Vec<String> = names
        .filter_map(|name| {
            let (code, file) = run(&place, "check", &format!("valid/{name}.json"));
            let codes: Vec<&str> = findings(&file)
                .iter()
                .filter_map(|finding| finding["code"].as_str())
                .collect();
            (code != Some(0) || !codes.is_empty())
                .then(|| format!("{name}: exit {code:?}, {codes:?}"))
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn mutants_have_exactly_what_is_required() {
    let place = Place::new();
    let expected = expected();
    let mutants = expected["mutants"].as_object().expect("object");
    let faults: Vec<String> = mutants
        .iter()
        .flat_map(|(name, required)| faults(&place, name, required))
        .collect();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn canonical_form_changes_nothing_that_counts() {
    let place = Place::new();
    let expected = expected();
    for name in expected["valid"].as_object().expect("object").keys() {
        let path = case(&format!("valid/{name}.json"));
        let once = place.run(&["fmt", path.to_str().expect("text"), "-o", "once.json"]);
        if once.code == Some(1) {
            continue; // Not every sample has one form (a repeated key).
        }
        once.exits(0);
        place.run(&["fmt", "--check", "once.json"]).exits(0);
    }
}
