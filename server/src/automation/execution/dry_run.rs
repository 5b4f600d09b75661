//! A dry run: executes an automation in one transaction that is rolled back. Rows are read and
//! written as in a real run; external effects are shown but not carried out. Each step is kept with
//! its output.

use jiff::Timestamp;
use tplkit::automation::run::bounds::Usage;
use tplkit::automation::run::{Act, Envelope, Failure, NextStep, Reason, RunState, Stub};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};

use super::{failure_message, hold_while, step_row, written};
use crate::automation::executor::RunExecutor;
use crate::automation::mail_attachments::{self, AttachmentRequest};
use crate::automation::principal::Principal;
use crate::automation::processor_time::Meter;
use crate::automation::row_reads::{self, ReadRequest};
use crate::automation::row_writes::RowWrites;
use crate::automation::run_lease;
use crate::automation::run_steps::{self, StepRow};
use crate::automation::runs::{Run, RunFailure};
use crate::automation::step::Stop;
use crate::refusal::Code;
use crate::store::{Scope, StoreError, Tx};
use crate::wake::WorkerSignal;

/// What comes out of the transaction that is undone.
enum RolledBack {
    /// The steps, and why the run ended early, if it did.
    Finished(Vec<StepRow>, Option<RunFailure>),
    Store(StoreError),
}

impl From<StoreError> for RolledBack {
    fn from(error: StoreError) -> RolledBack {
        RolledBack::Store(error)
    }
}

struct Input {
    executor: RunExecutor,
    run: Run,
    may_write: bool,
    graph: Json,
    /// With which it begins.
    envelope: Envelope,
}

/// Executes a dry run to its end.
///
/// # Errors
/// Those of the store.
pub(super) async fn dry_run(
    executor: &RunExecutor,
    run: &Run,
    principal: &Principal,
    graph: &Json,
    envelope: Envelope,
) -> Result<(), StoreError> {
    let input = Input {
        executor: executor.clone(),
        run: run.clone(),
        may_write: principal.may_write,
        graph: graph.clone(),
        envelope,
    };
    let work = async {
        // Always an error: that is what undoes it.
        let undone: Result<(), RolledBack> = executor
            .store
            .write(&principal.scope, input, |tx, input| {
                Box::pin(execute(tx, input))
            })
            .await;
        match undone {
            Err(RolledBack::Finished(steps, why)) => Ok((steps, why)),
            Err(RolledBack::Store(error)) => Err(Stop::Store(error)),
            Ok(()) => Ok((Vec::new(), None)),
        }
    };
    let (steps, why) = match hold_while(executor, run, work).await {
        Ok(Ok(executed)) => executed,
        Err(Stop::Store(error)) => return Err(error),
        // Somebody else executes it by now.
        Ok(Err(_)) | Err(_) => return Ok(()),
    };
    let well = why.is_none();
    let finished = FinishedRun {
        run: run.clone(),
        steps,
        why,
        now: executor.context.now(),
        lease: executor.lease(),
    };
    let ours = executor
        .store
        .write(&Scope::Operator, finished, |tx, finished| {
            Box::pin(finished.store(tx))
        })
        .await?;
    if ours {
        executor.counted.finished(well);
    }
    Ok(())
}

/// A dry run that has ended.
struct FinishedRun {
    run: Run,
    steps: Vec<StepRow>,
    /// Why it ended early, if it did.
    why: Option<RunFailure>,
    now: i64,
    /// How long the lease of the run lasts.
    lease: i64,
}

impl FinishedRun {
    /// Stores its steps and its end; false where another worker has the run by now.
    async fn store(&self, tx: &mut Tx) -> Result<bool, StoreError> {
        if !run_lease::hold(tx, &self.run, self.lease).await? {
            return Ok(false);
        }
        run_steps::write_steps(tx, &self.run, &self.steps).await?;
        run_lease::end(tx, &self.run, self.why.as_ref(), self.now).await
    }
}

async fn execute(tx: &mut Tx, input: &Input) -> Result<(), RolledBack> {
    let mut dry_run = DryRun {
        input,
        state: RunState::new(
            Definitions::embedded(),
            &input.graph,
            input.envelope.clone(),
        ),
        usage: Usage::default(),
    };
    let mut steps = Vec::new();
    while let Some(next) = dry_run.state.next_step() {
        let number = i64::try_from(steps.len()).unwrap_or(i64::MAX);
        let mut step = step_row(&next, number, &Object::new(), "succeeded");
        match dry_run.step(tx, &mut step).await {
            Ok(()) => steps.push(step),
            Err(Stop::Failed(failure)) => {
                let why = dry_run.failed(&next, &mut step, failure);
                steps.push(step);
                return Err(RolledBack::Finished(steps, Some(why)));
            }
            Err(Stop::Store(error)) => return Err(RolledBack::Store(error)),
            Err(Stop::Fenced | Stop::Lost(_)) => break,
        }
    }
    Err(RolledBack::Finished(steps, None))
}

/// A dry run that is being executed.
struct DryRun<'i> {
    input: &'i Input,
    state: RunState,
    usage: Usage,
}

impl DryRun<'_> {
    /// Executes a step, and notes what it leaves.
    async fn step(&mut self, tx: &mut Tx, step: &mut StepRow) -> Result<(), Stop> {
        let executor = &self.input.executor;
        let meter = &self.input.run.meter;
        let _working = meter.start();
        self.usage.begin_step().map_err(Stop::Failed)?;
        let most = executor.settings.processor_time;
        meter.check(most).map_err(Stop::Failed)?;
        let now = Timestamp::from_microsecond(executor.context.now());
        let now = now.unwrap_or(Timestamp::UNIX_EPOCH);
        let due = self.state.due(now, self.usage.remaining());
        let input = Json::Object(due.input).write();
        let act = due.act.map_err(Stop::Failed);
        let output = match act {
            Ok(act) => self.one(tx, &act, input.len()).await,
            Err(stop) => Err(stop),
        };
        step.input = input;
        let output = output?;
        self.state.admit(&output).map_err(Stop::Failed)?;
        let (output, text) = written(output);
        let stored = self.usage.store(step.input.len() + text.len());
        stored.map_err(Stop::Failed)?;
        self.state.done(output);
        step.output = Some(text);
        let left = Json::Object(self.state.shown_envelope()).write();
        self.usage.store(left.len()).map_err(Stop::Failed)?;
        step.envelope = Some(left);
        Ok(())
    }

    /// Notes that a step failed; gives why the run did.
    fn failed(&mut self, next: &NextStep, step: &mut StepRow, failure: Failure) -> RunFailure {
        let failure = self.state.failed(failure);
        step.fail(&RunFailure::new(failure.code, failure.to_string()));
        step.output = None;
        if self.usage.store(step.input.len()).is_err() {
            "{}".clone_into(&mut step.input);
        }
        let left = Json::Object(self.state.shown_envelope()).write();
        let fits = self.usage.store(left.len()).is_ok();
        step.envelope = fits.then_some(left);
        RunFailure::new(failure.code, failure_message(next, &failure))
    }

    async fn one(&self, tx: &mut Tx, act: &Act, input: usize) -> Result<Object, Stop> {
        let Input { executor, run, .. } = self.input;
        match act {
            Act::Read(query) => {
                let room = self.usage.remaining().saturating_sub(input);
                let request = ReadRequest {
                    tables: executor.tables.clone(),
                    scope: run.workspace_key(),
                    room: room.min(self.state.room_for_records()),
                    // The step counts its time itself: this goes on from there for the read alone.
                    meter: Meter::of(run.meter.total()),
                    processor_time: executor.settings.processor_time,
                    query: query.clone(),
                };
                row_reads::read(tx, &request).await
            }
            Act::Write(_) if !self.input.may_write => {
                let reason = "the user who started the run may no longer write rows";
                let failure = Failure::new(reason).because(Reason::Refused(Code::Forbidden));
                Err(Stop::Failed(failure))
            }
            Act::Write(write) => {
                // Nobody is to be woken for what is undone.
                let signal = WorkerSignal::default();
                let writing = RowWrites {
                    run,
                    write,
                    tables: &executor.tables,
                    context: &executor.context,
                    signal: &signal,
                };
                writing.run(tx).await
            }
            Act::Mail(mail) if mail.attaches() => {
                let request = AttachmentRequest::of(run, mail, self.state.envelope());
                let found = mail_attachments::find(tx, &request).await?;
                let mut output = Stub::default().output(act, self.state.envelope());
                output.shift_remove("note");
                output.extend(
                    mail.note(false)
                        .map(|note| ("note".to_owned(), note.into())),
                );
                output.insert("attachments".to_owned(), mail_attachments::listed(&found));
                Ok(output)
            }
            act => Ok(Stub::default().output(act, self.state.envelope())),
        }
    }
}
