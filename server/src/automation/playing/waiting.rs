//! `delay`: the run lets go of whoever plays it, and goes on when its time has come.

use tplkit::automation::run::{Failure, Timer, Wait};
use tplkit::json::Object;

use super::{Came, Playing, fenced};
use crate::automation::connections;
use crate::automation::runs::{self, StepLine};
use crate::automation::step::Stop;
use crate::store::Scope;

impl Playing<'_> {
    /// Lets the run wait; once it has, there is an output.
    pub(super) async fn wait(
        &mut self,
        line: StepLine,
        wait: &Wait,
        begun: Option<&StepLine>,
        now: i64,
    ) -> Result<Came, Stop> {
        // A run that is played again before its time was not woken by the clock alone.
        if begun.is_some() && self.run.wake_at.is_some_and(|at| at <= now) {
            return self.keep(line, Object::new()).await;
        }
        let seconds = match wait {
            Wait::Seconds(seconds) => *seconds,
            Wait::Timer(name) => self.timer(name).await?,
        };
        if seconds <= 0 {
            return self.keep(line, Object::new()).await;
        }
        let input = (self.run.clone(), line, now + seconds * 1_000_000);
        self.player
            .store
            .write(&Scope::Operator, input, |tx, (run, line, wake_at)| {
                Box::pin(async move {
                    fenced(tx, run, line, 0).await?;
                    Ok::<_, Stop>(runs::release(tx, run, Some(*wake_at)).await?)
                })
            })
            .await?;
        Ok(Came::Waits)
    }

    async fn timer(&self, name: &str) -> Result<i64, Stop> {
        let asked = (self.run.organization, name.to_owned());
        let found = self
            .player
            .store
            .read(&Scope::Operator, asked, |tx, (organization, name)| {
                Box::pin(connections::timer(tx, *organization, name))
            })
            .await?;
        let failed = |reason: &str| {
            Stop::Failed(Failure::at("timerProfile", reason).yields(None, &name.into()))
        };
        match found.as_deref().and_then(Timer::parse) {
            Some(Timer::Delay(seconds)) => Ok(seconds),
            Some(Timer::Cron(_)) => Err(failed("the timer is a rhythm and no while")),
            None => Err(failed("the organization has no such timer")),
        }
    }
}
