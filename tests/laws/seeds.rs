//! Many seeds, spread over the threads; what fails is reported with the seed that runs it again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// What a law says of one seed.
pub(crate) type Verdict = Result<(), String>;

/// Failures that are worth reading.
const ENOUGH: usize = 5;

/// Holds a law against as many seeds as are asked for.
///
/// # Panics
/// When the law does not hold.
pub(crate) fn each(law: impl Fn(u64) -> Verdict + Sync) {
    each_of(1, law);
}

/// The same for a law that takes long, against one of so many seeds.
///
/// # Panics
/// When the law does not hold.
pub(crate) fn each_of(share: u64, law: impl Fn(u64) -> Verdict + Sync) {
    let failures = Mutex::new(Vec::new());
    let (first, count) = match number("TPLKIT_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("TPLKIT_CASES").unwrap_or(100).div_ceil(share)),
    };
    let next = AtomicU64::new(first);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed - first >= count || failures.lock().unwrap().len() >= ENOUGH {
                break;
            }
            let said = catch_unwind(AssertUnwindSafe(|| law(seed)));
            let failure = match said {
                Ok(Ok(())) => continue,
                Ok(Err(failure)) => failure,
                Err(_) => "it panicked".to_owned(),
            };
            failures.lock().unwrap().push((seed, failure));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    let lines: Vec<String> = failures
        .iter()
        .map(|(seed, failure)| format!("TPLKIT_SEED={seed}: {failure}"))
        .collect();
    assert!(lines.is_empty(), "{}", lines.join("\n\n"));
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long to look is for whoever runs the tests to say"
)]
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// That something is so.
pub(crate) fn hold(fits: bool, failure: impl FnOnce() -> String) -> Verdict {
    if fits { Ok(()) } else { Err(failure()) }
}

/// That two texts are the same; the first difference is shown.
pub(crate) fn same(what: &str, is: &str, expected: &str) -> Verdict {
    if is == expected {
        return Ok(());
    }
    let pairs = is.bytes().zip(expected.bytes());
    let at = pairs.take_while(|(one, other)| one == other).count();
    let shown = |text: &str| {
        let bytes = &text.as_bytes()[at.saturating_sub(300)..(at + 300).min(text.len())];
        String::from_utf8_lossy(bytes).into_owned()
    };
    Err(format!(
        "{what} is\n{}\nand should be\n{}",
        shown(is),
        shown(expected)
    ))
}

/// A small generator for what a law itself decides.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1CE)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((word ^ (word >> 31)) % bound.max(1) as u64).unwrap()
    }
}
