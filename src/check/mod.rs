//! Checking: a package goes in, findings come out.

pub mod baseline;
pub mod catalog;
pub mod digest;
mod excerpt;
pub mod facts;
mod finding;
pub mod fix;
mod located;
pub mod position;
pub mod render;
mod rule;
mod run;
pub mod selection;

pub use excerpt::Excerpt;
pub use finding::{Edit, Finding, Fix, Place, Related};
pub use located::{Located, LocatedReport, LocatedVerdict, Spot};
pub use position::LineColumn;
pub use rule::{Rule, Severity};
pub use run::{CheckOptions, FileKind, FileReport, Verdict, check, promote};
