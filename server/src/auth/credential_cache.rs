//! A cache of recent callers. It is never trusted: the transaction of every request verifies the
//! cached caller, so the cache only saves a query before it.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::caller::Caller;
use super::identify::PresentedCredential;

/// How many callers are remembered.
const MAX_CALLERS: usize = 10_000;
/// For how long, in microseconds: now and then the use of a key is written down.
const MAX_AGE_MICROS: i64 = 60_000_000;

/// The callers, by the hashes of their credentials.
#[derive(Debug)]
pub(crate) struct CredentialCache(Cache<[u8; 32], (Arc<Caller>, i64)>);

impl Default for CredentialCache {
    fn default() -> CredentialCache {
        CredentialCache(Cache::new(MAX_CALLERS))
    }
}

impl CredentialCache {
    pub(super) fn find(&self, presented: &PresentedCredential) -> Option<Arc<Caller>> {
        let (caller, since) = self.0.get(&presented.hash)?;
        (presented.now - since < MAX_AGE_MICROS).then_some(caller)
    }

    pub(super) fn remember(&self, presented: &PresentedCredential, caller: &Arc<Caller>) {
        let entry = (caller.clone(), presented.now);
        self.0.insert(presented.hash, entry);
    }

    pub(super) fn forget(&self, presented: &PresentedCredential) {
        self.0.remove(&presented.hash);
    }
}
