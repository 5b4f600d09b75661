//! Steps with effects in the store: effect and output in one transaction, so they happen once.

use tplkit::automation::run::{Act, Failure, Reason, RunState, WriteMode};
use tplkit::json::{Object, Value as Json};

use super::StepResult;
use crate::automation::executor::RunExecutor;
use crate::automation::notify;
use crate::automation::row_writes::RowWrites;
use crate::automation::run_steps::{self, StepRow};
use crate::automation::runs::Run;
use crate::automation::stop::Stop;
use crate::ids::Stamp;
use crate::refusal::Code;
use crate::store::Tx;

/// A step that is done in the store.
pub(super) struct StoreEffect {
    pub(super) executor: RunExecutor,
    pub(super) run: Run,
    /// Where the run stands.
    pub(super) state: RunState,
    pub(super) row: StepRow,
    pub(super) act: Act,
    pub(super) now: i64,
}

impl StoreEffect {
    /// Does it, stores its output, and ends the run if it was the last step.
    pub(super) async fn run(&self, tx: &mut Tx) -> Result<StepResult, Stop> {
        let run = &self.run;
        let _working = run.meter.start();
        // Where these steps lead does not depend on what comes of them.
        let last = self.state.ends_with(&Object::new());
        let executor = &self.executor;
        let output = match &self.act {
            Act::Write(write) => {
                let writing = RowWrites {
                    run,
                    write,
                    tables: &executor.tables,
                    context: &executor.context,
                    signal: &executor.signal,
                    rollback_time: None,
                };
                writing.run(tx).await?
            }
            Act::Notify(notice) => {
                let stamp = Stamp {
                    id: executor.context.id(),
                    now: self.now,
                };
                notify::notify(tx, run, &self.row.id, notice, stamp).await?
            }
            Act::Run(workflow) => {
                let stamp = Stamp {
                    id: executor.context.id(),
                    now: self.now,
                };
                notify::run_other(tx, run, *workflow, stamp, &executor.signal).await?
            }
            _ => Object::new(),
        };
        let mut row = self.row.clone();
        row.output = Some(Json::Object(output.clone()).write());
        // The fence comes behind the rows: tables before runs, as the deletion of a workspace has them.
        let ours = if last {
            run_steps::write_last(tx, run, &row, executor.context.now()).await?
        } else {
            run_steps::write_held(tx, run, &row, executor.lease()).await?
        };
        if !ours {
            return Err(Stop::Fenced);
        }
        Ok(StepResult::of(output, last))
    }

    /// Whether the step failed because somebody else has added the row that it looked for and did not find: done once
    /// more, it finds that row.
    pub(super) fn came_second(&self, failure: &Failure) -> bool {
        matches!(&self.act, Act::Write(write) if write.mode == WriteMode::Upsert)
            && failure.code == Reason::Refused(Code::UniqueViolation)
    }
}
