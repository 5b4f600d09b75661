//! A package that was applied here, bound to the records that it created.
//!
//! Goes in: a package, what was decided about its dependencies, the ledgers up to the end of its job, the
//! destination for what dependencies are mapped to. Comes out: its steps, bindings and records, as a later
//! job finds them. Creates nothing, and reports nothing: what was mapped to and is gone stands for nothing.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::bind::{Disposition, bind_workspace, kind_of, named, parent};
use super::bindings::{Binding, Bindings, Cause, Record};
use super::built::Built;
use super::decisions;
use super::earlier_records::EarlierJobs;
use super::findings::Findings;
use super::recreated::Recreated;
use super::steps::Steps;
use super::structure::Builder;
use crate::apply::{Minter, Request};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::workspace::ledger::Entry;
use crate::workspace::{Id, RecordKind, Structure};

/// What becomes of uses of what no ledger knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// They are empty, as uses of what has no place to be.
    Empty,
    /// They are marked.
    Marked,
}

/// A package, bound to the records that it created.
pub(super) struct BoundPackage<'p> {
    pub(super) steps: Steps<'p>,
    pub(super) bindings: Bindings<'p>,
    pub(super) built: Built<'p>,
    pub(super) findings: Findings,
    pub(super) minter: Minter,
}

impl<'p> BoundPackage<'p> {
    /// Binds it; `disposition` says what becomes of the step of a record that an earlier job created.
    pub(super) fn of(
        package: &'p Checked<'_>,
        request: &Request,
        entries: &[Entry],
        destination: &Structure,
        definitions: &Definitions,
        unknown: Unknown,
        disposition: &dyn Fn(RecordKind, Id) -> Disposition<'p>,
    ) -> BoundPackage<'p> {
        let mut gone = Vec::new();
        let decided = decisions::decide(package, request, destination, definitions, &mut gone);
        let steps = Steps::of(package, &decided);
        let minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 0);
        let earlier = EarlierJobs::read(entries, false, &minter);
        let mut bindings = Bindings::default();
        decisions::bind(package, &decided, destination, &mut bindings);
        let dispositions = bind(
            &steps,
            &earlier,
            destination,
            &mut bindings,
            unknown,
            disposition,
        );
        let mut findings = Findings::of(&package.manifest);
        let built = Builder {
            manifest: &package.manifest,
            steps: &steps,
            dispositions: &dispositions,
            bindings: &bindings,
            earlier: &earlier,
            recreated: &Recreated::default(),
            destination,
            gone: &HashSet::new(),
            definitions,
            findings: &mut findings,
            upgrade: true,
        }
        .build();
        BoundPackage {
            steps,
            bindings,
            built,
            findings,
            minter,
        }
    }
}

/// Binds every create step to the record in the ledgers, under the name that it got, with what
/// becomes of the step then.
fn bind<'p>(
    steps: &Steps<'p>,
    earlier: &EarlierJobs<'_>,
    destination: &Structure,
    bindings: &mut Bindings<'p>,
    unknown: Unknown,
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
                let disposition = Disposition::LeftOut(Some(cause));
                let binding = match unknown {
                    Unknown::Empty => Binding::Nothing(cause),
                    Unknown::Marked => Binding::Record(Record {
                        kind,
                        id: Id::nil(),
                        name: String::new(),
                        parent: None,
                        fresh: false,
                        anew: false,
                        gone: true,
                    }),
                };
                (disposition, binding)
            };
        dispositions.insert(reference.as_str(), disposition);
        bindings.bind(reference, named(work.step.tool), binding);
    }
    dispositions
}
