//! Measures the five rules of a promotion to `system`.

use super::facts::Facts;
use super::rows::RowsOutcome;
use super::rules;
use crate::finding::catalog::{P001, P002, P003, P004, P005};
use crate::finding::{Finding, Place, Verdict};

/// Measures all five.
pub(super) fn verdicts(facts: &Facts<'_>, rows: &RowsOutcome) -> Vec<Verdict> {
    let mut tenants = rules::tenant_places(facts.root);
    tenants.extend(rows.tenant_places.iter().cloned());
    tenants.sort_by_key(|(place, _)| place.span.start);
    [
        (&P001, version_declared(facts)),
        (&P002, tenants),
        (&P003, rows.without_payload.clone()),
        (&P004, rows.count_mismatches.clone()),
        (&P005, rows.orphans.clone()),
    ]
    .into_iter()
    .map(|(rule, places)| Verdict {
        rule,
        passed: places.is_empty(),
        places,
    })
    .collect()
}

fn version_declared(facts: &Facts<'_>) -> Vec<(Place, String)> {
    if facts.manifest.get("templateVersion").is_none() {
        return vec![(
            Place::value(facts.manifest),
            "the manifest declares no `templateVersion`".to_owned(),
        )];
    }
    let mut findings: Vec<Finding> = Vec::new();
    rules::version(facts.manifest, &mut findings);
    findings
        .into_iter()
        .map(|finding| (finding.place, finding.message))
        .collect()
}
