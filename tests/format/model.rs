//! The typed model: reading loses nothing, writing is canonical.

use serde_json::Value;
use tplkit::finding::{Severity, catalog};
use tplkit::json::Doc;
use tplkit::package::canonical;
use tplkit::package::model::{CellRef, Contents, ItemKind, ModelError, Package, Reason};

use crate::cases;

fn read(file: &str) -> Result<Package, ModelError> {
    Package::read(&Doc::parse_package(file).unwrap())
}

#[test]
fn reading_and_writing_a_good_package_is_formatting_it() {
    let mut files = cases::valid();
    files.extend(
        cases::folder("examples")
            .into_iter()
            .filter(|(name, _)| !name.starts_with("broken")),
    );
    for (name, file) in files {
        let package = read(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let written = package.write().unwrap();
        assert!(
            written == canonical::write(&file).unwrap(),
            "{name}:\n{written}"
        );
        assert_eq!(read(&written).unwrap(), package, "{name}");
        assert_eq!(
            Package::read(&Doc::parse(&file).unwrap()).unwrap(),
            package,
            "{name}"
        );
        let mut streamed = Vec::new();
        package.write_to(&mut streamed).unwrap();
        assert!(streamed == written.as_bytes(), "{name}");
    }
}

/// What is only warned about may be applied, so the model must hold it; what is an error is
/// either refused or held without loss.
#[test]
fn mistakes_are_refused_or_kept() {
    let expected =
        std::fs::read_to_string(cases::root().join("tests/fixtures/cases/expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    for (name, file) in cases::mutants() {
        let Ok(canonical) = canonical::write(&file) else {
            continue;
        };
        let codes = expected["mutants"][&name]["codes"].as_array().unwrap();
        let only_warned = codes
            .iter()
            .all(|code| catalog::find(code.as_str().unwrap()).unwrap().severity != Severity::Error);
        match read(&file) {
            Ok(package) => assert!(package.write().unwrap() == canonical, "{name}"),
            Err(error) => {
                assert!(!only_warned, "{name}: {error}");
                let value: Value = serde_json::from_str(&file).unwrap();
                assert!(value.pointer(&error.pointer).is_some(), "{name}: {error}");
            }
        }
    }
}

#[test]
fn odd_things_that_may_be_applied_are_kept() {
    let odd = [
        (
            "v2-bare-empty",
            "\"templateVersion\":2",
            "\"templateVersion\":2,\"semver\":3,\"more\":{\"b\":1.10,\"a\":[]}",
        ),
        (
            "bare-v1",
            "\"templateVersion\":1",
            "\"templateVersion\":1,\"items\":[{\"ref\":\"$f_a\"}],\"source\":null,\"payloads\":[{\"rows\":[1]}]",
        ),
        (
            "base-links",
            "\"dataClass\":\"reference\"",
            "\"dataClass\":[\"both\"]",
        ),
        (
            "base-links",
            "\"manifest\":",
            "\"$schema\":\"x\",\"odd\":[-0],\"manifest\":",
        ),
        (
            "base-links",
            "\"rows\":[{",
            "\"rows\":[{\"odd\":{\"z\":1,\"a\":2},",
        ),
    ];
    for (name, before, after) in odd {
        let file = cases::case(name).replacen(before, after, 1);
        assert_ne!(file, cases::case(name), "{name}: {before}");
        let package = read(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(package.write().unwrap(), canonical::write(&file).unwrap());
    }
}

#[test]
fn an_error_says_where() {
    let cases = [
        ("\"count\":3", "\"count\":-0", "/manifest/items/27/count"),
        (
            "\"keyUnique\":true",
            "\"keyUnique\":1",
            "/payloads/0/keyUnique",
        ),
        ("\"planVersion\":1,", "", "/manifest/plan"),
        (
            "\"detail\":\"blueprint\"",
            "\"detail\":\"identity\"",
            "/manifest/dependencies/0/detail",
        ),
        (
            "\"data\":{\"code\":\"A\"",
            "\"data\":0,\"x\":{\"code\":\"A\"",
            "/payloads/0/rows/0/data",
        ),
        ("\"source\":{", "\"source\":{\"id\":1,", "/manifest/source"),
    ];
    let file = cases::case("base-links");
    for (before, after, pointer) in cases {
        assert!(file.contains(before), "{before}");
        let error = read(&file.replacen(before, after, 1)).unwrap_err();
        assert_eq!(error.pointer, pointer, "{error}");
    }
    assert_eq!(
        read("{\"manifest\": 1}").unwrap_err().to_string(),
        "/manifest: expected an object, found a number"
    );
    assert_eq!(read("[]").unwrap_err().pointer, "");
}

#[test]
fn the_parts_are_typed() {
    let package = read(&cases::case("dollar-declarations")).unwrap();
    let Contents::Version2(layers) = &package.manifest.contents else {
        panic!("version 2");
    };
    assert_eq!(layers.items[0].kind, ItemKind::Feature);
    assert_eq!(
        layers.items[0].reference.as_deref(),
        Some("f_clients"),
        "the dollar is gone"
    );
    let cells = package
        .payloads()
        .iter()
        .flat_map(|entry| &entry.rows)
        .flat_map(|row| &row.refs);
    let mut lists = cells
        .flat_map(|refs| refs.values())
        .filter(|cell| matches!(cell, CellRef::Many { .. }));
    assert!(lists.next().is_some());

    let package = read(&cases::case("every-reason")).unwrap();
    let layers = package.manifest.layers().unwrap();
    assert!(
        layers
            .unresolved
            .iter()
            .any(|entry| entry.reason == Reason::NotSelected)
    );
    assert_eq!(read(&cases::case("bare-v1")).unwrap().envelope, None);
}
