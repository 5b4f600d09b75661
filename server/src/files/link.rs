//! Links to a file that need no credential. A link has the rights of its maker until it expires.
//!
//! Goes in: a file, a time, a maker. Comes out: a signature by a key of this use alone, whether one holds, and the
//! file. It is read as the maker sees it, so a link shows nothing that the maker does not see at that moment.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

use super::{File, find};
use crate::auth::Account;
use crate::secret_key::SecretKey;
use crate::store::{Scope, Store, StoreError, Tx, Visible};

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

    /// The file, as the maker sees it at that time; nothing after the link has ended. Who uses the link has no
    /// credential, so the maker's rights are read as the operator.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn find_file(self, store: &Store, now: i64) -> Result<Option<File>, StoreError> {
        if self.expires <= now {
            return Ok(None);
        }
        let maker: Result<Option<Visible>, StoreError> = store
            .read(&Scope::Operator, (self, now), |tx, (link, now)| {
                Box::pin(maker_visibility(tx, link, *now))
            })
            .await;
        let Some(visible) = maker? else {
            return Ok(None);
        };
        store
            .read(&visible.into(), self.file, |tx, id| {
                Box::pin(find::by_id(tx, *id))
            })
            .await
    }
}

/// What the maker of a link sees; nothing for one who does not belong to the organization any more.
async fn maker_visibility(
    tx: &mut Tx,
    link: &Link,
    now: i64,
) -> Result<Option<Visible>, StoreError> {
    let Link {
        organization,
        maker,
        ..
    } = *link;
    let Some(account) = Account::find(tx, organization, maker, now).await? else {
        return Ok(None);
    };
    Ok(Some(account.visible(tx, organization, maker).await?))
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
    fn the_key_of_signatures_is_derived_for_them_alone() {
        let key = SecretKey::parse(&"0a".repeat(32)).expect("a key");
        let link = Link {
            organization: Uuid::from_u128(1),
            file: Uuid::from_u128(2),
            maker: Uuid::from_u128(3),
            expires: 4,
            inline: false,
        };
        // HMAC-SHA-256 of those members under HMAC-SHA-256 of the use under the secret, by another program. Links of
        // before an update hold after it.
        let derived = "Z4PWDmxLklGxDyILh1zs2kqmA3RuhyjPetrmxI2_ODU";
        assert_eq!(link.signature(&key), derived);
        // The same under the secret itself.
        let secret = "hZsL_TjHkILjOu6_8iZybRM_ySsLgKKopIIx3-QPUDw";
        assert!(!link.holds(&key, secret));
    }

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
