//! Tests: what each operator matches, and what it does not.

use super::super::parse;
use super::{Filter, Match, Row, matches};

fn row(data: &str) -> Row<'_> {
    Row {
        id: uuid::Uuid::from_u128(0xA),
        created_at: 1_000_000,
        updated_at: 2_000_001,
        data,
    }
}

fn finds(filter: &str, data: &str) -> bool {
    let parsed = Filter::parse(filter).unwrap_or_else(|reason| panic!("{filter}: {reason}"));
    parsed.matches(&row(data))
}

/// Tries each filter on a cell: whether it finds it, and its negation then not, and the other way
/// round.
fn both(cell: &str, found: &[&str], not_found: &[&str]) {
    let data = format!("{{\"c\":{cell}}}");
    for (filters, is) in [(found, true), (not_found, false)] {
        for filter in filters {
            assert_eq!(
                finds(&format!("c:{filter}"), &data),
                is,
                "{filter} of {cell}"
            );
            let negated = finds(&format!("c:not.{filter}"), &data);
            assert_eq!(negated, !is, "not.{filter} of {cell}");
        }
    }
}

#[test]
fn text_operators_compare_text_also_of_numbers() {
    both(
        "10",
        &[
            "eq:10",
            "neq:10.0",
            "lt:9",
            "gte:10",
            "lte:10",
            "gt:1",
            "in:9|10",
            "startswith:1",
        ],
        &["eq:10.0", "eq:1e1", "gt:9", "neq:10", "in:9|100", "in:"],
    );
    both("\"10\"", &["eq:10", "lt:9"], &["eq:\"10\"", "gt:9"]);
    both("1.10", &["eq:1.1"], &["eq:1.10"]);
    both("1e2", &["eq:100", "like:1*0"], &["eq:1e2"]);
    both("-0", &["eq:0"], &["eq:-0"]);
    both(
        "true",
        &["eq:true", "is:true", "contains:RU"],
        &["is:false", "is:null", "eq:True"],
    );
    both(
        "\"true\"",
        &["eq:true"],
        &["is:true", "is:false", "is:null"],
    );
    both("false", &["is:false", "eq:false"], &["is:true"]);
    both(
        r#"{"b":[1.0],"a":"\u00e9"}"#,
        &[r#"eq:{"a":"é","b":[1]}"#, "contains:É"],
        &[r#"eq:{"b":[1],"a":"é"}"#],
    );
    both("[\"a\",null]", &["eq:[\"a\",null]"], &["is:null", "eq:a"]);
    both(
        "\"\"",
        &[
            "eq:",
            "in:",
            "in:x|",
            "like:",
            "like:*",
            "contains:",
            "lt:a",
        ],
        &["is:null", "neq:", "gt:"],
    );
    both("[]", &["eq:[]"], &["is:null", "eq:"]);
}

#[test]
fn texts_order_by_code_point() {
    both("\"Z\"", &["lt:a", "lt:É"], &["gt:a", "eq:z"]);
    both("\"é\"", &["gt:z"], &["eq:É", "eq:e\u{301}"]);
    both("\"\u{ff5e}\"", &["lt:\u{10000}"], &[]);
    both("\"ab\"", &["gt:a", "lt:b", "lt:ab "], &[]);
}

#[test]
fn like_respects_case_and_the_other_searches_ignore_it() {
    both(
        "\"São PAULO\"",
        &[
            "like:São*",
            "like:*P*LO",
            "ilike:são paulo",
            "ilike:SÃO*",
            "ilike:*ã*u*",
            "contains:ÃO p",
            "startswith:SÃ",
            "endswith:paulo",
            "ncontains:sao",
        ],
        &[
            "like:são*",
            "like:São",
            "ilike:sao*",
            "ilike:são",
            "contains:são*",
            "startswith:*",
            "endswith:paul",
            "ncontains:O P",
            "contains:_",
            "contains:%",
        ],
    );
    both("\"Straße\"", &["contains:STRAẞE"], &["contains:STRASSE"]);
    both(
        "\"ΟΔΟΣ\"",
        &["ilike:οδος", "endswith:σ", "endswith:ς"],
        &["like:οδος"],
    );
    both(
        "\"İstanbul\"",
        &["startswith:i", "contains:ISTAN"],
        &["startswith:i\u{307}"],
    );
    both(
        "\"100%_\\\\*\"",
        &["like:100%_\\*", "ilike:*%*", "endswith:*", "contains:%_\\*"],
        &["like:100_*", "like:1%"],
    );
}

#[test]
fn numbers_compare_by_amount_and_only_numbers_do() {
    both(
        "10",
        &[
            "eqn:10", "eqn:10.0", "eqn:1e1", "neqn:9", "gtn:9", "gten:10", "ltn:1e10", "lten:10",
        ],
        &["eqn:1", "neqn:10", "gtn:10", "ltn:10", "ltn:-11"],
    );
    both(
        "9007199254740993",
        &["gtn:9007199254740992", "neqn:9007199254740992"],
        &["eqn:9007199254740992"],
    );
    both("-0", &["eqn:0", "gten:0"], &["ltn:0"]);
    for cell in ["\"10\"", "true", "[10]", "{}", "\"\"", "null"] {
        let data = format!("{{\"c\":{cell}}}");
        for operator in ["eqn", "neqn", "gtn", "gten", "ltn", "lten"] {
            for not in ["", "not."] {
                assert!(
                    !finds(&format!("c:{not}{operator}:10"), &data),
                    "{not}{operator} {cell}"
                );
            }
        }
    }
}

#[test]
fn an_empty_cell_is_found_by_three_filters() {
    for data in ["{\"c\":null}", "{}", "{\"C\":1,\"c \":1}"] {
        for operator in [
            "eq:",
            "neq:x",
            "gt:",
            "gte:",
            "lt:x",
            "lte:x",
            "like:*",
            "ilike:*",
            "contains:",
            "ncontains:x",
            "startswith:",
            "endswith:",
            "in:",
            "in:null|",
            "eq:null",
            "eqn:0",
            "neqn:1",
            "is:true",
            "is:false",
        ] {
            assert!(!finds(&format!("c:{operator}"), data), "{operator} {data}");
            let negated = finds(&format!("c:not.{operator}"), data);
            assert_eq!(
                negated,
                operator.starts_with("is:"),
                "not.{operator} {data}"
            );
        }
        assert!(finds("c:is:null", data));
        assert!(!finds("c:not.is:null", data));
    }
}

#[test]
fn own_columns_are_the_records_own() {
    let data = r#"{"id":"x","created_at":"y","updated_at":null}"#;
    let id = "00000000-0000-0000-0000-00000000000a";
    for (filter, is) in [
        (format!("id:eq:{id}"), true),
        (format!("id:eq:{}", id.to_uppercase()), true),
        (format!("id:not.in:{id}"), false),
        (
            "id:gt:00000000-0000-0000-0000-000000000009".to_owned(),
            true,
        ),
        ("id:is:null".to_owned(), false),
        ("id:not.is:true".to_owned(), true),
        ("created_at:eq:1970-01-01T00:00:01Z".to_owned(), true),
        ("created_at:eq:1970-01-01T01:00:01+01:00".to_owned(), true),
        ("updated_at:gt:1970-01-01T00:00:02Z".to_owned(), true),
        (
            "updated_at:lte:1970-01-01T00:00:02.000001Z".to_owned(),
            true,
        ),
        ("updated_at:is:null".to_owned(), false),
        ("updated_at:not.gt:1970-01-01T00:00:02Z".to_owned(), false),
        (
            "updated_at:in:1970-01-01T00:00:02.000001Z|1970-01-01T00:00:00Z".to_owned(),
            true,
        ),
    ] {
        assert_eq!(finds(&filter, data), is, "{filter}");
    }
}

#[test]
fn a_timestamp_equals_no_instant_between_two_of_them() {
    // The row was changed at 2.000001 s.
    for (filter, is) in [
        ("eq:1970-01-01T00:00:02.0000010Z", true),
        ("eq:1970-01-01T00:00:02.0000015Z", false),
        ("neq:1970-01-01T00:00:02.0000015Z", true),
        ("gt:1970-01-01T00:00:02.0000015Z", false),
        ("gt:1970-01-01T00:00:02.0000005Z", true),
        ("gte:1970-01-01T00:00:02.0000015Z", false),
        ("gte:1970-01-01T00:00:02.0000005Z", true),
        ("lt:1970-01-01T00:00:02.0000015Z", true),
        ("lt:1970-01-01T00:00:02.0000005Z", false),
        ("lte:1970-01-01T00:00:02.0000015Z", true),
        ("lte:1970-01-01T00:00:02.0000005Z", false),
        ("in:1970-01-01T00:00:02.0000015Z", false),
        (
            "in:1970-01-01T00:00:02.0000015Z|1970-01-01T00:00:02.000001Z",
            true,
        ),
    ] {
        assert_eq!(finds(&format!("updated_at:{filter}"), "{}"), is, "{filter}");
        let negated = finds(&format!("updated_at:not.{filter}"), "{}");
        assert_eq!(negated, !is, "not.{filter}");
    }
}

#[test]
fn filters_are_taken_together() {
    let data = r#"{"a":1,"b":"x"}"#;
    for (filters, all, any) in [
        (&["a:eq:1", "b:eq:x"][..], true, true),
        (&["a:eq:1", "b:eq:y"], false, true),
        (&["a:eq:2", "b:eq:y"], false, false),
        (&["a:gtn:0", "a:ltn:2"], true, true),
        (&[], true, true),
    ] {
        let parsed = parse(filters).expect("filters");
        assert_eq!(matches(&parsed, Match::All, &row(data)), all, "{filters:?}");
        assert_eq!(matches(&parsed, Match::Any, &row(data)), any, "{filters:?}");
    }
    assert_eq!(Match::parse("any"), Some(Match::Any));
    assert_eq!(Match::parse("ALL"), None);
}
