//! Words that are none of those that are known: what was meant, and what there is, without a server.

use serde_json::Value;

use crate::support::{Place, case};

fn candidates(words: &[&str]) -> (String, Vec<Value>) {
    let place = Place::new();
    let ran = place.run(&[words, &["--format", "json"]].concat()).exits(2);
    let error = ran.json()["errors"][0].clone();
    let found = error["candidates"].as_array();
    let found = found
        .unwrap_or_else(|| panic!("{words:?}: {error}"))
        .clone();
    (ran.err, found)
}

fn names(found: &[Value]) -> Vec<&str> {
    let names = found.iter().map(|one| one["name"].as_str());
    names.map(|name| name.expect("a name")).collect()
}

#[test]
fn an_unknown_rule_lists_those_that_resemble_it() {
    for words in [
        &["explain", "value-not-storabel"][..],
        &["check", "--select", "value-not-storabel", "x.json"],
        &["check", "--deny", "value-not-storabel", "x.json"],
    ] {
        let (err, found) = candidates(words);
        assert_eq!(found.len(), 20, "{words:?}");
        assert_eq!(found[0]["id"], "R017", "{words:?}");
        assert_eq!(found[0]["name"], "value-not-storable", "{words:?}");
        assert!(err.contains("did you mean `value-not-storable`?"), "{err}");
    }
    let (err, found) = candidates(&["explain", "R0177"]);
    assert!(err.contains("did you mean `R017`?"), "{err}");
    assert_eq!(found[0]["id"], "R017");
}

#[test]
fn unknown_names_list_the_known_ones() {
    let (err, found) = candidates(&["schema", "manifset"]);
    assert!(err.contains("did you mean `manifest`?"), "{err}");
    assert!(names(&found).contains(&"manifest"), "{found:?}");
    let (_, found) = candidates(&["graph", "x.json", "--kind", "reffs"]);
    assert_eq!(names(&found), ["refs", "plan", "deps", "automations", "er"]);
    let place = Place::new();
    let ran = place.run(&["man", "chek"]).exits(2);
    assert!(ran.err.contains("did you mean `check`?"), "{}", ran.err);
}

#[test]
fn an_unknown_command_lists_those_of_its_group() {
    let (_, found) = candidates(&["chekc"]);
    assert_eq!((names(&found)[0], found.len()), ("check", 20), "{found:?}");
    let (_, found) = candidates(&["template", "psuh"]);
    let found = names(&found);
    assert!(
        found.contains(&"push") && found.contains(&"pull"),
        "{found:?}"
    );
    assert!(!found.contains(&"check"), "{found:?}");
}

#[test]
fn an_unknown_ref_lists_those_of_the_package_with_their_labels() {
    let package = case("valid/base-links.json");
    let package = package.to_str().expect("UTF-8");
    let place = Place::new();
    let shown = place.run(&["show", package, "--format", "json"]).exits(0);
    let item = shown.json()["package"]["items"][0].clone();
    let known = item["ref"].as_str().expect("a ref").to_owned();
    let label = item["label"].clone();
    let wrong = format!("{known}x");

    let (err, found) = candidates(&["graph", package, "--focus", &wrong]);
    assert!(err.contains(&format!("did you mean `{known}`?")), "{err}");
    let one = found.iter().find(|one| one["id"] == known.as_str());
    assert_eq!(one.expect("the ref")["label"], label);

    let ran = place
        .run(&["why", package, &wrong, "--format", "json"])
        .exits(1);
    let found = ran.json()["candidates"]
        .as_array()
        .expect("candidates")
        .clone();
    let one = found.iter().find(|one| one["id"] == known.as_str());
    assert_eq!(one.expect("the ref")["label"], label);
    let ran = place.run(&["why", package, &wrong]).exits(1);
    assert!(
        ran.err.contains(&format!("did you mean `${known}`?")),
        "{}",
        ran.err
    );
}
