//! The queue of tasks for a thread. Organizations take turns, so none waits behind all tasks of
//! another.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::task::Task;
use crate::store::Scope;

/// Where threads get their tasks.
pub(super) struct Queue {
    room: usize,
    waiting: Mutex<WaitingTasks>,
    arrived: Condvar,
}

/// Where tasks are put. Dropped, it lets the threads end once nothing waits.
pub(super) struct TaskSender(Arc<Queue>);

/// Why a task was not taken. It is given back.
pub(super) struct QueueFull(pub(super) Box<dyn Task>);

#[derive(Default)]
struct WaitingTasks {
    /// The tasks of each organization, oldest first. None is empty.
    tasks: HashMap<Uuid, VecDeque<Box<dyn Task>>>,
    /// Whose turn is next.
    turns: VecDeque<Uuid>,
    count: usize,
    closed: bool,
}

impl std::fmt::Debug for TaskSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TaskSender")
    }
}

/// A queue in which so many tasks may wait.
pub(super) fn queue(room: usize) -> (TaskSender, Arc<Queue>) {
    let queue = Arc::new(Queue {
        room,
        waiting: Mutex::default(),
        arrived: Condvar::new(),
    });
    (TaskSender(queue.clone()), queue)
}

/// For whom a task takes a turn: the organization of who asks. What the server does for itself is one
/// more of them.
fn owner(scope: &Scope) -> Uuid {
    match scope {
        Scope::Caller(visible) => {
            let first = visible.organizations.first();
            first.copied().unwrap_or(visible.caller)
        }
        Scope::Authentication | Scope::Operator | Scope::OperatorOf(_) => Uuid::nil(),
    }
}

impl TaskSender {
    /// Puts a task behind those of its organization.
    pub(super) fn put(&self, task: Box<dyn Task>) -> Result<(), QueueFull> {
        let owner = owner(&task.scope());
        let mut waiting = self.0.waiting();
        if waiting.count >= self.0.room {
            return Err(QueueFull(task));
        }
        waiting.count += 1;
        let tasks = waiting.tasks.entry(owner).or_default();
        tasks.push_back(task);
        if tasks.len() == 1 {
            waiting.turns.push_back(owner);
        }
        drop(waiting);
        self.0.arrived.notify_one();
        Ok(())
    }
}

impl Drop for TaskSender {
    fn drop(&mut self) {
        self.0.waiting().closed = true;
        self.0.arrived.notify_all();
    }
}

impl Queue {
    /// The next task; waits for one. Nothing when there will be none.
    pub(super) fn take(&self) -> Option<Box<dyn Task>> {
        let mut waiting = self.waiting();
        loop {
            if let Some(task) = waiting.next() {
                return Some(task);
            }
            if waiting.closed {
                return None;
            }
            let arrived = self.arrived.wait(waiting);
            waiting = arrived.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next task, if one waits.
    pub(super) fn take_waiting(&self) -> Option<Box<dyn Task>> {
        self.waiting().next()
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingTasks> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingTasks {
    fn next(&mut self) -> Option<Box<dyn Task>> {
        let owner = self.turns.pop_front()?;
        let tasks = self.tasks.get_mut(&owner)?;
        let task = tasks.pop_front();
        if tasks.is_empty() {
            self.tasks.remove(&owner);
        } else {
            self.turns.push_back(owner);
        }
        self.count -= usize::from(task.is_some());
        task
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{Queue, Task, TaskSender, queue};
    use crate::store::sqlite::SecuredConnection;
    use crate::store::{Scope, StoreError, Visible};

    /// A task of an organization that is only handed on.
    struct Marked(u128);

    impl Task for Marked {
        fn scope(&self) -> Scope {
            Scope::from(Visible {
                organizations: vec![Uuid::from_u128(self.0)],
                ..Visible::default()
            })
        }
        fn is_brief(&self) -> bool {
            false
        }
        fn is_heavy(&self) -> bool {
            false
        }

        fn is_passage(&self) -> bool {
            false
        }
        fn may_be_lost(&self) -> bool {
            false
        }
        fn run(&mut self, connection: SecuredConnection) -> (SecuredConnection, bool) {
            (connection, true)
        }
        fn finish(self: Box<Self>, _: Result<(), StoreError>) {}
    }

    fn put(sender: &TaskSender, organization: u128) -> bool {
        sender.put(Box::new(Marked(organization))).is_ok()
    }

    fn owners(queue: &Queue) -> Vec<u128> {
        let owners = std::iter::from_fn(|| queue.take_waiting());
        owners
            .map(|task| super::owner(&task.scope()).as_u128())
            .collect()
    }

    #[test]
    fn organizations_take_turns() {
        let (sender, queue) = queue(10);
        for organization in [1, 1, 1, 1, 2, 3, 2] {
            assert!(put(&sender, organization));
        }
        assert_eq!(owners(&queue), [1, 2, 3, 1, 2, 1, 1]);
        assert_eq!(owners(&queue), []);
    }

    #[test]
    fn so_many_wait_and_no_more() {
        let (sender, queue) = queue(2);
        assert!(put(&sender, 1) && put(&sender, 1));
        assert!(!put(&sender, 2));
        assert_eq!(owners(&queue), [1, 1]);
        assert!(put(&sender, 2));
    }

    #[test]
    fn what_waits_is_done_before_the_end() {
        let (sender, queue) = queue(2);
        assert!(put(&sender, 1));
        drop(sender);
        assert!(queue.take().is_some());
        assert!(queue.take().is_none());
    }
}
