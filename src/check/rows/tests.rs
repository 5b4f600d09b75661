//! Tests: small packages with one change, and the findings that it causes.

use proptest::prelude::*;

use crate::check::test_support::{LINKS, TINY, findings, parse, set, table};
use crate::check::{CheckOptions, check};
use crate::json::{SyntaxKind, validate};

const CLIENTS: &str = "/payloads/0/rows";
const ORDERS: &str = "/payloads/2/rows";

#[test]
fn cells_hold_what_their_columns_store() {
    table(
        LINKS,
        ORDERS,
        &[
            (&[("/0/data/due", "null")], &[]),
            (&[("/0/data/due", "\"\"")], &[]),
            (&[("/0/data/due", "\"2024-02-29\"")], &[]),
            (
                &[("/0/data/due", "\"2025-02-29\"")],
                &[("R017", "/0/data/due")],
            ),
            (&[("/0/data/done", "\"\"")], &[]),
            (&[("/0/data/done", "0")], &[("R017", "/0/data/done")]),
            (&[("/0/data/state", "\"paid\"")], &[]),
            (
                &[("/0/data/state", "\"Paid\"")],
                &[("R017", "/0/data/state")],
            ),
            (&[("/1/data/flags", "[]")], &[]),
            (
                &[("/1/data/flags", "[\"b\",\"x\"]")],
                &[("R017", "/1/data/flags/1")],
            ),
            (
                &[("/1/data/flags", "[\"a\",\"b\",\"a\"]")],
                &[("R017", "/1/data/flags/2")],
            ),
            (&[("/1/data/flags", "\"a\"")], &[("R017", "/1/data/flags")]),
            (&[("/1/data/meta", "[true,null,{}]")], &[]),
            (
                &[("/2/data/at", "\"2025-02-28T10:00:00\"")],
                &[("R017", "/2/data/at")],
            ),
            (&[("/2/data/client", "{}")], &[("R017", "/2/data/client")]),
        ],
    );
}

#[test]
fn numbers_keep_their_digits() {
    let cases = [
        ("10.5", vec![]),
        ("10.500", vec![]),
        ("1050e-2", vec![]),
        ("10.505", vec!["R022"]),
        ("1e-3", vec!["R022"]),
        ("-0.001", vec!["R022"]),
        ("1e2", vec![]),
        ("1e400", vec!["R017"]),
        ("1e-400", vec!["R017"]),
        ("1234567890123456789012345678901234.5", vec!["R017"]),
    ];
    for (number, expected) in cases {
        let text = LINKS.replacen("\"total\": 10.5", &format!("\"total\": {number}"), 1);
        let text = text.replacen("\"total\":10.5", &format!("\"total\":{number}"), 1);
        assert!(text.contains(number), "the base has such an amount");
        let expected: Vec<_> = expected
            .iter()
            .map(|code| ((*code).to_owned(), format!("{ORDERS}/0/data/total")))
            .collect();
        assert_eq!(findings(&text, 1), expected, "{number}");
    }
    let nested = LINKS.replacen("{\"organization\":1}", "{\"a/b\":[1,{\"c\":1e400}]}", 1);
    let expected = vec![("R017".to_owned(), format!("{ORDERS}/1/data/meta/a~1b/1/c"))];
    assert_eq!(findings(&nested, 1), expected);
}

#[test]
fn uniqueness_and_requirements() {
    table(
        LINKS,
        CLIENTS,
        &[
            (&[("/1/data/sku", "\"s1\"")], &[("R018", "/1/data/sku")]),
            (&[("/1/data/sku", "\"S1\"")], &[]),
            (&[("/0/data/sku", "null"), ("/1/data/sku", "null")], &[]),
            (&[("/0/data/sku", ""), ("/1/data/sku", "")], &[]),
            (
                &[("/0/data/sku", "\"\""), ("/1/data/sku", "\"\"")],
                &[("R018", "/1/data/sku")],
            ),
            (&[("/1/data/name", "\"\"")], &[("R019", "/1/data/name")]),
            (&[("/1/data/name", "null")], &[("R019", "/1/data/name")]),
            (&[("/1/data/name", "")], &[("R019", "/1/data")]),
            (&[("/2/data/code", "\"c\"")], &[]),
            (&[("/2/data/code", "\"\"")], &[("R009", "/2/data/code")]),
            (&[("/2/data/code", "")], &[("R009", "/2/data")]),
            (&[("/2/data/code", "\"A\"")], &[("R009", "/2/data/code")]),
            (
                &[("/2/uid", "\"u_6cf40d8a-6f09-4ec5-8e5b-3e7eba9b398d\"")],
                &[("I002", "/2/uid")],
            ),
            (
                &[("/0/uid", "\"u_6cf40d8a-6f09-1ec5-8e5b-3e7eba9b398d\"")],
                &[("I001", "/0/uid")],
            ),
        ],
    );
}

#[test]
fn links_tell_the_same_story_twice() {
    let red = r#"{"rowUid":"u_1e5bfa6b-ebe4-4b82-a5ee-773384eaed1f","featureRef":"f_tags","valueColumn":"name"}"#;
    let blue = r#"{"rowUid":"u_eeb4de7a-fbc8-4976-a0bd-b4fe4a21f703","featureRef":"f_tags","valueColumn":"name"}"#;
    let both = format!("{{\"rows\":[{red},{blue}]}}");
    let swapped = format!("{{\"rows\":[{blue},{red}]}}");
    let dollar = blue.replace("f_tags", "$f_tags");
    let dollar = format!("{{\"rows\":[{dollar}]}}");
    let none = "{\"rows\":[]}";
    table(
        LINKS,
        ORDERS,
        &[
            // Elements without a row may be anywhere between.
            (
                &[("/0/data/tags", "[\"x\",\"red\",\"y\",\"blue\",\"z\"]")],
                &[],
            ),
            (
                &[("/0/refs/tags", &swapped)],
                &[("R014", "/0/refs/tags/rows/1")],
            ),
            (
                &[("/0/data/tags", "[\"red\"]")],
                &[("R013", "/0/refs/tags")],
            ),
            (
                &[("/0/data/tags", "[\"red\",\"red\",\"blue\"]")],
                &[("R021", "/0/data/tags/1")],
            ),
            (&[("/2/refs/tags", &both)], &[("R013", "/2/refs/tags")]),
            (
                &[("/2/data/tags", "[\"blue\",\"red\"]")],
                &[("R021", "/2/data/tags/1")],
            ),
            (&[("/2/data/tags", "[\"blue\",\"gone\"]")], &[]),
            (&[("/2/refs/tags", &dollar)], &[]),
            (&[("/2/refs/tags", none)], &[("R021", "/2/data/tags/0")]),
            (&[("/2/refs", "")], &[("R021", "/2/data/tags")]),
            (&[("/2/refs", ""), ("/2/data/tags", "[\"gone\"]")], &[]),
            (&[("/2/refs/tags", blue)], &[("R013", "/2/refs/tags")]),
            (
                &[("/2/data/client", "\"C\"")],
                &[("R021", "/2/data/client")],
            ),
            (&[("/2/data/client", "\"c\"")], &[]),
            (&[("/1/data/parent", "1")], &[("R014", "/1/data/parent")]),
            (&[("/1/data/parent", "null")], &[("R014", "/1/data/parent")]),
            (
                &[("/1/data/parent", "")],
                &[
                    ("R006", "!/payloads/2/columns/3"),
                    ("R011", "/1/refs/parent"),
                ],
            ),
            (
                &[("/1/refs/region", blue)],
                &[("R020", "/1/refs/region/featureRef")],
            ),
            (&[("/1/refs/nowhere", blue)], &[("R011", "/1/refs/nowhere")]),
            (
                &[(
                    "/1/refs/client/rowUid",
                    "\"u_3f0a9c58-d1e4-4b67-92ac-80b5e6f7d213\"",
                )],
                &[("R012", "/1/refs/client/rowUid")],
            ),
            (
                &[("/0/refs/client/valueColumn", "")],
                &[("R015", "/0/refs/client")],
            ),
            // A column that the target row does not have cannot be compared.
            (&[("/0/refs/client/valueColumn", "\"country_code\"")], &[]),
        ],
    );
}

#[test]
fn a_target_that_is_wrong_itself_is_not_reported_at_its_links() {
    let mut package = parse(LINKS);
    set(
        &mut package,
        "/payloads/0/rows/1/uid",
        "\"u_6cf40d8a-6f09-4ec5-8e5b-3e7eba9b398d\"",
    );
    assert_eq!(
        findings(&package.to_string(), 1),
        [("I002".to_owned(), "/payloads/0/rows/1/uid".to_owned())]
    );
    let mut package = parse(LINKS);
    set(&mut package, "/payloads/0/rows/1/uid", "17");
    assert_eq!(
        findings(&package.to_string(), 1),
        [("I001".to_owned(), "/payloads/0/rows/1/uid".to_owned())]
    );
}

#[test]
fn a_wrong_entry_about_links_is_reported_alone() {
    const ENTRY: &str = "/manifest/unresolved/0";
    const CELL: &str = "/payloads/2/rows/1/data/region";
    let alone = |member: &str, value: &str, code: &str, place: &str| {
        let (at, place) = (format!("{ENTRY}{member}"), format!("{ENTRY}{place}"));
        table(LINKS, "", &[(&[(&at, value)], &[(code, &place)])]);
    };
    let nobody = "\"u_00000000-0000-4000-8000-000000000000\"";
    alone("/path", "\"rows[1].data.region\"", "U006", "/path");
    alone("/path", "\"rows[1]\"", "U006", "/path");
    alone("/path", "\"rows[\"", "U006", "/path");
    alone("/uid", nobody, "U004", "/uid");
    alone("/uid", "5", "J005", "/uid");
    alone("/uid", "", "J006", "");
    alone("/reason", "\"x\"", "U001", "/reason");
    alone("/reason", "\"row_ref_dropped\"", "U003", "/reason");
    // An entry about another column, another item or another reason says nothing of the links.
    let path = format!("{ENTRY}/path");
    let uid = format!("{ENTRY}/uid");
    let reason = format!("{ENTRY}/reason");
    let clients = "\"u_c2b1c26b-e814-4dc9-9f47-9f2936631b3e\"";
    table(
        LINKS,
        "",
        &[
            (&[(&path, "\"rows[].data.ship\"")], &[("R026", CELL)]),
            (
                &[(&path, "\"rows[1].data.ship\"")],
                &[("U006", &path), ("R026", CELL)],
            ),
            (&[(&uid, clients)], &[("R026", CELL)]),
            (
                &[(&uid, nobody), (&reason, "\"inexistente\"")],
                &[("U004", &uid), ("R026", CELL)],
            ),
        ],
    );
}

#[test]
fn rows_have_their_shape() {
    table(
        LINKS,
        ORDERS,
        &[
            (
                &[("/2", "{\"uid\":\"u_96b7ff15-e3b9-44bb-854f-ab10769d7068\"}")],
                &[("J006", "/2")],
            ),
            (&[("/2/uid", "")], &[("J006", "/2")]),
            (&[("/2/data", "[]")], &[("J005", "/2/data")]),
            (&[("/2/data", "null")], &[("J005", "/2/data")]),
            (&[("/2", "5")], &[("J005", "/2")]),
            // The order of the list is known all the same.
            (
                &[
                    ("/2/data", "[]"),
                    ("!/payloads/2/columns/0", "\"client\""),
                    ("!/payloads/2/columns/1", "\"number\""),
                ],
                &[("R006", "!/payloads/2/columns/1"), ("J005", "/2/data")],
            ),
            (&[("/2/refs", "[]")], &[("J005", "/2/refs")]),
            (&[("/2/dta", "1")], &[("J007", "/2/dta")]),
            (
                &[("/0/refs/client/colour", "1")],
                &[("J007", "/0/refs/client/colour")],
            ),
            (
                &[("/0/refs/client/featureRef", "")],
                &[("J006", "/0/refs/client")],
            ),
            (
                &[("/0/refs/client/featureRef", "7")],
                &[("J005", "/0/refs/client/featureRef")],
            ),
            (
                &[("/0/refs/tags/rows/1", "7")],
                &[("J005", "/0/refs/tags/rows/1")],
            ),
            (&[("/2/data/extra", "1")], &[("R004", "/2/data/extra")]),
        ],
    );
}

#[test]
fn a_missing_name_in_columns_is_one_mistake() {
    let mut package = parse(TINY);
    set(&mut package, "/payloads/0/columns", "[\"title\",\"body\"]");
    assert_eq!(
        findings(&package.to_string(), 1),
        [("R004".to_owned(), "/payloads/0/rows/0/data/n".to_owned())]
    );
}

#[test]
fn a_count_of_too_many_digits_is_a_wrong_count() {
    let many = "99999999999999999999";
    for (written, code, place) in [
        ("\"count\":3,\"keyColumn\"", "R003", "/payloads/0/count"),
        (
            "\"count\":3,\"dataClass\"",
            "R025",
            "/manifest/items/4/count",
        ),
    ] {
        let found = |count: &str| {
            let text = TINY.replacen(written, &written.replacen('3', count, 1), 1);
            assert_ne!(text, TINY);
            findings(&text, 1)
        };
        let expected = |code: &str| [(code.to_owned(), place.to_owned())];
        for count in [many, "-99999999999999999999", "-1", "4"] {
            assert_eq!(found(count), expected(code), "{count}");
        }
        for count in ["3.0", "3e0", "\"3\""] {
            assert_eq!(found(count), expected("J005"), "{count}");
        }
    }
    let order = format!("\"order\":{many}");
    let text = TINY.replacen("\"order\":1", &order, 1);
    let report = check(text.as_bytes(), &CheckOptions::default());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].rule.code, "S009");
    let said = format!("`order` takes an integer of 64 bits, not {many}");
    assert_eq!(report.findings[0].message, said);
}

#[test]
fn columns_stand_in_table_order() {
    table(
        TINY,
        "/payloads/0",
        &[
            (
                &[("/columns", "[\"body\",\"title\",\"n\"]")],
                &[("R006", "/columns/1")],
            ),
            (
                &[("/columns", "[\"title\",\"title\",\"body\",\"n\"]")],
                &[("R006", "/columns/1")],
            ),
            (
                &[("/columns", "[\"title\",\"body\",\"n\",\"author\"]")],
                &[("R005", "/columns/3")],
            ),
            (&[("/keyColumn", "\"author\"")], &[("R008", "/keyColumn")]),
            (&[("/keyColumn", "null"), ("/keyUnique", "false")], &[]),
            (&[("/keyColumn", "null")], &[("R010", "/keyUnique")]),
        ],
    );
}

#[test]
fn repeated_keys_count_by_their_last_value() {
    let cell = |text: &str| TINY.replacen("\"n\":1", text, 1);
    let at = |code: &str, pointer: &str| {
        (
            code.to_owned(),
            format!("/payloads/0/rows/0/data/{pointer}"),
        )
    };
    assert_eq!(findings(&cell("\"n\":\"x\",\"n\":1"), 1), [at("J002", "n")]);
    assert_eq!(
        findings(&cell("\"n\":1,\"\\u006e\":\"x\""), 1),
        [at("J002", "n"), at("R017", "n")]
    );
    let uid = TINY.replacen(
        "\"rows\":[{",
        "\"rows\":[{\"data\":{\"n\":\"x\",\"zz\":1},",
        1,
    );
    assert_eq!(
        findings(&uid, 1),
        [("J002".to_owned(), "/payloads/0/rows/0/data".to_owned())]
    );
}

#[test]
fn escapes_hide_nothing() {
    let body = |text: &str| TINY.replacen("\"custa $100\"", text, 1);
    let at = |code: &str| vec![(code.to_owned(), "/payloads/0/rows/0/data/body".to_owned())];
    assert_eq!(findings(&body("\"an organization_id\""), 1), at("X004"));
    assert_eq!(findings(&body("\"organization\\u005fid\""), 1), at("X004"));
    assert_eq!(findings(&body("\"organization\\nid workspaceId\""), 1), []);
    assert_eq!(
        findings(&body("\"\\u0041KIAIOSFODNN7EXAMPLE\""), 1),
        at("X003")
    );
    assert_eq!(findings(&body("\"AKIA\""), 1), []);
    assert_eq!(findings(&body("\"a\\u0000b\""), 1), at("J009"));
    assert_eq!(findings(&body("\"a\\\\u0000b\""), 1), []);
    assert_eq!(
        findings(
            &TINY.replacen("\"body\":\"custa", "\"b\\u006fdy\":\"custa", 1),
            1
        ),
        []
    );
    let key = body("\"x\",\"my_workspace_id_2\":1");
    let expected = ["R004", "X004"].map(|code| {
        (
            code.to_owned(),
            "/payloads/0/rows/0/data/my_workspace_id_2".to_owned(),
        )
    });
    let mut got = findings(&key, 1);
    got.sort();
    assert_eq!(got, expected);
}

#[test]
fn nesting_is_counted_from_the_root_of_the_file() {
    // Root, payloads, entry, rows, row and data are open around a cell.
    let nested = |depth: usize| {
        let value = "[".repeat(depth) + &"]".repeat(depth);
        LINKS.replacen("{\"organization\":1}", &value, 1)
    };
    assert_eq!(findings(&nested(128 - 6), 1), []);
    assert_eq!(
        findings(&nested(128 - 5), 1),
        [("J001".to_owned(), String::new())]
    );
    assert_eq!(
        validate(&nested(128 - 5)).expect_err("too deep").kind,
        SyntaxKind::TooDeep
    );
}

#[test]
fn the_first_error_of_the_file_is_reported() {
    let early = TINY.replacen("\"n\":1}", "\"n\":1]", 1);
    let both = early.replacen("\"n\":3}", "\"n\":03}", 1) + "x";
    for broken in [early, both] {
        let report = check(broken.as_bytes(), &CheckOptions::default());
        let first = validate(&broken).expect_err("broken");
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].place.span.start, first.offset);
        assert!(broken[..=first.offset].ends_with("\"n\":1]"));
    }
}

#[test]
fn lists_of_no_entry_are_read_as_json() {
    // The first `payloads` is shadowed by the second, and its rows are looked into all the same.
    let shadow = "{\"payloads\":[{\"rows\":[{\"a\":1,\"a\":2},\"\\u0000\"]}],";
    let text = shadow.to_owned() + &TINY[1..];
    let codes: Vec<String> = findings(&text, 1)
        .into_iter()
        .map(|(code, _)| code)
        .collect();
    assert_eq!(codes, ["J002", "J009", "J002"]);
}

#[test]
fn threads_change_nothing() {
    let mut package = parse(LINKS);
    for (pointer, value) in [
        ("/payloads/0/rows/0/data/sku", "\"s2\""),
        ("/payloads/1/rows/0/uid", "\"x\""),
        ("/payloads/2/rows/1/data/due", "1"),
        ("/payloads/2/rows/1/refs/client/rowUid", "\"x\""),
        ("/payloads/2/rows/2/refs/tags/rows", "[]"),
    ] {
        set(&mut package, pointer, value);
    }
    let text = package.to_string();
    let alone = findings(&text, 1);
    assert!(alone.len() >= 5, "{alone:?}");
    for threads in 2..6 {
        assert_eq!(findings(&text, threads), alone);
    }
}

proptest! {
    /// Whatever happens to the bytes, a file is refused exactly when it is not JSON, at the same
    /// place, and nothing panics.
    #[test]
    fn damaged_files_are_refused_at_the_first_error(
        at in 0.0..1.0f64,
        cut in 0usize..4,
        put in "[\\[\\]{}:,\"\\\\ua0-9e.tfn \u{0}é]{0,6}",
    ) {
        let start = LINKS.find("\"payloads\"").unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "any place will do")]
        let mut from = start + ((LINKS.len() - start) as f64 * at) as usize;
        while !LINKS.is_char_boundary(from) {
            from -= 1;
        }
        let mut to = (from + cut).min(LINKS.len());
        while !LINKS.is_char_boundary(to) {
            to += 1;
        }
        let text = format!("{}{put}{}", &LINKS[..from], &LINKS[to..]);
        let report = check(text.as_bytes(), &CheckOptions::default());
        let refused = report.findings.iter().find(|finding| finding.rule.code == "J001");
        let error = validate(&text).err();
        prop_assert_eq!(refused.map(|finding| finding.place.span.start), error.map(|error| error.offset));
    }
}
