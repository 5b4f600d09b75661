//! The key that encrypts the secrets of connections.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// 32 bytes that never show themselves.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey([u8; 32]);

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

impl SecretKey {
    /// Reads a key of 32 bytes, written as hex or in base64 of either alphabet.
    pub fn parse(text: &str) -> Option<SecretKey> {
        let text = text.trim();
        let bytes = if text.len() == 64 {
            hex(text)
        } else {
            [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
                .iter()
                .find_map(|alphabet| alphabet.decode(text).ok())
        };
        bytes?.try_into().ok().map(SecretKey)
    }

    /// The bytes, for who encrypts.
    pub fn reveal(&self) -> &[u8; 32] {
        &self.0
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().map(|digit| digit.to_digit(16));
    let digits = digits.collect::<Option<Vec<u32>>>()?;
    let bytes = digits
        .chunks(2)
        .map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok());
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::SecretKey;

    #[test]
    fn a_key_is_32_bytes_in_hex_or_base64() {
        let bytes = [0xFB_u8; 32];
        for text in [
            "fb".repeat(32),
            "FB".repeat(32),
            "-_v7".repeat(10) + "-_s=",
            "+/v7".repeat(10) + "+/s=",
            "+/v7".repeat(10) + "+/s",
        ] {
            let key = SecretKey::parse(&format!(" {text}\n"));
            assert!(key.is_some(), "{text}");
        }
        let key = SecretKey::parse(&"fb".repeat(32)).expect("a key");
        assert_eq!(key.reveal(), &bytes);
        assert_eq!(format!("{key:?}"), "SecretKey(…)");
        for bad in [
            "",
            "short",
            &"fb".repeat(31),
            &"fb".repeat(33),
            &"xy".repeat(32),
            &"é".repeat(32),
        ] {
            assert!(SecretKey::parse(bad).is_none(), "{bad}");
        }
    }
}
