//! Laws that hold for every workspace, tried on random ones.
//!
//! `TPLKIT_CASES` says on how many (500), `TPLKIT_SEED` runs one of them again. A failure tells
//! its seed.

#![allow(
    clippy::unwrap_used,
    reason = "all of this is test code, outside test functions too"
)]

mod apply;
mod closed;
mod export;
mod job;
mod layout;
mod normal;
mod preview;
mod seeds;
mod skip;
mod world;
