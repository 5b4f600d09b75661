//! Limits the long work of one organization in a database that several processes use.
//!
//! [Lanes](super::Lane) limit one process only. So work in a lane takes one of the
//! organization's places in the database when its transaction begins, and releases it when the
//! transaction ends, also when the process is killed. Nothing waits inside the database: without a
//! free place the work retries later and holds no connection meanwhile. A SQLite file has one
//! process, so its lanes are enough.

use std::time::Duration;

use uuid::Uuid;

tokio::task_local! {
    static SHARE: Share;
}

/// For how many places one key has room.
const PERMITS_PER_KEY: u8 = 8;
/// How long nobody asks again for a place.
const PAUSE: Duration = Duration::from_millis(20);
/// The same when there was none several times.
const LONGER: Duration = Duration::from_millis(100);

/// What one kind of work for one organization may take of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    key: i64,
    places: i64,
    patience: Duration,
}

impl Share {
    /// A share of so many places, for which nobody waits longer than that.
    pub fn new(kind: u8, organization: Uuid, places: usize, patience: Duration) -> Share {
        let most = (1 << PERMITS_PER_KEY) - 1;
        Share {
            key: key(kind, organization),
            places: i64::try_from(places.clamp(1, most)).unwrap_or(1),
            patience,
        }
    }

    /// Every transaction of that work takes a place of this share.
    pub fn of<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        SHARE.scope(self, work)
    }

    /// The one that is asked for here.
    pub(crate) fn current() -> Option<Share> {
        SHARE.try_with(|share| *share).ok()
    }

    /// Where its places begin.
    pub(crate) fn key(self) -> i64 {
        self.key
    }

    /// How many it has.
    pub(crate) fn places(self) -> i64 {
        self.places
    }

    /// How long to wait before a place is asked for once more, after so much waiting; nothing when that was
    /// enough.
    pub(crate) fn pause(self, waited: Duration) -> Option<Duration> {
        let pause = if waited < 5 * PAUSE { PAUSE } else { LONGER };
        (waited < self.patience).then(|| pause.min(self.patience.saturating_sub(waited)))
    }
}

/// A number for a kind of work and an organization, with room behind it for its places. Two that meet in one
/// number share their places: that is unlikely, and harms neither.
fn key(kind: u8, organization: Uuid) -> i64 {
    let (high, low) = organization.as_u64_pair();
    let mixed = (high.rotate_left(32) ^ low ^ u64::from(kind)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = mixed ^ (mixed >> 32);
    i64::from_ne_bytes((mixed << PERMITS_PER_KEY).to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use uuid::Uuid;

    use super::Share;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn places_of_different_shares_are_different() {
        let organizations = (0..100_u128).map(|n| Uuid::from_u128(n << 77 | n));
        let shares: Vec<Share> = organizations
            .flat_map(|one| (0..3).map(move |kind| Share::new(kind, one, 1000, SECOND)))
            .collect();
        let places = shares.iter().flat_map(|share| {
            assert_eq!(share.places(), 255);
            (0..share.places()).map(|place| share.key().checked_add(place).expect("room"))
        });
        let places: Vec<i64> = places.collect();
        let different: HashSet<_> = places.iter().collect();
        assert_eq!(different.len(), places.len());
    }

    #[test]
    fn nobody_waits_longer_than_announced() {
        let share = Share::new(0, Uuid::from_u128(1), 0, SECOND);
        assert_eq!(share.places(), 1);
        let mut waited = Duration::ZERO;
        let mut attempts = 0;
        while let Some(pause) = share.pause(waited) {
            assert!(!pause.is_zero());
            waited += pause;
            attempts += 1;
        }
        assert_eq!(waited, SECOND);
        assert!(attempts > 10);
    }

    #[tokio::test]
    async fn a_share_is_asked_for_by_its_work_alone() {
        assert_eq!(Share::current(), None);
        let share = Share::new(0, Uuid::from_u128(1), 4, SECOND);
        assert_eq!(share.of(async { Share::current() }).await, Some(share));
        assert_eq!(Share::current(), None);
    }
}
