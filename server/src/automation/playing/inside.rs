//! Steps that are done in the store: effect and output in one transaction, so that they are done once.

use tplkit::automation::run::{Act, Play};
use tplkit::json::{Object, Value as Json};

use super::Came;
use crate::automation::runs::{self, Run, StepLine};
use crate::automation::step::Stop;
use crate::automation::telling;
use crate::automation::worker::Player;
use crate::automation::writing::Writing;
use crate::store::Tx;

/// A step that is done in the store.
pub(super) struct Inside {
    pub(super) player: Player,
    pub(super) run: Run,
    /// Where the run stands.
    pub(super) play: Play,
    pub(super) line: StepLine,
    pub(super) act: Act,
    pub(super) now: i64,
}

impl Inside {
    /// Does it, stores its output, and ends the run if it was the last step.
    pub(super) async fn run(&self, tx: &mut Tx) -> Result<Came, Stop> {
        let run = &self.run;
        let _working = run.meter.start();
        // Where these steps lead does not depend on what comes of them.
        let last = self.play.ends_with(&Object::new());
        // The end of a run is its fence as well.
        if !last && !runs::hold(tx, run, self.player.lease()).await? {
            return Err(Stop::Fenced);
        }
        let player = &self.player;
        let output = match &self.act {
            Act::Write(write) => {
                let writing = Writing {
                    run,
                    write,
                    tables: &player.tables,
                    context: &player.context,
                    bell: &player.bell,
                };
                writing.run(tx).await?
            }
            Act::Notify(notice) => {
                let stamp = (player.context.id(), self.line.id.as_str(), self.now);
                telling::notify(tx, run, notice, stamp).await?
            }
            Act::Run(workflow) => {
                let stamp = (player.context.id(), self.now);
                telling::run_other(tx, run, *workflow, stamp, &player.bell).await?
            }
            _ => Object::new(),
        };
        let mut line = self.line.clone();
        line.output = Some(Json::Object(output.clone()).write());
        if last {
            let now = player.context.now();
            if !runs::write_last(tx, run, &line, now).await? {
                return Err(Stop::Fenced);
            }
        } else {
            runs::write_step(tx, run, &line).await?;
        }
        Ok(Came::of(output, last))
    }
}
