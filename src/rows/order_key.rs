//! Cells of a number column as text whose bytes order as the cells do (`rest` 4.7).
//!
//! A store that orders bytes can therefore index exact decimals exactly. The first character gives
//! the form:
//!
//! | First | Of | Then |
//! |---|---|---|
//! | `0` | a number below zero | as of the number above zero, each digit exchanged for what it lacks to nine, the power for what it lacks to 255, and `~` at the end |
//! | `1` | zero | nothing |
//! | `2` | a number above zero | the power of ten above it, plus 64, as two hexadecimal digits, then the digits that matter |
//! | `t` | everything else | the text form |
//!
//! Equal numbers have equal keys, whatever their spelling.

use std::fmt::Write as _;

use super::cell::Cell;
use super::{Decimal, text_form};

/// What is less than every key that is not a number's, and greater than every number's.
pub const AFTER_NUMBERS: &str = "t";

/// The key of a well-formed value; none of `null`, which has no place among values.
///
/// A number that no store takes has no key among numbers and counts as text.
pub fn order_key(raw: &str) -> Option<String> {
    if let Cell::Number(token) = Cell::new(raw)
        && let Some(key) = number_key(&Decimal::new(token))
    {
        return Some(key);
    }
    Some(format!("{AFTER_NUMBERS}{}", text_form(raw)?))
}

/// The key of a number, if a store can hold it.
pub fn number_key(number: &Decimal<'_>) -> Option<String> {
    if !number.is_storable() {
        return None;
    }
    if number.significant() == 0 {
        return Some("1".to_owned());
    }
    // From 2 to 128: storable numbers lie between 1e-63 and 1e64.
    let power = number.magnitude() + 64;
    let mut key = String::with_capacity(number.significant() + 4);
    // Writing to a String cannot fail.
    if number.is_negative() {
        let _ = write!(key, "0{:02x}", 255 - power);
        key.extend(number.digits().map(|digit| char::from(b'0' + b'9' - digit)));
        // What goes on is further below zero than what ends here.
        key.push('~');
    } else {
        let _ = write!(key, "2{power:02x}");
        key.extend(number.digits().map(char::from));
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AFTER_NUMBERS, Decimal, order_key};

    fn key(raw: &str) -> String {
        order_key(raw).expect("a value")
    }

    #[test]
    fn keys_ascend_with_what_they_stand_for() {
        let digits = "9".repeat(34);
        let most = format!("{digits}e30");
        let least = format!("-{most}");
        let ascending = [
            &least,
            "-1e63",
            "-101",
            "-100.5",
            "-100",
            "-99",
            "-2",
            "-1.000000000000000000000000000000001",
            "-1",
            "-0.5",
            "-0.05",
            "-1e-63",
            "0",
            "1e-63",
            "0.05",
            "0.5",
            "1",
            "1.000000000000000000000000000000001",
            "2",
            "10",
            "99",
            "100",
            "100.5",
            "101",
            "1e63",
            &most,
            "\"\"",
            "\"0\"",
            "\"10\"",
            "\"9\"",
            "[1]",
            "false",
            "true",
            "{}",
            "\"é\"",
        ];
        for pair in ascending.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{} {}", pair[0], pair[1]);
        }
        for number in &ascending[..26] {
            assert!(key(number).as_str() < AFTER_NUMBERS, "{number}");
            assert!(
                key(number).is_ascii() && key(number).len() <= 38,
                "{number}"
            );
        }
        assert!(key("\"\"").as_str() >= AFTER_NUMBERS);
    }

    #[test]
    fn equal_numbers_share_a_key_and_null_has_none() {
        assert_eq!(key("1e2"), key("100.0"));
        assert_eq!(key("-0"), key("0.00"));
        assert_ne!(key("1"), key("\"1\""));
        assert_eq!(order_key("null"), None);
        assert_eq!(key("1e400"), "t1e400");
    }

    /// Storable numbers of every length and power, many of them close to each other.
    fn number() -> impl Strategy<Value = String> {
        let spread = ("-?[1-9][0-9]{0,33}", -63i32..31).prop_map(|(digits, power)| {
            let significant = i32::try_from(digits.trim_start_matches('-').len()).expect("short");
            format!(
                "{digits}e{}",
                power.max(significant - 63 - 1).min(64 - significant)
            )
        });
        prop_oneof![spread, "-?[0-9]{1,2}\\.[0-9]{1,3}"]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_order_of_keys_is_that_of_numbers(one in number(), other in number()) {
            let numbers = (Decimal::new(&one), Decimal::new(&other));
            prop_assert!(numbers.0.is_storable(), "{}", one);
            prop_assert_eq!(key(&one).cmp(&key(&other)), numbers.0.cmp(&numbers.1), "{} {}", one, other);
            prop_assert_eq!(key(&one) == key(&other), numbers.0 == numbers.1);
        }

        #[test]
        fn others_come_after_numbers_by_text(one in "\\PC{0,4}", other in "\\PC{0,4}", number in number()) {
            let quoted = [&one, &other].map(|text| key(&crate::json::write_string(text)));
            prop_assert_eq!(quoted[0].cmp(&quoted[1]), one.cmp(&other));
            prop_assert!(key(&number) < quoted[0]);
        }
    }
}
