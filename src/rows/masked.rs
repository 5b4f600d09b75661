//! Masked numbers: texts with check digits.

/// The kind of a masked number (`mask` in a column's config).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// The Portuguese taxpayer number: nine digits, the last one modulo 11.
    Nif,
    /// An international bank account number, modulo 97.
    Iban,
    /// A number with a Luhn digit, as on payment cards.
    Luhn,
}

impl Mask {
    /// The mask of that word.
    pub fn parse(word: &str) -> Option<Mask> {
        match word {
            "nif" => Some(Mask::Nif),
            "iban" => Some(Mask::Iban),
            "luhn" => Some(Mask::Luhn),
            _ => None,
        }
    }

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Mask::Nif => "nif",
            Mask::Iban => "iban",
            Mask::Luhn => "luhn",
        }
    }

    /// Whether the check digits hold. Spaces, dots and hyphens are not looked at.
    pub fn holds(self, text: &str) -> bool {
        let kept = || {
            text.bytes()
                .filter(|byte| !matches!(byte, b' ' | b'.' | b'-'))
        };
        match self {
            Mask::Nif => nif(kept()),
            Mask::Iban => iban(kept()),
            Mask::Luhn => luhn(kept()),
        }
    }
}

fn nif(characters: impl Iterator<Item = u8>) -> bool {
    let mut sum = 0;
    let mut count = 0;
    let mut check = 0;
    for byte in characters {
        if !byte.is_ascii_digit() || count == 9 {
            return false;
        }
        count += 1;
        check = u32::from(byte - b'0');
        if count < 9 {
            sum += check * (10 - count);
        }
    }
    let rest = 11 - sum % 11;
    count == 9 && check == if rest >= 10 { 0 } else { rest }
}

fn iban(characters: impl Iterator<Item = u8> + Clone) -> bool {
    let count = characters.clone().count();
    let head = characters.clone().take(4).enumerate();
    let shaped = head.fold(true, |fits, (index, byte)| {
        fits && if index < 2 {
            byte.is_ascii_alphabetic()
        } else {
            byte.is_ascii_digit()
        }
    });
    // ISO 13616: two letters, two check digits, up to thirty characters of account.
    if !shaped || !(5..=34).contains(&count) {
        return false;
    }
    let moved = characters.clone().skip(4).chain(characters.take(4));
    let remainder = moved
        .into_iter()
        .try_fold(0u32, |remainder, byte| match byte {
            b'0'..=b'9' => Some((remainder * 10 + u32::from(byte - b'0')) % 97),
            b'A'..=b'Z' | b'a'..=b'z' => {
                let value = u32::from(byte.to_ascii_uppercase() - b'A') + 10;
                Some((remainder * 100 + value) % 97)
            }
            _ => None,
        });
    remainder == Some(1)
}

fn luhn(characters: impl Iterator<Item = u8>) -> bool {
    // From the left one does not know which digits double: keep both sums.
    let (mut plain, mut doubled, mut count) = (0u32, 0u32, 0u32);
    for byte in characters {
        if !byte.is_ascii_digit() {
            return false;
        }
        let digit = u32::from(byte - b'0');
        let twice = if digit > 4 { digit * 2 - 9 } else { digit * 2 };
        (plain, doubled) = (doubled + digit, plain + twice);
        count += 1;
    }
    count >= 2 && plain.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::Mask;

    fn table(mask: Mask, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(mask.holds(text), "{} {text}", mask.as_str());
        }
        for text in bad {
            assert!(!mask.holds(text), "{} {text}", mask.as_str());
        }
    }

    #[test]
    fn nif() {
        table(
            Mask::Nif,
            &[
                "123456789",
                "123 456 789",
                "123.456-789",
                "501442600",
                "999999990",
            ],
            &[
                "123456788",
                "12345678",
                "1234567890",
                "12345678a",
                "PT123456789",
                "",
                "１23456789",
                "123456789\n",
            ],
        );
    }

    #[test]
    fn iban() {
        table(
            Mask::Iban,
            &[
                "PT50000201231234567890154",
                "pt50 0002 0123 1234 5678 9015 4",
                "GB82 WEST 1234 5698 7654 32",
                "gb82west12345698765432",
            ],
            &[
                "PT51000201231234567890154",
                "PT50",
                "5000020123123456789015412",
                "GB82_WEST12345698765432",
                "",
                "P150000201231234567890154",
            ],
        );
    }

    #[test]
    fn luhn() {
        table(
            Mask::Luhn,
            &[
                "4539148803436467",
                "4539 1488 0343 6467",
                "79927398713",
                "18",
                "0000",
            ],
            &[
                "4539148803436466",
                "79927398710",
                "",
                "4539a48803436467",
                "8",
                "0",
            ],
        );
    }

    #[test]
    fn every_single_digit_error_is_seen() {
        for (mask, good) in [
            (Mask::Nif, "501442600"),
            (Mask::Luhn, "4539148803436467"),
            (Mask::Iban, "PT50000201231234567890154"),
        ] {
            for (at, digit) in good.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
                let other = char::from(b'0' + (digit as u8 - b'0' + 1) % 10);
                let mut wrong = good.to_owned();
                wrong.replace_range(at..=at, &other.to_string());
                assert!(!mask.holds(&wrong), "{wrong}");
            }
        }
    }
}
