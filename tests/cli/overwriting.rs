//! No result goes over what it is made of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Place, faulty, fixable, tiny};

const WORKSPACE: &str = "0198a000-0000-7000-8000-000000000001";

/// A package, another one, an unpacked one, and a baseline.
fn place() -> Place {
    let place = Place::with(&[("p.json", &fixable()), ("d/q.json", &faulty())]);
    place.run(&["unpack", "d/q.json", "lay"]).exits(0);
    place.write("good/p.json", &tiny());
    let unpack = ["unpack", "good/p.json", "good/lay"];
    place.run(&unpack).exits(0);
    let registry = include_str!("../../schemas/definitions.json");
    place.write("registry.json", registry);
    place.write("tplkit.toml", "definitions = \"registry.json\"\n");
    let words = ["check", "d", "--baseline", "known.json", "--write-baseline"];
    place.run(&words).exits(0);
    place
}

/// The bytes of every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            let bytes = fs::read(&path).expect("bytes");
            files.insert(path.to_string_lossy().into_owned(), bytes);
        }
    }
    files
}

#[test]
fn a_result_over_its_input_is_refused() {
    let place = place();
    let before = files(place.dir.path());
    let plan = format!("plan p.json --workspace {WORKSPACE} --out p.json");
    for line in [
        "check p.json -o p.json",
        "check p.json -o ./p.json --format json",
        "check p.json --fix -o p.json",
        "check d -o d/q.json",
        "check lay -o lay/tplkit.index",
        "check . -o lay/template.json",
        "check p.json --definitions known.json -o known.json",
        "check d --baseline known.json -o known.json",
        "check d --baseline new.json --write-baseline -o new.json",
        "promote p.json -o p.json",
        "promote d -o d/q.json",
        "graph p.json -o p.json",
        "report p.json -o p.json",
        "report lay -o lay/template.json",
        "diff p.json d/q.json -o p.json",
        "diff p.json d/q.json -o d/q.json",
        "simulate p.json --save p.json",
        "simulate p.json --into d/q.json --save d/q.json",
        "pack lay -o lay/template.json",
        "fmt lay -o lay/template.json",
        "migrate good/lay -o good/lay/template.json",
        "resolve init p.json -o p.json --force",
        "check p.json -o tplkit.toml",
        "check p.json -o registry.json",
        "graph p.json -o registry.json",
        "report p.json -o registry.json",
        "check . --fix -o p.json",
        plan.as_str(),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = place.run(&words).exits(2);
        assert!(
            ran.err.contains("` is an input of this command"),
            "{line}\n{}",
            ran.err
        );
        assert!(ran.err.contains("name another file"), "{line}\n{}", ran.err);
        assert_eq!(files(place.dir.path()), before, "{line}");
    }
}

#[test]
fn a_file_that_is_no_baseline_is_not_made_one() {
    let place = place();
    place.write("empty.json", "\n");
    let before = files(place.dir.path());
    for name in ["p.json", "lay/template.json"] {
        let words = ["check", "d", "--baseline", name, "--write-baseline"];
        let ran = place.run(&words).exits(2);
        assert!(ran.err.contains("not a baseline"), "{name}\n{}", ran.err);
        assert!(ran.err.contains("remove the file"), "{name}\n{}", ran.err);
        assert_eq!(files(place.dir.path()), before, "{name}");
    }
    let words = ["check", "d", "--baseline", "-", "--write-baseline"];
    let ran = place.feed(&words, b"").exits(2);
    assert!(ran.err.contains("name a file"), "{}", ran.err);
    assert_eq!(files(place.dir.path()), before);
    for name in ["known.json", "empty.json"] {
        let words = ["check", "d", "--baseline", name, "--write-baseline"];
        place.run(&words).exits(0);
    }
    assert_eq!(place.read("empty.json"), place.read("known.json"));
}

#[test]
fn what_loses_nothing_goes_on() {
    let place = Place::with(&[
        ("p.json", &tiny()),
        ("crm.json", include_str!("../../examples/crm.json")),
        ("stock.json", include_str!("../../examples/inventory.json")),
    ]);
    place.run(&["unpack", "p.json", "lay"]).exits(0);
    for line in [
        // The report of an earlier run lies in the folder.
        "check . --format json -o found.json",
        "check . --format json -o found.json",
        "check p.json found.json --skip-plain --format json -o found.json",
        "fmt p.json -o p.json",
        "migrate p.json -o p.json",
        "migrate lay -o lay",
        "pack lay -o lay/packed.json",
        "unpack p.json lay --force",
        // A workspace grows.
        "simulate stock.json --save w.json",
        "simulate crm.json --into w.json --no-rows --save w.json",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        place.run(&words).exits(0);
    }
    #[cfg(unix)]
    for line in ["check - -o /dev/stdout", "report - -o /dev/stdout"] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = place.feed(&words, tiny().as_bytes()).exits(0);
        assert!(!ran.out.is_empty(), "{line}");
    }
}
