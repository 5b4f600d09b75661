//! Reading never panics, and accepts exactly what `serde_json` finds well-formed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::Deserialize as _;
use serde::de::IgnoredAny;
use tplkit::json::{Doc, SyntaxKind, Value, validate};

fuzz_target!(|text: &str| {
    let verdict = validate(text);
    let doc = Doc::parse(text);
    assert_eq!(doc.as_ref().map(|_| ()).map_err(|error| *error), verdict);
    assert_eq!(Value::parse(text).map(|_| ()), verdict);

    // The package reader skips rows, so it may accept more, never less.
    let package = Doc::parse_package(text);
    assert!(package.is_ok() || verdict.is_err());

    if let Ok(doc) = &doc {
        for node in doc.all_nodes() {
            let _ = (node.pointer(), node.raw(), node.len(), node.key_span());
        }
    }
    let stricter = matches!(&verdict, Err(error) if matches!(error.kind, SyntaxKind::TooDeep | SyntaxKind::LoneSurrogate));
    if !stricter {
        let mut reader = serde_json::Deserializer::from_str(text);
        let theirs = IgnoredAny::deserialize(&mut reader).and_then(|_| reader.end());
        // The one thing that serde_json is stricter about is one level of depth.
        let deep = matches!(&theirs, Err(error) if error.to_string().starts_with("recursion limit"));
        assert!(deep || theirs.is_ok() == verdict.is_ok(), "{theirs:?} {verdict:?}");
    }
});
