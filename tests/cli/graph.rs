//! `tplkit graph`.

use std::path::Path;

use crate::markup::assert_well_formed;
use crate::support::{Place, tiny};

const KINDS: [&str; 4] = ["refs", "plan", "deps", "automations"];

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    std::fs::read_to_string(path.join(name)).expect("example")
}

#[test]
fn every_kind_in_every_format() {
    let place = Place::with(&[("p.json", &example("service-desk.json"))]);
    for kind in KINDS {
        for (format, begins) in [
            ("dot", "digraph"),
            ("mermaid", "flowchart"),
            ("svg", "<svg"),
            ("json", "{"),
        ] {
            let words = ["graph", "p.json", "--kind", kind, "--format", format];
            let ran = place.run(&words).exits(0);
            assert!(ran.out.starts_with(begins), "{kind} {format}: {}", ran.out);
            assert_eq!(ran.out, place.run(&words).out, "the same bytes every time");
            assert_eq!(ran.err, "");
        }
        let words = ["graph", "p.json", "--kind", kind, "--format", "svg"];
        assert_well_formed(&place.run(&words).out);
    }
}

#[test]
fn the_document_names_nodes_by_id() {
    let place = Place::with(&[("p.json", &tiny())]);
    let document = place
        .run(&["graph", "p.json", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["schemaVersion"], 1);
    assert_eq!(document["outcome"], "clean");
    assert_eq!(document["kind"], "refs");
    let ids: Vec<&str> = document["nodes"]
        .as_array()
        .expect("list")
        .iter()
        .filter_map(|node| node["id"].as_str())
        .collect();
    assert_eq!(ids, ["f_notes", "v_notes", "m_main", "r_home"]);
    for edge in document["edges"].as_array().expect("list") {
        for end in ["from", "to"] {
            assert!(ids.contains(&edge[end].as_str().expect("id")), "{edge}");
        }
    }
}

#[test]
fn a_picture_goes_to_a_file() {
    let place = Place::with(&[("p.json", &tiny()), ("broken.json", "{")]);
    let ran = place
        .run(&["graph", "p.json", "--format", "svg", "-o", "p.svg"])
        .exits(0);
    assert_eq!(ran.out, "");
    let picture = place.read("p.svg");
    assert!(picture.contains("prefers-color-scheme"));
    assert!(!picture.contains("http") || picture.matches("http").count() == 1);
    let ran = place
        .run(&["graph", "broken.json", "-o", "broken.svg"])
        .exits(1);
    assert!(ran.out.contains("J001"), "{}", ran.out);
    assert!(!place.path("broken.svg").exists());
    let document = place
        .run(&["graph", "broken.json", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["outcome"], "findings");
    let document = place
        .run(&["graph", "gone.json", "--format", "json"])
        .exits(2)
        .json();
    assert_eq!(document["outcome"], "failed");
    place.run(&["graph", "p.json", "--kind", "all"]).exits(2);
    place.run(&["graph", "p.json", "-o", "gone/p.dot"]).exits(2);
}
