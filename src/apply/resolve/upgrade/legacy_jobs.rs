//! The base of records that a job wrote before ledgers held it: what its package says of them.
//!
//! Goes in: the job's package and decisions, the ledgers up to its end, the destination for what
//! dependencies are mapped to. Comes out: what its ledger would say. Whether the records are there
//! any more does not matter.

use std::collections::HashSet;

use super::plain;
use crate::apply::resolve::bind::Disposition;
use crate::apply::resolve::bound_package::{BoundPackage, Unknown};
use crate::apply::{LegacyJob, Request};
use crate::definitions::Definitions;
use crate::workspace::ledger::{BaseRecord, Entry};
use crate::workspace::{Id, Structure};

/// The base of what a job wrote; and whether it created the record.
pub(super) fn legacy_jobs(
    job: &LegacyJob<'_>,
    until: &[Entry],
    destination: &Structure,
    definitions: &Definitions,
) -> Vec<(BaseRecord, bool)> {
    let request = Request {
        resolutions: job.resolutions.clone(),
        ..Request::default()
    };
    // Whether the records are still there does not matter.
    let away = |_, _| Disposition::Away;
    let package = BoundPackage::of(
        &job.package,
        &request,
        until,
        destination,
        definitions,
        Unknown::Empty,
        &away,
    );
    let own = until.get(job.entries.start..).unwrap_or_default();
    let structures = || {
        own.iter().filter_map(|entry| match entry {
            Entry::Structure(structure) => Some(structure),
            _ => None,
        })
    };
    let created: HashSet<Id> = structures()
        .flat_map(|structure| structure.created.iter().map(|made| made.id))
        .collect();
    let replaced: HashSet<Id> = structures()
        .flat_map(|structure| structure.replaced.iter().map(|done| done.id))
        .collect();
    let declared = package.built.declared.into_iter().filter(|(_, declared)| {
        !declared.blueprint
            && (created.contains(&declared.record.id) || replaced.contains(&declared.record.id))
    });
    declared
        .map(|(reference, declared)| {
            let based = BaseRecord::new(reference, &declared.name, plain(&declared.record));
            let created = created.contains(&based.record.id);
            (based, created)
        })
        .collect()
}
