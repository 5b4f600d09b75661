//! The language server: messages of an editor in, answers and findings out.
//!
//! One thread answers in the order of the messages, so that no edit overtakes another; only large
//! packages are checked next to it. What is answered is the library's (`tplkit::language`); here are
//! the protocol, the open documents, and when to check.

mod actions;
mod answers;
mod connection;
mod diagnostics;
mod documents;
mod edits;
mod requests;
mod rules;
mod server;
mod snapshot;
mod uri;
mod wire;

pub(crate) use connection::serve;
