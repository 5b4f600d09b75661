//! Runs CPU-heavy work on threads that serve no requests.

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
