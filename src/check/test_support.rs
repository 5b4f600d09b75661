//! Test support: sample packages with one change, and the findings that it causes.

use serde_json::Value;

use super::{CheckOptions, check};

/// A table, a view, a module.
pub(super) const TINY: &str = include_str!("../../tests/fixtures/cases/valid/base-tiny.json");
/// Tables that link to each other and to two dependencies, one of them with a blueprint.
pub(super) const LINKS: &str = include_str!("../../tests/fixtures/cases/valid/base-links.json");
/// Automations, update steps, dependencies of every form.
pub(super) const AUTO: &str = include_str!("../../tests/fixtures/cases/valid/base-auto.json");

/// Code and pointer of every finding.
pub(super) fn findings(text: &str, threads: usize) -> Vec<(String, String)> {
    let report = check(
        text.as_bytes(),
        &CheckOptions {
            threads,
            ..CheckOptions::default()
        },
    );
    let findings = report.findings.into_iter();
    findings
        .map(|finding| (finding.rule.code.to_owned(), finding.place.pointer))
        .collect()
}

/// Sets the value at `pointer` (an index past the end appends); JSON text, or nothing to remove it.
pub(super) fn set(package: &mut Value, pointer: &str, value: &str) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = package
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("no {parent}"));
    match parent {
        Value::Object(members) if value.is_empty() => drop(members.shift_remove(key)),
        Value::Object(members) => drop(members.insert(key.to_owned(), parse(value))),
        Value::Array(elements) => {
            let index: usize = key.parse().expect("an index");
            if value.is_empty() {
                elements.remove(index);
            } else if index == elements.len() {
                elements.push(parse(value));
            } else {
                elements[index] = parse(value);
            }
        }
        _ => panic!("{pointer} is in no container"),
    }
}

/// JSON text as a value.
pub(super) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Pointers with values, or codes with pointers.
pub(super) type Pairs<'p> = &'p [(&'p str, &'p str)];

/// Each case: changes of `base`, and the findings required; pointers are below `root`, unless they begin
/// with `!`.
pub(super) fn table(base: &str, root: &str, cases: &[(Pairs<'_>, Pairs<'_>)]) {
    let place = |pointer: &str| match pointer.strip_prefix('!') {
        Some(whole) => whole.to_owned(),
        None => format!("{root}{pointer}"),
    };
    for (changes, expected) in cases {
        let mut package = parse(base);
        for (pointer, value) in *changes {
            set(&mut package, &place(pointer), value);
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(code, pointer)| ((*code).to_owned(), place(pointer)))
            .collect();
        assert_eq!(findings(&package.to_string(), 1), expected, "{changes:?}");
    }
}
