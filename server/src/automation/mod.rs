//! Automations on the server: their versions, who waits for what, and what executes their runs.
//!
//! What an automation may contain says the library's validator, how a chain runs says the library's
//! player; here stands what only a store can know: which version is in force, what exists, and what
//! became of each step. Nothing here knows a route.
//!
//! | Module | |
//! |---|---|
//! | `version`, `find`, `change` | versions: as they are kept, which one is in force, what becomes of them |
//! | `validate` | the validator, asked with what exists in a workspace |
//! | `connections`, `channels`, `names`, `encryption` | whom automations may speak to, and the secrets for it |
//! | `secrets` | secrets inside graphs: as they are kept, answered and used |
//! | `subscriptions`, `events` | which tables are watched, and what happened to their rows |
//! | `schedules` | which instants are due |
//! | `runs` | runs and their steps: begun, claimed by lease, ended |
//! | `worker`, `capacity`, `calls`, `execution`, `dry_run` | who executes runs, how many at once, and how; dry runs |
//! | `view` | runs as they are answered, to whom they may be shown |
//! | `notifications` | what people were shown, as they read it |
//! | `principal`, `visibility` | as whom a run works, and what they see |
//! | `mentioned_tables`, `meter` | which ids an automation mentions; how much processor time its run has used |
//! | `row_reads`, `row_writes`, `notify`, `integrations` | what steps do |

mod calls;
mod capacity;
mod change;
pub mod channels;
pub mod connections;
mod dry_run;
mod encryption;
pub mod events;
mod execution;
pub mod find;
mod integrations;
mod mentioned_tables;
mod meter;
mod names;
mod notifications;
mod notify;
mod principal;
mod row_reads;
mod row_writes;
pub mod runs;
mod schedules;
mod secrets;
mod step;
mod subscriptions;
mod validate;
mod version;
mod view;
mod visibility;
mod wake;
mod worker;

pub use change::{
    Definition, Standing, SwitchOutcome, activate, add_version, create, launch, mint_step_id,
    pause, publish, remove,
};
pub use names::name_fault;
pub use notifications::{Notification, notification_page};
pub use secrets::keep as keep_secrets;
pub use subscriptions::{Subscription, subscribe};
pub use validate::{IssueView, Validation, WorkflowScope, validate_for};
pub use version::Version;
pub use view::{RunView, read_run, run_page};
pub use wake::WorkerSignal;
pub use worker::{RunExecutor, Settings};

/// What is wrong with the address of a mail server, if anything.
pub fn smtp_fault(url: &str) -> Option<&'static str> {
    integrations::transport_fault(url)
}
