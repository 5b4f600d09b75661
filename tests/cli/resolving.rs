//! `tplkit resolve`.

use crate::support::{Place, case, faulty, tiny};

fn links() -> String {
    std::fs::read_to_string(case("valid/base-links.json")).expect("fixture")
}

#[test]
fn a_file_is_written_edited_and_checked() {
    let place = Place::with(&[("p.json", &links())]);
    let ran = place.run(&["resolve", "init", "p.json"]).exits(0);
    assert!(ran.out.contains("[resolutions.f_countries]"), "{}", ran.out);
    assert!(ran.out.contains("# To be decided:"), "{}", ran.out);
    place
        .run(&["resolve", "init", "p.json", "-o", "r.toml"])
        .exits(0);
    // What only a person can decide is still open.
    let ran = place
        .run(&["resolve", "check", "p.json", "r.toml"])
        .exits(1);
    assert!(
        ran.out.contains("mapping_required f_carriers"),
        "{}",
        ran.out
    );
    let text = place.read("r.toml");
    place.write(
        "r.toml",
        &format!("{text}\n[resolutions.f_carriers]\naction = \"skip\"\n"),
    );
    let ran = place
        .run(&["resolve", "check", "p.json", "r.toml"])
        .exits(0);
    assert_eq!(ran.out, "Everything is decided: 2 dependencies.\n");
    // Decisions are not written over.
    let ran = place
        .run(&["resolve", "init", "p.json", "-o", "r.toml"])
        .exits(2);
    assert!(ran.err.contains("--force"), "{}", ran.err);
    assert!(place.read("r.toml").contains("skip"));
    place
        .run(&["resolve", "init", "p.json", "-o", "r.toml", "--force", "-q"])
        .exits(0);
    assert_eq!(place.read("r.toml"), text);
}

/// A file of an upgrade decides about dependencies, too.
#[test]
fn what_a_file_decides_about_an_upgrade_is_left_to_its_plan() {
    let place = Place::with(&[("p.json", &tiny())]);
    place.write(
        "r.toml",
        "upgrade = true\n[decisions.f_x]\nlabel = \"ours\"\n",
    );
    let ran = place
        .run(&["resolve", "check", "p.json", "r.toml"])
        .exits(0);
    assert!(ran.err.contains("tplkit plan --upgrade"), "{}", ran.err);
}

#[test]
fn without_a_file_the_proposals_are_checked() {
    let place = Place::with(&[("p.json", &links()), ("t.json", &tiny())]);
    place.run(&["resolve", "check", "t.json"]).exits(0);
    let document = place
        .run(&["resolve", "check", "p.json", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["refusals"][0]["code"], "mapping_required");
    assert_eq!(document["refusals"][0]["ref"], "f_carriers");
}

#[test]
fn the_destination_is_ranked_and_checked_against() {
    let place = Place::with(&[("p.json", &links())]);
    // A destination that has what is missing: the package itself, with its dependencies created.
    let far = links()
        .replace("\"countries\"", "\"x\"")
        .replace("\"clients\"", "\"carriers\"")
        .replace("\"Clients\"", "\"Carriers\"");
    place.write("d.json", &far);
    let ran = place
        .run(&["resolve", "suggest", "p.json", "--into", "d.json"])
        .exits(0);
    assert!(ran.out.contains("f_carriers\n  "), "{}", ran.out);
    let document = place
        .run(&[
            "resolve", "suggest", "p.json", "--into", "d.json", "--format", "json",
        ])
        .exits(0)
        .json();
    let suggestions = document["suggestions"].as_array().expect("a list");
    let carriers = suggestions
        .iter()
        .find(|suggestion| suggestion["ref"] == "f_carriers")
        .expect("a suggestion");
    assert_eq!(carriers["candidates"][0]["name"], "carriers");
    assert!(carriers["candidates"][0]["columns"]["c_carriers_name"].is_string());
    // A table that the destination does not have is refused.
    place.write(
        "r.toml",
        "[resolutions.f_carriers]\naction = \"map\"\nid = \"0198d0c4-6d0b-7a56-9c0e-3b1f7a2c4d5e\"\n",
    );
    let ran = place
        .run(&["resolve", "check", "p.json", "r.toml", "--into", "d.json"])
        .exits(1);
    assert!(
        ran.out.contains("mapping_feature_not_found f_carriers"),
        "{}",
        ran.out
    );
}

#[test]
fn what_cannot_be_used_is_reported() {
    let place = Place::with(&[
        ("bad.json", &faulty()),
        ("p.json", &tiny()),
        (
            "r.json",
            r#"{"resolutions": {"f_x": {"action": "skip"}, "$f_x": {"action": "skip"}}}"#,
        ),
        ("shape.json", r#"{"rowModes": {}}"#),
    ]);
    for words in [
        &["resolve", "init", "bad.json"][..],
        &["resolve", "check", "bad.json"],
        &["resolve", "suggest", "bad.json", "--into", "p.json"],
    ] {
        let ran = place.run(words).exits(1);
        assert!(ran.out.contains("M001"), "{words:?} {}", ran.out);
    }
    for file in ["r.json", "shape.json", "gone.toml"] {
        let ran = place.run(&["resolve", "check", "p.json", file]).exits(2);
        assert!(ran.err.contains(file), "{}", ran.err);
    }
    place.run(&["resolve", "suggest", "p.json"]).exits(2);
    place.run(&["resolve"]).exits(2);
}
