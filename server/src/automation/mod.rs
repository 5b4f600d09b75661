//! Automations on the server: their versions, who waits for what, and what plays their runs.
//!
//! What an automation may contain says the library's validator, how a chain runs says the library's
//! player; here stands what only a store can know: which version is in force, what exists, and what
//! became of each step. Nothing here knows a route.
//!
//! | Module | |
//! |---|---|
//! | `version`, `find`, `change` | versions: as they are kept, which one is in force, what becomes of them |
//! | `judge` | the validator, asked with what exists in a workspace |
//! | `connections`, `channels`, `named`, `sealed` | whom automations may speak to, and the secrets for it |
//! | `secrets` | secrets inside graphs: as they are kept, answered and used |
//! | `watching`, `events` | which tables are watched, and what happened to their rows |
//! | `schedules` | which instants are due |
//! | `runs` | runs and their steps: begun, claimed by lease, ended |
//! | `worker`, `capacity`, `calls`, `playing`, `rehearsal` | who plays runs, how many at once, and how; dry runs |
//! | `shown` | runs as they are answered, to whom they may be shown |
//! | `notifications` | what people were told, as they read it |
//! | `authority`, `sight` | as whom a run works, and what they see |
//! | `mentioned`, `meter` | which ids an automation mentions; how much processor time its run has used |
//! | `reading`, `writing`, `telling`, `outside` | what steps do |

mod authority;
mod bell;
mod calls;
mod capacity;
mod change;
pub mod channels;
pub mod connections;
pub mod events;
pub mod find;
mod judge;
mod mentioned;
mod meter;
mod named;
mod notifications;
mod outside;
mod playing;
mod reading;
mod rehearsal;
pub mod runs;
mod schedules;
mod sealed;
mod secrets;
mod shown;
mod sight;
mod step;
mod telling;
mod version;
mod watching;
mod worker;
mod writing;

pub use bell::Bell;
pub use change::{
    Definition, Standing, Switched, activate, add_version, create, launch, mint_step_id, pause,
    publish, remove,
};
pub use judge::{Judged, Place, Told, judge};
pub use named::name_fault;
pub use notifications::{Notification, notification_page};
pub use secrets::keep as keep_secrets;
pub use shown::{Shown, read_run, run_page};
pub use version::Version;
pub use watching::{Watcher, settle};
pub use worker::{Player, Settings};

/// What is wrong with the address of a mail server, if anything.
pub fn smtp_fault(url: &str) -> Option<&'static str> {
    outside::transport_fault(url)
}
