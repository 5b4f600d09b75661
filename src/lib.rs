//! Checks, exports, applies, upgrades and undoes workspace template packages.
//!
//! A template package is a JSON file that rebuilds part of a workspace elsewhere: tables, columns,
//! views, navigation, automations, rows. This library reports what is wrong in a package, where,
//! and how to fix it; it applies packages to a workspace in memory or to any other that implements
//! its traits. The command `tplkit` and the server use it and add no rules of their own.
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
//! | show, select, accept findings | [`finding::render`], [`finding::selection`], [`finding::baseline`] |
//! | fix a file | [`check::fix`] |
//! | check an automation on its own | [`automation::validate`] |
//! | export a workspace as a package | [`export`] |
//! | apply a package, preview the apply, undo it | [`apply`] |
//! | merge a new version with what people changed | [`upgrade`] |
//! | implement a workspace, or use one in memory | [`workspace`] |
//! | try an apply, an upgrade and their undo in memory | [`simulate`] |
//! | run the tests that an author declares | [`package_tests`] |
//! | compare two packages | [`diff`] |
//! | unpack a package into a folder of small files, and pack it | [`layout`] |
//! | migrate a package from version 1 to 2 | [`migrate`] |
//! | check one cell value | [`rows`] |
//! | filter and sort rows | [`rows::query`] |
//! | write the canonical form, generate the JSON Schemas | [`package::canonical`], [`package::schema`] |
//! | look up config keys | [`definitions`] |
//! | list the contents of a package, or start a new one | [`contents`], [`starter`] |
//! | look up the codes of a server's refusals | [`problem`] |
//! | draw a package, or write an HTML page about it | [`graph`], [`report`] |
//! | serve an editor | [`language`] |
//! | print untrusted text safely | [`printable`] |
//! | read JSON with source positions | [`json`] |
//! | talk to a server, with the feature `client` | `client` |
//! | draw findings with `miette`, with the feature of that name | `diagnostics` |
//!
//! The library never prints and never reads the environment, the time or random numbers; callers
//! pass them in ([`context`]). Findings about a package are data; errors are for work that could
//! not be done.
//!
//! From version 0.1.0 on, [`check`], [`finding`], [`apply`], [`export`], [`workspace`] and `client` follow
//! semantic versioning. Other modules may change in any release.

pub mod apply;
pub mod automation;
pub mod check;
#[cfg(feature = "client")]
pub mod client;
pub mod contents;
pub mod context;
pub mod definitions;
#[cfg(feature = "miette")]
pub mod diagnostics;
pub mod diff;
pub mod export;
pub mod finding;
pub mod graph;
pub mod json;
pub mod language;
pub mod layout;
mod maps;
mod markup;
pub mod migrate;
pub mod package;
pub mod package_tests;
pub mod printable;
pub mod problem;
pub mod report;
pub mod rows;
pub mod simulate;
pub mod starter;
pub mod toml_text;
pub mod upgrade;
pub mod workspace;

// Test tools that are the testkit's, for the tests of private parts: there the library is another crate.
#[cfg(test)]
extern crate self as tplkit;
#[cfg(test)]
#[path = "../testkit/src/crashing.rs"]
pub mod crashing;
