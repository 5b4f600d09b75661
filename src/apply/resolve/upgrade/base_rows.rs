//! How rows that are there are compared with what was applied: what each package calls tables and columns.

use std::collections::HashMap;

use super::Base;
use crate::apply::resolve::bindings::Bindings;
use crate::apply::resolve::steps::text_in;
use crate::apply::{BasePackageRows, BaseRows, JobHistory, Request, RowBase};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::package::Tool;
use crate::package::model::DataClass;
use crate::workspace::{Id, RecordKind, Structure};

/// Reads what the packages of a line call tables and columns. `base` is what its ledgers say of records.
pub(in crate::apply::resolve) fn base_rows(
    package: &Checked<'_>,
    request: &Request,
    base: &Base,
    past: JobHistory<'_>,
    bindings: &Bindings<'_>,
    destination: &Structure,
    definitions: &Definitions,
) -> BaseRows {
    let items = package.manifest.items().iter();
    let reference = items.filter(|item| item.data_class == Some(DataClass::Reference));
    let packages = past.row_bases();
    let packages = packages.iter().map(|rows| {
        if rows.until >= past.entries.len() {
            return package_rows(rows, base, destination, bindings);
        }
        let then = Base::read(past.until(rows.until), destination, definitions);
        package_rows(rows, &then, destination, bindings)
    });
    BaseRows {
        tables: tables(base, destination),
        cells: request.include_rows,
        reference: reference.map(|item| item.uid.clone()).collect(),
        packages: packages.collect(),
    }
}

/// Tables with their refs. A removed table has no rows to read.
fn tables(base: &Base, destination: &Structure) -> Vec<(String, Id)> {
    let tables = base.all().filter(|based| {
        let table = &based.record;
        table.kind == RecordKind::Feature && destination.feature(table.id).is_some()
    });
    tables
        .map(|based| (based.reference.clone(), based.record.id))
        .collect()
}

/// What one of the packages calls tables and columns, by the base as it was when its job ended.
fn package_rows(
    rows: &RowBase<'_>,
    base: &Base,
    destination: &Structure,
    bindings: &Bindings<'_>,
) -> BasePackageRows {
    let manifest = &rows.package.manifest;
    let steps = manifest.plan.steps.iter();
    let columns = steps.filter(|step| step.tool == Tool::CreateColumn);
    let names =
        columns.filter_map(|step| Some((step.reference.as_deref()?, text_in(&step.args, "name"))));
    let names: HashMap<&str, &str> = names.collect();
    let known = base
        .all()
        .filter(|based| based.record.kind == RecordKind::Column);
    let known = known.filter_map(|based| {
        let name = names.get(based.reference.as_str())?;
        Some((based.record.id, (*name).to_owned()))
    });
    let mut found = BasePackageRows {
        tables: tables(base, destination),
        columns: known.collect(),
    };
    // No ledger has records of dependencies: they are what they are mapped to now.
    for dependency in manifest.dependencies() {
        let Some(table) = bindings.record(&dependency.reference) else {
            continue;
        };
        let declared = found.tables.iter();
        if !declared
            .clone()
            .any(|(reference, _)| *reference == dependency.reference)
        {
            found.tables.push((dependency.reference.clone(), table.id));
        }
        for column in dependency.identity.columns.iter().flatten() {
            if let Some(record) = bindings.record(&column.reference) {
                let name = || column.name.clone();
                found.columns.entry(record.id).or_insert_with(name);
            }
        }
    }
    found
}
