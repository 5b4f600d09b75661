//! Runs CPU-heavy work on threads that serve no requests.

use std::thread::Builder;

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

/// Has the system prefer other threads to this one.
fn prefer_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) =
        rustix::process::setpriority_process(Some(rustix::thread::gettid()), GIVES_WAY)
    {
        tracing::debug!(%error, "a thread keeps its priority");
    }
}
