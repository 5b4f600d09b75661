//! The checks of `tplkit` for JavaScript: what `@tplkit/wasm` and the playground call.
//!
//! In: the bytes of a package, options as JSON. Out: text, mostly the JSON documents that the command
//! line writes, or a [`Failure`]. Each function has the defaults of the command of its name. Nothing
//! here decides about packages, and nothing reads files, the environment or the network.
//!
//! `bindings` (on `wasm32` alone) hands these functions to JavaScript; `js/` wraps them into the module
//! with types.

#[cfg(target_arch = "wasm32")]
pub mod bindings;
mod checking;
mod document;
mod failure;
mod options;
mod showing;
mod simulating;

pub use checking::{check, fix, fmt, promote};
pub use failure::Failure;
pub use showing::{diff, graph, report};
pub use simulating::simulate;
