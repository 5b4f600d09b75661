//! Checking: a package goes in, findings come out.

pub mod baseline;
pub mod catalog;
#[cfg(test)]
mod changed;
mod checked;
pub mod digest;
pub mod edit;
mod excerpt;
pub mod facts;
mod finding;
pub mod fix;
mod located;
pub mod page;
pub mod position;
mod promotion;
pub mod render;
mod rows;
mod rule;
mod rules;
mod run;
pub mod selection;
pub mod sensitive;
pub mod suggest;

pub use checked::{Checked, NotChecked};
pub use excerpt::Excerpt;
pub use finding::{Edit, Finding, Fix, Place, Related};
pub use located::{Located, LocatedReport, LocatedVerdict, Spot};
pub use position::LineColumn;
pub use promotion::Verdict;
pub use rule::{Rule, Severity};
pub use run::{CheckOptions, FileKind, FileReport, check, check_text, promote};
