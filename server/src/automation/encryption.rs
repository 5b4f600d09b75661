//! Encrypts the secrets of connections, each bound to its connection.

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use uuid::Uuid;

use crate::context::random;
use crate::secret_key::SecretKey;

/// How the bytes are laid out: this byte, the nonce, what was encrypted.
const LAYOUT: u8 = 1;
const NONCE: usize = 24;

/// Whose secret it is. One that was moved to another row does not open.
fn bound(organization: Uuid, name: &str) -> Vec<u8> {
    [organization.as_bytes(), name.as_bytes()].concat()
}

/// Encrypts a secret.
///
/// # Panics
/// Never: texts are far shorter than what the cipher can take.
pub(super) fn encrypt(key: &SecretKey, organization: Uuid, name: &str, secret: &str) -> Vec<u8> {
    let nonce: [u8; NONCE] = random();
    let aad = bound(organization, name);
    let payload = Payload {
        msg: secret.as_bytes(),
        aad: &aad,
    };
    let cipher = XChaCha20Poly1305::new(key.reveal().into());
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload);
    let sealed = sealed.expect("a secret is short");
    [&[LAYOUT], &nonce[..], &sealed].concat()
}

/// Decrypts a secret; nothing when it was made with another key, for another connection, or changed.
pub(super) fn decrypt(
    key: &SecretKey,
    organization: Uuid,
    name: &str,
    sealed: &[u8],
) -> Option<String> {
    let (layout, rest) = sealed.split_first()?;
    let (nonce, sealed) = rest.split_at_checked(NONCE)?;
    let nonce: [u8; NONCE] = nonce.try_into().ok().filter(|_| *layout == LAYOUT)?;
    let aad = bound(organization, name);
    let payload = Payload {
        msg: sealed,
        aad: &aad,
    };
    let cipher = XChaCha20Poly1305::new(key.reveal().into());
    let secret = cipher.decrypt(&XNonce::from(nonce), payload).ok()?;
    String::from_utf8(secret).ok()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{decrypt, encrypt};
    use crate::secret_key::SecretKey;

    #[test]
    fn it_opens_with_its_key_for_its_connection_only() {
        let key = |byte: &str| SecretKey::parse(&byte.repeat(32)).expect("a key");
        let (ours, name) = (Uuid::from_u128(1), "mail");
        let sealed = encrypt(&key("0a"), ours, name, "s3cret");
        assert!(!sealed.windows(6).any(|part| part == b"s3cret"));
        assert_ne!(sealed, encrypt(&key("0a"), ours, name, "s3cret"));
        let opened = |key: &SecretKey, organization, name: &str, sealed: &[u8]| {
            decrypt(key, organization, name, sealed)
        };
        assert_eq!(
            opened(&key("0a"), ours, name, &sealed).as_deref(),
            Some("s3cret")
        );
        assert_eq!(opened(&key("0b"), ours, name, &sealed), None);
        assert_eq!(opened(&key("0a"), Uuid::nil(), name, &sealed), None);
        assert_eq!(opened(&key("0a"), ours, "other", &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(opened(&key("0a"), ours, name, &changed), None, "{at}");
        }
        for short in 0..sealed.len() {
            assert_eq!(opened(&key("0a"), ours, name, &sealed[..short]), None);
        }
    }
}
