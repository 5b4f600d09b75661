//! Runs CPU-heavy work on threads that serve no requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::thread::{Builder, available_parallelism};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::refusal::Refusal;

/// How long a body may be, in bytes, that is read where it came in: longer ones are worth the way to another
/// thread.
pub const SHORT: usize = 64 << 10;

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

/// How far the threads of requests are preferred to one that gives way: 0 not at all, 19 as far as the system can.
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 10;

/// Carries it out on a thread of its own, which gives way to those of requests. Tasks that it spawns, connections to
/// the database among them, stay with the others.
///
/// # Errors
/// When there is no thread for it, or it panicked.
pub async fn give_way(work: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
    let runtime = Handle::current();
    let (ended, end) = oneshot::channel();
    let carry_out = move || {
        prefer_others();
        runtime.block_on(work);
        let _ = ended.send(());
    };
    Builder::new()
        .name("gives-way".to_owned())
        .spawn(carry_out)?;
    end.await
        .map_err(|_| std::io::Error::other("the work on a thread of its own did not end"))
}

/// Work for a thread that gives way.
type Work = Box<dyn FnOnce() + Send>;

/// The threads that give way, as many as there are processors. They last as long as the process.
static GIVING_WAY: LazyLock<mpsc::Sender<Work>> = LazyLock::new(|| {
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
            prefer_others();
            while let Ok(work) = take() {
                // Whoever waits for it learns that it did not end.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        };
        if let Err(error) = Builder::new().name("gives-way".to_owned()).spawn(serve) {
            tracing::error!(%error, "there is no thread that gives way");
        }
    }
    sender
});

/// Does work that takes long altogether, and comes in short pieces, on one of a few threads that give way to those of
/// requests.
///
/// # Errors
/// When there is no thread for it, or it panicked.
pub async fn give_way_for<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<T> {
    let (sender, ended) = oneshot::channel();
    let work = move || {
        // Whoever waited may have gone.
        let _ = sender.send(work());
    };
    let failed = || std::io::Error::other("work on a thread that gives way did not end");
    GIVING_WAY.send(Box::new(work)).map_err(|_| failed())?;
    ended.await.map_err(|_| failed())
}

/// Lets others go first between two pieces of such work: a thread that the system prefers waits for the rest of this one's
/// turn all the same.
pub fn offer_turn() {
    std::thread::yield_now();
}

/// Has the system prefer other threads to this one.
fn prefer_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) =
        rustix::process::setpriority_process(Some(rustix::thread::gettid()), GIVES_WAY)
    {
        tracing::debug!(%error, "a thread keeps its priority");
    }
}

#[cfg(test)]
mod tests {
    use super::give_way_for;

    #[tokio::test]
    async fn a_panic_ends_the_work_and_no_thread() {
        for _ in 0..20 {
            let panicked: std::io::Result<()> = give_way_for(|| panic!("a bug")).await;
            assert!(panicked.is_err());
        }
        let name = give_way_for(|| std::thread::current().name().map(str::to_owned));
        assert_eq!(name.await.expect("ends").as_deref(), Some("gives-way"));
    }
}
