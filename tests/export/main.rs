//! The exporter, rule by rule, on small workspaces in memory. Every package is held against every
//! rule of the check, the promotion and the canonical form.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod automations;
mod complete;
mod dependencies;
mod exported;
mod format;
mod leaks;
mod onto;
mod order;
mod random;
mod refs;
mod reported;
mod rows;
mod secrets;
mod selection;
mod space;
mod stores;
mod unresolved;
