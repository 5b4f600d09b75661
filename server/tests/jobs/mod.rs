//! Template jobs on both stores: what they promise, and what becomes of them when something happens.

mod faults;
#[cfg(unix)]
mod killed;
mod large;
mod laws;
mod leases;
mod outcome;
mod packages;
mod promises;
mod same;
mod undone;
mod upgraded;

use tplkit_server_testkit::jobs as fixtures;
