//! A run, played step by step: what a step brought about is stored before the next one begins.
//!
//! A step whose effect is in the store has effect and output in one transaction: it is done once. A step
//! that does something outside is noted as begun, done, and noted as done; when the process dies in
//! between it is done again, under the same stamp. The run ends in the transaction of its last step.

mod inside;
mod outside;
mod waiting;

use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::watch;
use tplkit::automation::run::{Act, Due, Envelope, Failure, Next, Play, Record};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};

use super::capacity::RunPermit;
use super::runs::{self, Run, StepLine};
use super::step::Stop;
use super::worker::Player;
use super::{authority, find, reading, rehearsal};
use crate::store::{Scope, StoreError, Tx};
use inside::Inside;

/// Plays a run to its end, to a step that waits, or until the process is to stop.
///
/// # Errors
/// Those of the store: the run is taken up again later.
pub(super) async fn play(
    player: &Player,
    run: &Run,
    permit: &RunPermit,
    stop: &watch::Receiver<bool>,
) -> Result<(), StoreError> {
    let Some((graph, known)) = begun(player, run).await? else {
        return end(player, run, Some("the version is gone")).await;
    };
    let Some(scope) = authority::scope_of(&player.store, run, player.context.now()).await? else {
        let told = "who began it belongs to the organization no more, or may not write any more";
        return end(player, run, Some(told)).await;
    };
    if run.dry_run {
        return rehearsal::play(player, run, &scope, &graph).await;
    }
    let mut playing = Playing {
        player,
        run,
        permit,
        stop,
        scope,
        play: Play::new(Definitions::embedded(), &graph, envelope(run)),
    };
    for number in 0.. {
        let Some(next) = playing.play.turn() else {
            return end(player, run, None).await;
        };
        let line = known.get(usize::try_from(number).unwrap_or(usize::MAX));
        if let Some(output) = line.and_then(finished) {
            playing.play.done(output);
            continue;
        }
        if *stop.borrow() {
            // Somebody else goes on from here.
            return release(player, run, None).await;
        }
        match playing.step(&next, number, line).await {
            Ok(Came::Output(output)) => playing.play.done(output),
            Ok(Came::Over) => {
                player.counted.finished(true);
                return Ok(());
            }
            Ok(Came::Waits) | Err(Stop::Fenced) => return Ok(()),
            Err(Stop::Failed(failure)) => {
                return playing.failed(&next, number, &failure).await;
            }
            Err(Stop::Store(error)) if !passes(&error) => {
                tracing::error!(%error, step = next.path, "a step cannot be done");
                let failure = Failure::new("something went wrong here; it has been recorded");
                return playing.failed(&next, number, &failure).await;
            }
            Err(Stop::Store(error)) => {
                // Not at once: what is not there now is not there a moment later either.
                let wake_at = player.context.now() + 1_000_000;
                let _ = release(player, run, Some(wake_at)).await;
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Whether what the store says may be over later.
fn passes(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unavailable(_)
            | StoreError::Locked
            | StoreError::NotBrief
            | StoreError::Stale
            | StoreError::TooLong
            | StoreError::TurnedAway(_)
    )
}

/// The envelope with which a run begins.
pub(super) fn envelope(run: &Run) -> Envelope {
    let record = run
        .record
        .as_deref()
        .and_then(|text| Json::parse(text).ok());
    Envelope::new(record.as_ref().map(Record::of))
}

/// What a finished step brought about.
fn finished(line: &StepLine) -> Option<Object> {
    let output = line
        .output
        .as_deref()
        .filter(|_| line.status == "succeeded")?;
    Json::parse(output).ok()?.as_object().cloned()
}

/// The graph of the version, and the steps so far. A version never changes, so its graph is remembered.
async fn begun(
    player: &Player,
    run: &Run,
) -> Result<Option<(Arc<Json>, Vec<StepLine>)>, StoreError> {
    let known = player.graphs.get(&(run.workflow, run.version));
    if let (Some(graph), true) = (&known, run.fresh) {
        return Ok(Some((graph.clone(), Vec::new())));
    }
    let input = (run.organization, run.workflow, run.version, run.id);
    let found = player
        .store
        .read(&Scope::Operator, input, |tx, input| {
            let (organization, workflow, version, run) = *input;
            Box::pin(async move {
                let version = find::by_number(tx, workflow, version).await?;
                let steps = runs::steps(tx, (organization, run)).await?;
                Ok::<_, StoreError>(version.map(|version| (version.graph_config, steps)))
            })
        })
        .await?;
    Ok(found.map(|(graph, steps)| {
        let graph = Arc::new(Json::parse(&graph).unwrap_or_default());
        let of = (run.workflow, run.version);
        player.graphs.insert(of, graph.clone());
        (graph, steps)
    }))
}

/// Ends a run.
pub(super) async fn end(player: &Player, run: &Run, error: Option<&str>) -> Result<(), StoreError> {
    let input = (run.clone(), error.map(str::to_owned), player.context.now());
    player
        .store
        .write(&Scope::Operator, input, |tx, (run, error, now)| {
            Box::pin(runs::end(tx, run, error.as_deref(), *now))
        })
        .await
        .map(|ours| {
            if ours {
                player.counted.finished(error.is_none());
            }
        })
}

async fn release(player: &Player, run: &Run, wake_at: Option<i64>) -> Result<(), StoreError> {
    let input = (run.clone(), wake_at);
    player
        .store
        .write(&Scope::Operator, input, |tx, (run, wake_at)| {
            Box::pin(runs::release(tx, run, *wake_at))
        })
        .await
}

/// The line of a step whose turn it is.
pub(super) fn line(next: &Next, number: i64, input: &Object, status: &str) -> StepLine {
    StepLine {
        number,
        path: next.path.clone(),
        id: next.id.clone(),
        key: next.key.clone(),
        status: status.to_owned(),
        input: Json::Object(input.clone()).write(),
        output: None,
        error: None,
    }
}

struct Playing<'p> {
    player: &'p Player,
    run: &'p Run,
    permit: &'p RunPermit,
    stop: &'p watch::Receiver<bool>,
    scope: Scope,
    play: Play,
}

/// What came of a step.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    /// Its output, which is stored; more steps follow.
    Output(Object),
    /// The end of the run, stored with its output.
    Over,
    /// Nothing yet: the run waits.
    Waits,
}

impl Came {
    fn of(output: Object, last: bool) -> Came {
        if last {
            Came::Over
        } else {
            Came::Output(output)
        }
    }
}

/// Whether no step follows the one whose turn it is, if that is its output.
fn ends(play: &Play, output: &Object) -> bool {
    let mut ahead = play.clone();
    ahead.done(output.clone());
    ahead.turn().is_none()
}

impl Playing<'_> {
    /// Does a step.
    async fn step(&self, next: &Next, number: i64, begun: Option<&StepLine>) -> Result<Came, Stop> {
        let now = self.player.context.now();
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let Due { input, act } = self.play.due(instant);
        let line = line(next, number, &input, "running");
        match act.map_err(Stop::Failed)? {
            Act::Settled(output) => self.keep(line, output).await,
            Act::Wait(wait) => self.wait(line, &wait, begun, now).await,
            Act::Read(question) => {
                let place = (self.run.organization, self.run.workspace);
                let asked = (self.player.tables.clone(), place, question);
                let output = self
                    .player
                    .store
                    .read(&self.scope, asked, |tx, (tables, place, question)| {
                        Box::pin(reading::read(tx, tables, *place, question))
                    })
                    .await?;
                self.keep(line, output).await
            }
            act @ (Act::Write(_) | Act::Notify(_) | Act::Run(_)) => {
                let came = self.inside(line, act, now).await?;
                self.player.bell.ring();
                Ok(came)
            }
            act @ (Act::Ask { .. } | Act::Mail(_) | Act::Request(_)) => {
                self.call(line, &act, next).await
            }
        }
    }

    /// Stores what came of a step.
    async fn keep(&self, mut line: StepLine, output: Object) -> Result<Came, Stop> {
        let last = ends(&self.play, &output);
        "succeeded".clone_into(&mut line.status);
        line.output = Some(Json::Object(output.clone()).write());
        self.write(line, last).await?;
        Ok(Came::of(output, last))
    }

    /// Stores that a step has begun.
    async fn note(&self, line: StepLine) -> Result<(), Stop> {
        self.write(line, false).await
    }

    /// Stores a step, and the end of the run if it was the last one.
    async fn write(&self, line: StepLine, last: bool) -> Result<(), Stop> {
        let end = last.then(|| self.player.context.now());
        let input = (self.run.clone(), line, self.player.lease(), end);
        self.player
            .store
            .write(&Scope::Operator, input, |tx, (run, line, lease, end)| {
                Box::pin(async move {
                    let Some(now) = end else {
                        return fenced(tx, run, line, *lease).await;
                    };
                    // The end of a run is its fence as well.
                    if runs::write_last(tx, run, line, *now).await? {
                        Ok(())
                    } else {
                        Err(Stop::Fenced)
                    }
                })
            })
            .await
    }

    /// Does what is done in the store, in the transaction that stores the step.
    async fn inside(&self, mut line: StepLine, act: Act, now: i64) -> Result<Came, Stop> {
        "succeeded".clone_into(&mut line.status);
        let input = Inside {
            player: self.player.clone(),
            run: self.run.clone(),
            play: self.play.clone(),
            line,
            act,
            now,
        };
        self.player
            .store
            .write(&self.scope, input, |tx, input| Box::pin(input.run(tx)))
            .await
    }

    /// Ends the run with the step that failed.
    async fn failed(&self, next: &Next, number: i64, failure: &Failure) -> Result<(), StoreError> {
        let now = self.player.context.now();
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut line = line(next, number, &self.play.due(instant).input, "failed");
        let failure = self.play.failed(failure.clone());
        line.error = Some(failure.to_string());
        let told = told(next, &failure);
        let input = (self.run.clone(), line, self.player.lease(), told, now);
        let ended: Result<(), Stop> = self
            .player
            .store
            .write(
                &Scope::Operator,
                input,
                |tx, (run, line, lease, told, now)| {
                    Box::pin(async move {
                        fenced(tx, run, line, *lease).await?;
                        runs::end(tx, run, Some(told), *now).await?;
                        Ok(())
                    })
                },
            )
            .await;
        match ended {
            Err(Stop::Store(error)) => Err(error),
            Err(_) => Ok(()),
            Ok(()) => {
                self.player.counted.finished(false);
                Ok(())
            }
        }
    }
}

/// Which step failed, and why.
pub(super) fn told(next: &Next, failure: &Failure) -> String {
    format!("step {} ({}, {}): {failure}", next.path, next.key, next.id)
}

/// Writes a step down, if the run is still ours.
async fn fenced(tx: &mut Tx, run: &Run, line: &StepLine, lease: i64) -> Result<(), Stop> {
    if runs::write_held(tx, run, line, lease).await? {
        return Ok(());
    }
    Err(Stop::Fenced)
}
