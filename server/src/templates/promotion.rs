//! Measures the five rules of a promotion to `system` on a stored package.

use tplkit::check::{CheckOptions, promote};
use tplkit::finding::Verdict;

use super::package::Package;
use crate::refusal::{Code, Fault, MOST_FAULTS, Refusal};

/// The visibility that the rules are about.
pub(super) const SYSTEM: &str = "system";

/// Measures all rules.
///
/// # Errors
/// 422 with every rule that is broken, and where.
pub(super) fn measure(package: Package) -> Result<(), Refusal> {
    let text = package.text();
    let report = promote(text.as_bytes(), &CheckOptions::default());
    let verdicts = report.promotion.unwrap_or_default();
    let broken: Vec<&Verdict> = verdicts.iter().filter(|verdict| !verdict.passed).collect();
    if broken.is_empty() {
        return Ok(());
    }
    // Each rule is heard, however often another is broken.
    let places = MOST_FAULTS / broken.len();
    let mut faults = Vec::new();
    for verdict in &broken {
        faults.extend(
            verdict
                .places
                .iter()
                .take(places)
                .map(|(place, message)| Fault {
                    path: place.pointer.clone(),
                    code: verdict.rule.code,
                    message: message.clone(),
                }),
        );
    }
    let names = broken.iter();
    let names = names.map(|verdict| format!("{} ({})", verdict.rule.code, verdict.rule.name));
    let detail = format!(
        "The template cannot be promoted to system: {}.",
        names.collect::<Vec<_>>().join(", ")
    );
    Err(Refusal::new(Code::PromotionFailed, detail).with_errors(faults))
}
