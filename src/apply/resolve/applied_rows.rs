//! What a line has applied, as it stands in its ledgers: the records of the base, and the tables of its
//! newest package as their rows entered.

use super::bind::Disposition;
use super::bound_package::{BoundPackage, Unknown};
use super::row_steps;
use super::tables::Tables;
use super::upgrade::{self, Base};
use crate::apply::{Approved, BaseRows, JobHistory, Request, RowStep, RowStepWork, StructureWork};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::workspace::ledger::BaseRecord;
use crate::workspace::{AnyRecord, Structure};

/// The tables of a package as its rows entered, without anything else that an apply would do.
pub(in crate::apply) struct AppliedRows {
    /// Their tables: nothing is created, and nothing is published.
    pub(in crate::apply) approved: Approved,
    /// Rows that steps of the plan changed afterwards.
    pub(in crate::apply) updates: Vec<RowStep>,
}

/// The records of the base with their refs, in the order in which they were first recorded.
pub(in crate::apply) fn base_things(
    past: JobHistory<'_>,
    destination: &Structure,
    definitions: &Definitions,
) -> Vec<BaseRecord> {
    let base = Base::read(past, destination, definitions);
    base.all().cloned().collect()
}

/// Works out how the rows of a package entered that was applied here, when so many entries of the line were written.
/// What it was mapped to and is not there any more stands for nothing.
pub(in crate::apply) fn applied_rows(
    package: &Checked<'_>,
    until: usize,
    request: &Request,
    past: JobHistory<'_>,
    destination: &Structure,
    definitions: &Definitions,
) -> AppliedRows {
    let disposition = |kind, id| match AnyRecord::find(destination, kind, id) {
        Some(_) => Disposition::Bound { unfinished: false },
        None => Disposition::Away,
    };
    let BoundPackage {
        steps,
        bindings,
        built,
        mut findings,
        minter,
    } = BoundPackage::of(
        package,
        request,
        past.until(until).entries,
        destination,
        definitions,
        Unknown::Empty,
        &disposition,
    );
    let tables = Tables {
        package,
        request,
        bindings: &bindings,
        columns: &built.columns,
        destination,
        definitions,
    };
    let (ordered, next) = tables.all(steps.creating, &mut findings);
    let updates = row_steps::row_steps(&steps, &tables, next, &mut findings).into_iter();
    let updates = updates.filter(|step| matches!(step.work, RowStepWork::Update { .. }));
    let base = Base::read(past, destination, definitions);
    let base_rows = upgrade::base_rows(
        package,
        request,
        &base,
        past,
        &bindings,
        destination,
        definitions,
    );
    let approved = Approved {
        structure: StructureWork::default(),
        tables: ordered,
        row_steps: Vec::new(),
        publish: Vec::new(),
        not_published: Vec::new(),
        redacted: Vec::new(),
        bound: Vec::new(),
        unresolved: Vec::new(),
        renamed: Vec::new(),
        dropped_keys: Vec::new(),
        not_carried: Vec::new(),
        base_rows: BaseRows {
            cells: false,
            ..base_rows
        },
        upgrade: None,
        copy: false,
        minter,
    };
    AppliedRows {
        approved,
        updates: updates.collect(),
    }
}
