//! Findings and errors of the library as diagnostics of `miette`, for programs that draw with it (feature
//! `miette`).
//!
//! ```
//! use miette::Diagnostic as _;
//! use tplkit::check::{CheckOptions, check_text};
//! use tplkit::finding::LocatedReport;
//!
//! let text = r#"{"templateVersion": 2}"#;
//! let report = LocatedReport::new(text.as_bytes(), check_text(text, &CheckOptions::default()));
//! let finding = report.findings[0].clone().in_file("crm.json");
//! assert_eq!(finding.code().unwrap().to_string(), finding.finding().rule.code);
//! ```

mod errors;
mod finding;

pub use finding::FindingDiagnostic;
