//! Canonical writing never panics, keeps the content, and is done after once; the model writes
//! what it read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tplkit::json::{Doc, Value, validate};
use tplkit::package::canonical::{CanonicalError, write, write_to};
use tplkit::package::model::Package;

fuzz_target!(|text: &str| {
    let written = match write(text) {
        Ok(written) => written,
        Err(CanonicalError::Syntax(error)) => {
            assert!(validate(text).is_err(), "{error} in a good text");
            return;
        }
        Err(_) => return,
    };
    assert_eq!(validate(text), Ok(()));
    assert!(write(&written).expect("canonical text") == written);
    let mut streamed = Vec::new();
    write_to(text, &mut streamed).expect("a vector takes everything");
    assert!(streamed == written.as_bytes());

    let (before, after) = (Value::parse(text), Value::parse(&written));
    assert!(same(&before.expect("well-formed"), &after.expect("well-formed")));

    let doc = Doc::parse_package(text).expect("well-formed");
    if let Ok(package) = Package::read(&doc) {
        assert!(package.write().expect("no repeated keys") == written);
    }
});

/// Equal, but for the dollars of declarations.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b || a.strip_prefix('$') == Some(b),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
