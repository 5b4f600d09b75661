//! Workspaces in memory for the laws.

use tplkit::apply::undo;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, Target as _};

use super::{Place, Places};

/// Workspaces in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct InMemory;

/// One of them.
#[derive(Debug)]
pub struct OneInMemory {
    memory: Memory,
    jobs: Vec<Vec<Entry>>,
    /// The job whose ledger the workspace holds.
    open: usize,
}

impl Places for InMemory {
    type Place = OneInMemory;

    async fn fresh(&self) -> OneInMemory {
        let (organization, workspace) = (Id::from_u128(0xABCD_0001), Id::from_u128(0xABCD_0002));
        let state = State::empty(organization, workspace, "fresh", "Fresh");
        let mut memory = Memory::new(state);
        // As a store responds whose rows are large.
        memory.limit_lookups(3);
        OneInMemory {
            memory,
            jobs: Vec::new(),
            open: 0,
        }
    }
}

impl OneInMemory {
    fn turn_to(&mut self, job: usize) -> &mut Memory {
        let ledger = self.memory.next_job();
        if let Some(before) = self.jobs.get_mut(self.open) {
            *before = ledger;
        }
        self.open = job;
        self.memory
            .take_up(self.jobs.get(job).cloned().unwrap_or_default());
        &mut self.memory
    }
}

impl Place for OneInMemory {
    type Target = Memory;

    async fn begin(&mut self) -> usize {
        self.jobs.push(Vec::new());
        self.jobs.len() - 1
    }

    async fn open(&mut self, job: usize) -> &mut Memory {
        self.turn_to(job)
    }

    async fn undo(&mut self, job: usize) -> Result<(), String> {
        let undone = undo(self.turn_to(job), false).await;
        undone.map_err(|error| format!("no undo: {error}"))
    }

    async fn ledger(&mut self, job: usize) -> Vec<Entry> {
        self.turn_to(job).ledger().await.unwrap_or_default()
    }
}
