//! The text form of a cell (`rest` 4.5), which text operators compare and text sorts order.

use std::borrow::Cow;

use super::cell::Cell;
use super::sorted::sorted_to;

/// The text of a well-formed value; none of `null`, which compares with nothing.
///
/// A string is what it says; everything else its JSON, compact, with numbers in plain form and keys in
/// order of code points.
pub fn text_form(raw: &str) -> Option<Cow<'_, str>> {
    match Cell::new(raw) {
        Cell::Null => None,
        Cell::Bool(true) => Some(Cow::Borrowed("true")),
        Cell::Bool(false) => Some(Cow::Borrowed("false")),
        Cell::String(text) => Some(text.decoded()),
        Cell::Number(_) | Cell::List(_) | Cell::Object(_) => {
            let mut text = String::with_capacity(raw.len());
            sorted_to(&mut text, raw);
            Some(Cow::Owned(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text_form;

    #[test]
    fn every_kind_has_its_text() {
        for (raw, text) in [
            ("null", None),
            ("true", Some("true")),
            ("false", Some("false")),
            ("1.10", Some("1.1")),
            ("1e2", Some("100")),
            ("-0", Some("0")),
            (
                "123456789012345678901234567890.1",
                Some("123456789012345678901234567890.1"),
            ),
            (r#""""#, Some("")),
            (r#""a\n\"\u00e9""#, Some("a\n\"é")),
            (r#"[ 1.0, "a\/b", null ]"#, Some(r#"[1,"a/b",null]"#)),
            ("[]", Some("[]")),
            (
                r#"{"b":{"d":1,"c":2},"a":"\u0007"}"#,
                Some(r#"{"a":"\u0007","b":{"c":2,"d":1}}"#),
            ),
        ] {
            assert_eq!(text_form(raw).as_deref(), text, "{raw}");
        }
    }
}
