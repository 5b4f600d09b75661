//! The stored text of a value: canonical, with keys in code point order at every depth.
//!
//! Equal values have equal bytes, and the text form of a cell is a slice of it.

use super::cell::{Cell, elements, members};
use super::entry::canonical_to;
use crate::json::write_string_to;

/// Appends a well-formed value in canonical form with sorted keys. Of repeated keys the last counts.
pub fn sorted_to(out: &mut String, raw: &str) {
    match Cell::new(raw) {
        Cell::List(list) => {
            out.push('[');
            for (at, element) in elements(list).enumerate() {
                if at > 0 {
                    out.push(',');
                }
                sorted_to(out, element);
            }
            out.push(']');
        }
        Cell::Object(object) => {
            let mut sorted: Vec<_> = members(object)
                .map(|(key, value)| (key.decoded(), value))
                .collect();
            // Stable: of repeated keys the one that was written last stays last. The order of
            // UTF-8 is that of code points.
            sorted.sort_by(|one, other| one.0.cmp(&other.0));
            let last = |at: usize| sorted.get(at + 1).is_none_or(|next| next.0 != sorted[at].0);
            let mut before = '{';
            for (at, (key, value)) in sorted.iter().enumerate() {
                if last(at) {
                    out.push(std::mem::replace(&mut before, ','));
                    write_string_to(out, key);
                    out.push(':');
                    sorted_to(out, value);
                }
            }
            out.push_str(if before == '{' { "{}" } else { "}" });
        }
        _ => canonical_to(out, raw),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sorted_to;
    use crate::rows::equal;

    fn sorted(raw: &str) -> String {
        let mut out = String::new();
        sorted_to(&mut out, raw);
        out
    }

    #[test]
    fn keys_are_in_order_of_code_points_at_every_depth() {
        for (raw, form) in [
            (
                r#"{ "b" : 1.0, "a" : [ { "z":[], "y":{} } ], "B" : null }"#,
                r#"{"B":null,"a":[{"y":{},"z":[]}],"b":1}"#,
            ),
            // In UTF-16 the second would come first.
            (
                "{\"\u{10000}\":1,\"\u{ff5e}\":2}",
                "{\"\u{ff5e}\":2,\"\u{10000}\":1}",
            ),
            (r#"{"a":1,"\u0061":2,"":3}"#, r#"{"":3,"a":2}"#),
            (r#"{"aa":1,"a":2,"a/":3}"#, r#"{"a":2,"a/":3,"aa":1}"#),
            (
                r#""\u00e9\/\u0001\u001F\ud83d\ude00""#,
                "\"é/\\u0001\\u001f😀\"",
            ),
            ("{}", "{}"),
            ("[ ]", "[]"),
            ("-0.0", "0"),
        ] {
            assert_eq!(sorted(raw), form, "{raw}");
        }
    }

    fn value() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            "-?[0-9]\\.[0-9]{1,3}(e[0-9])?",
            "[a-c\u{e9}\"]{0,3}".prop_map(|text| crate::json::write_string(&text)),
        ];
        scalar.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|list| format!("[ {} ]", list.join(" , "))),
                prop::collection::vec(("[a-d\u{e9}]{0,2}", inner), 0..4).prop_map(|object| {
                    let members = object.iter().map(|(key, value)| {
                        format!("{} : {value}", crate::json::write_string(key))
                    });
                    format!("{{ {} }}", members.collect::<Vec<_>>().join(" , "))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_the_same_value_in_a_form_that_stays(raw in value()) {
            let form = sorted(&raw);
            prop_assert!(equal(&raw, &form), "{} {}", raw, form);
            prop_assert_eq!(sorted(&form), form);
        }

        #[test]
        fn equal_values_have_equal_forms(one in value(), other in value()) {
            prop_assert_eq!(equal(&one, &other), sorted(&one) == sorted(&other));
        }
    }
}
