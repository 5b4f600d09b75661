//! Resolves a package for a destination.
//!
//! In: a package without errors, the request, the structure of the destination, and the ledgers of
//! earlier jobs of the same template. Out: an [`Approved`], or all refusals at once. It reads
//! nothing else and writes nothing.

mod absent_names;
mod adopted;
mod applied;
mod bind;
mod bindings;
mod bound_package;
mod built;
mod columns;
mod completeness;
mod counterparts;
mod decisions;
mod dependency_decision;
mod earlier_names;
mod earlier_records;
mod findings;
mod linked_value;
mod modes;
mod names;
mod order;
mod record;
mod recreated;
mod redacted;
mod refusals;
mod rewrite;
mod row_data;
mod row_steps;
mod steps;
mod structure;
mod tables;
mod targets;
#[cfg(test)]
mod tests;
mod unmatched;
mod unwritable;
mod upgrade;
mod waiting_drafts;

use indexmap::IndexMap;

use super::ledger_rows::LedgerRows;
use super::{Approved, JobHistory, Minter, Refusal, Request};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::upgrade::{Measured, Rename, TrackedDecisions};
use crate::workspace::Structure;
use crate::workspace::ledger::Entry;

pub(super) use adopted::{adopted, adopted_table};
pub(super) use applied::{AppliedRows, applied_rows, base_things};
use bindings::Bindings;
pub(super) use columns::fits;
use earlier_names::note_earlier_names;
use earlier_records::EarlierJobs;
use findings::Findings;
use recreated::Recreated;
use steps::Steps;
use structure::Builder;
use tables::Tables;
pub(super) use upgrade::unfit_decision;
use upgrade::{Base, LeftRecords, LeftRules, Merging};
pub(super) use waiting_drafts::WaitingDrafts;

/// Decides everything about an apply (`service`: template apply; `rest` 6.3, 6.4).
///
/// `earlier` holds the ledgers of what was applied before, oldest first: of the completed jobs
/// that this one binds to, and its own as far as it got. What they created and still exists is
/// bound, what is missing is created, and configs of what is bound point at it. With `copy` only the job's own entries count.
pub fn resolve(
    package: &Checked<'_>,
    request: &Request,
    destination: &Structure,
    earlier: Option<&[Entry]>,
    minter: Minter,
    definitions: &Definitions,
) -> Result<Approved, Vec<Refusal>> {
    let past = JobHistory::of(earlier.unwrap_or_default());
    resolve_from(package, request, destination, past, minter, definitions)
}

/// The same, with the package that an upgrade starts from (`upgrade` 3).
pub fn resolve_from(
    package: &Checked<'_>,
    request: &Request,
    destination: &Structure,
    past: JobHistory<'_>,
    minter: Minter,
    definitions: &Definitions,
) -> Result<Approved, Vec<Refusal>> {
    let measured = Measured::default();
    resolve_measured(
        package,
        request,
        destination,
        past,
        minter,
        definitions,
        &measured,
    )
}

/// The same, with what the cells say that are there.
pub(in crate::apply) fn resolve_measured(
    package: &Checked<'_>,
    request: &Request,
    destination: &Structure,
    past: JobHistory<'_>,
    minter: Minter,
    definitions: &Definitions,
    measured: &Measured,
) -> Result<Approved, Vec<Refusal>> {
    let completed = past.base.filter(|_| request.upgrade);
    let completed = completed.map(|base| base.completed(request, package));
    let request = completed.as_ref().unwrap_or(request);
    let mut refusals = upgrade::check_request(package, request, past);
    let decisions = decisions::decide(package, request, destination, definitions, &mut refusals);
    modes::check(package, request, &mut refusals);
    let entries = past.entries;
    // A separate copy has no rows from before.
    let ledger = LedgerRows::read(entries.iter().filter(|_| !request.copy));
    columns::required(
        package,
        request,
        destination,
        &ledger,
        definitions,
        &mut refusals,
    );
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let steps = Steps::of(package, &decisions);
    let earlier = EarlierJobs::read(entries, request.copy, &minter);
    let mut bindings = Bindings::default();
    decisions::bind(package, &decisions, destination, &mut bindings);
    let line = if request.copy {
        JobHistory::default()
    } else {
        past
    };
    let base = Base::read(line, destination, definitions);
    let tracked = TrackedDecisions::new(&request.terms.decisions, request.terms.conflicts);
    let tracked = tracked.with_measured(measured);
    let tracked = tracked.with_planned(request.terms.planned.as_ref());
    let pairs = request
        .upgrade
        .then(|| upgrade::pair(&steps, &base, destination, &earlier, &tracked, definitions));
    let dispositions = bind::bind(
        &steps,
        destination,
        &earlier,
        &minter,
        pairs.as_ref(),
        &mut bindings,
    );
    let left = pairs.as_ref().map_or_else(LeftRecords::default, |pairs| {
        let rules = LeftRules {
            tracked: &tracked,
            bindings: &bindings,
            destination,
            definitions,
        };
        LeftRecords::of(&base, pairs, &rules)
    });
    let gone = left.gone();
    let renewed = Recreated::of(&dispositions, &bindings, &earlier);
    let mut findings = Findings::of(&package.manifest);
    let mut built = Builder {
        manifest: &package.manifest,
        steps: &steps,
        dispositions: &dispositions,
        bindings: &bindings,
        earlier: &earlier,
        recreated: &renewed,
        destination,
        gone: &gone,
        definitions,
        findings: &mut findings,
        upgrade: request.upgrade,
    }
    .build();
    let (upgrade, not_carried) = match &pairs {
        None => (None, upgrade::left_out(&base, &mut built, definitions)),
        Some(pairs) => {
            let mut work = Merging {
                base: &base,
                pairs,
                tracked: &tracked,
                bindings: &bindings,
                destination,
                definitions,
                manifest: &package.manifest,
                steps: &steps,
                earlier: &earlier,
                recreated: &renewed,
                left,
                gone: &gone,
                minter: &minter,
                payloads: &package.payloads,
                row_bases: &line.row_bases(),
                built: &mut built,
                work: upgrade::begin(request, past),
                dangling: IndexMap::new(),
                records: IndexMap::new(),
                refusals: Vec::new(),
            }
            .run()?;
            let not_carried = std::mem::take(&mut work.not_carried);
            (Some(Box::new(work)), not_carried)
        }
    };
    let tables = Tables {
        package,
        request,
        bindings: &bindings,
        columns: &built.columns,
        destination,
        definitions,
    };
    let (mut ordered, next) = tables.all(steps.creating, &mut findings);
    note_earlier_names(&mut ordered, line.entries, &base, &built.columns);
    let mut refusals = unwritable::refusals(&built.work, destination, definitions);
    refusals.extend(unmatched::unmatched_rows(
        package, request, &ordered, &ledger,
    ));
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let row_steps = row_steps::row_steps(&steps, &tables, next, &mut findings);
    Ok(Approved {
        structure: built.work,
        tables: ordered,
        row_steps,
        publish: built.publish,
        not_published: built.not_published,
        redacted: redacted::fields(package, &bindings),
        bound: built.bound,
        unresolved: findings.unresolved,
        renamed: findings.renamed,
        dropped_keys: findings.dropped_keys,
        not_carried,
        base_rows: upgrade::base_rows(
            package,
            request,
            &base,
            line,
            &bindings,
            destination,
            definitions,
        ),
        upgrade,
        copy: request.copy,
        minter,
    })
}

/// What may be something else under a new name, also of an upgrade that is refused: deciding that may be the way out
/// (`upgrade` 3.2.2).
pub(in crate::apply) fn possible_renames(
    package: &Checked<'_>,
    request: &Request,
    destination: &Structure,
    past: JobHistory<'_>,
    minter: Minter,
    definitions: &Definitions,
) -> Vec<Rename> {
    if !request.upgrade {
        return Vec::new();
    }
    let completed = past.base.map(|base| base.completed(request, package));
    let request = completed.as_ref().unwrap_or(request);
    let mut refused = Vec::new();
    let decisions = decisions::decide(package, request, destination, definitions, &mut refused);
    let steps = Steps::of(package, &decisions);
    let earlier = EarlierJobs::read(past.entries, false, &minter);
    let base = Base::read(past, destination, definitions);
    let tracked = TrackedDecisions::new(&request.terms.decisions, request.terms.conflicts);
    upgrade::pair(&steps, &base, destination, &earlier, &tracked, definitions).renames
}
