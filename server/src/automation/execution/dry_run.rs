//! A dry run: executes an automation and leaves nothing behind. Steps read as those of a real run, each by itself, so
//! nobody waits for them. From the first write on, all are in one transaction that is rolled back, for a short time at
//! most. Other effects are shown but not carried out; what is known to keep them from happening fails the step. Each step
//! is kept with its output.

use jiff::Timestamp;
use tplkit::automation::run::bounds::Usage;
use tplkit::automation::run::{
    Act, Due, Envelope, Failure, Mail, NextStep, Reason, RowQuery, RunState, Stub,
};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};

use super::dry_effects::{self, NamedConnections};
use super::{failure_message, hold_while, step_row, without_access, written};
use crate::automation::executor::RunExecutor;
use crate::automation::mail_attachments::{self, AttachmentRequest};
use crate::automation::principal::Principal;
use crate::automation::rollback_time::RollbackTime;
use crate::automation::row_reads::{self, ReadRequest};
use crate::automation::row_writes::RowWrites;
use crate::automation::run_failure::RunFailure;
use crate::automation::run_lease;
use crate::automation::run_steps::{self, StepRow};
use crate::automation::runs::Run;
use crate::automation::stop::Stop;
use crate::refusal::Code;
use crate::store::{Scope, StoreError, Tx};
use crate::wake::WorkerSignal;

/// The steps of a dry run, and why it ended early, if it did.
type Executed = (Vec<StepRow>, Option<RunFailure>);

/// What comes out of the transaction that is undone.
enum RolledBack {
    Finished(Executed),
    Store(StoreError),
}

impl From<StoreError> for RolledBack {
    fn from(error: StoreError) -> RolledBack {
        RolledBack::Store(error)
    }
}

/// Where a dry run reads and writes rows.
enum RowAccess<'a> {
    /// In the store as it is; it writes nothing there.
    Stored,
    /// In a transaction that is rolled back.
    Undone { tx: &'a mut Tx, time: RollbackTime },
}

/// How far the steps of a dry run were executed.
enum Progress {
    /// To its end; why that came early, if it did.
    Ended(Option<RunFailure>),
    /// To a step that writes rows.
    Writes,
}

/// Executes a dry run to its end.
///
/// # Errors
/// Those of the store.
pub(super) async fn dry_run(
    executor: &RunExecutor,
    run: &Run,
    principal: Principal,
    graph: &Json,
    envelope: Envelope,
) -> Result<(), StoreError> {
    let connections = NamedConnections::of(executor, run.organization, graph).await?;
    let dry_run = DryRun {
        executor: executor.clone(),
        run: run.clone(),
        principal,
        state: RunState::new(Definitions::embedded(), graph, envelope),
        connections,
        usage: Usage::default(),
        next_number: 0,
    };
    let work = Box::pin(execute(dry_run));
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

/// Executes the steps: those up to the first write in the store as it is, the others in a transaction of their own.
async fn execute(mut dry_run: DryRun) -> Result<Executed, Stop> {
    let mut steps = Vec::new();
    let progress = dry_run.advance(&mut RowAccess::Stored, &mut steps).await;
    if let Progress::Ended(why) = progress.map_err(Stop::Store)? {
        return Ok((steps, why));
    }
    let store = dry_run.executor.store.clone();
    let scope = dry_run.principal.scope.clone();
    // Always an error: that is what undoes it.
    let undone: Result<(), RolledBack> = store
        .write(&scope, dry_run, |tx, dry_run| {
            Box::pin(execute_and_undo(tx, dry_run))
        })
        .await;
    match undone {
        Err(RolledBack::Finished((others, why))) => {
            steps.extend(others);
            Ok((steps, why))
        }
        Err(RolledBack::Store(error)) => Err(Stop::Store(error)),
        Ok(()) => Ok((steps, None)),
    }
}

/// Executes the steps from the first write on.
async fn execute_and_undo(tx: &mut Tx, dry_run: &DryRun) -> Result<(), RolledBack> {
    // The transaction may be tried again, from here.
    let mut dry_run = dry_run.clone();
    let mut steps = Vec::new();
    let time = RollbackTime::start(&dry_run.executor.context);
    let mut rows = RowAccess::Undone { tx, time };
    let why = match dry_run.advance(&mut rows, &mut steps).await? {
        Progress::Ended(why) => why,
        Progress::Writes => None,
    };
    Err(RolledBack::Finished((steps, why)))
}

/// A dry run that is being executed.
#[derive(Clone)]
struct DryRun {
    executor: RunExecutor,
    run: Run,
    /// What it may do; looked up again as long as nobody waits for it.
    principal: Principal,
    state: RunState,
    /// Those that its steps name.
    connections: NamedConnections,
    usage: Usage,
    /// Of the next step, counted from 0.
    next_number: i64,
}

impl DryRun {
    /// Executes steps, and adds them to those before: to the end, or to one that writes where nothing can be written.
    async fn advance(
        &mut self,
        rows: &mut RowAccess<'_>,
        steps: &mut Vec<StepRow>,
    ) -> Result<Progress, StoreError> {
        while let Some(next) = self.state.next_step() {
            let now = self.executor.context.now();
            let stored = matches!(rows, RowAccess::Stored);
            if stored {
                let store = &self.executor.store;
                if let Err(lost) = self.principal.renew(store, &self.run, now).await? {
                    return Ok(Progress::Ended(Some(without_access(lost))));
                }
            }
            let due = self.due(now);
            let writes = self.principal.may_write && matches!(due.act, Ok(Act::Write(_)));
            if writes && stored {
                return Ok(Progress::Writes);
            }
            let mut step = step_row(&next, self.next_number, &Object::new(), "succeeded");
            self.next_number += 1;
            match self.step(rows, due, &mut step).await {
                Ok(()) => steps.push(step),
                Err(Stop::Failed(failure)) => {
                    let why = self.failed(&next, &mut step, failure);
                    steps.push(step);
                    return Ok(Progress::Ended(Some(why)));
                }
                Err(Stop::Store(error)) => return Err(error),
                Err(Stop::Fenced | Stop::Lost(_)) => break,
            }
        }
        Ok(Progress::Ended(None))
    }

    /// The step whose turn it is, resolved.
    fn due(&self, now: i64) -> Due {
        let _working = self.run.meter.start();
        let now = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        self.state.due(now, self.usage.remaining())
    }

    /// Executes a step, and notes what it leaves.
    async fn step(
        &mut self,
        rows: &mut RowAccess<'_>,
        due: Due,
        step: &mut StepRow,
    ) -> Result<(), Stop> {
        self.usage.begin_step().map_err(Stop::Failed)?;
        let most = self.executor.settings.processor_time;
        self.run.meter.check(most).map_err(Stop::Failed)?;
        if let RowAccess::Undone { time, .. } = rows {
            time.check().map_err(Stop::Failed)?;
        }
        step.input = Json::Object(due.input).write();
        let act = due.act.map_err(Stop::Failed)?;
        let output = self.one(rows, &act, step.input.len()).await?;
        self.keep(step, output).map_err(Stop::Failed)
    }

    /// Notes what a step leaves, if the run has room for it.
    fn keep(&mut self, step: &mut StepRow, output: Object) -> Result<(), Failure> {
        let _working = self.run.meter.start();
        self.state.admit(&output)?;
        let (output, text) = written(output);
        self.usage.store(step.input.len() + text.len())?;
        self.state.done(output);
        step.output = Some(text);
        let left = Json::Object(self.state.shown_envelope()).write();
        self.usage.store(left.len())?;
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

    async fn one(&self, rows: &mut RowAccess<'_>, act: &Act, input: usize) -> Result<Object, Stop> {
        match act {
            Act::Read(query) => self.read(rows, query, input).await,
            Act::Write(_) if !self.principal.may_write => {
                let reason = "the user who started the run may no longer write rows";
                let failure = Failure::new(reason).because(Reason::Refused(Code::Forbidden));
                Err(Stop::Failed(failure))
            }
            Act::Write(write) => {
                let RowAccess::Undone { tx, time } = rows else {
                    let bug = "a dry run would write what stays";
                    return Err(Stop::Store(StoreError::Internal(bug.to_owned())));
                };
                let _working = self.run.meter.start();
                // Nobody is to be woken for what is undone.
                let signal = WorkerSignal::default();
                let writing = RowWrites {
                    run: &self.run,
                    write,
                    tables: &self.executor.tables,
                    context: &self.executor.context,
                    signal: &signal,
                    rollback_time: Some(&*time),
                };
                writing.run(tx).await
            }
            act => {
                let checked = self.connections.check(&self.executor, &self.run, act);
                checked.map_err(Stop::Failed)?;
                self.check_in_store(rows, act).await?;
                if let Act::Mail(mail) = act
                    && mail.attaches()
                {
                    return self.attach(rows, act, mail).await;
                }
                let output = Stub::default().output(act, self.state.envelope());
                output.map_err(Stop::Failed)
            }
        }
    }

    /// Whether the store has what an effect in it needs.
    async fn check_in_store(&self, rows: &mut RowAccess<'_>, act: &Act) -> Result<(), Stop> {
        if !matches!(act, Act::Notify(_) | Act::Run(_)) {
            return Ok(());
        }
        match rows {
            RowAccess::Stored => {
                let store = &self.executor.store;
                let input = (self.run.clone(), act.clone());
                store
                    .read(&self.principal.scope, input, |tx, (run, act)| {
                        Box::pin(dry_effects::check_in_store(tx, run, act))
                    })
                    .await
            }
            RowAccess::Undone { tx, .. } => dry_effects::check_in_store(tx, &self.run, act).await,
        }
    }

    /// The output of a read, of which there is room for so much next to its input.
    async fn read(
        &self,
        rows: &mut RowAccess<'_>,
        query: &RowQuery,
        input: usize,
    ) -> Result<Object, Stop> {
        let room = self.usage.remaining().saturating_sub(input);
        let mut request = ReadRequest {
            tables: self.executor.tables.clone(),
            scope: self.run.workspace_key(),
            room: room.min(self.state.room_for_records()),
            meter: self.run.meter.clone(),
            processor_time: self.executor.settings.processor_time,
            rollback_time: None,
            query: query.clone(),
        };
        match rows {
            RowAccess::Stored => {
                let store = &self.executor.store;
                let scope = &self.principal.scope;
                store
                    .read(scope, request, |tx, request| {
                        Box::pin(row_reads::read(tx, request))
                    })
                    .await
            }
            RowAccess::Undone { tx, time } => {
                request.rollback_time = Some(time.clone());
                row_reads::read(tx, &request).await
            }
        }
    }

    /// The output of a mail that files go along with: it lists them.
    async fn attach(
        &self,
        rows: &mut RowAccess<'_>,
        act: &Act,
        mail: &Mail,
    ) -> Result<Object, Stop> {
        let envelope = self.state.envelope();
        let request = AttachmentRequest::of(&self.run, mail, envelope);
        let found = match rows {
            RowAccess::Stored => {
                let store = &self.executor.store;
                let scope = &self.principal.scope;
                store
                    .read(scope, request, |tx, request| {
                        Box::pin(mail_attachments::find(tx, request))
                    })
                    .await?
            }
            RowAccess::Undone { tx, .. } => mail_attachments::find(tx, &request).await?,
        };
        let output = Stub::default().output(act, envelope);
        let mut output = output.map_err(Stop::Failed)?;
        output.shift_remove("note");
        output.extend(
            mail.note(false)
                .map(|note| ("note".to_owned(), note.into())),
        );
        output.insert("attachments".to_owned(), mail_attachments::listed(&found));
        Ok(output)
    }
}
