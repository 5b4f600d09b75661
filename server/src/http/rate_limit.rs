//! Rate limits: token buckets, one per route and caller.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

const SHARDS: usize = 16;
/// A shard that grew beyond this forgets the buckets that are full again.
const MAX_BUCKETS_PER_SHARD: usize = 8192;

/// How much is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// What a full bucket holds.
    pub burst: u32,
    /// Microseconds until one more is allowed.
    pub every: i64,
}

impl Rate {
    /// N at once, and N per second.
    pub fn per_second(count: u32) -> Rate {
        Rate {
            burst: count.max(1),
            every: 1_000_000 / i64::from(count.max(1)),
        }
    }

    /// N at once, and N per minute.
    pub const fn per_minute(count: u32) -> Rate {
        let count = if count == 0 { 1 } else { count };
        Rate {
            burst: count,
            every: 60_000_000 / count as i64,
        }
    }
}

/// What is left of a bucket after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitState {
    /// Whether this request is let through.
    pub allowed: bool,
    /// What a full bucket holds.
    pub limit: u32,
    /// How many more would be let through now.
    pub remaining: u32,
    /// Seconds until the bucket is full.
    pub reset: u64,
    /// Seconds until the next request is let through.
    pub retry_after: u64,
}

/// All buckets. A bucket is the instant at which it is full again, so it costs a number.
#[derive(Debug)]
pub struct Buckets {
    shards: [Mutex<HashMap<u64, i64>>; SHARDS],
    /// Keeps strangers from choosing whose bucket they share.
    seed: u64,
}

impl Buckets {
    /// Empty ones.
    pub fn new(seed: u64) -> Buckets {
        Buckets {
            shards: Default::default(),
            seed,
        }
    }

    /// The bucket of a key, and the shard that it is in.
    fn find(&self, key: &impl Hash) -> (u64, MutexGuard<'_, HashMap<u64, i64>>) {
        let mut hasher = DefaultHasher::new();
        (self.seed, key).hash(&mut hasher);
        let key = hasher.finish();
        let shard = &self.shards[usize::try_from(key % SHARDS as u64).unwrap_or(0)];
        (key, shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts back what was taken from a bucket.
    pub fn give_back(&self, key: &impl Hash, rate: Rate) {
        let (key, mut shard) = self.find(key);
        if let Some(full) = shard.get_mut(&key) {
            *full -= rate.every;
        }
    }

    /// Takes one from a bucket.
    pub fn take(&self, key: &impl Hash, rate: Rate, now: i64) -> RateLimitState {
        let (key, mut shard) = self.find(key);
        if shard.len() >= MAX_BUCKETS_PER_SHARD {
            shard.retain(|_, full| *full > now);
        }
        let capacity = rate.every * i64::from(rate.burst);
        let full = shard.get(&key).copied().unwrap_or(now).max(now);
        let after = full + rate.every;
        let allowed = after - now <= capacity;
        let full = if allowed { after } else { full };
        shard.insert(key, full);
        let seconds = |micros: i64| u64::try_from((micros + 999_999) / 1_000_000).unwrap_or(0);
        RateLimitState {
            allowed,
            limit: rate.burst,
            remaining: u32::try_from((capacity - (full - now)) / rate.every).unwrap_or(0),
            reset: seconds(full - now),
            retry_after: seconds(after - now - capacity).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Buckets, Rate};

    #[test]
    fn a_bucket_empties_and_refills() {
        let buckets = Buckets::new(1);
        let rate = Rate::per_minute(10);
        let take = |now| buckets.take(&"someone", rate, now);
        for left in (0..10).rev() {
            let taken = take(0);
            assert!(taken.allowed);
            assert_eq!(taken.remaining, left);
        }
        let refused = take(0);
        assert!(!refused.allowed);
        assert_eq!(
            (refused.retry_after, refused.reset, refused.limit),
            (6, 60, 10)
        );
        assert!(!take(5_999_999).allowed);
        assert!(take(6_000_000).allowed);
        assert!(!take(6_000_001).allowed);
        assert!(buckets.take(&"another", rate, 6_000_001).allowed);
        // What is put back may be taken again.
        buckets.give_back(&"someone", rate);
        assert!(take(6_000_001).allowed && !take(6_000_001).allowed);
        buckets.give_back(&"nobody", rate);
    }
}
