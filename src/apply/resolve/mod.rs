//! Resolves a package for a destination.
//!
//! In: a package without errors, the request, the structure of the destination, and the ledgers of
//! earlier jobs of the same template. Out: an [`Approved`], or all refusals at once. It reads
//! nothing else and writes nothing.

mod absent_names;
mod adopted;
mod applied_rows;
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
mod input;
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
use super::{Approved, JobHistory, Minter, Refusal};
use crate::upgrade::{Measured, Rename, TrackedDecisions};

pub(super) use adopted::{adopted, adopted_table};
pub(super) use applied_rows::{AppliedRows, applied_rows, base_things};
use bindings::Bindings;
pub(super) use columns::fits;
pub use decisions::is_satisfied;
use dependency_decision::DependencyDecision;
use earlier_names::note_earlier_names;
use earlier_records::EarlierJobs;
use findings::Findings;
pub use input::ResolveInput;
use recreated::Recreated;
use steps::Steps;
use structure::Builder;
use tables::Tables;
pub(super) use upgrade::unfit_decision;
use upgrade::{Base, LeftRecords, LeftRules, Merging};
pub(super) use waiting_drafts::WaitingDrafts;

/// Decides everything about an apply (`service`: template apply; `rest` 6.3, 6.4), of an upgrade as well (`upgrade` 3).
///
/// What [`JobHistory::entries`] of the past say was created and still exists is bound, what is missing is created, and
/// configs of what is bound point at it. With `copy` only the job's own entries count.
///
/// # Errors
/// Every refusal.
pub fn resolve(input: ResolveInput<'_, '_>, minter: Minter) -> Result<Approved, Vec<Refusal>> {
    resolve_measured(input, minter, &Measured::default())
}

/// Decides as [`resolve`] does, with what the cells say that are there.
pub(in crate::apply) fn resolve_measured(
    input: ResolveInput<'_, '_>,
    minter: Minter,
    measured: &Measured,
) -> Result<Approved, Vec<Refusal>> {
    let completed = input.completed();
    let input = input.with_request(completed.as_ref());
    let ResolveInput {
        package,
        request,
        destination,
        past,
        definitions,
    } = input;
    let entries = past.entries;
    // A separate copy has no rows from before.
    let ledger = LedgerRows::read(entries.iter().filter(|_| !request.copy));
    let decisions = decided(input, &ledger)?;
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
    let base = base.with_imported(upgrade::imported(package, line, destination, definitions));
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

/// What becomes of each dependency, or everything that is wrong with the request.
fn decided<'q>(
    input: ResolveInput<'q, '_>,
    ledger: &LedgerRows,
) -> Result<Vec<(usize, DependencyDecision<'q>)>, Vec<Refusal>> {
    let ResolveInput {
        package,
        request,
        destination,
        past,
        definitions,
    } = input;
    let mut refusals = upgrade::check_request(package, request, past);
    let decisions = decisions::decide(package, request, destination, definitions, &mut refusals);
    modes::check(package, request, &mut refusals);
    columns::required(
        package,
        request,
        destination,
        ledger,
        definitions,
        &mut refusals,
    );
    if refusals.is_empty() {
        Ok(decisions)
    } else {
        Err(refusals)
    }
}

/// What may be something else under a new name, also of an upgrade that is refused: deciding that may be the way out
/// (`upgrade` 3.2.2).
pub(in crate::apply) fn possible_renames(
    input: ResolveInput<'_, '_>,
    minter: Minter,
) -> Vec<Rename> {
    if !input.request.upgrade {
        return Vec::new();
    }
    let completed = input.completed();
    let ResolveInput {
        package,
        request,
        destination,
        past,
        definitions,
    } = input.with_request(completed.as_ref());
    let mut refused = Vec::new();
    let decisions = decisions::decide(package, request, destination, definitions, &mut refused);
    let steps = Steps::of(package, &decisions);
    let earlier = EarlierJobs::read(past.entries, false, &minter);
    let base = Base::read(past, destination, definitions);
    let base = base.with_imported(upgrade::imported(package, past, destination, definitions));
    let tracked = TrackedDecisions::new(&request.terms.decisions, request.terms.conflicts);
    upgrade::pair(&steps, &base, destination, &earlier, &tracked, definitions).renames
}
