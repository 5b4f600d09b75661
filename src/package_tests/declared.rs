//! A test as its author declares it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::expect::Expectations;
use super::fire::Fire;
use crate::apply::Request;

/// A test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Declared {
    /// How the package is applied.
    #[serde(with = "super::document::request")]
    pub request: Request,
    /// The clock of everything.
    #[serde(with = "super::document::instant")]
    pub now: Timestamp,
    /// What is expected of the apply.
    pub expect: Expectations,
    /// What is run afterwards, one after the other in the same workspace.
    pub fires: Vec<Fire>,
}
