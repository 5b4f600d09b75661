//! `tplkit migrate`.

use crate::support::{Place, case, tiny};

#[test]
fn version_1_becomes_version_2() {
    let old = std::fs::read_to_string(case("valid/base-v1.json")).expect("fixture");
    let place = Place::with(&[("a.json", &old), ("b.json", &tiny()), ("c.json", "{")]);
    let ran = place.run(&["migrate", "a.json", "--to", "2"]).exits(0);
    assert!(ran.err.contains("workspaceName"), "{}", ran.err);
    place
        .feed(&["check", "-", "--deny", "warnings"], ran.out.as_bytes())
        .exits(0);
    place
        .run(&["migrate", "a.json", "-o", "d.json", "-q"])
        .exits(0);
    assert!(place.read("d.json").contains("\"templateVersion\": 2"));
    let document = place
        .run(&["migrate", "a.json", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["changed"], true);
    assert_eq!(document["notes"].as_array().expect("list").len(), 2);
    // The second version is passed on as it is.
    let ran = place.run(&["migrate", "b.json"]).exits(0);
    assert_eq!(ran.out, tiny());
    assert!(ran.err.contains("version 2 already"), "{}", ran.err);
    place.run(&["migrate", "a.json", "--to", "3"]).exits(2);
    place.run(&["migrate", "c.json"]).exits(1);
    let bad = old.replace("\"planVersion\":1,", "");
    let document = place
        .feed(&["migrate", "-", "--format", "json"], bad.as_bytes())
        .exits(1)
        .json();
    assert_eq!(document["files"][0]["findings"][0]["code"], "J006");
}
