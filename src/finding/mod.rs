//! What a validation says: one finding per mistake, as data.
//!
//! Packages, automations and destinations of an apply are validated elsewhere; here is what all of
//! them give out, and what is done with it: the rules by code, places, lines and excerpts, fixes,
//! selection, a baseline of accepted findings, reports in every format. It validates nothing and
//! prints nothing.

pub mod baseline;
pub mod catalog;
mod digest;
pub(crate) mod edit;
mod excerpt;
pub mod fix;
mod located;
mod origin;
pub mod page;
mod place;
pub mod position;
pub mod render;
mod report;
mod rule;
pub mod selection;
pub mod suggest;

pub use edit::Edit;
pub use excerpt::Excerpt;
pub use fix::Fix;
pub use located::{Located, LocatedFix, LocatedReport, LocatedVerdict, RelatedSpot, SourceSpot};
pub use origin::{FileEdit, FileSpan, Origin};
pub use place::Place;
pub use position::LineColumn;
pub use report::{FileKind, FileReport, Verdict};
pub use rule::{Rule, Severity};

use crate::json::Node;
use crate::package::canonical::CanonicalError;

/// Another place that helps to understand a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub place: Place,
    /// What is there.
    pub message: String,
}

/// One mistake in a file.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that speaks.
    pub rule: &'static Rule,
    /// The weight, after configuration.
    pub severity: Severity,
    /// The narrowest value at fault.
    pub place: Place,
    /// What is wrong, naming the value.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Other places.
    pub related: Vec<Related>,
    /// A fix, when there is a mechanical one.
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding of `rule` at `place` with the rule's own severity and help.
    pub fn new(rule: &'static Rule, place: Place, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            severity: rule.severity,
            place,
            message: message.into(),
            help: rule.help.to_owned(),
            related: Vec::new(),
            fix: None,
        }
    }

    /// At a value.
    pub fn at(rule: &'static Rule, node: Node<'_>, message: impl Into<String>) -> Finding {
        Finding::new(rule, Place::value(node), message)
    }

    /// At a member's key.
    pub fn at_key(rule: &'static Rule, node: Node<'_>, message: impl Into<String>) -> Finding {
        Finding::new(rule, Place::key(node), message)
    }

    /// Why a text has no canonical form.
    pub fn without_form(error: &CanonicalError) -> Finding {
        let message = error.to_string();
        let (rule, pointer, span) = match error {
            CanonicalError::Syntax(error) => {
                (&catalog::J001, String::new(), error.offset..error.offset)
            }
            CanonicalError::DuplicateKey { pointer, span, .. } => {
                (&catalog::J002, pointer.clone(), span.clone())
            }
            _ => return Finding::new(&catalog::J003, Place::file(), message),
        };
        Finding::new(rule, Place { pointer, span }, message)
    }

    /// With help of its own.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = help.into();
        self
    }

    /// With a related place.
    #[must_use]
    pub fn related(mut self, node: Node<'_>, message: impl Into<String>) -> Finding {
        self.related.push(Related {
            place: Place::value(node),
            message: message.into(),
        });
        self
    }

    /// With a fix.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Finding {
        self.fix = Some(fix);
        self
    }
}
