//! Checks that mapped columns can store the package's values (`rest` 6.3).

use super::dependency_decision::dependencies;
use super::modes;
use super::refusals::called;
use super::row_data::inserted;
use super::steps::used_in;
use crate::apply::ledger_rows::LedgerRows;
use crate::apply::{Refusal, Request, Resolution};
use crate::check::Checked;
use crate::definitions::{Definitions, Storage};
use crate::finding::suggest;
use crate::package::Tool;
use crate::package::model::{Dependency, IdentityColumn};
use crate::package::payload::RawEntry;
use crate::problem::Code;
use crate::rows::{Cell, members};
use crate::workspace::{Column, Feature, Id, Structure};

/// Checks the types of mapped columns, and the names of columns that may be left empty.
pub(super) fn check(
    dependency: &Dependency,
    resolution: &Resolution,
    feature: &Feature,
    definitions: &Definitions,
    refusals: &mut Vec<Refusal>,
) {
    let Resolution::Map {
        columns,
        leave_empty,
        ..
    } = resolution
    else {
        return;
    };
    for source in dependency.identity.columns.iter().flatten() {
        let id = columns.get(&source.reference);
        let Some(column) = id.and_then(|id| feature.column(*id)) else {
            continue;
        };
        if !fits(source, column, definitions) {
            let detail = format!(
                "the column {:?} of {} has the type {}, and the column {:?} ({}) of {:?} has the type {}, which cannot store its values. Give the id of a column that can.",
                source.label,
                called(dependency),
                source.column_type,
                column.label,
                column.id,
                feature.label,
                column.column_type
            );
            let code = Code::MappingColumnNotFound;
            refusals.push(Refusal::about(code, &source.reference, detail));
        }
    }
    for name in leave_empty {
        let names = feature.columns.iter().map(|column| column.name.as_str());
        let names: Vec<&str> = names.collect();
        if !names.contains(&name.as_str()) {
            let help = suggest::help(name, names).unwrap_or_default();
            let reference = &dependency.reference;
            let detail = format!(
                "`resolutions.{reference}.leaveEmpty` names {}, which is not a column of {:?}. {help}",
                suggest::short_text(name),
                feature.label
            );
            let code = Code::ValidationFailed;
            refusals.push(Refusal::about(code, reference, detail.trim_end()));
        }
    }
}

/// Whether a column of the destination stores what one of the package holds.
pub(in crate::apply) fn fits(
    source: &IdentityColumn,
    column: &Column,
    definitions: &Definitions,
) -> bool {
    let storage = |name: &str| definitions.column_types.get(name).map(|kind| kind.storage);
    let (from, into) = (storage(&source.column_type), storage(&column.column_type));
    match (from, into) {
        (Some(Storage::None), _) | (_, Some(Storage::None)) => false,
        // What the definitions do not know stores anything.
        (_, None | Some(Storage::Any)) | (Some(Storage::Option), Some(Storage::String)) => true,
        (from, into) => from == into,
    }
}

/// Refuses mappings under which rows that would enter leave a required column empty.
pub(super) fn required(
    package: &Checked<'_>,
    request: &Request,
    destination: &Structure,
    ledger: &LedgerRows,
    definitions: &Definitions,
    refusals: &mut Vec<Refusal>,
) {
    // Files do not travel, so a job asks for none.
    let file = |column: &Column| {
        let declared = definitions.column_types.get(&column.column_type);
        declared.is_some_and(|declared| declared.file)
    };
    for dependency in dependencies(package) {
        let Some(Resolution::Map {
            id,
            columns,
            leave_empty,
        }) = request.resolutions.get(&dependency.reference)
        else {
            continue;
        };
        let id = Id::try_parse(id).ok();
        let Some(feature) = id.and_then(|id| destination.feature(id)) else {
            continue;
        };
        let rows = check_entering(package, request, dependency, feature, ledger);
        let expected = feature.columns.iter().filter(|column| {
            column.is_required()
                && !column.is_identity()
                && !file(column)
                && !leave_empty.contains(&column.name)
        });
        for column in expected {
            let own = dependency.identity.columns.iter().flatten();
            let mut own = own.filter(|own| columns.get(&own.reference) == Some(&column.id));
            let source = own.next().map(|own| own.name.as_str());
            let empty = rows.iter().filter(|data| is_empty(data, source)).count();
            if empty > 0 {
                refusals.push(left_empty(dependency, feature, column, empty));
            }
        }
    }
}

fn left_empty(dependency: &Dependency, feature: &Feature, column: &Column, rows: usize) -> Refusal {
    let reference = &dependency.reference;
    let detail = format!(
        "the column {:?} of {:?}, to which {} is mapped, is required, and rows of the package would leave it empty: {rows}. Map a column of the package to it under `resolutions.{reference}.columns`, or list {:?} under `resolutions.{reference}.leaveEmpty`.",
        column.label,
        feature.label,
        called(dependency),
        column.name
    );
    Refusal::about(Code::MappingRequired, reference, detail)
}

/// The cells of rows that would enter a mapped table.
fn check_entering(
    package: &Checked<'_>,
    request: &Request,
    dependency: &Dependency,
    feature: &Feature,
    ledger: &LedgerRows,
) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let entries = package.payloads.iter();
    for entry in entries.filter(|entry| entry.feature_ref == dependency.reference) {
        if modes::of(request, entry) != crate::apply::Mode::None {
            rows.extend(unknown(entry, feature.id, ledger));
        }
    }
    if !modes::writes(request, &dependency.reference) {
        return rows;
    }
    let steps = package.manifest.plan.steps.iter();
    let inserts = steps.filter(|step| matches!(step.tool, Tool::InsertRow | Tool::InsertRows));
    for step in inserts.filter(|step| {
        used_in(&step.args, "featureId") == Some(&*dependency.reference)
            && !ledger.has(feature.id, &step.uid)
    }) {
        rows.extend(inserted(step));
    }
    rows
}

/// The cells of the rows that no earlier pass wrote.
fn unknown(entry: &RawEntry<'_>, feature: Id, ledger: &LedgerRows) -> Vec<String> {
    let known = ledger.recognise(feature, entry, &[]);
    let rows = entry.rows().zip(known);
    rows.filter(|(_, known)| known.is_none())
        .map(|(row, _)| row.data.to_owned())
        .collect()
}

/// Whether a row has nothing in a column.
fn is_empty(data: &str, column: Option<&str>) -> bool {
    let Some(column) = column else { return true };
    let cell = members(data).filter(|(key, _)| key.is(column)).last();
    cell.is_none_or(|(_, value)| Cell::new(value).is_empty())
}
