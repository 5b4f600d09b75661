//! Canonical writing.

use proptest::prelude::*;
use tplkit::json::{Doc, JsonKind, Node, SyntaxError, SyntaxKind, write_string};
use tplkit::package::canonical::{CanonicalError, write, write_to};

use crate::arbitrary::{Json, json};
use crate::cases;

/// Whether two values hold the same: order of members aside, digits as written.
fn same(a: Node<'_>, b: Node<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (JsonKind::String(a), JsonKind::String(b)) => a == b || a.strip_prefix('$') == Some(b),
        (JsonKind::Array, JsonKind::Array) => {
            a.len() == b.len() && a.elements().zip(b.elements()).all(|(a, b)| same(a, b))
        }
        (JsonKind::Object, JsonKind::Object) => {
            let found = |member: Node<'_>| {
                b.get(member.key().unwrap())
                    .is_some_and(|b| same(member, b))
            };
            a.len() == b.len() && a.members().all(found)
        }
        _ => a.raw() == b.raw(),
    }
}

/// Writes, and holds the promises that every output must keep.
fn written(text: &str) -> String {
    let out = write(text).unwrap();
    assert_eq!(write(&out).unwrap(), out, "writing again changes something");
    let (before, after) = (Doc::parse(text).unwrap(), Doc::parse(&out).unwrap());
    assert!(
        same(before.root(), after.root()),
        "the content changed:\n{text}\n{out}"
    );
    assert!(out.ends_with('\n') && !out.ends_with("\n\n") && !out.contains('\r'));
    let mut streamed = Vec::new();
    write_to(text, &mut streamed).unwrap();
    assert!(streamed == out.as_bytes(), "the streamed form differs");
    out
}

#[test]
fn canonical_form_matches_this_text() {
    let text = r#"{"payloads":[{"rows":[{"refs":{"to":{"featureRef":"$f_b","rowUid":"u_2","valueColumn":"n"}},
        "data":{"z":1.10,"b":"\u0041\/","a":[],"to":{"y":1,"x":{}}},"uid":"u_1"},{"data":{},"uid":"u_2"}],
        "columns":["to","a","b"],"featureRef":"$f_a","count":2}],
        "more":{"b":[1,2],"a":{}},
        "manifest":{"zebra":null,"ape":true,"plan":{"steps":[{"args":{"config":{"b":1,"a":[]},"name":"x","extra":1,
        "featureId":"$f_a"},"ref":"$c_x","tool":"create_column","uid":"u_3"}]},"templateVersion":2}}"#;
    let expected = r#"{
  "manifest": {
    "templateVersion": 2,
    "plan": {
      "steps": [
        {
          "uid": "u_3",
          "tool": "create_column",
          "ref": "c_x",
          "args": {
            "featureId": "$f_a",
            "name": "x",
            "config": {
              "a": [],
              "b": 1
            },
            "extra": 1
          }
        }
      ]
    },
    "ape": true,
    "zebra": null
  },
  "payloads": [
    {
      "featureRef": "f_a",
      "count": 2,
      "columns": [
        "to",
        "a",
        "b"
      ],
      "rows": [
        {"uid": "u_1", "data": {"to": {"x": {}, "y": 1}, "a": [], "b": "A/", "z": 1.10}, "refs": {"to": {"rowUid": "u_2", "featureRef": "f_b", "valueColumn": "n"}}},
        {"uid": "u_2", "data": {}}
      ]
    }
  ],
  "more": {
    "a": {},
    "b": [
      1,
      2
    ]
  }
}
"#;
    assert_eq!(written(text), expected);
}

#[test]
fn every_sample_keeps_its_content() {
    let files = [cases::valid(), cases::folder("examples")].concat();
    for (name, text) in files {
        println!("{name}");
        written(&text);
    }
}

#[test]
fn the_examples_are_written_like_this() {
    for (name, text) in cases::folder("examples") {
        assert!(
            write(&text).unwrap() == text,
            "tplkit fmt examples/{name}.json"
        );
    }
}

#[test]
fn mistakes_are_kept_too() {
    for (name, text) in cases::mutants() {
        println!("{name}");
        match write(&text) {
            Ok(_) => drop(written(&text)),
            Err(CanonicalError::Syntax(_)) => assert!(name.starts_with("J001"), "{name}"),
            Err(CanonicalError::DuplicateKey { .. }) => assert!(name.starts_with("J002"), "{name}"),
            Err(CanonicalError::NotAPackage) => {
                assert!(
                    name.starts_with("J003") || name.starts_with("P001"),
                    "{name}"
                );
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
}

#[test]
fn one_content_has_one_form() {
    let links = write(&cases::case("base-links")).unwrap();
    for name in ["reversed-keys", "dollar-declarations"] {
        assert!(write(&cases::case(name)).unwrap() == links, "{name}");
    }
    let bare = write(&cases::case("bare-v1")).unwrap();
    assert!(write(&cases::case("bare-v1-bom")).unwrap() == bare);
    assert!(write(&cases::case("bare-v1").replace(',', ",\r\n")).unwrap() == bare);
    assert!(!bare.contains("manifest"), "a bare manifest stays bare");
}

#[test]
fn only_declarations_lose_their_dollar() {
    let text = |dollar: &str| {
        format!(
            r#"{{"templateVersion": 2, "items": [{{"ref": "{dollar}f_a", "label": "$f_a"}}],
            "dependencies": [{{"ref": "{dollar}f_d", "identity": {{"columns": [{{"ref": "{dollar}c_d"}}]}},
              "blueprint": {{"steps": [{{"ref": "{dollar}f_d", "tool": "create_feature", "args": {{"name": "$f_a"}}}}]}}}}],
            "unresolved": [{{"ref": "{dollar}f_d", "path": "$f_a"}}],
            "plan": {{"externalRefs": ["{dollar}f_d", "{dollar}c_d"], "target": {{"workspaceId": "$workspace"}},
              "steps": [{{"ref": "{dollar}f_a", "tool": "create_rail", "args": {{"moduleId": "$m_a", "config": [{{"views": ["$v_a"], "$f_a": "$f_a"}}]}}}}]}}}}"#
        )
    };
    assert_eq!(written(&text("$")), write(&text("")).unwrap());
    // Outside the grammar nothing is tolerated, so nothing is taken away.
    let odd =
        r#"{"templateVersion": 2, "items": [{"ref": "$$f_a"}, {"ref": "$"}, {"ref": "$100"}]}"#;
    assert!(written(odd).contains("$$f_a"));
}

#[test]
fn a_repeated_key_is_refused_with_its_place() {
    let cases = [
        (
            r#"{"templateVersion": 1, "plan": {"a": {"b": 1, "\u0062": 2}}}"#,
            "/plan/a/b",
            r#""\u0062""#,
        ),
        (
            r#"{"manifest": {"templateVersion": 1}, "payloads": [{"rows": [{}, {"data": {"n~": [{"k": 1, "j": 2, "k": 3}]}}]}]}"#,
            "/payloads/0/rows/1/data/n~0/0/k",
            r#""k""#,
        ),
        (
            r#"{"manifest": {"templateVersion": 1}, "payloads": [{"rows": [{"uid": 1, "uid": 1}]}]}"#,
            "/payloads/0/rows/0/uid",
            r#""uid""#,
        ),
        (
            r#"{"manifest": {"templateVersion": 1}, "payloads": [{"rows": [], "rows": []}]}"#,
            "/payloads/0/rows",
            r#""rows""#,
        ),
    ];
    for (text, expected, token) in cases {
        let Err(CanonicalError::DuplicateKey { pointer, span, .. }) = write(text) else {
            panic!("{text}");
        };
        assert_eq!(pointer, expected);
        assert_eq!(&text[span.clone()], token);
        assert!(
            text[..span.start].contains(token) || token.contains("u0062"),
            "the second one"
        );
    }
}

#[test]
fn broken_text_is_refused_at_its_first_error() {
    let broken = [
        (r#"{"templateVersion": 1, }"#, 21, SyntaxKind::TrailingComma),
        (
            r#"{"manifest": {"templateVersion": 1}, "payloads": [{"rows": [1, tru]}]}"#,
            63,
            SyntaxKind::BadLiteral,
        ),
        (
            r#"{"manifest": {"templateVersion": 1}, "payloads": [{"rows": [}], "x": 01}]}"#,
            60,
            SyntaxKind::ExpectedValue,
        ),
        (
            r#"{"manifest": {"templateVersion": 1}, "payloads": [{"rows": ["]}]}"#,
            60,
            SyntaxKind::UnclosedString,
        ),
        (
            r#"{"payloads": [{"rows": [tru]}]}"#,
            24,
            SyntaxKind::BadLiteral,
        ),
        (
            r#"{"a": 1, "a": 2, "manifest": {"templateVersion": 1}, "payloads": [{"rows": [01]}]}"#,
            76,
            SyntaxKind::BadNumber,
        ),
    ];
    for (text, offset, kind) in broken {
        match write(text) {
            Err(CanonicalError::Syntax(error)) => {
                assert_eq!(error, SyntaxError { offset, kind }, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn other_json_is_no_package() {
    for text in [
        "[]",
        "{}",
        "1",
        r#"{"manifest": {}}"#,
        r#"{"manifest": null, "templateVersion": 2}"#,
        r#"{"a": {"templateVersion": 2}}"#,
    ] {
        assert!(
            matches!(write(text), Err(CanonicalError::NotAPackage)),
            "{text}"
        );
    }
}

#[test]
fn rows_nest_as_deep_as_a_file_may() {
    let file = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"manifest": {{"templateVersion": 1}}, "payloads": [{{"rows": [{{"data": {{"j": {open}{close}}}}}]}}]}}"#
        )
    };
    // Six containers stand around the cell.
    written(&file(122));
    let refused = write(&file(123)).unwrap_err();
    assert!(matches!(
        refused,
        CanonicalError::Syntax(SyntaxError {
            kind: SyntaxKind::TooDeep,
            ..
        })
    ));
}

#[test]
fn a_bare_manifest_has_no_payloads() {
    let text = r#"{"templateVersion": 1, "payloads": [{"rows": [{"uid": 1, "data": {"b": 1, "a": 2}}], "columns": ["b"]}]}"#;
    let out = written(text);
    assert!(
        out.find("\"a\"") < out.find("\"b\": 1"),
        "an unknown field is a free value:\n{out}"
    );
}

/// A package with arbitrary values where the format leaves them free.
fn package(config: &Json, cells: &Json, extra: &Json, spelling: u64) -> String {
    let write = |value: &Json| value.text(spelling);
    let (config, cells, extra) = (write(config), write(cells), write(extra));
    let row = if spelling.is_multiple_of(2) {
        format!(r#"{{"uid": "u_1", "data": {{"a": {cells}, "b": {extra}}}, "odd": {extra}}}"#)
    } else {
        format!(r#"{{"odd":{extra},"data":{{"b":{extra},"a":{cells}}},"uid":"u_1"}}"#)
    };
    let step =
        format!(r#"{{"tool": "create_feature", "args": {{"config": {config}, "x": {extra}}}}}"#);
    let manifest = format!(r#"{{"plan": {{"steps": [{step}, {extra}]}}, "templateVersion": 2}}"#);
    if spelling.is_multiple_of(2) {
        format!(
            r#"{{"manifest": {manifest}, "payloads": [{{"columns": ["b", "a"], "rows": [{row}, {extra}]}}]}}"#
        )
    } else {
        format!(
            r#"{{"payloads":[{{"rows":[{row},{extra}],"columns":["b","a"]}}],"manifest":{manifest}}}"#
        )
    }
}

proptest! {
    #[test]
    fn arbitrary_content_has_one_form(config in json(), cells in json(), extra in json(), spelling: u32) {
        let one = written(&package(&config, &cells, &extra, 0));
        let other = written(&package(&config, &cells, &extra, u64::from(spelling)));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn strings_are_read_back(text: String) {
        let token = write_string(&text);
        let doc = Doc::parse(&token).unwrap();
        prop_assert_eq!(doc.root().as_str(), Some(text.as_str()));
        prop_assert_eq!(serde_json::from_str::<String>(&token).unwrap(), text);
    }
}
