//! Checking: a package goes in, findings come out.

pub mod catalog;
pub mod edit;
pub mod facts;
mod finding;
mod promotion;
mod rows;
mod rule;
mod rules;
mod run;
pub mod sensitive;
pub mod suggest;

pub use finding::{Edit, Finding, Fix, Place, Related};
pub use promotion::Verdict;
pub use rule::{Rule, Severity};
pub use run::{CheckOptions, FileKind, FileReport, check, check_text, promote};
