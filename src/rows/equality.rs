//! Equality of JSON values: numbers by amount, texts by character, objects regardless of key order.
//! `1` equals `1.0` and differs from `"1"`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash as _, Hasher as _};

use super::Decimal;
use super::cell::{Cell, elements, members};

/// Whether two well-formed values are equal.
pub fn equal(one: &str, other: &str) -> bool {
    match (Cell::new(one), Cell::new(other)) {
        (Cell::Null, Cell::Null) => true,
        (Cell::Bool(one), Cell::Bool(other)) => one == other,
        (Cell::Number(one), Cell::Number(other)) => {
            one == other || Decimal::new(one) == Decimal::new(other)
        }
        (Cell::String(one), Cell::String(other)) => {
            (!one.escaped && !other.escaped && one.inner == other.inner)
                || ((one.escaped || other.escaped) && one.decoded() == other.decoded())
        }
        (Cell::List(one), Cell::List(other)) => {
            let (mut ones, mut others) = (elements(one), elements(other));
            loop {
                match (ones.next(), others.next()) {
                    (Some(one), Some(other)) if equal(one, other) => {}
                    (None, None) => return true,
                    _ => return false,
                }
            }
        }
        (Cell::Object(one), Cell::Object(other)) => {
            let (ones, others) = (object(one), object(other));
            let same = |(key, one): (&Cow<'_, str>, &&str)| {
                others.get(key).is_some_and(|other| equal(one, other))
            };
            ones.len() == others.len() && ones.iter().all(same)
        }
        _ => false,
    }
}

/// A number that equal values share.
pub fn hash(state: &impl BuildHasher, cell: Cell<'_>) -> u64 {
    let mut hasher = state.build_hasher();
    match cell {
        Cell::Null => hasher.write_u8(0),
        Cell::Bool(value) => hasher.write_u8(1 + u8::from(value)),
        Cell::Number(token) => {
            hasher.write_u8(3);
            Decimal::new(token).hash(&mut hasher);
        }
        Cell::String(text) => {
            hasher.write_u8(4);
            hasher.write(text.decoded().as_bytes());
        }
        Cell::List(list) => {
            hasher.write_u8(5);
            elements(list).for_each(|element| hasher.write_u64(hash(state, Cell::new(element))));
        }
        Cell::Object(raw) => {
            hasher.write_u8(6);
            // A sum does not depend on the order of the members.
            let sum = object(raw).iter().fold(0u64, |sum, (key, value)| {
                let mut member = state.build_hasher();
                member.write(key.as_bytes());
                member.write_u64(hash(state, Cell::new(value)));
                sum.wrapping_add(member.finish())
            });
            hasher.write_u64(sum);
        }
    }
    hasher.finish()
}

/// Members by decoded key; of repeated ones the last.
fn object(raw: &str) -> HashMap<Cow<'_, str>, &str> {
    members(raw)
        .map(|(key, value)| (key.decoded(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{equal, hash};
    use crate::rows::Cell;

    #[test]
    fn equality_is_that_of_json() {
        let groups: [&[&str]; 13] = [
            &["null"],
            &["true"],
            &["false"],
            &["1", "1.0", "1e0"],
            &["\"1\"", "\"\\u0031\""],
            &["\"\""],
            &["\"é\"", "\"\\u00e9\""],
            &["\"É\""],
            &["[]", "[ ]"],
            &["[1,\"a\"]", "[1.0, \"\\u0061\"]"],
            &["[\"a\",1]"],
            &[
                "{\"a\":1,\"b\":[{}]}",
                "{ \"b\" : [ { } ], \"\\u0061\":1.00}",
                "{\"a\":2,\"a\":1,\"b\":[{}]}",
            ],
            &["{\"a\":1}"],
        ];
        let state = foldhash::quality::FixedState::default();
        for (index, group) in groups.iter().enumerate() {
            for one in *group {
                for (other_index, others) in groups.iter().enumerate() {
                    for other in *others {
                        assert_eq!(equal(one, other), index == other_index, "{one} {other}");
                        assert_eq!(
                            hash(&state, Cell::new(one)) == hash(&state, Cell::new(other)),
                            index == other_index,
                            "{one} {other}"
                        );
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_value_equals_itself_however_it_is_spelt(text in "\\PC{0,12}") {
            let plain = crate::json::write_string(&text);
            let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let escaped = format!("\"{}\"", units.concat());
            let state = foldhash::quality::FixedState::default();
            prop_assert!(equal(&plain, &escaped));
            prop_assert_eq!(hash(&state, Cell::new(&plain)), hash(&state, Cell::new(&escaped)));
        }
    }
}
