//! `GET …/rows` and `GET …/rows:aggregate`: what is asked of rows, over real HTTP, on both stores.
//!
//! `random` holds the stores against what the library says of the same rows in memory; the others
//! name what has to hold whatever the library says.

mod abuse;
mod aggregates;
mod at_once;
mod filters;
mod large;
mod pages;
#[cfg(unix)]
pub(crate) mod plans;
#[cfg(unix)]
mod random;
pub(super) mod stock;
mod visibility;
