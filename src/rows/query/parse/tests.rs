//! Tests: parsed filters, and the faults of invalid ones.

use super::{
    CellTest, Compare, Condition, Filter, FilterReason, IsValue, MOST_BYTES, OwnTest, parse,
};
use crate::json::Number;
use crate::rows::query::Search;

fn cell(text: &str) -> (bool, String, CellTest) {
    match Filter::parse(text) {
        Ok(Filter {
            negated,
            condition: Condition::Cell { key, test },
        }) => (negated, key, test),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn the_first_two_colons_split() {
    let text = |compare, value: &str| CellTest::Text(compare, value.to_owned());
    for (written, key, test) in [
        ("t:eq:a:b", "t", text(Compare::Eq, "a:b")),
        ("t:eq:", "t", text(Compare::Eq, "")),
        ("t:eq::", "t", text(Compare::Eq, ":")),
        ("a.b c:lt: x ", "a.b c", text(Compare::Lt, " x ")),
        ("ID:gte:x", "ID", text(Compare::Gte, "x")),
        (
            "t:in:a|b|",
            "t",
            CellTest::In(vec!["a".into(), "b".into(), String::new()]),
        ),
        ("t:in:", "t", CellTest::In(vec![String::new()])),
        ("t:is:null", "t", CellTest::Is(IsValue::Null)),
        (
            "t:like:50%*_\\",
            "t",
            CellTest::Search(Search::Like, "50%*_\\".into()),
        ),
        (
            "t:gten:-1.50e1",
            "t",
            CellTest::Number(Compare::Gte, Number::parse("-1.50e1").expect("a number")),
        ),
    ] {
        assert_eq!(cell(written), (false, key.to_owned(), test), "{written}");
    }
}

#[test]
fn every_operator_can_be_negated_once() {
    for word in [
        "eq",
        "neq",
        "gt",
        "gte",
        "lt",
        "lte",
        "like",
        "ilike",
        "contains",
        "ncontains",
        "startswith",
        "endswith",
        "in",
        "is",
        "eqn",
        "neqn",
        "gtn",
        "gten",
        "ltn",
        "lten",
    ] {
        let value = match word {
            "is" => "true",
            _ => "1",
        };
        let (plain, _, test) = cell(&format!("c:{word}:{value}"));
        assert!(!plain);
        assert_eq!(
            cell(&format!("c:not.{word}:{value}")),
            (true, "c".to_owned(), test)
        );
        let twice = Filter::parse(&format!("c:not.not.{word}:{value}"));
        assert_eq!(twice, Err(FilterReason::NotTwice), "{word}");
    }
}

#[test]
fn what_cannot_be_understood_is_reported() {
    let unknown = |word: &str| FilterReason::UnknownOperator(word.to_owned());
    let not_of_own = |column, operator| FilterReason::NotOfOwn { column, operator };
    for (text, reason) in [
        ("", FilterReason::Malformed),
        ("t", FilterReason::Malformed),
        ("t:eq", FilterReason::Malformed),
        ("t:is", FilterReason::Malformed),
        (":eq:x", FilterReason::NoColumn),
        ("::", FilterReason::NoColumn),
        ("t::x", unknown("")),
        ("t:EQ:x", unknown("EQ")),
        ("t:not:x", unknown("not")),
        ("t:not.:x", unknown("")),
        ("t:Not.eq:x", unknown("Not.eq")),
        ("t: eq:x", unknown(" eq")),
        ("t:regex:x", unknown("regex")),
        ("t:is:foo", FilterReason::NotOfIs),
        ("t:is:", FilterReason::NotOfIs),
        ("t:is:NULL", FilterReason::NotOfIs),
        ("t:eqn:", FilterReason::NotANumber),
        ("t:eqn:x", FilterReason::NotANumber),
        ("t:eqn:+1", FilterReason::NotANumber),
        ("t:eqn:01", FilterReason::NotANumber),
        ("t:eqn:1 ", FilterReason::NotANumber),
        ("t:eqn:NaN", FilterReason::NotANumber),
        ("t:not.ltn:\"1\"", FilterReason::NotANumber),
        ("t:eqn:1e400", FilterReason::NumberOutOfRange),
        ("t:eq:a\0", FilterReason::Nul),
        ("id:eq:x", FilterReason::NotAUuid),
        ("id:eq:", FilterReason::NotAUuid),
        ("id:in:", FilterReason::NotAUuid),
        (
            "id:in:00000000-0000-0000-0000-000000000001|",
            FilterReason::NotAUuid,
        ),
        (
            "id:eq:00000000000000000000000000000001",
            FilterReason::NotAUuid,
        ),
        (
            "id:is:00000000-0000-0000-0000-000000000001",
            FilterReason::NotOfIs,
        ),
        ("id:like:*", not_of_own("id", "like")),
        (
            "created_at:contains:2",
            not_of_own("created_at", "contains"),
        ),
        ("updated_at:gtn:2", not_of_own("updated_at", "gtn")),
        ("created_at:gt:2025-01-01", FilterReason::NotAnInstant),
        (
            "created_at:gt:2025-01-01T00:00:00 00:00",
            FilterReason::NotAnInstant,
        ),
        (
            "updated_at:not.in:2025-01-01T00:00:00Z|",
            FilterReason::NotAnInstant,
        ),
    ] {
        assert_eq!(Filter::parse(text), Err(reason), "{text}");
    }
}

#[test]
fn own_columns_have_values_of_their_kind() {
    let id = uuid::Uuid::from_u128(0xA);
    for (text, negated, condition) in [
        (
            "id:eq:00000000-0000-0000-0000-00000000000A",
            false,
            Condition::Id(OwnTest::Compare(Compare::Eq, id)),
        ),
        (
            "id:not.is:null",
            true,
            Condition::Id(OwnTest::Is(IsValue::Null)),
        ),
        (
            "id:in:00000000-0000-0000-0000-00000000000a|00000000-0000-0000-0000-00000000000a",
            false,
            Condition::Id(OwnTest::In(vec![id, id])),
        ),
        (
            "created_at:gte:1970-01-01T01:00:01.5+01:00",
            false,
            Condition::CreatedAt(OwnTest::Compare(Compare::Gte, 1_500_000)),
        ),
        (
            "updated_at:not.in:1970-01-01T00:00:00.0000019Z|1970-01-01T00:00:00.0000020Z",
            true,
            Condition::UpdatedAt(OwnTest::In(vec![2])),
        ),
        // Timestamps before this instant are those up to the microsecond that it lies in.
        (
            "created_at:lt:1970-01-01T00:00:00.0000019Z",
            false,
            Condition::CreatedAt(OwnTest::Compare(Compare::Lte, 1)),
        ),
        (
            "created_at:not.gte:1970-01-01T00:00:00.0000019Z",
            true,
            Condition::CreatedAt(OwnTest::Compare(Compare::Gt, 1)),
        ),
        (
            "created_at:neq:1970-01-01T00:00:00.0000019Z",
            true,
            Condition::CreatedAt(OwnTest::In(Vec::new())),
        ),
        (
            "created_at:not.neq:1970-01-01T00:00:00.0000019Z",
            false,
            Condition::CreatedAt(OwnTest::In(Vec::new())),
        ),
    ] {
        assert_eq!(
            Filter::parse(text),
            Ok(Filter { negated, condition }),
            "{text}"
        );
    }
}

#[test]
fn the_limits_are_exact() {
    let fits = format!("t:eq:{}", "x".repeat(MOST_BYTES - 5));
    assert!(Filter::parse(&fits).is_ok());
    assert_eq!(
        Filter::parse(&format!("{fits}x")),
        Err(FilterReason::TooLong)
    );
    // Bytes, not characters.
    let accents = format!("t:eq:{}", "é".repeat(MOST_BYTES / 2));
    assert_eq!(Filter::parse(&accents), Err(FilterReason::TooLong));
    let many = vec!["t:eq:x"; 100];
    assert_eq!(parse(&many).map(|filters| filters.len()), Ok(100));
    let faults = parse(&[many, vec!["t:eq:x"]].concat()).expect_err("too many");
    assert_eq!(faults.len(), 1);
    assert_eq!(
        faults[0].to_string(),
        "filter[100]: there are more than 100 filters"
    );
}

#[test]
fn every_fault_is_reported_with_its_place() {
    let faults = parse(&["a:eq:1", "a:foo:1", "b", "c:eqn:x"]).expect_err("faults");
    let reported: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let operators = "eq, neq, gt, gte, lt, lte, like, ilike";
    let unknown = format!("filter[1]: there is no operator \"foo\"; the operators are {operators}");
    assert!(reported[0].starts_with(&unknown), "{}", reported[0]);
    assert_eq!(
        reported[1..],
        [
            "filter[2]: a filter is written `column:operator:value`",
            "filter[3]: the value of a numeric operator is a number as JSON writes it",
        ]
    );
    assert_eq!(parse::<&str>(&[]), Ok(Vec::new()));
}
