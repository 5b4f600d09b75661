//! Checking: a package goes in, findings come out.

pub mod catalog;
pub mod facts;
mod finding;
mod rule;
mod run;

pub use finding::{Edit, Finding, Fix, Place, Related};
pub use rule::{Rule, Severity};
pub use run::{CheckOptions, FileKind, FileReport, Verdict, check, promote};
