//! Lanes: permits for long work, separate from short requests and shared fairly between
//! organizations.
//!
//! In: the organization. Out: a permit, at once or after a short wait, or a refusal because the
//! lane is busy. An organization holds at most half of a lane, so others always find the other
//! half. Lanes belong to a process. Across the processes of a store, the [`Share`] of the database
//! limits an organization to as much as one whole lane. A lane does not know what work its permits
//! are for.

mod share;

use std::collections::{HashMap, VecDeque};
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

pub use share::Share;

/// How many of a kind are done at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneSizes {
    /// Queries that no index answers, and aggregates.
    pub queries: usize,
    /// Exports, imports and plans.
    pub transfers: usize,
    /// Batches of rows.
    pub batches: usize,
}

impl LaneSizes {
    /// Those of this machine. Half of the queries keep every processor busy; what is beyond eight would take
    /// the connections of a pool from short requests.
    pub fn of_machine() -> LaneSizes {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        LaneSizes {
            queries: (2 * processors).clamp(4, 8),
            transfers: 4,
            batches: 8,
        }
    }

    /// How many heavy reads lanes let through at a time.
    pub fn heavy_reads(self) -> usize {
        self.queries + self.transfers
    }
}

/// How many may wait in a lane for one organization, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct WaitLimits {
    /// How many.
    pub waiting: usize,
    /// For how long.
    pub time: Duration,
}

/// The lanes of a server.
#[derive(Debug)]
pub struct Lanes {
    /// For queries that no index answers, and aggregates.
    pub queries: Lane,
    /// For exports, imports and plans.
    pub transfers: Lane,
    /// For batches of rows.
    pub batches: Lane,
}

impl Default for Lanes {
    fn default() -> Lanes {
        let sizes = LaneSizes::of_machine();
        let patience = |waiting, millis| WaitLimits {
            waiting,
            time: Duration::from_millis(millis),
        };
        Lanes {
            queries: Lane::new(LaneKind::Queries, sizes.queries, patience(64, 1000)),
            // Long enough that requests which race for one job all learn who won.
            transfers: Lane::new(LaneKind::Transfers, sizes.transfers, patience(64, 3000)),
            // Rows that somebody sends are to enter; as long a wait as there was for a connection.
            batches: Lane::new(LaneKind::Batches, sizes.batches, patience(128, 5000)),
        }
    }
}

/// What is done in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneKind {
    /// Queries that no index answers, and aggregates.
    Queries,
    /// Exports, imports and plans.
    Transfers,
    /// Batches of rows.
    Batches,
}

/// A lane. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Lane(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: LaneKind,
    places: usize,
    patience: WaitLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Permits that are held, by organization. None is zero.
    held: HashMap<Uuid, usize>,
    total: usize,
    /// Oldest first.
    waiting: VecDeque<QueuedCaller>,
}

#[derive(Debug)]
struct QueuedCaller {
    organization: Uuid,
    granted: oneshot::Sender<()>,
}

/// The lane has no place, and enough wait already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy;

/// The right to do one thing. It ends when it is dropped.
#[derive(Debug)]
pub struct LanePermit {
    lane: Lane,
    organization: Uuid,
}

/// A place in the queue. What it is granted and does not take goes to the next.
struct QueuePosition {
    lane: Lane,
    organization: Uuid,
    granted: oneshot::Receiver<()>,
}

impl Lane {
    /// A lane in which so many are done at a time.
    pub fn new(kind: LaneKind, places: usize, patience: WaitLimits) -> Lane {
        Lane(Arc::new(Inner {
            kind,
            places,
            patience,
            state: Mutex::default(),
        }))
    }

    /// Waits for a place for an organization, within the patience of the lane.
    ///
    /// # Errors
    /// When too many wait for this organization already, or none came free in time.
    pub async fn enter(&self, organization: Uuid) -> Result<LanePermit, Busy> {
        let mut place = {
            let mut state = self.state();
            if state.has_place(organization, self.0.places) {
                state.hold(organization);
                return Ok(self.permit(organization));
            }
            if state.waiting_for(organization) >= self.0.patience.waiting {
                return Err(Busy);
            }
            let (granted, response) = oneshot::channel();
            state.waiting.push_back(QueuedCaller {
                organization,
                granted,
            });
            QueuePosition {
                lane: self.clone(),
                organization,
                granted: response,
            }
        };
        match timeout(self.0.patience.time, &mut place.granted).await {
            Ok(Ok(())) => Ok(self.permit(organization)),
            _ => Err(Busy),
        }
    }

    /// Whether nobody more may wait for this organization: then what [`enter`](Lane::enter) needs need not be
    /// prepared.
    pub fn is_full(&self, organization: Uuid) -> bool {
        let mut state = self.state();
        !state.has_place(organization, self.0.places)
            && state.waiting_for(organization) >= self.0.patience.waiting
    }

    /// What an organization may take of a database in this lane of all processes.
    pub fn share(&self, organization: Uuid) -> Share {
        let Inner {
            kind,
            places,
            patience,
            ..
        } = *self.0;
        Share::new(kind as u8, organization, places, patience.time)
    }

    fn permit(&self, organization: Uuid) -> LanePermit {
        LanePermit {
            lane: self.clone(),
            organization,
        }
    }

    fn release(&self, organization: Uuid) {
        let mut state = self.state();
        state.let_go(organization);
        state.grant(self.0.places);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn held_by(&self, organization: Uuid) -> usize {
        self.held.get(&organization).copied().unwrap_or(0)
    }

    fn has_place(&self, organization: Uuid, places: usize) -> bool {
        let half = (places / 2).max(1);
        self.total < places && self.held_by(organization) < half
    }

    fn hold(&mut self, organization: Uuid) {
        *self.held.entry(organization).or_default() += 1;
        self.total += 1;
    }

    fn let_go(&mut self, organization: Uuid) {
        self.total -= 1;
        if let Some(held) = self.held.get_mut(&organization) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&organization);
            }
        }
    }

    fn waiting_for(&mut self, organization: Uuid) -> usize {
        // Whoever waited may have gone.
        self.waiting.retain(|waiting| !waiting.granted.is_closed());
        let waiting = self.waiting.iter();
        waiting
            .filter(|waiting| waiting.organization == organization)
            .count()
    }

    /// Gives free places away: first to those who hold least, among them to who came first.
    fn grant(&mut self, places: usize) {
        loop {
            let waiting = self.waiting.iter().enumerate();
            let fit = waiting.filter(|(_, waiting)| self.has_place(waiting.organization, places));
            let next = fit.min_by_key(|(at, waiting)| (self.held_by(waiting.organization), *at));
            let Some(next) = next.map(|(at, _)| at) else {
                return;
            };
            if let Some(next) = self.waiting.remove(next)
                && next.granted.send(()).is_ok()
            {
                self.hold(next.organization);
            }
        }
    }
}

impl Drop for LanePermit {
    fn drop(&mut self) {
        self.lane.release(self.organization);
    }
}

impl Drop for QueuePosition {
    fn drop(&mut self) {
        self.granted.close();
        if self.granted.try_recv().is_ok() {
            self.lane.release(self.organization);
        }
    }
}

#[cfg(test)]
mod tests;
