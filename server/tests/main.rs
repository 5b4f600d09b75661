//! Integration tests of the server: the command as a process, the API over real HTTP on both stores,
//! and a real PostgreSQL.

mod api;
#[cfg(target_os = "linux")]
mod bounded_runs;
#[cfg(unix)]
mod canaries;
#[cfg(unix)]
mod citus;
#[cfg(target_os = "linux")]
mod claim;
#[cfg(unix)]
mod command;
mod configuration;
mod demo;
#[cfg(unix)]
mod deploy;
mod direction;
#[cfg(unix)]
mod distance;
mod drain;
mod edge;
#[cfg(unix)]
mod examples;
#[cfg(unix)]
mod failover;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod flood;
#[cfg(unix)]
mod fold;
#[cfg(unix)]
mod guide;
#[cfg(unix)]
mod haproxy;
#[cfg(unix)]
mod health;
#[cfg(unix)]
mod implicit_reads;
#[cfg(unix)]
mod install;
mod jobs;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod kill_runs;
mod limits;
#[cfg(unix)]
mod load;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod memory;
mod migrations;
#[cfg(unix)]
mod outage;
#[cfg(unix)]
mod package_tests;
#[cfg(unix)]
mod pooler;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
mod printed;
mod process;
#[cfg(unix)]
mod proxy;
#[cfg(unix)]
mod races;
mod row_security;
#[cfg(unix)]
mod s3;
#[cfg(unix)]
mod sessions;
#[cfg(unix)]
mod shares;
#[cfg(unix)]
mod shells;
#[cfg(unix)]
mod sqlite_files;
#[cfg(unix)]
mod stalled_log;
#[cfg(unix)]
mod tls;
#[cfg(unix)]
mod transfers;
#[cfg(unix)]
mod unending;
mod upkeep;

#[cfg(unix)]
use tplkit_server_testkit::cluster;
use tplkit_server_testkit::{sinks, stores};
