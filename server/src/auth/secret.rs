//! Tokens and keys. They are random, so a plain hash is enough; only the hash is stored.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::context::random;

/// What API keys begin with.
pub const API_KEY_PREFIX: &str = "platform_sk_";

/// How much of an API key its record shows.
const SHOWN_KEY_CHARS: usize = 8;

/// A credential in plain text, for its owner. It is never printed by accident.
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// A new token that begins with that word.
    pub fn token(word: &str) -> Secret {
        Secret(format!("{word}{}", URL_SAFE_NO_PAD.encode(random::<32>())))
    }

    /// A new API key. It holds its organization, so that looking it up needs no index across
    /// organizations.
    pub fn api_key(organization: Uuid) -> Secret {
        let mut bytes = random::<32>().to_vec();
        bytes.extend(organization.as_bytes());
        Secret(format!("{API_KEY_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The prefix by which people distinguish keys.
    pub fn prefix(&self) -> &str {
        self.0
            .get(..API_KEY_PREFIX.len() + SHOWN_KEY_CHARS)
            .unwrap_or_default()
    }

    /// The credential itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// The organization that an API key names.
pub(super) fn organization(key: &str) -> Option<Uuid> {
    let bytes = URL_SAFE_NO_PAD
        .decode(key.strip_prefix(API_KEY_PREFIX)?)
        .ok()?;
    Uuid::from_slice(bytes.get(32..)?).ok()
}

/// What is stored of a credential.
pub fn hash(credential: &str) -> [u8; 32] {
    Sha256::digest(credential.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{Secret, hash, organization};

    #[test]
    fn a_key_names_its_organization_and_is_not_printed() {
        let id = Uuid::from_u128(42);
        let key = Secret::api_key(id);
        assert_eq!(organization(key.reveal()), Some(id));
        assert!(key.reveal().starts_with(key.prefix()));
        assert_eq!(key.prefix().len(), "platform_sk_".len() + 8);
        assert!(!format!("{key:?}").contains(key.reveal()));
        assert_ne!(hash(key.reveal()), hash(Secret::api_key(id).reveal()));
        for wrong in ["platform_sk_", "platform_sk_AAAA", "x", ""] {
            assert_eq!(organization(wrong), None, "{wrong}");
        }
    }
}
