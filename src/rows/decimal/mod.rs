//! A JSON number as the exact decimal that it is, read from its digits.

mod compare;

use std::hash::{Hash, Hasher};

/// Significant digits that are kept exactly.
const SIGNIFICANT: usize = 34;
/// Digits that plain notation may take, a zero before the point included.
const PLAIN: i64 = 64;

/// A number token, taken apart without loss. `1`, `1.0` and `10e-1` are equal; so are `0` and `-0`.
#[derive(Debug, Clone, Copy)]
pub struct Decimal<'a> {
    negative: bool,
    /// Digits before the point, then those after it, without zeros at either end.
    digits: [&'a [u8]; 2],
    /// The power of ten that the last digit stands for.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Reads a token of the JSON grammar.
    pub fn new(token: &'a str) -> Decimal<'a> {
        let bytes = token.as_bytes();
        let (negative, bytes) = match bytes {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, bytes),
        };
        let mark = bytes.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, power) = bytes.split_at(mark.unwrap_or(bytes.len()));
        let (whole, fraction) = match mantissa.iter().position(|byte| *byte == b'.') {
            Some(point) => (&mantissa[..point], &mantissa[point + 1..]),
            None => (mantissa, &[][..]),
        };
        let exponent = power_of(power) - i64::try_from(fraction.len()).unwrap_or(i64::MAX / 4);
        let mut number = Decimal {
            negative,
            digits: [whole, fraction],
            exponent,
        };
        number.trim();
        number
    }

    fn trim(&mut self) {
        let [whole, fraction] = &mut self.digits;
        let mut dropped = strip_end(fraction);
        if fraction.is_empty() {
            dropped += strip_end(whole);
        }
        self.exponent = self.exponent.saturating_add(dropped);
        strip_start(whole);
        if whole.is_empty() {
            strip_start(fraction);
        }
        if whole.is_empty() && fraction.is_empty() {
            self.negative = false;
            self.exponent = 0;
        }
    }

    /// The digits that matter, as ASCII, the highest first; none of zero.
    pub(crate) fn digits(&self) -> impl Iterator<Item = u8> + '_ {
        self.digits[0].iter().chain(self.digits[1]).copied()
    }

    /// The power of ten that the last of these digits stands for.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Whether it is less than zero.
    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// The power of ten just above the number: 3 of `100`, 0 of `0.5`. It means nothing of zero.
    pub(crate) fn magnitude(&self) -> i64 {
        signed(self.significant()).saturating_add(self.exponent)
    }

    /// How many digits matter: without zeros at either end.
    pub fn significant(&self) -> usize {
        self.digits[0].len() + self.digits[1].len()
    }

    /// How many digits are after the point in plain notation.
    pub fn decimals(&self) -> u64 {
        self.exponent.min(0).unsigned_abs()
    }

    /// Whether a store can hold it: at most 34 significant digits, and at most 64 digits in plain
    /// notation.
    pub fn is_storable(&self) -> bool {
        let significant = i64::try_from(self.significant()).unwrap_or(i64::MAX);
        let whole = significant.saturating_add(self.exponent).max(1);
        let fraction = self.exponent.min(0).saturating_neg();
        self.significant() <= SIGNIFICANT && whole.saturating_add(fraction) <= PLAIN
    }

    /// Appends the canonical plain form: no exponent, no zeros that do not matter, no sign before
    /// zero. Only of a number that is storable: others would not end.
    pub fn write_to(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        let digits = self.digits().map(char::from);
        let whole = self.magnitude();
        if whole <= 0 {
            out.push('0');
        }
        if self.exponent >= 0 {
            out.extend(digits);
            if self.significant() > 0 {
                out.extend((0..self.exponent).map(|_| '0'));
            }
        } else if whole <= 0 {
            out.push('.');
            out.extend((whole..0).map(|_| '0'));
            out.extend(digits);
        } else {
            for (position, digit) in digits.enumerate() {
                if signed(position) == whole {
                    out.push('.');
                }
                out.push(digit);
            }
        }
    }

    /// Appends the number with at most `places` digits after the point, halves going away from
    /// zero, in the form of [`Decimal::write_to`].
    pub fn write_rounded_to(&self, places: u64, out: &mut String) {
        if self.decimals() <= places {
            return self.write_to(out);
        }
        let places = i64::try_from(places).unwrap_or(i64::MAX);
        let dropped = self.exponent.saturating_neg().saturating_sub(places);
        let kept = signed(self.significant()).saturating_sub(dropped);
        let Ok(kept) = usize::try_from(kept) else {
            out.push('0');
            return;
        };
        let mut digits = vec![b'0'];
        digits.extend(self.digits().take(kept));
        if self.digits().nth(kept).is_some_and(|digit| digit >= b'5') {
            for digit in digits.iter_mut().rev() {
                if *digit < b'9' {
                    *digit += 1;
                    break;
                }
                *digit = b'0';
            }
        }
        let mut rounded = Decimal {
            negative: self.negative,
            digits: [&digits, &[]],
            exponent: -places,
        };
        rounded.trim();
        rounded.write_to(out);
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.negative == other.negative
            && self.exponent == other.exponent
            && self.significant() == other.significant()
            && self.digits().eq(other.digits())
    }
}

impl Eq for Decimal<'_> {}

impl Hash for Decimal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.negative.hash(state);
        self.exponent.hash(state);
        for digit in self.digits() {
            state.write_u8(digit);
        }
    }
}

/// The value of `e+12`; far out of every range when it has too many digits to matter.
fn power_of(power: &[u8]) -> i64 {
    const FAR: i64 = i64::MAX / 4;
    let (negative, digits) = match power {
        [] => return 0,
        [_, b'-', digits @ ..] => (true, digits),
        [_, b'+', digits @ ..] | [_, digits @ ..] => (false, digits),
    };
    let value = digits.iter().fold(0i64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(digit.wrapping_sub(b'0')))
            .min(FAR)
    });
    if negative { -value } else { value }
}

fn strip_end(digits: &mut &[u8]) -> i64 {
    let mut dropped = 0;
    while let [rest @ .., b'0'] = *digits {
        *digits = rest;
        dropped += 1;
    }
    dropped
}

fn strip_start(digits: &mut &[u8]) {
    while let [b'0', rest @ ..] = *digits {
        *digits = rest;
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher as _;

    use proptest::prelude::*;

    use super::Decimal;

    #[test]
    fn equal_whatever_the_spelling() {
        let groups: [&[&str]; 5] = [
            &[
                "1", "1.0", "10e-1", "0.1E1", "100E-2", "1e0", "1e+0", "0.001e3",
            ],
            &["0", "-0", "0.00", "0e999999999999999999999", "-0.0E-5"],
            &["100", "1e2", "1E+2", "100.0", "0.1e3"],
            &["-1.10", "-1.1", "-11e-1"],
            &[
                "123456789012345678901234567890",
                "1.2345678901234567890123456789e29",
            ],
        ];
        for (index, group) in groups.iter().enumerate() {
            for one in *group {
                for (other_index, others) in groups.iter().enumerate() {
                    for other in *others {
                        let equal = Decimal::new(one) == Decimal::new(other);
                        assert_eq!(equal, index == other_index, "{one} {other}");
                    }
                }
            }
        }
        assert_ne!(
            Decimal::new("9007199254740993"),
            Decimal::new("9007199254740992")
        );
        assert_ne!(Decimal::new("1"), Decimal::new("-1"));
    }

    #[test]
    fn limits_are_exact() {
        let digits = |count: usize| "1".repeat(count);
        for good in [
            "0".to_owned(),
            digits(34),
            format!("-{}", digits(34)),
            format!("0.{}", digits(34)),
            format!("0.{}", "0".repeat(40) + "1"),
            format!("0.{}1", "0".repeat(62)),
            "1e63".to_owned(),
            "1e-63".to_owned(),
            format!("{}e30", digits(34)),
            format!("{}.{}", digits(34), "0".repeat(90)),
            "0e400".to_owned(),
        ] {
            assert!(Decimal::new(&good).is_storable(), "{good}");
        }
        for bad in [
            digits(35),
            format!("0.{}", digits(35)),
            "1e64".to_owned(),
            "1e-64".to_owned(),
            format!("0.{}1", "0".repeat(63)),
            format!("{}e31", digits(34)),
            "1e400".to_owned(),
            "1e99999999999999999999999".to_owned(),
            "1e-99999999999999999999999".to_owned(),
        ] {
            assert!(!Decimal::new(&bad).is_storable(), "{bad}");
        }
    }

    #[test]
    fn decimals_are_significant_ones() {
        for (token, decimals) in [
            ("1", 0),
            ("1.10", 1),
            ("10.500", 1),
            ("0.001", 3),
            ("1e-2", 2),
            ("15e1", 0),
            ("1.25e1", 1),
            ("0.0", 0),
        ] {
            assert_eq!(Decimal::new(token).decimals(), decimals, "{token}");
        }
    }

    #[test]
    fn plain_form_is_canonical() {
        for (token, plain) in [
            ("1.10", "1.1"),
            ("1e2", "100"),
            ("-0", "0"),
            ("-0.0e9", "0"),
            ("0.050", "0.05"),
            ("12.5e-3", "0.0125"),
            ("-12.5e1", "-125"),
            ("1e-3", "0.001"),
            ("100", "100"),
            ("123.456", "123.456"),
            ("0.1e1", "1"),
        ] {
            let mut out = String::new();
            Decimal::new(token).write_to(&mut out);
            assert_eq!(out, plain, "{token}");
        }
    }

    #[test]
    fn halves_round_away_from_zero_on_decimal_digits() {
        for (token, places, rounded) in [
            ("1.005", 2, "1.01"),
            ("-1.005", 2, "-1.01"),
            ("1.0049999999999999999", 2, "1"),
            ("9.995", 2, "10"),
            ("99.5", 0, "100"),
            ("0.5", 0, "1"),
            ("0.4", 0, "0"),
            ("-0.004", 2, "0"),
            ("0.05", 0, "0"),
            ("0.0005", 2, "0"),
            ("12.3", 2, "12.3"),
            ("1e2", 2, "100"),
            ("2.675", 2, "2.68"),
        ] {
            let mut out = String::new();
            Decimal::new(token).write_rounded_to(places, &mut out);
            assert_eq!(out, rounded, "{token} {places}");
        }
    }

    proptest! {
        #[test]
        fn plain_form_is_the_same_number(digits in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,10})?(e-?[0-9])?") {
            let mut out = String::new();
            Decimal::new(&digits).write_to(&mut out);
            prop_assert_eq!(Decimal::new(&out), Decimal::new(&digits));
            let mut again = String::new();
            Decimal::new(&out).write_to(&mut again);
            prop_assert_eq!(again, out);
        }

        #[test]
        fn shifting_the_point_changes_nothing(whole in 0u64..1_000_000_000, shift in 0u32..30) {
            let state = foldhash::fast::FixedState::default();
            let plain = whole.to_string();
            let shifted = format!("{whole}{}e-{shift}", "0".repeat(shift as usize));
            let (one, other) = (Decimal::new(&plain), Decimal::new(&shifted));
            prop_assert_eq!(one, other);
            prop_assert_eq!(state.hash_one(one), state.hash_one(other));
        }

        #[test]
        fn agrees_with_integers(one in any::<i32>(), other in any::<i32>()) {
            let texts = (one.to_string(), other.to_string());
            prop_assert_eq!(Decimal::new(&texts.0) == Decimal::new(&texts.1), one == other);
        }
    }
}
