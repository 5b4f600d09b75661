//! A run, played step by step: what a step brought about is stored before the next one begins.
//!
//! A step whose effect is in the store has effect and output in one transaction: it is done once. A step
//! that does something outside is noted as begun, done, and noted as done; when the process dies in
//! between it is done again, under the same stamp.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tplkit::automation::run::{Act, Due, Envelope, Failure, Next, Play, Record, Timer, Wait};
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value as Json};

use super::connections::{self, ConnectionKind, Opened};
use super::outside::{self, Stamp};
use super::runs::{self, Run, StepLine};
use super::step::Stop;
use super::telling;
use super::worker::Player;
use super::writing::Writing;
use super::{authority, find, reading, rehearsal};
use crate::store::{Scope, StoreError, Tx};

/// Plays a run to its end, to a step that waits, or until the process is to stop.
///
/// # Errors
/// Those of the store: the run is taken up again later.
pub(super) async fn play(
    player: &Player,
    run: &Run,
    stop: &watch::Receiver<bool>,
) -> Result<(), StoreError> {
    let Some((graph, known)) = begun(player, run).await? else {
        return end(player, run, Some("the version is gone")).await;
    };
    let Some(scope) = authority::scope_of(&player.store, run).await? else {
        let told = "who began it belongs to the organization no more, or may not write any more";
        return end(player, run, Some(told)).await;
    };
    if run.dry_run {
        return rehearsal::play(player, run, &scope, &graph).await;
    }
    let mut playing = Playing {
        player,
        run,
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
            Ok(Some(output)) => playing.play.done(output),
            Ok(None) | Err(Stop::Fenced) => return Ok(()),
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

/// The graph of the version, and the steps so far.
async fn begun(player: &Player, run: &Run) -> Result<Option<(Json, Vec<StepLine>)>, StoreError> {
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
    Ok(found.map(|(graph, steps)| (Json::parse(&graph).unwrap_or_default(), steps)))
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
    scope: Scope,
    play: Play,
}

impl Playing<'_> {
    /// Does a step, and gives its output once that is stored; nothing when the run waits.
    async fn step(
        &self,
        next: &Next,
        number: i64,
        begun: Option<&StepLine>,
    ) -> Result<Option<Object>, Stop> {
        let now = self.player.context.now();
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let Due { input, act } = self.play.due(instant);
        let mut line = line(next, number, &input, "running");
        let act = act.map_err(Stop::Failed)?;
        match act {
            Act::Settled(output) => self.keep(line, output).await.map(Some),
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
                self.keep(line, output).await.map(Some)
            }
            Act::Write(_) | Act::Notify(_) | Act::Run(_) => {
                "succeeded".clone_into(&mut line.status);
                let output = self.inside(line, act, now).await?;
                self.player.bell.ring();
                Ok(Some(output))
            }
            Act::Ask { .. } | Act::Mail(_) | Act::Request(_) => {
                let mut turn = None;
                if let Act::Mail(_) = act {
                    let waiting = async { Ok(self.player.turn(self.run.organization).await) };
                    turn = self.held(waiting).await?.ok();
                }
                // Noted before it is done: whoever looks sees what may have happened.
                self.store_step(line.clone()).await?;
                let done = self.held(self.outside(&act, next, now)).await?;
                let kept = self.keep(line, done.map_err(Stop::Failed)?).await;
                drop(turn);
                kept.map(Some)
            }
        }
    }

    /// Stores what came of a step.
    async fn keep(&self, mut line: StepLine, output: Object) -> Result<Object, Stop> {
        "succeeded".clone_into(&mut line.status);
        line.output = Some(Json::Object(output.clone()).write());
        self.store_step(line).await?;
        Ok(output)
    }

    async fn store_step(&self, line: StepLine) -> Result<(), Stop> {
        let input = (self.run.clone(), line, self.player.lease());
        self.player
            .store
            .write(&Scope::Operator, input, |tx, (run, line, lease)| {
                Box::pin(fenced(tx, run, line, *lease))
            })
            .await
    }

    /// Does what is done in the store, in the transaction that stores the step.
    async fn inside(&self, line: StepLine, act: Act, now: i64) -> Result<Object, Stop> {
        let input = Inside {
            player: self.player.clone(),
            run: self.run.clone(),
            line,
            act,
            now,
        };
        self.player
            .store
            .write(&self.scope, input, |tx, input| Box::pin(input.run(tx)))
            .await
    }

    /// Waits for something outside, and holds the run meanwhile.
    async fn held<T>(
        &self,
        work: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Result<T, Failure>, Stop> {
        let mut work = std::pin::pin!(work);
        let pause = (self.player.settings.lease / 3).max(Duration::from_millis(100));
        loop {
            tokio::select! {
                done = &mut work => return match done {
                    Ok(done) => Ok(Ok(done)),
                    Err(Stop::Failed(failure)) => Ok(Err(failure)),
                    Err(other) => Err(other),
                },
                () = tokio::time::sleep(pause) => {
                    let input = (self.run.clone(), self.player.lease());
                    let held = self.player.store.write(&Scope::Operator, input, |tx, (run, lease)| {
                        Box::pin(runs::hold(tx, run, *lease))
                    });
                    // A store that is away for a moment takes nothing from us.
                    if let Ok(false) = held.await {
                        return Err(Stop::Fenced);
                    }
                }
            }
        }
    }

    async fn outside(&self, act: &Act, next: &Next, now: i64) -> Result<Object, Stop> {
        // Steps that a template brought may have no id.
        let step = if next.id.is_empty() {
            &next.path
        } else {
            &next.id
        };
        let stamp = Stamp {
            run: self.run.id,
            step: step.clone(),
        };
        let client = || {
            let client = self.player.client.as_ref();
            client.map_err(|error| Stop::Failed(Failure::new(error.clone())))
        };
        match act {
            Act::Mail(mail) => {
                let server = match &mail.connection {
                    Some(name) => self.connection(name, ConnectionKind::Smtp).await?,
                    None => self.player.transport().ok_or_else(|| {
                        let reason =
                            "there is no mail server: name a connection, or set TPLKIT_SMTP_URL";
                        Stop::Failed(Failure::at("connectionName", reason))
                    })?,
                };
                let sent = outside::send(&server, mail, &stamp, now).await;
                sent.map_err(Stop::Failed)
            }
            Act::Request(request) => {
                let connection = self
                    .connection(&request.connection, ConnectionKind::Http)
                    .await?;
                let sent = outside::request(client()?, &connection, request, &stamp).await;
                sent.map_err(Stop::Failed)
            }
            Act::Ask {
                prompt,
                routes,
                connection,
                api_key,
            } => {
                let Some(name) = connection else {
                    let reason = "names no connection to a model: set one of kind llm and name it";
                    return Err(Stop::Failed(Failure::at("connectionName", reason)));
                };
                let connection = self.connection(name, ConnectionKind::Llm).await?;
                let key = api_key.as_deref();
                let asked = outside::ask(client()?, &connection, prompt, routes, key).await;
                asked.map_err(Stop::Failed)
            }
            _ => Err(Stop::Failed(Failure::new(
                "nothing is done outside for this step",
            ))),
        }
    }

    async fn connection(&self, name: &str, kind: ConnectionKind) -> Result<Opened, Stop> {
        let key = self.player.settings.secret_key.as_ref();
        let of = (self.run.organization, name);
        let opened = connections::open(&self.player.store, key, of, kind).await?;
        opened.map_err(|reason| {
            let failure = Failure::at("connectionName", reason);
            Stop::Failed(failure.yields(None, &name.into()))
        })
    }

    /// Lets the run wait; once it has, there is an output.
    async fn wait(
        &self,
        line: StepLine,
        wait: &Wait,
        begun: Option<&StepLine>,
        now: i64,
    ) -> Result<Option<Object>, Stop> {
        // A run that is played again before its time was not woken by the clock alone.
        if begun.is_some() && self.run.wake_at.is_some_and(|at| at <= now) {
            return self.keep(line, Object::new()).await.map(Some);
        }
        let seconds = match wait {
            Wait::Seconds(seconds) => *seconds,
            Wait::Timer(name) => self.timer(name).await?,
        };
        if seconds <= 0 {
            return self.keep(line, Object::new()).await.map(Some);
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
        Ok(None)
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

    /// Ends the run with the step that failed.
    async fn failed(&self, next: &Next, number: i64, failure: &Failure) -> Result<(), StoreError> {
        let now = self.player.context.now();
        let instant = Timestamp::from_microsecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut line = line(next, number, &self.play.due(instant).input, "failed");
        line.error = Some(failure.to_string());
        let told = told(next, failure);
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
                        Ok(runs::end(tx, run, Some(told), *now).await?)
                    })
                },
            )
            .await;
        match ended {
            Err(Stop::Store(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Which step failed, and why.
pub(super) fn told(next: &Next, failure: &Failure) -> String {
    format!("step {} ({}, {}): {failure}", next.path, next.key, next.id)
}

/// Writes a step down, if the run is still ours.
async fn fenced(tx: &mut Tx, run: &Run, line: &StepLine, lease: i64) -> Result<(), Stop> {
    if !runs::hold(tx, run, lease).await? {
        return Err(Stop::Fenced);
    }
    Ok(runs::write_step(tx, run, line).await?)
}

/// A step that is done in the store.
struct Inside {
    player: Player,
    run: Run,
    line: StepLine,
    act: Act,
    now: i64,
}

impl Inside {
    async fn run(&self, tx: &mut Tx) -> Result<Object, Stop> {
        let run = &self.run;
        if !runs::hold(tx, run, self.player.lease()).await? {
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
        runs::write_step(tx, run, &line).await?;
        Ok(output)
    }
}
