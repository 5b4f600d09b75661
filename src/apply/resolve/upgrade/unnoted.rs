//! The base of records that a job wrote before ledgers told it: what its package says of them.
//!
//! Goes in: the job's package and decisions, the ledgers up to its end, the destination for what
//! dependencies are mapped to. Comes out: what its ledger would say. Whether the records are there
//! any more does not matter.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::plain;
use crate::apply::resolve::bind::{Disposition, bind_workspace, kind_of, named, parent};
use crate::apply::resolve::bindings::{Binding, Bindings, Cause, Record};
use crate::apply::resolve::decisions;
use crate::apply::resolve::earlier::Earlier;
use crate::apply::resolve::findings::Findings;
use crate::apply::resolve::recreated::Recreated;
use crate::apply::resolve::steps::Steps;
use crate::apply::resolve::structure::Builder;
use crate::apply::{Minter, Request, Unnoted};
use crate::definitions::Definitions;
use crate::workspace::ledger::{Based, Entry};
use crate::workspace::{Id, RecordKind, Structure};

/// The base of what a job wrote; and whether it created the record.
pub(super) fn unnoted(
    job: &Unnoted<'_>,
    until: &[Entry],
    destination: &Structure,
    definitions: &Definitions,
) -> Vec<(Based, bool)> {
    let request = Request {
        resolutions: job.resolutions.clone(),
        ..Request::default()
    };
    let package = &job.package;
    // What has gone since stands for nothing.
    let mut gone = Vec::new();
    let decided = decisions::decide(package, &request, destination, definitions, &mut gone);
    let steps = Steps::of(package, &decided);
    let minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 0);
    let earlier = Earlier::read(until, false, &minter);
    let mut bindings = Bindings::default();
    decisions::bind(package, &decided, destination, &mut bindings);
    let away = |_, _| Disposition::Away;
    let dispositions = as_written(&steps, &earlier, destination, &mut bindings, &away);
    let built = Builder {
        manifest: &package.manifest,
        steps: &steps,
        dispositions: &dispositions,
        bindings: &bindings,
        earlier: &earlier,
        recreated: &Recreated::default(),
        destination,
        definitions,
        findings: &mut Findings::of(&package.manifest),
        upgrade: true,
    }
    .build();
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
    let said = built.said.into_iter().filter(|(_, said)| {
        !said.blueprint && (created.contains(&said.thing.id) || replaced.contains(&said.thing.id))
    });
    said.map(|(reference, said)| {
        let based = Based::new(reference, &said.name, plain(&said.thing));
        let created = created.contains(&based.thing.id);
        (based, created)
    })
    .collect()
}

/// Binds every create step to the record that the ledgers tell of, under the name that it got, with what
/// becomes of the step then.
pub(in crate::apply::resolve) fn as_written<'p>(
    steps: &Steps<'p>,
    earlier: &Earlier<'_>,
    destination: &Structure,
    bindings: &mut Bindings<'p>,
    disposition: &dyn Fn(RecordKind, Id) -> Disposition<'p>,
) -> IndexMap<&'p str, Disposition<'p>> {
    bind_workspace(destination, bindings);
    let mut dispositions = IndexMap::new();
    for work in &steps.all {
        let (Some(kind), Some(reference)) = (kind_of(work.step.tool), &work.step.reference) else {
            continue;
        };
        let made = earlier.once(reference, kind);
        let (disposition, binding) =
            if let (Some(made), Ok(parent)) = (made, parent(work, bindings)) {
                let record = Record {
                    kind,
                    id: made.id,
                    name: made.name.to_owned(),
                    parent,
                    fresh: false,
                    anew: false,
                    gone: false,
                };
                (disposition(kind, made.id), Binding::Record(record))
            } else {
                let cause = Cause::LeftOut;
                let lot = Disposition::Homeless(Some(cause));
                (lot, Binding::Nothing(cause))
            };
        dispositions.insert(reference.as_str(), disposition);
        bindings.bind(reference, named(work.step.tool), binding);
    }
    dispositions
}
