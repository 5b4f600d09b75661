//! Automations on the server: versions, subscriptions, and the execution of runs.
//!
//! The library validates automations and decides the steps of a run; this module adds what only a
//! store knows: the active version, existing records, and the outcome of each step. It knows no
//! routes.
//!
//! | Module | |
//! |---|---|
//! | `version`, `find`, `change`, `activation` | versions: storage, lookup, changes, which one is in force and fires |
//! | `remove_part` | the finished runs of an automation that is deleted, part after part |
//! | `validate` | the library's validator, with the records of a workspace |
//! | `connections`, `channels`, `names`, `encryption` | the services that automations may call, and their secrets |
//! | `file_holds` | the files that versions attach to mails, kept while they may be sent |
//! | `mail_attachments` | the files that go along with a mail, and their bytes |
//! | `secrets` | secrets inside graphs: stored, masked, used |
//! | `subscriptions`, `events` | watched tables, and the events of their rows |
//! | `schedules`, `far_schedules` | which instants are due; those that a clock has moved on too far |
//! | `fired_row` | the row that a run is started with by hand |
//! | `runs`, `run_steps`, `run_failure` | runs as they are stored, their steps, why they fail |
//! | `run_lease` | attempts at runs: claimed, held, left, ended |
//! | `attempts`, `late_release` | those that go on in this process, and how one lets go of its run after an outage |
//! | `executor`, `capacity`, `call_limit` | what every step has at hand; how many runs and calls there are at once |
//! | `worker`, `execution` | the workers; the execution of runs, dry ones too |
//! | `view` | runs in responses, and who may see them |
//! | `notifications` | the notifications of a caller, and all of a store |
//! | `principal`, `principal_lookup`, `visibility` | the principal of a run, and its visibility |
//! | `mentioned_tables`, `processor_time` | ids that an automation mentions; processor time of a run |
//! | `rollback_time` | how long a dry run may keep others from writing |
//! | `row_reads`, `row_writes`, `notify`, `integrations` | the effects of steps |
//! | `private_addresses` | which addresses connections may lead to |

mod activation;
mod attempts;
mod call_limit;
mod capacity;
mod chain;
mod change;
pub mod channels;
pub mod connections;
mod dispatch;
mod encryption;
pub mod events;
mod execution;
mod executor;
mod far_schedules;
mod file_holds;
pub mod find;
mod fired_row;
mod integrations;
mod late_release;
mod mail_attachments;
mod mentioned_tables;
mod names;
mod notifications;
mod notify;
mod principal;
mod principal_lookup;
mod private_addresses;
mod processor_time;
mod remove_part;
mod rollback_time;
mod row_reads;
mod row_writes;
mod run_failure;
pub(crate) mod run_lease;
pub mod run_steps;
pub mod runs;
mod schedules;
mod secrets;
mod stop;
mod subscriptions;
mod validate;
mod version;
mod view;
mod visibility;
mod worker;

pub use activation::{SwitchOutcome, activate, launch, pause, publish};
pub use change::{
    Definition, NewVersion, NewWorkflow, VersionState, add_version, create, mint_step_id, remove,
    remove_version,
};
pub use executor::{Outbox, RunExecutor, Settings};
pub use far_schedules::bring_back_schedules;
pub use file_holds::lock_files;
pub use fired_row::{FiredRow, NamedRow, fired_row, sees_fired};
pub use names::{LONGEST_NAME, name_fault};
pub use notifications::{Notification, SentNotification, notification_page, take_notifications};
pub use remove_part::remove_part;
pub use secrets::keep as keep_secrets;
pub use subscriptions::{subscribe, watch_again};
pub use validate::{IssueView, Validation, WorkflowScope, validate_for};
pub use version::Version;
pub(crate) use version::VersionView;
pub use view::{RunSummary, RunView, read_run, run_page};

/// What is wrong with the address of a mail server, if anything.
pub fn smtp_fault(url: &str) -> Option<&'static str> {
    integrations::transport_fault(url)
}
