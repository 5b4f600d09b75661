//! Why a package cannot be applied as asked.

use serde::{Deserialize, Serialize};

use crate::problem::Code;

/// One reason; all of them are reported at once, before anything is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{detail}")]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "PlanRefusal")
)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// The ref that it is about, without the dollar.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// What is wrong and what to do.
    pub detail: String,
    /// How many filled cells would be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<u64>,
    /// How many rows would be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Whether the package is at fault, and not the request: whatever its code, it stands in a plan.
    #[serde(skip)]
    #[cfg_attr(feature = "schemas", schemars(skip))]
    pub of_package: bool,
}

impl Refusal {
    /// A reason about one ref.
    pub fn about(code: Code, reference: &str, detail: impl Into<String>) -> Refusal {
        Refusal {
            reference: Some(reference.to_owned()),
            ..Refusal::new(code, detail)
        }
    }

    /// A fault of the package, about a ref where it has one.
    pub fn of_package(code: Code, reference: Option<&str>, detail: impl Into<String>) -> Refusal {
        Refusal {
            reference: reference.map(str::to_owned),
            of_package: true,
            ..Refusal::new(code, detail)
        }
    }

    /// A reason about the whole.
    pub fn new(code: Code, detail: impl Into<String>) -> Refusal {
        Refusal {
            code,
            reference: None,
            detail: detail.into(),
            cells: None,
            rows: None,
            of_package: false,
        }
    }
}
