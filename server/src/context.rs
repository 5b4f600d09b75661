//! The server's clock, random numbers and ids, which it also passes to the library.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::{SignedDuration, Timestamp};
pub use tplkit::context::Clock;
use tplkit::context::Ids;
use uuid::Uuid;

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is where the time comes from"
        )]
        Timestamp::now()
    }
}

/// Measures how long something takes. What is measured goes to logs and metrics and decides nothing.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Stopwatch {
        #[expect(
            clippy::disallowed_methods,
            reason = "durations come from here, and no decision depends on them"
        )]
        Stopwatch(std::time::Instant::now())
    }

    /// Since the start.
    pub fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }
}

/// A duration as it is written down.
pub fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Time and ids for everything that the server writes.
#[derive(Clone)]
pub struct Context {
    clock: Arc<dyn Clock + Send + Sync>,
    last: Arc<Mutex<LastId>>,
}

/// Of the id before, and what is left to make others of.
#[derive(Default)]
struct LastId {
    millisecond: u64,
    counter: u16,
    /// From the operating system, which takes longer to be asked than an id does.
    random: Vec<[u8; 8]>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Context")
    }
}

impl Context {
    /// Tells time by that clock.
    pub fn new(clock: Arc<dyn Clock + Send + Sync>) -> Context {
        Context {
            clock,
            last: Arc::default(),
        }
    }

    /// Now, in microseconds since 1970.
    pub fn now(&self) -> i64 {
        self.clock.now().as_microsecond()
    }

    /// Its clock.
    pub fn clock(&self) -> &(dyn Clock + Send + Sync) {
        &*self.clock
    }

    /// A UUID of version 7 that is greater than every one before it.
    pub fn id(&self) -> Uuid {
        let now = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now > last.millisecond {
            (last.millisecond, last.counter) = (now, 0);
        } else if last.counter < 0xFFF {
            last.counter += 1;
        } else {
            // More than 4096 in a millisecond, or a clock that goes back: run ahead of it.
            (last.millisecond, last.counter) = (last.millisecond + 1, 0);
        }
        let (millisecond, counter) = (last.millisecond, last.counter);
        if last.random.is_empty() {
            let more: [u8; 512] = random();
            last.random.extend(more.as_chunks().0);
        }
        let bits = last.random.pop().unwrap_or_else(random);
        drop(last);
        let high = u128::from(millisecond) << 80 | 0x7 << 76 | u128::from(counter) << 64;
        let low = u64::from_be_bytes(bits) >> 2 | 0x2 << 62;
        Uuid::from_u128(high | u128::from(low))
    }
}

/// Ids of version 4 for packages, where nothing says when they were made.
#[derive(Debug, Clone, Copy)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn uuid(&mut self) -> String {
        uuid::Builder::from_random_bytes(random())
            .into_uuid()
            .to_string()
    }
}

/// Bytes that nobody can guess.
///
/// # Panics
/// When the operating system has none, which leaves nothing that could be done safely.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has random bytes");
    bytes
}

/// When something changes that changed last at `before`: now, or the first instant behind that. Whoever waits for a lock
/// took the time before those that it waits for, and clocks of processes differ; whoever goes by the time of the last
/// change is to see that each one is later than the one before.
pub fn changed_at(now: i64, before: i64) -> i64 {
    now.max(before.saturating_add(1))
}

/// An instant as responses have it: RFC 3339, UTC, microseconds.
pub fn rfc3339(microseconds: i64) -> String {
    let mut text = String::with_capacity(27);
    rfc3339_to(&mut text, microseconds);
    text
}

/// Appends the same.
pub fn rfc3339_to(out: &mut String, microseconds: i64) {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
    // Writing to a String cannot fail.
    if let Ok(instant) = Timestamp::from_microsecond(microseconds) {
        let _ = PRINTER.print_timestamp(&instant, out);
        return;
    }
    // A timestamp leaves out the last hours of the year 9999.
    let since = SignedDuration::from_micros(microseconds);
    let time = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).saturating_add(since);
    let _ = PRINTER.print_datetime(&time, &mut *out);
    out.push('Z');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use tplkit::context::FixedClock;

    use super::{Context, changed_at, rfc3339};

    #[test]
    fn ids_are_version_7_and_go_up_while_the_clock_stands() {
        let context = Context::new(Arc::new(FixedClock(Timestamp::UNIX_EPOCH)));
        let ids: Vec<_> = (0..10_000).map(|_| context.id()).collect();
        assert!(ids.is_sorted_by(|one, other| one < other));
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
        assert!(
            ids.iter()
                .all(|id| id.get_variant() == uuid::Variant::RFC4122)
        );
    }

    #[test]
    fn a_change_is_later_than_the_one_before() {
        for (now, before, changed) in [(5, 3, 5), (5, 4, 5), (5, 5, 6), (5, 9, 10)] {
            assert_eq!(changed_at(now, before), changed);
        }
        assert_eq!(changed_at(0, i64::MAX), i64::MAX);
    }

    #[test]
    fn instants_have_microseconds() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(
            rfc3339(1_700_000_000_123_456),
            "2023-11-14T22:13:20.123456Z"
        );
        assert_eq!(
            rfc3339(253_402_300_799_999_999),
            "9999-12-31T23:59:59.999999Z"
        );
    }
}
