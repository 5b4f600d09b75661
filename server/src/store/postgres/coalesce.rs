//! Coalesces short reads of one caller into one transaction.
//!
//! In: a statement that is the only one of its transaction. While the caller uses few connections
//! it is sent at once; otherwise it waits for one of them, and then all waiting statements share
//! one begin, one credential check, one set of settings and one commit. Out: the results, or the
//! demand to run a statement alone. Only statements with the same scope share a transaction, never
//! two callers. Only statements that were fast last time are shared, so the wait stays short.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::Postgres;
use super::coalesced_statement::CoalescedStatement;
use super::opening::{Opening, OpeningQuery};
use super::transaction::{Both, Failure, Opened, Pipelined, rows_of, within};
use crate::context::Stopwatch;
use crate::store::statement::Statement;
use crate::store::{Scope, StoreError, TransactionMode, Value};

/// How many connections a caller may keep busy with short reads before they share, at the least; more
/// where this machine can feed them. It spends more on a request than the database does on its response.
const PERMITS: usize = 1;
/// How long a read waits for others before it asks alone: one of them may take long after all.
pub(super) const WAIT: Duration = Duration::from_millis(100);
/// How many share a transaction.
const MOST: usize = 32;

/// The reads of all callers that are under way or wait.
#[derive(Debug)]
pub(super) struct Coalescer {
    seats: usize,
    groups: Mutex<HashMap<Uuid, Group>>,
}

/// Those of one caller.
#[derive(Debug)]
struct Group {
    asker: Caller,
    /// Transactions in progress.
    seats: usize,
    waiting: Vec<Reading>,
}

/// Who asks, and what is asked about them first.
#[derive(Debug, Clone)]
struct Caller {
    question: Option<(Arc<Statement>, Vec<Value>)>,
    scope: Scope,
}

#[derive(Debug)]
struct Reading {
    /// By which the credential has to hold: the last parameter of the question.
    now: Option<Value>,
    statement: Arc<Statement>,
    parameters: Vec<Value>,
    sender: oneshot::Sender<ReadResult>,
}

/// What was found, or why the database could not be asked.
type ReadResult = Result<Both, StoreError>;

/// How a read continues.
pub(super) enum Admission {
    /// On its own, and it keeps the seat until it is done.
    Alone(Option<Permit>),
    /// Together with others, which bring its response; without a response it continues alone.
    Shared(oneshot::Receiver<ReadResult>),
}

/// The right to one transaction of a group.
pub(super) struct Permit {
    postgres: Postgres,
    caller: Uuid,
}

impl Caller {
    /// Whether this is somebody of whom the same is asked, at whatever time.
    fn is(&self, question: Option<OpeningQuery<'_>>, scope: &Scope) -> bool {
        let same = match (&self.question, question) {
            (None, None) => true,
            (Some((own, parameters)), Some((other, others))) => {
                Arc::ptr_eq(own, other) && timeless(parameters) == timeless(others)
            }
            _ => false,
        };
        same && self.scope == *scope
    }
}

/// What a question asks, without when.
fn timeless(parameters: &[Value]) -> &[Value] {
    parameters.split_last().map_or(parameters, |(_, rest)| rest)
}

/// Joins the reads of a caller, or begins them.
pub(super) fn join(
    postgres: &Postgres,
    question: Option<OpeningQuery<'_>>,
    scope: &Scope,
    (statement, parameters): (&Arc<Statement>, &[Value]),
) -> Admission {
    let Scope::Caller(visible) = scope else {
        return Admission::Alone(None);
    };
    let caller = visible.caller;
    let seat = || Permit {
        postgres: postgres.clone(),
        caller,
    };
    let mut groups = postgres.coalescing.groups();
    let group = match groups.entry(caller) {
        Entry::Occupied(group) => group.into_mut(),
        Entry::Vacant(place) => {
            place.insert(Group {
                asker: Caller {
                    question: question.map(|(own, all)| (own.clone(), all.to_vec())),
                    scope: scope.clone(),
                },
                seats: 1,
                waiting: Vec::new(),
            });
            return Admission::Alone(Some(seat()));
        }
    };
    if !group.asker.is(question, scope) {
        return Admission::Alone(None);
    }
    if group.seats < postgres.coalescing.seats {
        group.seats += 1;
        return Admission::Alone(Some(seat()));
    }
    let (response, answered) = oneshot::channel();
    group.waiting.push(Reading {
        now: question.and_then(|(_, all)| all.last().cloned()),
        statement: statement.clone(),
        parameters: parameters.to_vec(),
        sender: response,
    });
    Admission::Shared(answered)
}

impl Default for Coalescer {
    fn default() -> Coalescer {
        let cores = thread::available_parallelism().map_or(PERMITS, NonZero::get);
        Coalescer {
            seats: PERMITS.max(cores / 2),
            groups: Mutex::default(),
        }
    }
}

impl Coalescer {
    fn groups(&self) -> MutexGuard<'_, HashMap<Uuid, Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// What waits, and for whom.
    fn take(&self) -> Option<(Caller, Vec<Reading>)> {
        let mut groups = self.postgres.coalescing.groups();
        let group = groups.get_mut(&self.caller)?;
        // Whoever asked may have gone.
        group.waiting.retain(|reading| !reading.sender.is_closed());
        let count = group.waiting.len().min(MOST);
        if count == 0 {
            return None;
        }
        let taken: Vec<Reading> = group.waiting.drain(..count).collect();
        let mut asker = group.asker.clone();
        if let Some((_, parameters)) = &mut asker.question
            && let (Some(own), Some(now)) = (parameters.last_mut(), latest(&taken))
        {
            *own = now;
        }
        Some((asker, taken))
    }

    /// Serves what waits until nothing does.
    async fn serve(self) {
        while let Some((asker, readings)) = self.take() {
            run_group(&self.postgres, &asker, readings).await;
        }
    }
}

/// The latest of the times by which credentials have to hold.
fn latest(readings: &[Reading]) -> Option<Value> {
    let times = readings.iter().filter_map(|reading| reading.now.as_ref());
    times
        .max_by_key(|now| match now {
            Value::Int(now) => *now,
            _ => i64::MIN,
        })
        .cloned()
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut groups = self.postgres.coalescing.groups();
        let Some(group) = groups.get_mut(&self.caller) else {
            return;
        };
        if !group.waiting.is_empty() {
            if let Ok(runtime) = Handle::try_current() {
                let seat = Permit {
                    postgres: self.postgres.clone(),
                    caller: self.caller,
                };
                runtime.spawn(seat.serve());
                return;
            }
            // Nobody is left to serve them: they go on alone.
            group.waiting.clear();
        }
        group.seats -= 1;
        if group.seats == 0 {
            groups.remove(&self.caller);
        }
    }
}

/// Asks everything in one transaction.
async fn run_group(postgres: &Postgres, asker: &Caller, readings: Vec<Reading>) {
    let mut transaction = Pipelined::new(postgres, TransactionMode::ShortRead, None);
    if let Err(error) = transaction.ready().await {
        refuse(readings, &error);
        return;
    }
    let question = asker.question.as_ref();
    let question = question.map(|(statement, parameters)| (statement, &parameters[..]));
    let opening = Opening::new(
        postgres,
        (TransactionMode::ShortRead, None),
        question,
        &asker.scope,
        false,
    );
    let reads = readings
        .iter()
        .map(|reading| (&reading.statement, &reading.parameters[..]));
    let together = async { Ok(CoalescedStatement::new(&transaction, reads).await) };
    let Ok(together) = within(postgres.patience, together).await else {
        refuse(readings, &transaction.silent());
        return;
    };
    let asked = together.statements();
    let watch = Stopwatch::start();
    let open = transaction.open(&opening, &asked, true);
    let opened = within(postgres.patience, open).await;
    let took = watch.elapsed();
    for reading in &readings {
        reading.statement.took(took);
    }
    match opened {
        // Together they are more than one response may be: each goes on alone, and is not shared again before
        // one of them was short.
        Ok(Opened { cut: true, .. }) => {
            for reading in &readings {
                reading.statement.took(Duration::MAX);
            }
        }
        Ok(Opened {
            known,
            results: responses,
            ..
        }) => {
            let known = Arc::new(rows_of(known));
            let responses = together.results(responses);
            for (reading, response) in readings.into_iter().zip(responses) {
                if let Some(response) = response {
                    // Whoever asked may have gone.
                    let _ = reading
                        .sender
                        .send(Ok((known.clone(), Ok(rows_of(response)))));
                }
            }
        }
        Err(Failure::Silence) => refuse(readings, &StoreError::silent()),
        Err(_) => {}
    }
}

fn refuse(readings: Vec<Reading>, error: &StoreError) {
    for reading in readings {
        let _ = reading.sender.send(Err(error.clone()));
    }
}
