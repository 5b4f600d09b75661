//! `tplkit report`.

use std::path::Path;

use crate::markup::assert_well_formed;
use crate::support::{Place, faulty, tiny};

#[test]
fn a_page_is_written_whole() {
    let place = Place::with(&[("p.json", &tiny()), ("bad.json", &faulty())]);
    let ran = place.run(&["report", "p.json", "-o", "p.html"]).exits(0);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains("`p.html` written"), "{}", ran.err);
    let page = place.read("p.html");
    assert_well_formed(&page);
    assert!(page.contains("Fit to apply") && page.contains("p.json"));
    assert_eq!(place.run(&["report", "p.json"]).exits(0).out, page);
    let page = place.run(&["report", "bad.json"]).exits(0).out;
    assert_well_formed(&page);
    assert!(page.contains("Not fit to apply") && page.contains("M001 bad-scope"));
}

#[test]
fn every_example_has_a_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let place = Place::new();
    for entry in std::fs::read_dir(folder).expect("examples") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|end| end == "json") {
            let ran = place
                .run(&["report", path.to_str().expect("path")])
                .exits(0);
            assert_well_formed(&ran.out);
            assert!(
                !ran.out.contains(env!("CARGO_MANIFEST_DIR")),
                "no folder of this machine"
            );
        }
    }
}

#[test]
fn the_document_tells_what_the_page_says() {
    let place = Place::with(&[("bad.json", &faulty()), ("broken.json", "{")]);
    let words = ["report", "bad.json", "--format", "json"];
    let document = place.run(&words).exits(0).json();
    assert_eq!(document["outcome"], "clean");
    assert_eq!(document["summary"]["errors"], 1);
    assert_eq!(document["promotion"].as_array().map(Vec::len), Some(5));
    assert!(
        document["page"]
            .as_str()
            .is_some_and(|page| page.starts_with("<!doctype html>"))
    );
    let mut words = words.to_vec();
    words.extend(["-o", "bad.html"]);
    let document = place.run(&words).exits(0).json();
    assert_eq!(document["output"], "bad.html");
    assert!(document.get("page").is_none());
    assert!(place.path("bad.html").exists());
    let ran = place
        .run(&["report", "broken.json", "-o", "x.html"])
        .exits(1);
    assert!(ran.out.contains("J001") && !place.path("x.html").exists());
    let document = place
        .run(&["report", "gone.json", "--format", "json"])
        .exits(2)
        .json();
    assert_eq!(document["outcome"], "failed");
}

/// On a telephone too, where the bar stands above the content and the list folded up in it.
#[test]
fn the_bar_of_a_page_leads_to_each_table() {
    let place = Place::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/crm.json");
    let words = ["report", example.to_str().expect("path")];
    let page = place.run(&words).exits(0).out;
    let (_, bar) = page.split_once("<nav").expect("a bar");
    let (bar, content) = bar.split_once("</nav>").expect("an end");
    let (_, list) = bar
        .split_once("<details class=\"within\"><summary>Go to a table</summary>")
        .expect("a list that opens without a script");
    let tables = content.matches("id=\"table-").count();
    assert!(tables > 1, "{content}");
    for table in 0..tables {
        assert!(list.contains(&format!("href=\"#table-{table}\"")), "{list}");
    }
    let (_, style) = page.split_once("<style>").expect("a style");
    let (style, _) = style.split_once("</style>").expect("an end");
    let hides = |rule: &str| rule.contains(".within") && rule.contains("display:none");
    assert!(!style.split('}').any(hides), "{style}");
}
