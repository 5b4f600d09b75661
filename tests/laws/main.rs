//! Laws that hold for every workspace, tried on random ones.
//!
//! `TPLKIT_CASES` says on how many (100), `TPLKIT_SEED` runs one of them again. A failure reports
//! its seed.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod apply;
mod closed;
mod decide;
mod drift;
mod export;
mod job;
mod layout;
mod links;
mod mapping;
mod normal;
mod onto;
mod people;
mod preview;
mod seeds;
mod skip;
mod undo;
mod upgrade;
mod variety;
mod world;
