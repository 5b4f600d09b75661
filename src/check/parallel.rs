//! Runs independent pieces of work on a few threads; results are in the order of the pieces.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` for every index below `count` on at most `threads` threads.
///
/// Pieces are taken one by one, so a large one does not leave the other threads idle.
pub(super) fn run_parallel<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            // The counter orders nothing but itself.
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let result = work(index);
            done.lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(worker);
        }
        worker();
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::run_parallel;

    #[test]
    fn results_keep_their_order() {
        for threads in [0, 1, 2, 7, 100] {
            let squares = run_parallel(50, threads, |index| index * index);
            assert_eq!(
                squares,
                (0..50).map(|index| index * index).collect::<Vec<_>>()
            );
        }
        assert!(run_parallel(0, 4, |index| index).is_empty());
    }
}
