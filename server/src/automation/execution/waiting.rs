//! The step `delay`: the run releases its worker and continues when the delay is over.

use tplkit::automation::run::{Failure, Timer, Wait};
use tplkit::json::Object;

use super::{RunExecution, StepResult, fenced};
use crate::automation::connections;
use crate::automation::run_lease;
use crate::automation::run_steps::StepRow;
use crate::automation::stop::Stop;
use crate::store::Scope;

impl RunExecution<'_> {
    /// Lets the run wait; once it has, there is an output.
    pub(super) async fn wait(
        &mut self,
        row: StepRow,
        wait: &Wait,
        begun: Option<&StepRow>,
        now: i64,
    ) -> Result<StepResult, Stop> {
        // A run that is executed again before its time was not woken by the clock alone.
        if begun.is_some() && self.run.wake_at.is_some_and(|at| at <= now) {
            return self.keep(row, Object::new()).await;
        }
        let seconds = match wait {
            Wait::Seconds(seconds) => *seconds,
            // How long a timer is belongs to the organization, which is none where nothing leaves.
            Wait::Timer(_) if self.executor.outbox.is_some() => 0,
            Wait::Timer(name) => self.timer(name).await?,
        };
        if seconds <= 0 {
            return self.keep(row, Object::new()).await;
        }
        let input = (self.run.clone(), row, now + seconds * 1_000_000);
        self.executor
            .store
            .write(&Scope::Operator, input, |tx, (run, row, wake_at)| {
                Box::pin(async move {
                    fenced(tx, run, row, 0).await?;
                    Ok::<_, Stop>(run_lease::release(tx, run, Some(*wake_at)).await?)
                })
            })
            .await?;
        Ok(StepResult::Waits)
    }

    async fn timer(&self, name: &str) -> Result<i64, Stop> {
        let input = (self.run.organization, name.to_owned());
        let found = self
            .executor
            .store
            .read(&Scope::Operator, input, |tx, (organization, name)| {
                Box::pin(connections::timer(tx, *organization, name))
            })
            .await?;
        seconds(found.as_deref(), name).map_err(Stop::Failed)
    }
}

/// How long the timer of that address is, if there is one.
///
/// # Errors
/// A failure where it is none that could be waited for.
pub(super) fn seconds(address: Option<&str>, name: &str) -> Result<i64, Failure> {
    let failed = |reason: &str| Failure::at("timerProfile", reason).yields(None, &name.into());
    match address.and_then(Timer::parse) {
        Some(Timer::Delay(seconds)) => Ok(seconds),
        Some(Timer::Cron(_)) => Err(failed("the timer is a rhythm and no while")),
        None => Err(failed("the organization has no such timer")),
    }
}
