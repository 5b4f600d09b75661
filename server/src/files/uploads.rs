//! Counts the uploads in progress, so that neither an organization nor one of its callers takes all there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use crate::refusal::Refusal;

/// How many uploads of an organization are in progress at most.
const OF_ORGANIZATION: usize = 64;
/// How many of one caller.
const MAX_OF_CALLER: usize = 16;

/// The uploads of this process. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Uploads(Arc<Mutex<HashMap<Uuid, usize>>>);

/// An upload in progress, until it is dropped.
#[derive(Debug)]
pub struct UploadPermit {
    uploads: Uploads,
    counted: [Uuid; 2],
}

impl Uploads {
    /// Begins an upload of a caller for an organization.
    ///
    /// # Errors
    /// 429 when there are too many.
    pub fn begin(&self, organization: Uuid, caller: Uuid) -> Result<UploadPermit, Refusal> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |id: Uuid| counts.get(&id).copied().unwrap_or(0);
        if count(organization) >= OF_ORGANIZATION || count(caller) >= MAX_OF_CALLER {
            return Err(Refusal::busy());
        }
        for id in [organization, caller] {
            *counts.entry(id).or_default() += 1;
        }
        drop(counts);
        Ok(UploadPermit {
            uploads: self.clone(),
            counted: [organization, caller],
        })
    }
}

impl Drop for UploadPermit {
    fn drop(&mut self) {
        let mut counts = self
            .uploads
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for id in self.counted {
            let left = counts.get(&id).map_or(0, |count| count.saturating_sub(1));
            if left == 0 {
                counts.remove(&id);
            } else {
                counts.insert(id, left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{MAX_OF_CALLER, OF_ORGANIZATION, UploadPermit, Uploads};
    use crate::refusal::Refusal;

    #[test]
    fn a_caller_has_16_and_an_organization_64() {
        let (uploads, organization) = (Uploads::default(), Uuid::from_u128(1));
        let begin = |caller| uploads.begin(organization, Uuid::from_u128(caller));
        let mut permits: Vec<UploadPermit> = Vec::new();
        for caller in 10..14 {
            let begun: Result<Vec<UploadPermit>, Refusal> =
                (0..MAX_OF_CALLER).map(|_| begin(caller)).collect();
            permits.extend(begun.expect("room"));
            assert_eq!(begin(caller).expect_err("too many").code.as_str(), "busy");
        }
        assert_eq!(permits.len(), OF_ORGANIZATION);
        assert!(begin(20).is_err(), "of the organization");
        assert!(
            uploads
                .begin(Uuid::from_u128(2), Uuid::from_u128(20))
                .is_ok()
        );
        permits.pop();
        assert!(begin(20).is_ok());
        permits.clear();
        assert!(uploads.0.lock().expect("a lock").is_empty());
    }
}
