//! Executes a run step by step: the output of a step is stored before the next one starts.
//!
//! A step with an effect in the store has effect and output in one transaction, so it happens once.
//! A step with an external effect is recorded before and after; when the process dies in between,
//! it is repeated under the same stamp. The run ends in the transaction of its last step.

mod dry_effects;
mod dry_run;
mod external_effects;
mod store_effects;
mod waiting;

use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::watch;
use tplkit::automation::run::bounds::{self, DEPTH, Usage};
use tplkit::automation::run::{
    Act, Due, Envelope, Failure, NextStep, Reason, Record, RowQuery, RunState,
};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};

use super::capacity::RunPermit;
use super::executor::RunExecutor;
use super::mentioned_tables::mentioned_ids;
use super::principal::Principal;
use super::row_reads::ReadRequest;
use super::run_failure::RunFailure;
use super::run_steps::{self, StepRow};
use super::runs::Run;
use super::stop::Stop;
use super::{find, principal_lookup, row_reads, run_lease};
use crate::refusal::Code;
use crate::store::{Scope, StoreError, Tx};
use external_effects::hold_while;
use store_effects::StoreEffect;

/// Executes a run to its end, to a step that waits, or until the process is to stop.
///
/// # Errors
/// Those of the store: the run is taken up again later.
pub(super) async fn execute(
    executor: &RunExecutor,
    run: &mut Run,
    permit: &RunPermit,
    stop: &watch::Receiver<bool>,
) -> Result<(), StoreError> {
    let Some((graph, known)) = begun(executor, run).await? else {
        let gone = RunFailure::new(Reason::Abandoned, "the version that was to run is gone");
        return end(executor, run, Some(&gone)).await;
    };
    run.named = mentioned_ids(&graph);
    run.named.extend(run.feature);
    let now = executor.context.now();
    let allowed = run.allowed.take();
    let run = &*run;
    let principal = match allowed.filter(|allowed| !allowed.is_old(now)) {
        Some(principal) => principal,
        None => match principal_lookup::of(&executor.store, run, now).await? {
            Ok(principal) => principal,
            Err(lost) => return end(executor, run, Some(&without_access(lost))).await,
        },
    };
    let envelope = match envelope(run) {
        Ok(envelope) => envelope,
        Err(unreadable) => return end(executor, run, Some(&unreadable)).await,
    };
    if run.dry_run {
        return dry_run::dry_run(executor, run, principal, &graph, envelope).await;
    }
    let mut execution = RunExecution {
        executor,
        run,
        permit,
        stop,
        principal,
        state: RunState::new(Definitions::embedded(), &graph, envelope),
        usage: Usage::default(),
    };
    for number in 0.. {
        let Some(next) = execution.state.next_step() else {
            return end(executor, run, None).await;
        };
        let row = known.get(usize::try_from(number).unwrap_or(usize::MAX));
        match row.map_or(Ok(None), finished) {
            Ok(Some((row, output))) => {
                execution.resume_after(row, output);
                continue;
            }
            Ok(None) => {}
            Err(unreadable) => return end(executor, run, Some(&unreadable)).await,
        }
        if *stop.borrow() {
            // Somebody else goes on from here.
            return release(executor, run, None).await;
        }
        match execution.step(&next, number, row).await {
            Ok(StepResult::Output(output)) => execution.state.done(output),
            Ok(StepResult::Ended) => {
                executor.counted.finished(true);
                return Ok(());
            }
            Ok(StepResult::Waits) | Err(Stop::Fenced) => return Ok(()),
            Err(Stop::Failed(failure)) => {
                return execution.failed(&next, number, &failure).await;
            }
            Err(Stop::Lost(lost)) => {
                return end(executor, run, Some(&without_access(lost))).await;
            }
            Err(Stop::Store(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Why a run ends when its principal no longer sees its workspace.
fn without_access(lost: Reason) -> RunFailure {
    RunFailure::new(lost, principal_lookup::describe(lost))
}

/// The envelope with which a run begins.
///
/// # Errors
/// Why the run ends when it cannot carry the row that started it: without the row it would do something else.
fn envelope(run: &Run) -> Result<Envelope, RunFailure> {
    let Some(text) = &run.record else {
        return Ok(Envelope::default());
    };
    let row = bounds::row(text).ok_or_else(|| {
        let detail = format!(
            "a cell of the row that started the run has more than {DEPTH} lists and objects in one another"
        );
        RunFailure::new(Reason::RunTooLarge, detail)
    })?;
    Ok(Envelope::new(Some(Record::of(&row))))
}

/// A finished step, and what it brought about.
///
/// # Errors
/// Why the run ends when nobody can read that: to take the step for one that is not done would do it again.
fn finished(row: &StepRow) -> Result<Option<(&StepRow, Object)>, RunFailure> {
    let output = row.output.as_deref();
    let Some(output) = output.filter(|_| row.status == "succeeded") else {
        return Ok(None);
    };
    if let Ok(Json::Object(output)) = Json::parse(output) {
        return Ok(Some((row, output)));
    }
    let detail = format!(
        "the stored output of step {} ({}, {}) cannot be read, and a finished step is never done again: start \
         the run again",
        row.path, row.key, row.id
    );
    Err(RunFailure::new(Reason::Abandoned, detail))
}

/// The graph of the version, and the steps so far. A version never changes, so its graph is remembered by its id.
async fn begun(
    executor: &RunExecutor,
    run: &Run,
) -> Result<Option<(Arc<Json>, Vec<StepRow>)>, StoreError> {
    let known = run.version_id.and_then(|id| executor.graphs.get(&id));
    if let (Some(graph), true) = (known, run.fresh) {
        return Ok(Some((graph, Vec::new())));
    }
    let input = (run.organization, run.workflow, run.version, run.id);
    let found = executor
        .store
        .read(&Scope::Operator, input, |tx, input| {
            let (organization, workflow, version, run) = *input;
            Box::pin(async move {
                let version = find::by_number(tx, organization, workflow, version).await?;
                let steps = run_steps::steps(tx, organization, run).await?;
                Ok::<_, StoreError>(version.map(|version| (version, steps)))
            })
        })
        .await?;
    Ok(found.map(|(version, steps)| {
        let graph = Arc::new(Json::parse(&version.graph_config).unwrap_or_default());
        executor.graphs.insert(version.id, graph.clone());
        (graph, steps)
    }))
}

/// Ends a run.
pub(super) async fn end(
    executor: &RunExecutor,
    run: &Run,
    why: Option<&RunFailure>,
) -> Result<(), StoreError> {
    let input = (run.clone(), why.cloned(), executor.context.now());
    executor
        .store
        .write(&Scope::Operator, input, |tx, (run, why, now)| {
            Box::pin(run_lease::end(tx, run, why.as_ref(), *now))
        })
        .await
        .map(|ours| {
            if ours {
                executor.counted.finished(why.is_none());
            }
        })
}

/// Lets go of a run, to be taken up again at `wake_at`, or at once: then whatever it had waited for stays as it was, and
/// it waits for that no second time.
pub(super) async fn release(
    executor: &RunExecutor,
    run: &Run,
    wake_at: Option<i64>,
) -> Result<(), StoreError> {
    let input = (run.clone(), wake_at.or(run.wake_at));
    executor
        .store
        .write(&Scope::Operator, input, |tx, (run, wake_at)| {
            Box::pin(run_lease::release(tx, run, *wake_at))
        })
        .await
}

/// Lets go of a run because of an error of the server. At the third attempt that ends like this the run is
/// given up.
pub(super) async fn leave(
    executor: &RunExecutor,
    run: &Run,
    wake_at: i64,
) -> Result<(), StoreError> {
    let input = (run.clone(), wake_at, executor.context.now());
    let over = executor
        .store
        .write(&Scope::Operator, input, |tx, (run, wake_at, now)| {
            Box::pin(run_lease::leave(tx, run, *wake_at, *now))
        })
        .await?;
    if over {
        executor.counted.finished(false);
    }
    Ok(())
}

/// An output and its text. It may be large: it is not copied for it.
fn written(output: Object) -> (Object, String) {
    let output = Json::Object(output);
    let text = output.write();
    let Json::Object(output) = output else {
        return (Object::new(), text);
    };
    (output, text)
}

/// The row of a step whose turn it is.
fn step_row(next: &NextStep, number: i64, input: &Object, status: &str) -> StepRow {
    StepRow {
        number,
        path: next.path.clone(),
        id: next.id.clone(),
        key: next.key.clone(),
        status: status.to_owned(),
        input: Json::Object(input.clone()).write(),
        output: None,
        error: None,
        error_code: None,
        envelope: None,
    }
}

struct RunExecution<'p> {
    executor: &'p RunExecutor,
    run: &'p Run,
    permit: &'p RunPermit,
    stop: &'p watch::Receiver<bool>,
    principal: Principal,
    state: RunState,
    usage: Usage,
}

/// What came of a step.
#[derive(Debug, PartialEq, Eq)]
enum StepResult {
    /// Its output, which is stored; more steps follow.
    Output(Object),
    /// The end of the run, stored with its output.
    Ended,
    /// Nothing yet: the run waits.
    Waits,
}

impl StepResult {
    fn of(output: Object, last: bool) -> StepResult {
        if last {
            StepResult::Ended
        } else {
            StepResult::Output(output)
        }
    }
}

/// What the output of a step that is done in the store takes at most.
const MAX_OUTPUT_BYTES: usize = 256;
/// How often a step is done again after somebody else has added the row that it would have added.
const MAX_REPEATS: usize = 2;

impl RunExecution<'_> {
    /// Goes on behind a step that an earlier attempt has finished.
    fn resume_after(&mut self, row: &StepRow, output: Object) {
        let stored = row.input.len() + row.output.as_ref().map_or(0, String::len);
        // What is stored already was within the bounds.
        let _ = self.usage.begin_step();
        let _ = self.usage.store(stored);
        self.state.done(output);
    }

    /// Does a step.
    async fn step(
        &mut self,
        next: &NextStep,
        number: i64,
        begun: Option<&StepRow>,
    ) -> Result<StepResult, Stop> {
        self.usage.begin_step().map_err(Stop::Failed)?;
        let most = self.executor.settings.processor_time;
        self.run.meter.check(most).map_err(Stop::Failed)?;
        let now = self.executor.context.now();
        let renewed = self.principal.renew(&self.executor.store, self.run, now);
        renewed.await?.map_err(Stop::Lost)?;
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let Due { input, act } = {
            let _working = self.run.meter.start();
            self.state.due(instant, self.usage.remaining())
        };
        let row = step_row(next, number, &input, "running");
        match act.map_err(Stop::Failed)? {
            Act::Output(output) => self.keep(row, output).await,
            Act::Wait(wait) => self.wait(row, &wait, begun, now).await,
            Act::Read(query) => {
                let output = self.under_lease(self.read(query, row.input.len())).await?;
                self.keep(row, output.map_err(Stop::Failed)?).await
            }
            Act::Write(_) if !self.principal.may_write => {
                let reason = "the user of the run may no longer write rows";
                let failure = Failure::new(reason).because(Reason::Refused(Code::Forbidden));
                Err(Stop::Failed(failure))
            }
            act @ (Act::Write(_) | Act::Notify(_) | Act::Run(_)) => {
                let came = self.store_effect(row, act, now).await?;
                self.executor.signal.notify_if_marked();
                Ok(came)
            }
            act @ (Act::Ask { .. } | Act::Mail(_) | Act::Request(_)) => {
                self.call(row, &act, next).await
            }
        }
    }

    /// The output of a read, of which there is room for so much next to its input.
    async fn read(&self, query: RowQuery, input: usize) -> Result<Object, Stop> {
        let room = self.usage.remaining().saturating_sub(input);
        let request = ReadRequest {
            tables: self.executor.tables.clone(),
            scope: self.run.workspace_key(),
            room: room.min(self.state.room_for_records()),
            meter: self.run.meter.clone(),
            processor_time: self.executor.settings.processor_time,
            rollback_time: None,
            query,
        };
        let store = &self.executor.store;
        let scope = &self.principal.scope;
        store
            .read(scope, request, |tx, request| {
                Box::pin(row_reads::read(tx, request))
            })
            .await
    }

    /// Stores what came of a step, if the run has room for it.
    async fn keep(&mut self, mut row: StepRow, output: Object) -> Result<StepResult, Stop> {
        self.state.admit(&output).map_err(Stop::Failed)?;
        let last = self.state.ends_with(&output);
        let (output, text) = {
            let _working = self.run.meter.start();
            written(output)
        };
        let stored = self.usage.store(row.input.len() + text.len());
        stored.map_err(Stop::Failed)?;
        "succeeded".clone_into(&mut row.status);
        row.output = Some(text);
        self.write(row, last).await?;
        Ok(StepResult::of(output, last))
    }

    /// Stores that a step has begun.
    async fn note(&self, row: StepRow) -> Result<(), Stop> {
        self.write(row, false).await
    }

    /// Stores a step, and the end of the run if it was the last one.
    async fn write(&self, row: StepRow, last: bool) -> Result<(), Stop> {
        let write = StepWrite {
            run: self.run.clone(),
            row,
            lease: self.executor.lease(),
            end: last.then(|| self.executor.context.now()),
        };
        self.executor
            .store
            .write(&Scope::Operator, write, |tx, write| {
                Box::pin(write.store(tx))
            })
            .await
    }

    /// Does what is done in the store, in the transaction that stores the step.
    async fn store_effect(
        &mut self,
        mut row: StepRow,
        act: Act,
        now: i64,
    ) -> Result<StepResult, Stop> {
        let stored = self.usage.store(row.input.len() + MAX_OUTPUT_BYTES);
        stored.map_err(Stop::Failed)?;
        "succeeded".clone_into(&mut row.status);
        let effect = Arc::new(StoreEffect {
            executor: self.executor.clone(),
            run: self.run.clone(),
            state: self.state.clone(),
            row,
            act,
            now,
        });
        let mut again = 0;
        loop {
            let came = self
                .executor
                .store
                .write(&self.principal.scope, effect.clone(), |tx, effect| {
                    Box::pin(effect.run(tx))
                })
                .await;
            match came {
                Err(Stop::Failed(failure))
                    if again < MAX_REPEATS && effect.came_second(&failure) =>
                {
                    again += 1;
                }
                came => return came,
            }
        }
    }

    /// Ends the run with the step that failed.
    async fn failed(
        &self,
        next: &NextStep,
        number: i64,
        failure: &Failure,
    ) -> Result<(), StoreError> {
        let now = self.executor.context.now();
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        // What the step was to do, where there is room to say so.
        let input = self.state.due(instant, self.usage.remaining()).input;
        let mut row = step_row(next, number, &input, "failed");
        let failure = self.state.failed(failure.clone());
        row.fail(&RunFailure::new(failure.code, failure.to_string()));
        let why = RunFailure::new(failure.code, failure_message(next, &failure));
        let failed = FailedStep {
            run: self.run.clone(),
            row,
            lease: self.executor.lease(),
            why,
            now,
        };
        let ended: Result<(), Stop> = self
            .executor
            .store
            .write(&Scope::Operator, failed, |tx, failed| {
                Box::pin(failed.store(tx))
            })
            .await;
        match ended {
            Err(Stop::Store(error)) => Err(error),
            // A refusal of what the server writes for itself is an error of the server.
            Err(Stop::Failed(failure)) => Err(StoreError::Internal(failure.reason)),
            Err(Stop::Fenced | Stop::Lost(_)) => Ok(()),
            Ok(()) => {
                self.executor.counted.finished(false);
                Ok(())
            }
        }
    }
}

/// A step to store.
struct StepWrite {
    run: Run,
    row: StepRow,
    /// How long the lease of the run lasts.
    lease: i64,
    /// When the run ends, if this is its last step.
    end: Option<i64>,
}

impl StepWrite {
    async fn store(&self, tx: &mut Tx) -> Result<(), Stop> {
        let Some(now) = self.end else {
            return fenced(tx, &self.run, &self.row, self.lease).await;
        };
        // The end of a run is its fence as well.
        if run_steps::write_last(tx, &self.run, &self.row, now).await? {
            Ok(())
        } else {
            Err(Stop::Fenced)
        }
    }
}

/// A step that failed, with which its run ends.
struct FailedStep {
    run: Run,
    row: StepRow,
    /// How long the lease of the run lasts.
    lease: i64,
    why: RunFailure,
    now: i64,
}

impl FailedStep {
    async fn store(&self, tx: &mut Tx) -> Result<(), Stop> {
        fenced(tx, &self.run, &self.row, self.lease).await?;
        run_lease::end(tx, &self.run, Some(&self.why), self.now).await?;
        Ok(())
    }
}

/// Which step failed, and why.
fn failure_message(next: &NextStep, failure: &Failure) -> String {
    format!("step {} ({}, {}): {failure}", next.path, next.key, next.id)
}

/// Writes a step down, if the run is still ours.
async fn fenced(tx: &mut Tx, run: &Run, row: &StepRow, lease: i64) -> Result<(), Stop> {
    if run_steps::write_held(tx, run, row, lease).await? {
        return Ok(());
    }
    Err(Stop::Fenced)
}
