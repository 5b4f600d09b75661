//! Compares two numbers by amount, never as floats.

use std::cmp::Ordering;

use super::Decimal;

impl Decimal<'_> {
    /// -1, 0 or 1.
    fn sign(&self) -> i8 {
        match (self.significant(), self.is_negative()) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (sign, signs) = (self.sign(), self.sign().cmp(&other.sign()));
        if signs.is_ne() || sign == 0 {
            return signs;
        }
        let magnitudes = self.magnitude().cmp(&other.magnitude());
        // No digits end in zeros, so of two that begin alike the longer is the greater.
        let amounts = magnitudes.then_with(|| self.digits().cmp(other.digits()));
        if sign < 0 { amounts.reverse() } else { amounts }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Decimal;

    #[test]
    fn numbers_ascend_by_amount() {
        let ascending = [
            "-1e400", "-1e63", "-100", "-99.9", "-10", "-9", "-1.01", "-1", "-0.10001", "-0.1",
            "-0.09", "-1e-63", "0", "1e-63", "0.09", "0.1", "0.10001", "1", "1.01", "9", "10",
            "99.9", "100", "1e63", "1e400",
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (other_at, other) in ascending.iter().enumerate() {
                let order = Decimal::new(one).cmp(&Decimal::new(other));
                assert_eq!(order, at.cmp(&other_at), "{one} {other}");
            }
        }
        assert!(Decimal::new("-0").cmp(&Decimal::new("0.0")).is_eq());
        assert!(Decimal::new("1e2").cmp(&Decimal::new("100.0")).is_eq());
    }

    proptest! {
        #[test]
        fn agrees_with_integers_of_the_same_scale(one: i64, other: i64, scale in 0u8..30) {
            let texts = [one, other].map(|number| format!("{number}e-{scale}"));
            prop_assert_eq!(Decimal::new(&texts[0]).cmp(&Decimal::new(&texts[1])), one.cmp(&other));
        }
    }
}
