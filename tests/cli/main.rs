//! The command line from outside: words in; stdout, stderr, exit code and files out.

#[path = "../scripted/mod.rs"]
mod scripted;

mod baseline;
mod candidates;
mod cases;
mod commands;
mod comparing;
mod completing;
mod config;
mod docs;
#[cfg(unix)]
mod examples;
mod exits;
mod fixing;
mod folders;
mod formats;
mod graph;
#[cfg(unix)]
mod hostile;
mod json;
mod markup;
#[cfg(target_os = "linux")]
mod meanwhile;
mod migrating;
mod overwriting;
mod page;
mod remote;
mod report;
mod resolving;
#[cfg(unix)]
mod shells;
mod simulated_names;
mod simulating;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
mod testing;
mod unpacking;
mod walking;
mod watching;
