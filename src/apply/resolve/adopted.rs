//! What of a package people have set up by hand (`upgrade` 3.1.3).
//!
//! Goes in: a package, what was decided about its dependencies, the destination. Comes out: the records that
//! its steps would create and that are there, known by kind, parent and name, with what the package says of
//! them. What is not there stands for nothing, as if the package did not have it.

use std::collections::HashSet;

use super::absent_names;
use super::bind::{self, Disposition, kind_of, named};
use super::bindings::{Binding, Bindings, Record};
use super::bound_package::{BoundPackage, Unknown};
use super::decisions;
use super::steps::{Steps, text_in};
use crate::apply::Request;
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::package::reference::WORKSPACE;
use crate::workspace::ledger::{self, BaseRecord, Created, Entry};
use crate::workspace::{AnyRecord, Id, RecordKind, Structure};

/// Records that are there, as a ledger keeps them.
pub(in crate::apply) fn adopted(
    package: &Checked<'_>,
    request: &Request,
    destination: &Structure,
    definitions: &Definitions,
) -> ledger::WrittenStructure {
    let mut found = ledger::WrittenStructure {
        known: find_adopted(package, request, destination, definitions),
        adopted: true,
        ..ledger::WrittenStructure::default()
    };
    let ids: HashSet<Id> = found.known.iter().map(|known| known.id).collect();
    let entries = [Entry::Structure(found.clone())];
    let there = |_: RecordKind, _: Id| Disposition::Bound { unfinished: false };
    let bound = BoundPackage::of(
        package,
        request,
        &entries,
        destination,
        definitions,
        Unknown::Marked,
        &there,
    );
    let declared = bound
        .built
        .declared
        .into_iter()
        .filter(|(reference, declared)| {
            // What a blueprint says is created or bound, and never compared.
            !declared.blueprint && (*reference == WORKSPACE || ids.contains(&declared.record.id))
        });
    found.base = declared
        .map(|(reference, declared)| {
            let record = AnyRecord {
                config: absent_names::cut(&declared.record.config),
                ..declared.record
            };
            BaseRecord::new(reference, &declared.name, record)
        })
        .collect();
    found
}

/// Finds them; automations of one name in their order.
fn find_adopted(
    package: &Checked<'_>,
    request: &Request,
    destination: &Structure,
    definitions: &Definitions,
) -> Vec<Created> {
    // What was mapped to and is not there stands for nothing.
    let mut gone = Vec::new();
    let decided = decisions::decide(package, request, destination, definitions, &mut gone);
    let steps = Steps::of(package, &decided);
    let mut bindings = Bindings::default();
    decisions::bind(package, &decided, destination, &mut bindings);
    let mut known: Vec<Created> = Vec::new();
    for work in &steps.all {
        let (Some(kind), Some(reference)) = (kind_of(work.step.tool), &work.step.reference) else {
            continue;
        };
        let Ok(parent) = bind::parent(work, &bindings) else {
            continue;
        };
        let name = text_in(&work.step.args, "name");
        let is_it = |record: &AnyRecord| {
            record.name == name && !known.iter().any(|known| known.id == record.id)
        };
        let mut siblings = AnyRecord::siblings(destination, kind, parent).into_iter();
        let Some(existing) = siblings.find(is_it) else {
            continue;
        };
        let record = Record {
            kind,
            id: existing.id,
            name: existing.name.clone(),
            parent,
            fresh: false,
            anew: false,
            gone: false,
        };
        bindings.bind(reference, named(work.step.tool), Binding::Record(record));
        known.push(Created {
            reference: reference.clone(),
            kind,
            id: existing.id,
            name: existing.name,
        });
    }
    known
}

/// The table that a ref stands for among them.
pub(in crate::apply) fn adopted_table(
    found: &ledger::WrittenStructure,
    reference: &str,
) -> Option<Id> {
    let mut tables = found.known.iter();
    let table =
        tables.find(|known| known.kind == RecordKind::Feature && known.reference == reference);
    table.map(|known| known.id)
}
