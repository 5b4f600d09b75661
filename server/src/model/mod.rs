//! The model: workspaces, modules, rails, features, views and columns as records of one shape.
//!
//! Goes in: what a body says and who asks. Comes out: records as they are answered, or a problem.
//! What a config may hold says the definitions registry; nothing here knows a config key that it does
//! not have to act on. Statements for all six kinds are made in one place ([`kind`]).

mod change;
mod column;
mod config;
mod create;
mod feature;
pub mod find;
pub mod import;
mod input;
pub mod kind;
mod record;
mod remove;
pub mod schema;
pub(crate) mod slots;
mod statements;
pub(crate) mod visibility;

pub use change::{Change, change};
pub use create::{Create, create};
pub use input::RecordInput;
pub use kind::KindDescription;
pub use record::Record;
pub use remove::{Remove, remove};
