//! Returns free memory to the system after large work.
//!
//! The allocator keeps freed memory per thread: after a large package that is several times its
//! size, until the process ends. Code that ends such work reports it here; a moment later all free
//! memory is returned, once for all reports in between. On other allocators nothing happens.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// How long is waited for others who may say so, too, and for what they hold still to be freed.
const PAUSE: Duration = Duration::from_millis(500);

/// From which size of a package on something is given back between two steps.
const MIN_PACKAGE_BYTES: usize = 4 << 20;

/// Whether somebody has said so.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Blocks of so many bytes are taken from the system one by one, and go back to it when they are freed. Left to
/// itself, the allocator takes this up to what was freed last, and then mixes texts of packages with what stays.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MMAP_BYTES: i32 = 256 << 10;
/// So many bytes may be free at the end of what the allocator has, before it gives them back unasked.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SPARE_BYTES: i32 = 8 << 20;

/// Has the allocator keep little. To be called before anything large is done.
pub fn prepare() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "there is no safe way to ask the allocator")]
    // SAFETY: it takes numbers, and locks what it changes.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE_BYTES);
    }
}

/// Gives back soon what is free by then. It has to be called on a runtime.
pub(crate) fn give_back() {
    if ASKED.swap(true, Ordering::Relaxed) {
        return;
    }
    tokio::spawn(async {
        sleep(PAUSE).await;
        ASKED.store(false, Ordering::Relaxed);
        // It takes as long as there is memory to be given back.
        let given = spawn_blocking(trim).await;
        if let Err(error) = given {
            tracing::error!(%error, "memory was not given back");
        }
    });
}

/// Gives back now what was to be given back soon: what follows is large, too. It has to be called on a runtime.
pub(crate) async fn give_back_now() {
    if ASKED.load(Ordering::Relaxed) {
        // The other one still comes: what is about to be freed by now is free then.
        let _ = spawn_blocking(trim).await;
    }
}

/// Gives back at once what is free, before something of that size is read. As
/// [`between_steps`], it may block.
pub(crate) fn before_large(bytes: usize) {
    if bytes >= MIN_PACKAGE_BYTES {
        trim();
    }
}

/// Gives back at once what is free, between two steps of something large: what the first step took is not to
/// be there next to what the second takes. It takes milliseconds, so it is for threads that may block.
pub(crate) fn between_steps(package: &str) {
    before_large(package.len());
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe way to ask the allocator")]
fn trim() {
    // SAFETY: it takes no pointer, may be called by any thread at any time, and touches only what is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}
