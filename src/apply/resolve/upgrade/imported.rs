//! Tables that a line imported with a dependency and that the package brings as items (`upgrade` 3.1.4): they are the
//! same records, and what the blueprint said of them is their base.
//!
//! Goes in: the package, and those that the line applied, with its ledgers. Comes out: what these ledgers do not
//! hold, because records of a blueprint have no base as long as they are that. The newest package that has a dependency
//! says it; versions after that may do without the table.

use std::collections::HashSet;

use super::plain;
use crate::apply::resolve::bind::Disposition;
use crate::apply::resolve::bound_package::{BoundPackage, Unknown};
use crate::apply::{JobHistory, Request};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::workspace::Structure;
use crate::workspace::ledger::BaseRecord;

/// The base of what a line imported and a package brings as an item.
pub(in crate::apply::resolve) fn imported(
    package: &Checked<'_>,
    past: JobHistory<'_>,
    destination: &Structure,
    definitions: &Definitions,
) -> Vec<BaseRecord> {
    let Some(base) = past.base else {
        return Vec::new();
    };
    let steps = package.manifest.plan.steps.iter();
    let created = steps.filter(|step| step.tool.is_create());
    let mut open: HashSet<&str> = created
        .filter_map(|step| step.reference.as_deref())
        .collect();
    let request = Request {
        resolutions: base.resolutions.clone(),
        ..Request::default()
    };
    let mut found = Vec::new();
    for (applied, entries) in past.importing() {
        let dependencies = applied.manifest.dependencies().iter();
        let items = dependencies.filter(|one| open.remove(one.reference.as_str()));
        let blueprints = items.filter_map(|one| one.blueprint.as_ref());
        let refs: HashSet<&str> = blueprints
            .flat_map(|blueprint| &blueprint.steps)
            .filter_map(|step| step.reference.as_deref())
            .collect();
        if refs.is_empty() {
            continue;
        }
        // Whether the records are still there does not matter.
        let away = |_, _| Disposition::Away;
        let bound = BoundPackage::of(
            applied,
            &request,
            entries,
            destination,
            definitions,
            Unknown::Empty,
            &away,
        );
        let declared = bound.built.declared.into_iter();
        let declared =
            declared.filter(|(reference, declared)| declared.blueprint && refs.contains(reference));
        found.extend(declared.map(|(reference, declared)| {
            BaseRecord::new(reference, &declared.name, plain(&declared.record))
        }));
    }
    found
}
