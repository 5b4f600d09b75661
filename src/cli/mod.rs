//! The command line: arguments in, one of the documented exit codes out.
//!
//! `args` turns words into typed requests, `commands` has one file per command, `output` is the
//! only place that prints and `failure` the only one that sorts errors into exit codes.

mod applied;
pub(crate) mod args;
mod checking;
pub(crate) mod commands;
mod destination;
mod document;
mod error;
mod exit;
pub(crate) mod failure;
mod folder;
mod following;
pub(crate) mod interrupt;
mod last_words;
mod losses;
mod output;
mod package_file;
mod packed;
mod planned;
mod remote;
mod replace;
mod resolutions;
pub(crate) mod session;
mod source;
mod starting;
mod walk;
mod watch;
mod way_back;
