//! A dry run: the chain is played in one transaction that is undone. Rows are read and written as they
//! would be; what would be done outside is shown and not done.

use jiff::Timestamp;
use tplkit::automation::run::{Act, Play, Stub};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};

use super::bell::Bell;
use super::playing::{envelope, line, told};
use super::reading;
use super::runs::{self, Run, StepLine};
use super::step::Stop;
use super::worker::Player;
use super::writing::Writing;
use crate::store::{Scope, StoreError, Tx};

/// What comes out of the transaction that is undone.
enum Undone {
    /// The steps, and why the run ended early, if it did.
    Played(Vec<StepLine>, Option<String>),
    Store(StoreError),
}

impl From<StoreError> for Undone {
    fn from(error: StoreError) -> Undone {
        Undone::Store(error)
    }
}

struct Input {
    player: Player,
    run: Run,
    graph: Json,
}

/// Plays a dry run to its end.
///
/// # Errors
/// Those of the store.
pub(super) async fn play(
    player: &Player,
    run: &Run,
    scope: &Scope,
    graph: &Json,
) -> Result<(), StoreError> {
    let input = Input {
        player: player.clone(),
        run: run.clone(),
        graph: graph.clone(),
    };
    // Always an error: that is what undoes it.
    let undone: Result<(), Undone> = player
        .store
        .write(scope, input, |tx, input| Box::pin(rehearse(tx, input)))
        .await;
    let (steps, error) = match undone {
        Err(Undone::Played(steps, error)) => (steps, error),
        Err(Undone::Store(error)) => return Err(error),
        Ok(()) => (Vec::new(), None),
    };
    let well = error.is_none();
    let input = (
        run.clone(),
        steps,
        error,
        player.context.now(),
        player.lease(),
    );
    player
        .store
        .write(
            &Scope::Operator,
            input,
            |tx, (run, steps, error, now, lease)| {
                Box::pin(async move {
                    if !runs::hold(tx, run, *lease).await? {
                        return Ok::<_, StoreError>(());
                    }
                    for step in steps {
                        runs::write_step(tx, run, step).await?;
                    }
                    runs::end(tx, run, error.as_deref(), *now).await.map(drop)
                })
            },
        )
        .await?;
    player.counted.finished(well);
    Ok(())
}

async fn rehearse(tx: &mut Tx, input: &Input) -> Result<(), Undone> {
    let run = &input.run;
    let mut play = Play::new(Definitions::embedded(), &input.graph, envelope(run));
    let now = Timestamp::from_microsecond(input.player.context.now());
    let now = now.unwrap_or(Timestamp::UNIX_EPOCH);
    let mut steps = Vec::new();
    while let Some(next) = play.turn() {
        let number = i64::try_from(steps.len()).unwrap_or(i64::MAX);
        let due = play.due(now);
        let mut step = line(&next, number, &due.input, "succeeded");
        let done = match due.act {
            Ok(act) => one(tx, input, &act, &play).await,
            Err(failure) => Err(Stop::Failed(failure)),
        };
        match done {
            Ok(output) => {
                step.output = Some(Json::Object(output.clone()).write());
                steps.push(step);
                play.done(output);
            }
            Err(Stop::Failed(failure)) => {
                let failure = play.failed(failure);
                "failed".clone_into(&mut step.status);
                step.error = Some(failure.to_string());
                steps.push(step);
                return Err(Undone::Played(steps, Some(told(&next, &failure))));
            }
            Err(Stop::Store(error)) => return Err(Undone::Store(error)),
            Err(Stop::Fenced) => break,
        }
    }
    Err(Undone::Played(steps, None))
}

async fn one(tx: &mut Tx, input: &Input, act: &Act, play: &Play) -> Result<Object, Stop> {
    let (player, run) = (&input.player, &input.run);
    match act {
        Act::Read(question) => {
            let place = (run.organization, run.workspace);
            reading::read(tx, &player.tables, place, question).await
        }
        Act::Write(write) => {
            // Nobody is to be woken for what is undone.
            let bell = Bell::default();
            let writing = Writing {
                run,
                write,
                tables: &player.tables,
                context: &player.context,
                bell: &bell,
            };
            writing.run(tx).await
        }
        act => Ok(Stub::default().output(act, play.envelope())),
    }
}
