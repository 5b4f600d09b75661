//! Template jobs on both stores: what they promise, and what becomes of them when something happens.

mod faults;
mod fixtures;
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
