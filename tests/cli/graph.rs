//! `tplkit graph`.

use std::path::Path;

use crate::markup::assert_well_formed;
use crate::support::{Place, tiny};

const KINDS: [&str; 5] = ["refs", "plan", "deps", "automations", "er"];

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
            (
                "mermaid",
                if kind == "er" {
                    "erDiagram"
                } else {
                    "flowchart"
                },
            ),
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

#[test]
fn tables_have_their_columns_and_one_edge_for_each_link() {
    let text = example("service-desk.json");
    let package: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let place = Place::with(&[("p.json", &text)]);
    let words = ["graph", "p.json", "--kind", "er", "--format", "json"];
    let document = place.run(&words).exits(0).json();
    let nodes = document["nodes"].as_array().expect("nodes");
    let tables = nodes.iter().filter(|node| node["kind"] == "table");
    let columns: usize = tables
        .map(|node| node["columns"].as_array().map_or(0, Vec::len))
        .sum();
    let steps = package["manifest"]["plan"]["steps"].as_array();
    let created = steps.into_iter().flatten();
    let created: Vec<_> = created
        .filter(|step| step["tool"] == "create_column")
        .collect();
    assert_eq!(columns, created.len());
    let links = created
        .iter()
        .filter(|step| step["args"]["config"].get("linkedFeatureId").is_some());
    let edges = document["edges"].as_array().expect("edges");
    assert_eq!(edges.len(), links.count());
    assert!(!edges.is_empty());
}

#[test]
fn a_graph_can_be_cut_to_what_is_around_a_ref() {
    let place = Place::with(&[("p.json", &example("service-desk.json"))]);
    let around = |kind: &str, reference: &str| {
        let words = [
            "graph", "p.json", "--kind", kind, "--format", "json", "--focus", reference,
        ];
        place.run(&words)
    };
    let document = around("er", "$f_tickets").exits(0).json();
    let edges = document["edges"].as_array().expect("edges");
    assert!(!edges.is_empty());
    let touches =
        |edge: &serde_json::Value| edge["from"] == "f_tickets" || edge["to"] == "f_tickets";
    assert!(edges.iter().all(touches), "{document}");
    let nodes = document["nodes"].as_array().expect("nodes");
    let joined = |id: &serde_json::Value| {
        id == "f_tickets"
            || edges
                .iter()
                .any(|edge| edge["from"] == *id || edge["to"] == *id)
    };
    assert!(nodes.iter().all(|node| joined(&node["id"])), "{document}");
    for kind in ["refs", "plan"] {
        assert!(
            !around(kind, "f_tickets").exits(0).json()["nodes"]
                .as_array()
                .expect("nodes")
                .is_empty()
        );
    }
    let ran = around("er", "f_ticket").exits(2);
    assert!(ran.out.contains("did you mean `f_tickets`?"), "{}", ran.out);
    // By its label, or without its kind.
    for (kind, near, meant) in [
        ("er", "Tickets", "f_tickets"),
        ("refs", "Board", "v_tickets_board"),
        ("refs", "boards", "v_tickets_board"),
    ] {
        let ran = around(kind, near).exits(2);
        let expected = format!("did you mean `{meant}`?");
        assert!(ran.out.contains(&expected), "{near}: {}", ran.out);
    }
    let ran = around("er", "weather").exits(2);
    assert!(!ran.out.contains("did you mean"), "{}", ran.out);
    let module = place
        .run(&["graph", "p.json", "--kind", "er", "--focus", "f_none"])
        .exits(2);
    assert!(module.err.contains("no ref"), "{}", module.err);
}
