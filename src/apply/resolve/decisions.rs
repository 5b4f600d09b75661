//! Decides each dependency: import, map or skip, or the reason for a refusal.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::bindings::{Binding, Bindings, Cause, Record};
use super::dependency_decision::{DependencyDecision, dependencies};
use super::refusals::{called, unknown};
use super::targets::{by_id, has_name};
use super::{columns, steps};
use crate::apply::row_refs::all_row_refs;
use crate::apply::{Refusal, Request, Resolution};
use crate::check::Checked;
use crate::definitions::{Definitions, ReferenceKind};
use crate::finding::suggest;
use crate::package::model::{Dependency, DependencyForm, UnresolvedForm};
use crate::problem::Code;
use crate::workspace::{Feature, Id, RecordKind, Structure};

/// Decides on every dependency; what cannot be decided is refused, and left out of the result.
pub(super) fn decide<'p>(
    package: &'p Checked<'_>,
    request: &Request,
    destination: &Structure,
    definitions: &Definitions,
    refusals: &mut Vec<Refusal>,
) -> Vec<(usize, DependencyDecision<'p>)> {
    let dependencies = dependencies(package);
    for reference in request.resolutions.keys() {
        if !dependencies.iter().any(|d| d.reference == *reference) {
            let refs = dependencies.iter().map(|d| d.reference.as_str());
            refusals.push(unknown(
                reference,
                "is not a dependency of this package",
                refs,
            ));
        }
    }
    let mut decisions = Vec::new();
    for (index, dependency) in dependencies.iter().enumerate() {
        let decided = match request.resolutions.get(&dependency.reference) {
            Some(resolution) => decided(dependency, resolution, destination),
            None => proposed(package, dependency, destination),
        };
        match decided {
            Ok(decision) => decisions.push((index, decision)),
            Err(refusal) => refusals.push(refusal),
        }
    }
    let used = used_columns(package, &decisions);
    for dependency in dependencies {
        if let Some(resolution @ Resolution::Map { columns, id, .. }) =
            request.resolutions.get(&dependency.reference)
        {
            let feature = Id::try_parse(id)
                .ok()
                .and_then(|id| destination.feature(id));
            check_columns(dependency, columns, feature, &used, refusals);
            if let Some(feature) = feature {
                columns::check(dependency, resolution, feature, definitions, refusals);
            }
        }
    }
    decisions
}

/// Whether a dependency is known by its name, and the destination has what is called so: nobody has to decide on it.
pub fn is_satisfied(dependency: &Dependency, destination: &Structure) -> bool {
    dependency.form == DependencyForm::Name
        && has_name(destination, dependency.kind, &dependency.identity.name)
}

fn decided<'p>(
    dependency: &Dependency,
    resolution: &Resolution,
    destination: &Structure,
) -> Result<DependencyDecision<'p>, Refusal> {
    match resolution {
        Resolution::Skip => Ok(DependencyDecision::Skip),
        Resolution::Import if dependency.blueprint.is_some() => Ok(DependencyDecision::Import),
        Resolution::Import => Err(Refusal::about(
            Code::ImportWithoutBlueprint,
            &dependency.reference,
            format!(
                "{} has no blueprint, so it cannot be created here. Map it to what the destination has, or skip it.",
                called(dependency)
            ),
        )),
        Resolution::Map { id, columns, .. } => mapped(dependency, id, destination)
            .map(|found| DependencyDecision::Map(found, columns.clone())),
    }
}

fn mapped<'p>(
    dependency: &Dependency,
    id: &str,
    destination: &Structure,
) -> Result<Binding<'p>, Refusal> {
    let (reference, kind) = (&dependency.reference, dependency.kind);
    if dependency.form == DependencyForm::Name {
        if has_name(destination, kind, id) {
            return Ok(Binding::Name(id.to_owned()));
        }
        let detail = format!(
            "the destination has no {} named {id:?}, to which {} is mapped. Create it there, give the name of another, or skip it.{}",
            kind.noun(),
            called(dependency),
            offered(destination, kind)
        );
        return Err(Refusal::about(
            Code::MappingTargetNotFound,
            reference,
            detail,
        ));
    }
    let Some(parsed) = Some(id)
        .filter(|id| id.len() == 36)
        .and_then(|id| Id::try_parse(id).ok())
    else {
        let detail = format!(
            "`resolutions.{reference}.id` is {:?}. Give the UUID of a destination's {}.",
            suggest::short_text(id),
            kind.noun()
        );
        return Err(Refusal::about(Code::ValidationFailed, reference, detail));
    };
    by_id(destination, kind, parsed).ok_or_else(|| {
        let (code, what) = match kind {
            ReferenceKind::Feature => (
                Code::MappingFeatureNotFound,
                "table of this workspace, nor one that the organization shares",
            ),
            ReferenceKind::Channel => (Code::MappingTargetNotFound, "named channel"),
            _ => (Code::MappingTargetNotFound, kind.noun()),
        };
        let detail = format!(
            "{id} is no {what}: {} cannot be mapped to it. Give the id of another, or skip it.{}",
            called(dependency),
            offered(destination, kind)
        );
        Refusal::about(code, reference, detail)
    })
}

/// The most names that a refusal offers.
const MAX_OFFERED_NAMES: usize = 10;

/// What the organization has to map to, as far as it is known: names, with the ids of what is mapped
/// by id.
fn offered(destination: &Structure, kind: ReferenceKind) -> String {
    let organization = &destination.organization;
    let names: Option<Vec<String>> = match kind {
        ReferenceKind::Channel => organization.channels.as_ref().map(|list| {
            let named = list
                .iter()
                .filter_map(|one| Some((one.name.as_ref()?, one.id)));
            named.map(|(name, id)| format!("{name:?} ({id})")).collect()
        }),
        ReferenceKind::Connection => organization.connections.as_ref().map(|list| {
            let named = list.iter().map(|one| format!("{:?}", one.name));
            named.collect()
        }),
        ReferenceKind::TimerProfile => organization.timer_profiles.as_ref().map(|list| {
            let named = list.iter().map(|one| format!("{:?}", one.name));
            named.collect()
        }),
        _ => None,
    };
    let Some(names) = names else {
        return String::new();
    };
    let more = match names.len().saturating_sub(MAX_OFFERED_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match names.get(..names.len().min(MAX_OFFERED_NAMES)) {
        Some([]) | None => " The destination has none.".to_owned(),
        Some(names) => format!(" The destination has {}{more}.", names.join(", ")),
    }
}

/// Who uses a dependency: the first by name.
fn uses(package: &Checked<'_>, dependency: &Dependency) -> String {
    let Some(first) = dependency.used_by.first() else {
        return String::new();
    };
    let mut items = package.manifest.items().iter();
    let item = items.find(|item| item.uid == first.uid);
    let user = item.map_or_else(
        || "the workspace".to_owned(),
        |item| format!("{:?}", item.label),
    );
    match dependency.used_by.len() - 1 {
        0 => format!(": {user} uses it"),
        more => format!(": {user} uses it (and {more} more)"),
    }
}

fn proposed<'p>(
    package: &Checked<'_>,
    dependency: &Dependency,
    destination: &Structure,
) -> Result<DependencyDecision<'p>, Refusal> {
    if dependency.blueprint.is_some() {
        return Ok(DependencyDecision::Import);
    }
    if is_satisfied(dependency, destination) {
        return Ok(DependencyDecision::Named);
    }
    let (reference, kind) = (&dependency.reference, dependency.kind.noun());
    let name = &dependency.identity.name;
    if dependency.form == DependencyForm::Name {
        let detail = format!(
            "the destination has no {kind} named {name:?}, which `{reference}` stands for{}. {} Create it there, map to the name of another, or skip it.{}",
            uses(package, dependency),
            dependency.description,
            offered(destination, dependency.kind)
        );
        return Err(Refusal::about(Code::MappingRequired, reference, detail));
    }
    let detail = format!(
        "{} has to be decided on{}. {} Map it, with the `id` of what takes its place, or skip it.{}",
        called(dependency),
        uses(package, dependency),
        dependency.description,
        offered(destination, dependency.kind)
    );
    Err(Refusal::about(Code::MappingRequired, reference, detail))
}

/// Refs of identity columns that have to stand for something: args name them, or rows do.
fn used_columns<'p>(
    package: &'p Checked<'_>,
    decisions: &[(usize, DependencyDecision<'_>)],
) -> HashSet<&'p str> {
    let mut used = HashSet::new();
    let dependencies = dependencies(package);
    let imported = decisions
        .iter()
        .filter(|(_, decision)| *decision == DependencyDecision::Import)
        .filter_map(|(index, _)| dependencies.get(*index)?.blueprint.as_ref())
        .flat_map(|blueprint| &blueprint.steps);
    for step in package.manifest.plan.steps.iter().chain(imported) {
        steps::uses(step, &mut |reference| used.extend([reference]));
    }
    for dependency in dependencies {
        let columns = dependency.identity.columns.iter().flatten();
        let mut columns: Vec<_> = columns
            .filter(|column| !used.contains(column.reference.as_str()))
            .collect();
        for entry in &package.payloads {
            if columns.is_empty() {
                break;
            }
            if entry.feature_ref == dependency.reference {
                let carried = columns.extract_if(.., |column| entry.columns.contains(&column.name));
                used.extend(carried.map(|column| column.reference.as_str()));
            }
            // Refs are written with their letters; only an odd file escapes them.
            let named = entry.rows.contains(&dependency.reference) || entry.rows.contains('\\');
            let rows = entry.rows().filter(|_| named);
            for row in rows.filter_map(|row| row.refs).flat_map(all_row_refs) {
                if row.is_in(&dependency.reference) {
                    let value = row.column;
                    let filled = columns.extract_if(.., |column| {
                        value.is_some_and(|value| value.is(&column.name))
                    });
                    used.extend(filled.map(|column| column.reference.as_str()));
                }
            }
        }
    }
    used
}

/// Checks the columns of a mapping: what is given has to be there, what is used has to be given.
fn check_columns(
    dependency: &Dependency,
    columns: &IndexMap<String, Id>,
    feature: Option<&Feature>,
    used: &HashSet<&str>,
    refusals: &mut Vec<Refusal>,
) {
    let own = || dependency.identity.columns.iter().flatten();
    for (reference, id) in columns {
        if !own().any(|column| column.reference == *reference) {
            let what = format!(
                "is not a column of the dependency `{}`",
                dependency.reference
            );
            let refs: Vec<&str> = own().map(|column| column.reference.as_str()).collect();
            refusals.push(unknown(reference, &what, refs));
        } else if let Some(feature) = feature.filter(|feature| feature.column(*id).is_none()) {
            refusals.push(Refusal::about(
                Code::MappingColumnNotFound,
                reference,
                format!(
                    "{id} is not a column of {:?}, the table that {} is mapped to. Give the id of one of its columns.",
                    feature.label,
                    called(dependency)
                ),
            ));
        }
    }
    for column in own() {
        let reference = column.reference.as_str();
        if used.contains(reference) && !columns.contains_key(reference) {
            refusals.push(Refusal::about(
                Code::MappingColumnsIncomplete,
                reference,
                format!(
                    "the package uses the column {:?} of {}. Give the id of the destination's column under `resolutions.{}.columns.{reference}`.",
                    column.label,
                    called(dependency),
                    dependency.reference
                ),
            ));
        }
    }
}

/// Binds every ref of the dependencies that are not created: what is created binds its own.
pub(super) fn bind<'p>(
    package: &'p Checked<'_>,
    decisions: &[(usize, DependencyDecision<'p>)],
    destination: &Structure,
    bindings: &mut Bindings<'p>,
) {
    let dependencies = dependencies(package);
    for (index, decision) in decisions {
        let Some(dependency) = dependencies.get(*index) else {
            continue;
        };
        let name = &dependency.identity.name;
        let columns = dependency.identity.columns.iter().flatten();
        let (meaning, mapped) = match decision {
            DependencyDecision::Import => continue,
            DependencyDecision::Named => (Binding::Name(name.clone()), None),
            DependencyDecision::Map(meaning, mapped) => (meaning.clone(), Some(mapped)),
            DependencyDecision::Skip => {
                let cause = Cause::Skipped {
                    dependency: &dependency.reference,
                    required: dependency.required,
                };
                (Binding::Nothing(cause), None)
            }
        };
        for column in columns {
            let found = match &meaning {
                Binding::Record(table) => {
                    let id = mapped.and_then(|mapped| mapped.get(&column.reference));
                    let feature = destination.feature(table.id);
                    let found = id.and_then(|id| feature.and_then(|feature| feature.column(*id)));
                    found.map_or(Binding::Nothing(Cause::LeftOut), |found| {
                        Binding::Record(Record {
                            kind: RecordKind::Column,
                            id: found.id,
                            name: found.name.clone(),
                            parent: Some(table.id),
                            fresh: false,
                            anew: false,
                            gone: false,
                        })
                    })
                }
                Binding::Nothing(cause) => Binding::Nothing(*cause),
                _ => Binding::Nothing(Cause::LeftOut),
            };
            let named = (ReferenceKind::Column, UnresolvedForm::Name);
            bindings.bind(&column.reference, named, found);
        }
        let mut form = UnresolvedForm::Uuid;
        if dependency.form == DependencyForm::Name {
            form = UnresolvedForm::Name;
            bindings.bind_name(dependency.kind, name, meaning.clone());
        }
        bindings.bind(&dependency.reference, (dependency.kind, form), meaning);
    }
}
