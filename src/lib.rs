//! Reads, checks and rewrites workspace template packages.
//!
//! A template package is a JSON file that rebuilds part of a workspace elsewhere: tables, columns,
//! views, navigation, automations, rows. This library says whether one is fit, where it is not,
//! and what to do about it; the command `tplkit` and the server ask it and add nothing of their
//! own.
//!
//! ```
//! use tplkit::check::{CheckOptions, check};
//!
//! let report = check(br#"{"templateVersion": 3}"#, &CheckOptions::default());
//! assert!(report.findings.iter().any(|finding| finding.rule.code == "J004"));
//! ```
//!
//! | To | Use |
//! |---|---|
//! | check a file, measure its promotion | [`check::check`], [`check::promote`] |
//! | show, select, fix, accept findings | [`check::render`], [`check::selection`], [`check::fix`], [`check::baseline`] |
//! | check an automation on its own | [`automation::validate`] |
//! | check the value of one cell | [`rows`] |
//! | say which rows a filter finds, and in which order | [`rows::query`] |
//! | write the canonical form, get the JSON Schemas | [`package::canonical`], [`package::schema`] |
//! | know which config keys there are | [`definitions`] |
//! | tell people what is inside, or begin a new package | [`contents`], [`starter`] |
//! | export a workspace as a package | [`export`] |
//! | draw a package, or write it as one page | [`graph`], [`report`] |
//! | show text of strangers without harm | [`printable`] |
//! | read JSON with every place kept | [`json`] |
//! | talk to a server, with the feature `client` | `client` |
//!
//! It never prints, reads no environment, and asks for neither time nor random numbers: what it
//! needs of these is handed in ([`context`]). Findings about a package are data; errors are for
//! work that could not be done.

pub mod apply;
pub mod automation;
pub mod check;
#[cfg(feature = "client")]
pub mod client;
pub mod contents;
pub mod context;
pub mod definitions;
pub mod diff;
pub mod export;
pub mod graph;
pub mod json;
pub mod layout;
mod markup;
pub mod migrate;
pub mod package;
pub mod printable;
pub mod problem;
pub mod report;
pub mod rows;
pub mod simulate;
pub mod starter;
pub mod workspace;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
