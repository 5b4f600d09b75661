//! Integration tests of the server: the command as a process, and a real PostgreSQL.

#[cfg(unix)]
mod cluster;
mod command;
#[cfg(unix)]
mod postgres;
mod stores;
mod walls;
