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
use tplkit::automation::run::bounds::Usage;
use tplkit::automation::run::{Act, Due, Envelope, Failure, Next, Play, Question, Reason, Record};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};

use super::authority::Authority;
use super::capacity::RunPermit;
use super::mentioned::mentioned;
use super::reading::Asked;
use super::runs::{self, Ending, Run, StepLine};
use super::step::Stop;
use super::worker::Player;
use super::{authority, find, reading, rehearsal};
use crate::http::problem::Code;
use crate::store::{Scope, StoreError, Tx};
use inside::Inside;
pub(super) use outside::hold_while;

/// Plays a run to its end, to a step that waits, or until the process is to stop.
///
/// # Errors
/// Those of the store: the run is taken up again later.
pub(super) async fn play(
    player: &Player,
    run: &mut Run,
    permit: &RunPermit,
    stop: &watch::Receiver<bool>,
) -> Result<(), StoreError> {
    let Some((graph, known)) = begun(player, run).await? else {
        let gone = Ending::new(Reason::Abandoned, "the version that was to run is gone");
        return end(player, run, Some(&gone)).await;
    };
    run.named = mentioned(&graph);
    run.named.extend(run.feature);
    let run = &*run;
    let authority = match authority::of(&player.store, run, player.context.now()).await? {
        Ok(authority) => authority,
        Err(lost) => return end(player, run, Some(&without_access(lost))).await,
    };
    if run.dry_run {
        return rehearsal::play(player, run, &authority, &graph).await;
    }
    let mut playing = Playing {
        player,
        run,
        permit,
        stop,
        authority,
        play: Play::new(Definitions::embedded(), &graph, envelope(run)),
        usage: Usage::default(),
    };
    for number in 0.. {
        let Some(next) = playing.play.turn() else {
            return end(player, run, None).await;
        };
        let line = known.get(usize::try_from(number).unwrap_or(usize::MAX));
        if let Some((line, output)) = line.and_then(finished) {
            playing.again(line, output);
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
            Err(Stop::Lost(lost)) => {
                return end(player, run, Some(&without_access(lost))).await;
            }
            Err(Stop::Store(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Why a run ends when whoever it works for does not see its workspace any more.
fn without_access(lost: Reason) -> Ending {
    Ending::new(lost, authority::told(lost))
}

/// The envelope with which a run begins.
pub(super) fn envelope(run: &Run) -> Envelope {
    let record = run
        .record
        .as_deref()
        .and_then(|text| Json::parse(text).ok());
    Envelope::new(record.as_ref().map(Record::of))
}

/// A finished step, and what it brought about.
fn finished(line: &StepLine) -> Option<(&StepLine, Object)> {
    let output = line
        .output
        .as_deref()
        .filter(|_| line.status == "succeeded")?;
    let output = Json::parse(output).ok()?.as_object().cloned()?;
    Some((line, output))
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
pub(super) async fn end(
    player: &Player,
    run: &Run,
    why: Option<&Ending>,
) -> Result<(), StoreError> {
    let input = (run.clone(), why.cloned(), player.context.now());
    player
        .store
        .write(&Scope::Operator, input, |tx, (run, why, now)| {
            Box::pin(runs::end(tx, run, why.as_ref(), *now))
        })
        .await
        .map(|ours| {
            if ours {
                player.counted.finished(why.is_none());
            }
        })
}

/// Lets go of a run, to be taken up again at `wake_at`, or at once.
pub(super) async fn release(
    player: &Player,
    run: &Run,
    wake_at: Option<i64>,
) -> Result<(), StoreError> {
    let input = (run.clone(), wake_at);
    player
        .store
        .write(&Scope::Operator, input, |tx, (run, wake_at)| {
            Box::pin(runs::release(tx, run, *wake_at))
        })
        .await
}

/// Lets go of a run because of an error of the server. At the third attempt that ends like this the run is
/// given up.
pub(super) async fn leave(player: &Player, run: &Run, wake_at: i64) -> Result<(), StoreError> {
    let input = (run.clone(), (wake_at, player.context.now()));
    let over = player
        .store
        .write(&Scope::Operator, input, |tx, (run, times)| {
            Box::pin(runs::leave(tx, run, *times))
        })
        .await?;
    if over {
        player.counted.finished(false);
    }
    Ok(())
}

/// An output and its text. It may be large: it is not copied for it.
pub(super) fn written(output: Object) -> (Object, String) {
    let output = Json::Object(output);
    let text = output.write();
    let Json::Object(output) = output else {
        return (Object::new(), text);
    };
    (output, text)
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
        error_code: None,
        envelope: None,
    }
}

struct Playing<'p> {
    player: &'p Player,
    run: &'p Run,
    permit: &'p RunPermit,
    stop: &'p watch::Receiver<bool>,
    authority: Authority,
    play: Play,
    usage: Usage,
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

/// For how long a run goes on by the rights that were looked up, in microseconds.
const SURE: i64 = 1_000_000;

/// What the output of a step that is done in the store takes at most.
const SMALL: usize = 256;

impl Playing<'_> {
    /// Goes on behind a step that an earlier attempt has finished.
    fn again(&mut self, line: &StepLine, output: Object) {
        let stored = line.input.len() + line.output.as_ref().map_or(0, String::len);
        // What is stored already was within the bounds.
        let _ = self.usage.begin_step();
        let _ = self.usage.store(stored);
        self.play.done(output);
    }

    /// Does a step.
    async fn step(
        &mut self,
        next: &Next,
        number: i64,
        begun: Option<&StepLine>,
    ) -> Result<Came, Stop> {
        self.usage.begin_step().map_err(Stop::Failed)?;
        let most = self.player.settings.processor_time;
        self.run.meter.check(most).map_err(Stop::Failed)?;
        let now = self.player.context.now();
        self.renew(now).await?;
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let Due { input, act } = {
            let _working = self.run.meter.start();
            self.play.due(instant, self.usage.room())
        };
        let line = line(next, number, &input, "running");
        match act.map_err(Stop::Failed)? {
            Act::Settled(output) => self.keep(line, output).await,
            Act::Wait(wait) => self.wait(line, &wait, begun, now).await,
            Act::Read(question) => {
                let output = self.held(self.read(question, line.input.len())).await?;
                self.keep(line, output.map_err(Stop::Failed)?).await
            }
            Act::Write(_) if !self.authority.may_write => {
                let reason = "whoever the run works for may not write rows any more";
                let failure = Failure::new(reason).because(Reason::Refused(Code::Forbidden));
                Err(Stop::Failed(failure))
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

    /// Looks up again what the run may do, when that was some time ago.
    async fn renew(&mut self, now: i64) -> Result<(), Stop> {
        if now - self.authority.asked_at < SURE {
            return Ok(());
        }
        let found = authority::of(&self.player.store, self.run, now).await?;
        self.authority = found.map_err(Stop::Lost)?;
        Ok(())
    }

    /// The output of a read, of which there is room for so much beside its input.
    async fn read(&self, question: Question, input: usize) -> Result<Object, Stop> {
        let room = self.usage.room().saturating_sub(input);
        let asked = Asked {
            tables: self.player.tables.clone(),
            place: (self.run.organization, self.run.workspace),
            room: room.min(self.play.room_for_records()),
            meter: self.run.meter.clone(),
            processor_time: self.player.settings.processor_time,
            question,
        };
        let store = &self.player.store;
        let scope = &self.authority.scope;
        store
            .read(scope, asked, |tx, asked| Box::pin(reading::read(tx, asked)))
            .await
    }

    /// Stores what came of a step, if the run has room for it.
    async fn keep(&mut self, mut line: StepLine, output: Object) -> Result<Came, Stop> {
        self.play.admit(&output).map_err(Stop::Failed)?;
        let last = self.play.ends_with(&output);
        let (output, text) = {
            let _working = self.run.meter.start();
            written(output)
        };
        let stored = self.usage.store(line.input.len() + text.len());
        stored.map_err(Stop::Failed)?;
        "succeeded".clone_into(&mut line.status);
        line.output = Some(text);
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
    async fn inside(&mut self, mut line: StepLine, act: Act, now: i64) -> Result<Came, Stop> {
        let stored = self.usage.store(line.input.len() + SMALL);
        stored.map_err(Stop::Failed)?;
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
            .write(&self.authority.scope, input, |tx, input| {
                Box::pin(input.run(tx))
            })
            .await
    }

    /// Ends the run with the step that failed.
    async fn failed(&self, next: &Next, number: i64, failure: &Failure) -> Result<(), StoreError> {
        let now = self.player.context.now();
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        // What the step was to do, where there is room to say so.
        let input = self.play.due(instant, self.usage.room()).input;
        let mut line = line(next, number, &input, "failed");
        let failure = self.play.failed(failure.clone());
        line.fail(&Ending::new(failure.code, failure.to_string()));
        let why = Ending::new(failure.code, told(next, &failure));
        let input = (self.run.clone(), line, self.player.lease(), why, now);
        let ended: Result<(), Stop> = self
            .player
            .store
            .write(
                &Scope::Operator,
                input,
                |tx, (run, line, lease, why, now)| {
                    Box::pin(async move {
                        fenced(tx, run, line, *lease).await?;
                        runs::end(tx, run, Some(why), *now).await?;
                        Ok(())
                    })
                },
            )
            .await;
        match ended {
            Err(Stop::Store(error)) => Err(error),
            // A refusal of what the server writes for itself is an error of the server.
            Err(Stop::Failed(failure)) => Err(StoreError::Internal(failure.reason)),
            Err(Stop::Fenced | Stop::Lost(_)) => Ok(()),
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
