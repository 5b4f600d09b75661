//! The language server: messages of an editor in, responses and findings out.
//!
//! One thread responds in the order of the messages, so that no edit overtakes another; only large
//! packages are checked next to it. The content of responses is the library's (`tplkit::language`); here are
//! the protocol, the open documents, and when to check.

mod actions;
mod connection;
mod diagnostics;
mod documents;
mod edits;
mod event;
mod frames;
mod requests;
mod responses;
mod rules;
mod server;
mod snapshot;
mod uri;
mod wire;

pub(crate) use connection::serve;
