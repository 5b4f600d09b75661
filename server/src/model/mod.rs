//! The model: workspaces, modules, rails, features, views and columns as records of one shape.
//!
//! In: a body and a caller. Out: a record for the response, or a refusal. The definitions registry
//! validates configs; this module knows only config keys that it acts on. The statements of all six
//! kinds come from one place ([`kind`]).

mod change;
mod column;
mod config;
mod create;
pub(crate) mod document;
mod feature;
pub mod find;
pub mod import;
mod input;
pub mod kind;
mod names;
mod record;
pub mod referenced;
mod remove;
mod remove_part;
pub mod schema;
mod statements;
pub(crate) mod visibility;

pub use change::{Change, change};
pub use create::{Create, ParentRecord, create, enter};
pub use input::RecordInput;
pub use kind::KindDescription;
pub use record::Record;
pub use remove::{Remove, remove};
pub use remove_part::remove_part;
