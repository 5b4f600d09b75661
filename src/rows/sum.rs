//! Sums and averages of exact decimals (`rest` 4.8). Nothing here is a float.

use super::Decimal;

/// Places after the point that a storable number can have.
const DECIMALS: usize = 63;
/// Places of the sum: those, 64 before the point, and room for the carries of 10¹⁸ numbers,
/// which is what one place can count.
const PLACES: usize = DECIMALS + 64 + 20;
/// Significant digits of an average.
const SIGNIFICANT: usize = 34;
/// Digits that are divided beyond the last place. With up to 10¹⁸ numbers the first digit of an
/// average that is not 0 stands among the first 20 of these at the latest, so 34 and one more follow.
const FURTHER: usize = 60;

/// The sum of the numbers so far.
#[derive(Debug, Clone)]
pub struct Sum {
    /// What is at each power of ten, the lowest first; carried only when somebody asks.
    places: Box<[i64; PLACES]>,
    count: u64,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum {
            places: Box::new([0; PLACES]),
            count: 0,
        }
    }
}

impl Sum {
    /// Adds a number. One that no store takes is not a number of a table, and is passed over.
    pub fn add(&mut self, number: &Decimal<'_>) {
        if !number.is_storable() {
            return;
        }
        self.count += 1;
        let sign = if number.is_negative() { -1 } else { 1 };
        let digits: Vec<u8> = number.digits().collect();
        // Of a storable number no power is below that of the first place.
        let first = usize::try_from(number.exponent().saturating_add(63)).unwrap_or(0);
        for (place, digit) in self.places[first..].iter_mut().zip(digits.iter().rev()) {
            *place += sign * i64::from(digit - b'0');
        }
    }

    /// How many numbers entered.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum in plain form; `0` of nothing.
    pub fn total(&self) -> String {
        let (negative, digits) = self.carried();
        plain(negative, &digits, DECIMALS)
    }

    /// The average, rounded half-even to 34 significant digits, in plain form; none of nothing.
    pub fn average(&self) -> Option<String> {
        let count = u128::from(self.count);
        if count == 0 {
            return None;
        }
        let (negative, digits) = self.carried();
        let mut rest = 0;
        let further = std::iter::repeat_n(0, FURTHER);
        let quotient = digits.into_iter().chain(further).map(|digit| {
            let dividend = rest * 10 + u128::from(digit);
            rest = dividend % count;
            // The rest is below the count, so this is one digit.
            u8::try_from(dividend / count).unwrap_or(9)
        });
        let mut quotient: Vec<u8> = quotient.collect();
        let first = quotient.iter().position(|digit| *digit > 0);
        if let Some(end) = first.map(|first| first + SIGNIFICANT) {
            round_half_even(&mut quotient, end, rest > 0);
        }
        Some(plain(negative, &quotient, DECIMALS + FURTHER))
    }

    /// Whether the sum is below zero, and the digits of its amount, the highest first.
    fn carried(&self) -> (bool, Vec<u8>) {
        let digits = |sign: i64| {
            let mut carry = 0;
            let carried = self.places.iter().map(|place| {
                let value = sign * place + carry;
                carry = value.div_euclid(10);
                u8::try_from(value.rem_euclid(10)).unwrap_or(0)
            });
            let mut digits: Vec<u8> = carried.collect();
            digits.reverse();
            (carry < 0, digits)
        };
        match digits(1) {
            (true, _) => (true, digits(-1).1),
            positive => positive,
        }
    }
}

/// Makes zeros of the digits from `end` on, and rounds what is before them; `more` says that
/// the digits are not all of the number.
fn round_half_even(digits: &mut [u8], end: usize, more: bool) {
    let Some((kept, [next, others @ ..])) = digits.split_at_mut_checked(end) else {
        return;
    };
    let beyond = more || others.iter().any(|digit| *digit > 0);
    let odd = kept.last().is_some_and(|digit| digit % 2 == 1);
    let up = *next > 5 || (*next == 5 && (beyond || odd));
    *next = 0;
    others.fill(0);
    if up {
        for digit in kept.iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit > 0 {
                break;
            }
        }
    }
}

/// The plain form of digits of which so many are after the point.
fn plain(negative: bool, digits: &[u8], decimals: usize) -> String {
    let sign = if negative { "-" } else { "" };
    let digits: String = digits
        .iter()
        .map(|digit| char::from(b'0' + digit))
        .collect();
    let mut out = String::new();
    Decimal::new(&format!("{sign}{digits}e-{decimals}")).write_to(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Decimal, Sum};

    fn of(tokens: &[&str]) -> Sum {
        let mut sum = Sum::default();
        for token in tokens {
            sum.add(&Decimal::new(token));
        }
        sum
    }

    #[test]
    fn sums_are_exact() {
        let most = format!("{}e30", "9".repeat(34));
        let least = format!("-{most}");
        for (tokens, total) in [
            (&[][..], "0"),
            (&["0.1", "0.2"], "0.3"),
            (
                &["1e63", "1e-63"],
                &format!("1{}.{}1", "0".repeat(63), "0".repeat(62)),
            ),
            (&["9007199254740993", "1"], "9007199254740994"),
            (&["1", "-1.0"], "0"),
            (&["-0.5", "0.25"], "-0.25"),
            (&["0.25", "-100"], "-99.75"),
            (
                &[&most, &most],
                &format!("1{}8{}", "9".repeat(33), "0".repeat(30)),
            ),
            (
                &[&least, &least],
                &format!("-1{}8{}", "9".repeat(33), "0".repeat(30)),
            ),
            (&["1e400", "2"], "2"),
        ] {
            assert_eq!(of(tokens).total(), total, "{tokens:?}");
        }
        assert_eq!(of(&["1e400", "2"]).count(), 1);
    }

    #[test]
    fn averages_round_half_even_to_34_digits() {
        let nines = "9".repeat(34);
        for (tokens, average) in [
            (&[][..], None),
            (&["1", "2"], Some("1.5")),
            (&["0", "0", "0"], Some("0")),
            (&["1", "0", "0"], Some(&*format!("0.{}", "3".repeat(34)))),
            (&["2", "0", "0"], Some(&*format!("0.{}7", "6".repeat(33)))),
            (&["-2", "0", "0"], Some(&*format!("-0.{}7", "6".repeat(33)))),
            // A half goes to the even neighbour, and only a half does.
            (
                &[
                    "1000000000000000000000000000000000",
                    "1000000000000000000000000000000001",
                ],
                Some("1000000000000000000000000000000000"),
            ),
            (
                &[
                    "1000000000000000000000000000000001",
                    "1000000000000000000000000000000002",
                ],
                Some("1000000000000000000000000000000002"),
            ),
            (
                &[
                    "-1000000000000000000000000000000001",
                    "-1000000000000000000000000000000002",
                ],
                Some("-1000000000000000000000000000000002"),
            ),
            (
                &[
                    "1000000000000000000000000000000000",
                    "1000000000000000000000000000000001",
                    "0",
                    "0",
                ],
                Some("500000000000000000000000000000000.2"),
            ),
            (
                &[
                    "1000000000000000000000000000000000",
                    "1000000000000000000000000000000001",
                    "1e-63",
                    "0",
                ],
                Some("500000000000000000000000000000000.3"),
            ),
            // Carries reach a place further up.
            (
                &[&nines, &nines, &nines, "2"],
                Some(&*format!("75{}", "0".repeat(32))),
            ),
            (
                &["1e-63", "0", "0"],
                Some(&*format!("0.{}{}", "0".repeat(63), "3".repeat(34))),
            ),
            (&["1e63", "1e63"], Some(&*format!("1{}", "0".repeat(63)))),
        ] {
            assert_eq!(of(tokens).average().as_deref(), average, "{tokens:?}");
        }
    }

    #[test]
    fn a_carry_may_lengthen_an_average() {
        // The exact average is 99…9.5, with one digit too many; the even neighbour is a power of ten.
        let nines = "9".repeat(34);
        let next = format!("1{}", "0".repeat(34));
        let average = of(&[&nines, &next]).average();
        assert_eq!(average, Some(next));
    }

    proptest! {
        #[test]
        fn agrees_with_integers(numbers in prop::collection::vec(any::<i64>(), 1..40), scale in 0u8..40) {
            let mut sum = Sum::default();
            for number in &numbers {
                sum.add(&Decimal::new(&format!("{number}e-{scale}")));
            }
            let total: i128 = numbers.iter().copied().map(i128::from).sum();
            let total = format!("{total}e-{scale}");
            let found = sum.total();
            prop_assert_eq!(Decimal::new(&found), Decimal::new(&total));
            prop_assert_eq!(sum.count(), u64::try_from(numbers.len()).expect("few"));
        }

        #[test]
        fn an_average_times_its_count_is_the_sum(numbers in prop::collection::vec(-1_000_000i64..1_000_000, 1..8)) {
            // A power of two as the count: the average is exact.
            let mut sum = Sum::default();
            for number in numbers.iter().cycle().take(8) {
                sum.add(&Decimal::new(&number.to_string()));
            }
            let average = sum.average().expect("of something");
            let mut times = Sum::default();
            for _ in 0..8 {
                times.add(&Decimal::new(&average));
            }
            prop_assert_eq!(times.total(), sum.total());
        }
    }
}
