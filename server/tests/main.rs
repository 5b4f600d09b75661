//! Integration tests of the server: the command as a process, the API over real HTTP on both stores,
//! and a real PostgreSQL.

mod api;
#[cfg(unix)]
mod cluster;
mod command;
#[cfg(unix)]
mod distance;
#[cfg(unix)]
mod fold;
mod migrations;
#[cfg(unix)]
mod postgres;
mod stores;
mod walls;
