//! `tplkit diff`.

use crate::support::{Place, tiny};

#[test]
fn differences_are_reported_in_three_forms() {
    let place = Place::with(&[
        ("a.json", &tiny()),
        ("b.json", &tiny().replace("\"Title\"", "\"Head*line\"")),
        ("broken.json", "{"),
    ]);
    let same = place
        .run(&["diff", "a.json", "a.json", "--exit-code"])
        .exits(0);
    assert_eq!(same.out, "No difference (rows not compared)\n");
    let ran = place.run(&["diff", "a.json", "b.json"]).exits(0);
    assert!(
        ran.out.contains("label: \"Title\" → \"Head*line\""),
        "{}",
        ran.out
    );
    place
        .run(&["diff", "a.json", "b.json", "--exit-code"])
        .exits(1);
    let md = place
        .run(&["diff", "a.json", "b.json", "--format", "md"])
        .exits(0)
        .out;
    assert!(md.contains("- changed `notes.title` Head\\*line"), "{md}");
    assert!(
        md.contains("  - `label`: `\"Title\"` → `\"Head*line\"`"),
        "{md}"
    );
    let document = place
        .run(&[
            "diff",
            "a.json",
            "b.json",
            "--rows",
            "--exit-code",
            "--format",
            "json",
        ])
        .exits(1)
        .json();
    assert_eq!(document["outcome"], "findings");
    assert_eq!(document["changes"][0]["fields"][0]["new"], "Head*line");
    assert_eq!(document["rows"], serde_json::json!([]));
    place.run(&["diff", "a.json", "broken.json"]).exits(1);
    let document = place
        .run(&["diff", "broken.json", "a.json", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["files"][0]["path"], "broken.json");
    // What a check calls a package is one here, too.
    for (name, text, kind) in [
        ("broken.json", "{", "package"),
        ("other.json", "{}", "plain"),
    ] {
        place.write(name, text);
        for words in [
            &["check", name][..],
            &["diff", name, "a.json"],
            &["unpack", name, "d"],
        ] {
            let words = [words, &["--format", "json"]].concat();
            let document = place.run(&words).exits(1).json();
            assert_eq!(document["files"][0]["kind"], kind, "{words:?}");
        }
    }
    place.run(&["diff", "a.json", "gone.json"]).exits(2);
    place.run(&["diff", "-", "-"]).exits(2);
    place
        .feed(&["diff", "-", "a.json", "--exit-code"], tiny().as_bytes())
        .exits(0);
}
