use std::sync::atomic::{AtomicU64, Ordering};

use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, ready};

use super::{Workspaces, all, cases};

struct InMemory(AtomicU64);

impl Workspaces for InMemory {
    type Target = Memory;

    async fn fresh(&self) -> Memory {
        let (organization, workspace) = (Id::from_u128(1), Id::from_u128(2));
        Memory::new(State::empty(organization, workspace, "fresh", "Fresh"))
    }

    fn seed(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[test]
fn the_workspace_in_memory_keeps_every_promise() {
    let wrong = ready(all(&InMemory(AtomicU64::new(1))));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn names_of_cases_differ() {
    let mut names: Vec<&str> = cases::<InMemory>().iter().map(|case| case.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(all >= 20, "{all}");
}
