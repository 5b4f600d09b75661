//! Long requests: each waits for its lane, and runs to its end once it starts.

use std::panic::resume_unwind;
use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};
use tracing::Instrument as _;
use uuid::Uuid;

use super::Call;
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::release_memory;

/// Does what takes long in a lane, for an organization.
///
/// It is not given up with the request: what a store was asked for goes on when the client has gone, and as
/// long as it does it holds its place.
///
/// # Errors
/// 429 when the lane is busy, and those of the work.
pub fn in_lane<T: Send + 'static>(
    lane: &Lane,
    organization: Uuid,
    work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
) -> impl Future<Output = Result<T, Refusal>> + Send {
    started(lane, organization, work, |work| tokio::spawn(work))
}

/// The same for what moves a package: it computes for seconds, so it has a thread of its own, and what memory it took
/// is given back. On a thread of requests it would hold up those that the thread has taken up.
///
/// # Errors
/// As [`in_lane`].
pub fn transfer<T: Send + 'static>(
    lane: &Lane,
    organization: Uuid,
    work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
) -> impl Future<Output = Result<T, Refusal>> + Send {
    let work = async {
        release_memory::give_back_now().await;
        let done = work.await;
        release_memory::give_back();
        done
    };
    started(lane, organization, work, |work| {
        spawn_blocking(move || Handle::current().block_on(work))
    })
}

/// Work in a lane, with the result of what it does.
type Started<T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send>>;

/// Enters the lane, and has `start` start the work.
fn started<T: Send + 'static>(
    lane: &Lane,
    organization: Uuid,
    work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    start: impl FnOnce(Started<T>) -> JoinHandle<Result<T, Refusal>> + Send,
) -> impl Future<Output = Result<T, Refusal>> + Send {
    // What is done in lanes is large; boxed, it is not moved around with what waits for it.
    let work = Box::pin(work);
    async move {
        let permit = lane
            .enter(organization)
            .await
            .map_err(|_| Refusal::busy())?;
        let share = lane.share(organization);
        let work = async move {
            let done = share.of(work).await;
            drop(permit);
            done
        };
        let done = start(Box::pin(work.instrument(tracing::Span::current()))).await;
        done.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(Refusal::unavailable("The server is about to stop.")),
        })
    }
}

/// Refuses at once what would find its lane busy, before its body is received.
///
/// # Errors
/// 429 when the lane is busy.
pub fn check(lane: &Lane, organization: Uuid) -> Result<(), Refusal> {
    if lane.is_full(organization) {
        return Err(Refusal::busy());
    }
    Ok(())
}

impl Call {
    /// The organization for which something is done: the one concerned where the caller belongs to it, else
    /// the caller's own. Who belongs to none counts as one.
    ///
    /// # Errors
    /// 401 on a public operation that nobody is signed in for.
    pub fn on_behalf_of(&self, concerned: Uuid) -> Result<Uuid, Refusal> {
        let caller = self.caller()?;
        if caller.role_in(concerned).is_some() {
            return Ok(concerned);
        }
        let first = caller.organizations.first();
        Ok(first.map_or(caller.id, |own| own.organization))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use uuid::Uuid;

    use super::transfer;
    use crate::lanes::Lanes;
    use crate::refusal::Refusal;

    /// On the only thread of requests it would wait for what that thread does next.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_transfer_holds_up_no_request() {
        let lanes = Lanes::default();
        let work = async {
            let (sender, receiver) = mpsc::channel();
            tokio::spawn(async move { sender.send(()) });
            let heard = receiver.recv_timeout(Duration::from_secs(10));
            heard.map_err(|_| Refusal::internal())
        };
        let done = transfer(&lanes.transfers, Uuid::nil(), work).await;
        assert!(done.is_ok(), "the request was held up");
    }
}
