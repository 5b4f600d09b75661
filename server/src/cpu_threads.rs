//! Runs CPU-heavy work on threads that serve no requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::thread::{Builder, available_parallelism};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::refusal::Refusal;

/// How long a body may be, in bytes, that is read where it came in: longer ones are worth the way to another
/// thread.
pub const MAX_INLINE_BYTES: usize = 64 << 10;

/// Does it on a thread of its own.
///
/// # Errors
/// Those of the work.
pub async fn offload<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| {
        tracing::error!(%error, "work on a thread of its own did not end");
        Err(Refusal::internal())
    })
}

/// The niceness of threads of low priority: from 0, that of the threads of requests, to 19, the lowest priority.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Carries it out on a thread of its own, at a lower priority than those of requests. Tasks that it spawns, connections
/// to the database among them, stay with the others.
///
/// # Errors
/// When there is no thread for it, or it panicked.
pub async fn run_low_priority(
    work: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let runtime = Handle::current();
    let (ended, end) = oneshot::channel();
    let carry_out = move || {
        lower_priority();
        runtime.block_on(work);
        let _ = ended.send(());
    };
    Builder::new()
        .name("low-priority".to_owned())
        .spawn(carry_out)?;
    end.await
        .map_err(|_| std::io::Error::other("the work on a thread of its own did not end"))
}

/// Work for a thread of low priority.
type Work = Box<dyn FnOnce() + Send>;

/// Hands work to the threads of low priority, as many as there are processors. They last as long as the process.
static LOW_PRIORITY_POOL: LazyLock<mpsc::Sender<Work>> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel::<Work>();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..available_parallelism().map_or(1, usize::from) {
        let receiver = receiver.clone();
        let take = move || {
            receiver
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv()
        };
        let serve = move || {
            lower_priority();
            while let Ok(work) = take() {
                // Whoever waits for it learns that it did not end.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        };
        if let Err(error) = Builder::new().name("low-priority".to_owned()).spawn(serve) {
            tracing::error!(%error, "there is no thread of low priority");
        }
    }
    sender
});

/// Does work that takes long altogether, and comes in short pieces, on one of a few threads of a lower priority than
/// those of requests.
///
/// # Errors
/// When there is no thread for it, or it panicked.
pub async fn offload_low_priority<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<T> {
    let (sender, ended) = oneshot::channel();
    let work = move || {
        // Whoever waited may have gone.
        let _ = sender.send(work());
    };
    let failed = || std::io::Error::other("work on a thread of low priority did not end");
    LOW_PRIORITY_POOL
        .send(Box::new(work))
        .map_err(|_| failed())?;
    ended.await.map_err(|_| failed())
}

/// Lets others go first between two pieces of such work: a thread that the system prefers waits for the rest of this one's
/// turn all the same.
pub fn offer_turn() {
    std::thread::yield_now();
}

/// Has the system prefer other threads to this one.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) =
        rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS)
    {
        tracing::debug!(%error, "a thread keeps its priority");
    }
}

#[cfg(test)]
mod tests {
    use super::offload_low_priority;

    #[tokio::test]
    async fn a_panic_ends_the_work_and_no_thread() {
        for _ in 0..20 {
            let panicked: std::io::Result<()> = offload_low_priority(|| panic!("a bug")).await;
            assert!(panicked.is_err());
        }
        let name = offload_low_priority(|| std::thread::current().name().map(str::to_owned));
        assert_eq!(name.await.expect("ends").as_deref(), Some("low-priority"));
    }
}
