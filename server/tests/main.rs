//! Integration tests of the server: the command as a process, and a real PostgreSQL.

mod cluster;
mod command;
mod postgres;
