//! Links to a file that need no credential: who made one vouches for who uses it, until it ends.
//!
//! Goes in: a file, a time, a maker. Comes out: a signature by a key of this use alone, and whether one holds. A link is
//! read as its maker sees it, so it shows nothing that the maker does not see at that moment.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

use crate::secret_key::SecretKey;

/// What makes the key of signatures another one than that of secrets.
const USE: &[u8] = b"tplkit links to files, version 1";

/// What a link says, all of it signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Whose the file is.
    pub organization: Uuid,
    /// The file.
    pub file: Uuid,
    /// Who made the link: a user, or an API key.
    pub maker: Uuid,
    /// Until when it holds, in microseconds since 1970.
    pub expires: i64,
    /// Whether the file is to be shown, if it may be.
    pub inline: bool,
}

impl Link {
    fn signed(&self, key: &SecretKey) -> Hmac<Sha256> {
        let derived = mac(key.reveal()).chain_update(USE).finalize().into_bytes();
        mac(&derived)
            .chain_update(self.organization.as_bytes())
            .chain_update(self.file.as_bytes())
            .chain_update(self.maker.as_bytes())
            .chain_update(self.expires.to_be_bytes())
            .chain_update([u8::from(self.inline)])
    }

    /// Its signature.
    pub fn signature(&self, key: &SecretKey) -> String {
        URL_SAFE_NO_PAD.encode(self.signed(key).finalize().into_bytes())
    }

    /// Whether a signature is that of this link. It takes as long wherever they differ.
    pub fn holds(&self, key: &SecretKey, signature: &str) -> bool {
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        self.signed(key).verify_slice(&signature).is_ok()
    }
}

#[expect(
    clippy::default_trait_access,
    reason = "the type of its keys has no short name"
)]
fn mac(key: &[u8]) -> Hmac<Sha256> {
    // Keys of every length are taken.
    Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::Link;
    use crate::secret_key::SecretKey;

    #[test]
    fn a_signature_is_of_everything_that_the_link_says() {
        let key = SecretKey::parse(&"0a".repeat(32)).expect("a key");
        let other = SecretKey::parse(&"0b".repeat(32)).expect("a key");
        let link = Link {
            organization: Uuid::from_u128(1),
            file: Uuid::from_u128(2),
            maker: Uuid::from_u128(3),
            expires: 4,
            inline: false,
        };
        let signature = link.signature(&key);
        assert!(link.holds(&key, &signature));
        assert!(!link.holds(&other, &signature));
        for wrong in ["", "x", "AAAA", &signature[1..], &format!("{signature}A")] {
            assert!(!link.holds(&key, wrong), "{wrong}");
        }
        for changed in [
            Link {
                organization: Uuid::from_u128(9),
                ..link
            },
            Link {
                file: Uuid::from_u128(9),
                ..link
            },
            Link {
                maker: Uuid::from_u128(9),
                ..link
            },
            Link { expires: 9, ..link },
            Link {
                inline: true,
                ..link
            },
        ] {
            assert!(!changed.holds(&key, &signature), "{changed:?}");
        }
    }
}
