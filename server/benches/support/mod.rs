//! What benches share: the options of a command line, both stores, the server as a process, its templates, load on
//! it, somebody who should not notice that load, and a look at its memory.

pub(crate) mod arguments;
pub(crate) mod load;
pub(crate) mod rows;
pub(crate) mod server;
pub(crate) mod stores;
pub(crate) mod templates;
pub(crate) mod victim;
pub(crate) mod watch;

#[cfg(unix)]
pub(crate) use tplkit_server_testkit::cluster;
