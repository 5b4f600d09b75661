//! Reading of JSON: what is well-formed is accepted, what is not is refused at its place.

use proptest::prelude::*;
use serde::de::IgnoredAny;
use tplkit::json::{Doc, SyntaxError, SyntaxKind, Value, validate};
use tplkit::package::canonical::{CanonicalError, write};

use crate::arbitrary::json;

/// Well-formed texts.
const ACCEPTED: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-0.0",
    "1",
    "12",
    "-1",
    "1.5",
    "0.1",
    "1e5",
    "1E5",
    "1e+5",
    "1e-05",
    "1.5E-3",
    "0e0",
    "-0e-0",
    "1e400",
    "-1e-400",
    "123456789012345678901234567890",
    "0.10",
    "1.000000000000000000000000001",
    r#""""#,
    r#"" ""#,
    r#""a""#,
    r#""\"\\\/\b\f\n\r\t""#,
    r#""\u0041""#,
    r#""\u00e9\u00E9""#,
    r#""\u0000""#,
    r#""\ud83d\ude00""#,
    r#""\uD83D\uDE00""#,
    r#""\uDBFF\uDFFF""#,
    r#""\uffff\ufffe""#,
    "\"\u{7f}\"",
    "\"\u{80}\"",
    "\"\u{2028}\u{2029}\"",
    "\"\u{feff}\"",
    "\"\u{ffff}\"",
    "\"é漢😀\"",
    "\"\u{10ffff}\"",
    r#""/""#,
    r#""\\u0041""#,
    r#""\\\"""#,
    r#""\u005C\u0022""#,
    "[]",
    "[ ]",
    "[1]",
    "[1,2]",
    "[\n1\r\n,\t2 ]",
    "[[]]",
    "[[],[[]]]",
    "[null,true,false,0,\"\",{},[]]",
    r#"["a","b"]"#,
    "{}",
    "{ }",
    r#"{"a":1}"#,
    r#"{"":0}"#,
    r#"{"a":{}}"#,
    r#"{"a":1,"b":2}"#,
    r#"{"a":1,"a":2}"#,
    r#"{"a":1,"\u0061":2}"#,
    r#"{"\u0000":1}"#,
    r#"{ "a" : [ ] , "b" : { } }"#,
    "\t\n\r {} \t\n\r ",
    " 1 ",
    "\n\"x\"\n",
    r#"{"é":"😀"}"#,
    r#"{"a":[{"b":[{"c":null}]}]}"#,
    r#"["\u0060\u012a\u12AB"]"#,
    r#"{"min":-1.0e+28,"max":1.0e+28}"#,
];

/// Malformed texts with the offset and kind of their first error.
const REFUSED: &[(&str, usize, SyntaxKind)] = &[
    ("", 0, SyntaxKind::Empty),
    (" \n\t ", 0, SyntaxKind::Empty),
    ("tru", 0, SyntaxKind::BadLiteral),
    ("truE", 0, SyntaxKind::BadLiteral),
    ("True", 0, SyntaxKind::ExpectedValue),
    ("nul", 0, SyntaxKind::BadLiteral),
    ("NaN", 0, SyntaxKind::ExpectedValue),
    ("Infinity", 0, SyntaxKind::ExpectedValue),
    ("undefined", 0, SyntaxKind::ExpectedValue),
    ("'a'", 0, SyntaxKind::ExpectedValue),
    ("truefalse", 4, SyntaxKind::TrailingText),
    ("nulls", 4, SyntaxKind::TrailingText),
    ("00", 0, SyntaxKind::BadNumber),
    ("01", 0, SyntaxKind::BadNumber),
    ("-01", 0, SyntaxKind::BadNumber),
    ("-", 0, SyntaxKind::BadNumber),
    ("+1", 0, SyntaxKind::ExpectedValue),
    ("--1", 0, SyntaxKind::BadNumber),
    (".5", 0, SyntaxKind::ExpectedValue),
    ("-.5", 0, SyntaxKind::BadNumber),
    ("1.", 0, SyntaxKind::BadNumber),
    ("1.e1", 0, SyntaxKind::BadNumber),
    ("1.5.6", 3, SyntaxKind::TrailingText),
    ("1e", 0, SyntaxKind::BadNumber),
    ("1e+", 0, SyntaxKind::BadNumber),
    ("1ee1", 0, SyntaxKind::BadNumber),
    ("1e1.5", 3, SyntaxKind::TrailingText),
    ("0x1F", 1, SyntaxKind::TrailingText),
    ("1_000", 1, SyntaxKind::TrailingText),
    ("1 2", 2, SyntaxKind::TrailingText),
    ("-Infinity", 0, SyntaxKind::BadNumber),
    ("１", 0, SyntaxKind::ExpectedValue),
    ("\"", 0, SyntaxKind::UnclosedString),
    ("\"abc", 0, SyntaxKind::UnclosedString),
    ("\"abcdefgh", 0, SyntaxKind::UnclosedString),
    ("\"\\\"", 0, SyntaxKind::UnclosedString),
    ("\"\\", 1, SyntaxKind::UnexpectedEnd),
    ("\"\\a\"", 1, SyntaxKind::BadEscape),
    ("\"\\x41\"", 1, SyntaxKind::BadEscape),
    ("\"\\'\"", 1, SyntaxKind::BadEscape),
    ("\"\\U0041\"", 1, SyntaxKind::BadEscape),
    ("\"\\é\"", 1, SyntaxKind::BadEscape),
    ("\"\\\n\"", 1, SyntaxKind::BadEscape),
    ("\"\\u\"", 1, SyntaxKind::BadEscape),
    ("\"\\u00\"", 1, SyntaxKind::BadEscape),
    ("\"\\u00g0\"", 1, SyntaxKind::BadEscape),
    ("\"\\u+123\"", 1, SyntaxKind::BadEscape),
    ("\"\\u 123\"", 1, SyntaxKind::BadEscape),
    ("\"\\u00é\"", 1, SyntaxKind::BadEscape),
    ("\"\\uD800\"", 1, SyntaxKind::LoneSurrogate),
    ("\"\\uD83Dx\"", 1, SyntaxKind::LoneSurrogate),
    ("\"\\uD83D\\n\"", 1, SyntaxKind::LoneSurrogate),
    ("\"\\uD83D\\u0041\"", 1, SyntaxKind::LoneSurrogate),
    ("\"\\uD83D\\uD83D\"", 1, SyntaxKind::LoneSurrogate),
    ("\"\\uDE00\"", 1, SyntaxKind::LoneSurrogate),
    ("\"\\uDE00\\uD83D\"", 1, SyntaxKind::LoneSurrogate),
    ("\"\\uD83D\\u\"", 7, SyntaxKind::BadEscape),
    ("\"a\u{0}\"", 2, SyntaxKind::ControlCharacter),
    ("\"a\nb\"", 2, SyntaxKind::ControlCharacter),
    ("\"a\tb\"", 2, SyntaxKind::ControlCharacter),
    ("\"1234567\u{1f}\"", 8, SyntaxKind::ControlCharacter),
    ("[", 1, SyntaxKind::UnexpectedEnd),
    ("[1", 2, SyntaxKind::UnexpectedEnd),
    ("[1,", 3, SyntaxKind::UnexpectedEnd),
    ("[1,]", 2, SyntaxKind::TrailingComma),
    ("[,1]", 1, SyntaxKind::ExpectedValue),
    ("[1,,2]", 3, SyntaxKind::ExpectedValue),
    ("[,]", 1, SyntaxKind::ExpectedValue),
    ("[1 2]", 3, SyntaxKind::ExpectedCommaOrBracket),
    ("[1}", 2, SyntaxKind::ExpectedCommaOrBracket),
    ("[\"a\":1]", 4, SyntaxKind::ExpectedCommaOrBracket),
    ("[1]]", 3, SyntaxKind::TrailingText),
    ("]", 0, SyntaxKind::ExpectedValue),
    ("[[]", 3, SyntaxKind::UnexpectedEnd),
    ("[1,\n1\n,1", 8, SyntaxKind::UnexpectedEnd),
    ("{", 1, SyntaxKind::UnexpectedEnd),
    ("{\"a\"", 4, SyntaxKind::UnexpectedEnd),
    ("{\"a\":", 5, SyntaxKind::UnexpectedEnd),
    ("{\"a\":1", 6, SyntaxKind::UnexpectedEnd),
    ("{\"a\":1,", 7, SyntaxKind::UnexpectedEnd),
    ("{\"a\":1,}", 6, SyntaxKind::TrailingComma),
    ("{,}", 1, SyntaxKind::ExpectedKey),
    ("{1:1}", 1, SyntaxKind::ExpectedKey),
    ("{a:1}", 1, SyntaxKind::ExpectedKey),
    ("{'a':1}", 1, SyntaxKind::ExpectedKey),
    ("{null:1}", 1, SyntaxKind::ExpectedKey),
    ("{\"a\" 1}", 5, SyntaxKind::ExpectedColon),
    ("{\"a\",1}", 4, SyntaxKind::ExpectedColon),
    ("{\"a\"::1}", 5, SyntaxKind::ExpectedValue),
    ("{\"a\":}", 5, SyntaxKind::ExpectedValue),
    ("{\"a\":1 \"b\":2}", 7, SyntaxKind::ExpectedCommaOrBrace),
    ("{\"a\":1,,\"b\":2}", 7, SyntaxKind::ExpectedKey),
    ("{\"a\":1]", 6, SyntaxKind::ExpectedCommaOrBrace),
    ("{\"a\":1}}", 7, SyntaxKind::TrailingText),
    ("{}#", 2, SyntaxKind::TrailingText),
    ("{} x", 3, SyntaxKind::TrailingText),
    ("// a\n1", 0, SyntaxKind::ExpectedValue),
    ("[1,/* a */2]", 3, SyntaxKind::ExpectedValue),
    ("[1]// a", 3, SyntaxKind::TrailingText),
    ("*", 0, SyntaxKind::ExpectedValue),
    ("\u{a0}1", 0, SyntaxKind::ExpectedValue),
    ("1\u{a0}", 1, SyntaxKind::TrailingText),
    ("\u{b}1", 0, SyntaxKind::ExpectedValue),
    ("\u{c}[]", 0, SyntaxKind::ExpectedValue),
    ("[]\u{0}", 2, SyntaxKind::TrailingText),
    ("\u{feff}{}", 0, SyntaxKind::SecondByteOrderMark),
    ("[\u{feff}]", 1, SyntaxKind::SecondByteOrderMark),
    ("{\u{feff}}", 1, SyntaxKind::ExpectedKey),
    ("[\u{2060}]", 1, SyntaxKind::ExpectedValue),
    ("<a>", 0, SyntaxKind::ExpectedValue),
    ("\\u0031", 0, SyntaxKind::ExpectedValue),
    ("[\"a\", b\"]", 6, SyntaxKind::ExpectedValue),
];

/// What the three readers say, which is always the same.
fn verdict(text: &str) -> Result<(), SyntaxError> {
    let flat = validate(text);
    assert_eq!(Doc::parse(text).map(|_| ()), flat, "{text}");
    assert_eq!(Value::parse(text).map(|_| ()), flat, "{text}");
    flat
}

/// What the canonical writer says about a value in a streamed row.
fn verdict_in_a_row(text: &str) -> Result<(), SyntaxError> {
    let before = r#"{"manifest":{"templateVersion":1},"payloads":[{"rows":[{"data":{"j":"#;
    match write(&format!("{before}{text}}}}}]}}]}}")) {
        Err(CanonicalError::Syntax(error)) => Err(SyntaxError {
            offset: error.offset.saturating_sub(before.len()),
            ..error
        }),
        _ => Ok(()),
    }
}

#[test]
fn well_formed_texts_are_accepted() {
    for text in ACCEPTED {
        assert_eq!(verdict(text), Ok(()), "{text}");
        assert_eq!(verdict_in_a_row(text), Ok(()), "{text}");
        assert!(serde_json::from_str::<IgnoredAny>(text).is_ok(), "{text}");
    }
}

#[test]
fn malformed_texts_are_refused_at_their_first_error() {
    for (text, offset, kind) in REFUSED {
        let expected = SyntaxError {
            offset: *offset,
            kind: *kind,
        };
        assert_eq!(verdict(text), Err(expected), "{text:?}");
        let unpaired = *kind == SyntaxKind::LoneSurrogate;
        assert!(
            unpaired || serde_json::from_str::<IgnoredAny>(text).is_err(),
            "{text:?}"
        );
        // At the end of the text, or after it, the row around changes what comes next.
        let closed = !matches!(
            kind,
            SyntaxKind::Empty
                | SyntaxKind::UnexpectedEnd
                | SyntaxKind::TrailingText
                | SyntaxKind::UnclosedString
        );
        assert!(verdict_in_a_row(text).is_err(), "{text:?}");
        assert!(
            !closed || verdict_in_a_row(text) == Err(expected),
            "{text:?}"
        );
    }
}

#[test]
fn every_beginning_of_a_text_is_refused() {
    let text = r#"{"a": [1.5e3, "\ud83d\ude00\n", {"b": null}, true], "c": {}}"#;
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(verdict(&text[..end]).is_err(), "{}", &text[..end]);
    }
    assert_eq!(verdict(text), Ok(()));
}

#[test]
fn up_to_128_containers_are_open() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let each = open.matches(['[', '{']).count();
        for depth in [1, 126, 127, 128, 129, 130, 100_000] {
            let times = depth / each;
            if times * each != depth {
                continue;
            }
            let text = format!("{}1{}", open.repeat(times), close.repeat(times));
            match verdict(&text) {
                Ok(()) => assert!(depth <= 128, "{depth}"),
                Err(error) => {
                    assert_eq!(error.kind, SyntaxKind::TooDeep);
                    assert_eq!(text[..error.offset].matches(['[', '{']).count(), 128);
                    assert!(depth > 128, "{depth}");
                }
            }
        }
    }
}

/// Minified packages are one line: the last byte of millions is found all the same.
#[test]
fn a_long_line_is_refused_at_its_end() {
    let row =
        r#"{"uid":"u_1","data":{"name":"A name of some length","n":12.50,"list":["a","b"]}},"#;
    let mut text = String::from(
        r#"{"manifest":{"templateVersion":1},"payloads":[{"columns":["name"],"rows":["#,
    );
    text.push_str(&row.repeat(5_000_000 / row.len()));
    let offset = text.len();
    text.push_str("tru]}]}");
    let expected = SyntaxError {
        offset,
        kind: SyntaxKind::BadLiteral,
    };
    assert_eq!(validate(&text), Err(expected));
    assert!(Doc::parse_package(&text).is_ok(), "rows stay unread");
    assert!(matches!(write(&text), Err(CanonicalError::Syntax(error)) if error == expected));
}

proptest! {
    #[test]
    fn arbitrary_values_are_read_as_they_are(value in json(), spelling: u64) {
        let text = value.text(spelling);
        prop_assert_eq!(verdict(&text), Ok(()));
        prop_assert_eq!(Value::parse(&text).unwrap(), Value::parse(&value.text(0)).unwrap());
    }

    #[test]
    fn damaged_values_are_checked_like_elsewhere(value in json(), spelling: u64, at: prop::sample::Index, with in "[\\[\\]{},:\"\\\\0-9eE.+\\- a-u\n]?", cut in 0..3usize) {
        let text = value.text(spelling);
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let from = at.index(ends.len());
        let to = (from + cut).min(ends.len() - 1);
        let damaged = format!("{}{with}{}", &text[..ends[from]], &text[ends[to]..]);
        let ours = verdict(&damaged);
        let theirs = serde_json::from_str::<IgnoredAny>(&damaged);
        if !matches!(ours, Err(SyntaxError { kind: SyntaxKind::LoneSurrogate, .. })) {
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}", damaged);
        }
    }
}
