//! The client of the API, against servers that respond as a test says.

#[path = "../scripted/mod.rs"]
mod scripted;

mod bounds;
mod catalog;
mod host;
mod lists;
mod redirects;
mod retries;
mod sessions;
mod transfers;
mod workspace;
