//! Decisions about a package: what becomes of what it uses, and which of its rows enter.

use indexmap::IndexMap;
use tplkit::apply::{Request, Resolution, RowsMode};
use tplkit::check::Checked;
use tplkit::definitions::{Definitions, ReferenceKind, Storage};
use tplkit::package::model::{Dependency, DependencyForm, IdentityColumn};
use tplkit::workspace::memory::State;
use tplkit::workspace::{Column, Feature, Id, Structure};

use crate::seeds::Dice;

/// What the package uses and does not carry.
pub(crate) fn dependencies<'p>(package: &'p Checked<'_>) -> &'p [Dependency] {
    let layers = package.manifest.layers();
    layers.map_or(&[], |layers| &layers.dependencies)
}

/// Decides every dependency in a way that cannot be refused: what has a name is taken by name,
/// what can be created is, what remains is skipped. With dice some are skipped or mapped all the
/// same.
pub(crate) fn decided(package: &Checked<'_>, into: &State, dice: Option<&mut Dice>) -> Request {
    let mut request = Request::default();
    let mut none = Dice::new(0);
    let free = dice.is_some();
    let dice = dice.unwrap_or(&mut none);
    for dependency in dependencies(package) {
        let choice = if free { dice.below(6) } else { 9 };
        let resolution = match choice {
            0 | 1 => Resolution::Skip,
            2 | 3 => mapped(dependency, &into.structure, dice)
                .unwrap_or_else(|| tame(dependency, &into.structure)),
            _ => tame(dependency, &into.structure),
        };
        let reference = dependency.reference.clone();
        request.resolutions.insert(reference, resolution);
    }
    request
}

/// By its name, from its blueprint, or not at all.
fn tame(dependency: &Dependency, into: &Structure) -> Resolution {
    let organization = &into.organization;
    let name = dependency.identity.name.as_str();
    let by_name = dependency.form == DependencyForm::Name;
    let taken = match dependency.kind {
        ReferenceKind::Channel => {
            let mut channels = organization.channels.iter().flatten();
            let found = channels.find(|one| one.name.as_deref() == Some(name));
            found.map(|one| one.id.to_string())
        }
        ReferenceKind::Connection => {
            let known = organization.connections.as_ref();
            let there = known.is_none_or(|all| all.iter().any(|one| one.name == name));
            there.then(|| name.to_owned())
        }
        ReferenceKind::TimerProfile if by_name => {
            let known = organization.timer_profiles.as_ref();
            let there = known.is_none_or(|all| all.iter().any(|one| one.name == name));
            there.then(|| name.to_owned())
        }
        _ => None,
    };
    match taken {
        Some(id) => {
            let columns = IndexMap::new();
            Resolution::Map {
                id,
                columns,
                leave_empty: Vec::new(),
            }
        }
        None if dependency.blueprint.is_some() => Resolution::Import,
        None => Resolution::Skip,
    }
}

/// Something of the destination in its place, whatever it is called.
fn mapped(dependency: &Dependency, into: &Structure, dice: &mut Dice) -> Option<Resolution> {
    let mut columns = IndexMap::new();
    let ids = |all: Vec<Id>, dice: &mut Dice| Some(*all.get(dice.below(all.len()))?);
    let id = match dependency.kind {
        ReferenceKind::Feature => {
            let features: Vec<&Feature> = into.features.iter().chain(&into.shared).collect();
            let feature = *features.get(dice.below(features.len()))?;
            for wanted in dependency.identity.columns.iter().flatten() {
                let free =
                    |one: &&Column| !columns.values().any(|id| *id == one.id) && fits(wanted, one);
                let free: Vec<&Column> = feature.columns.iter().filter(free).collect();
                let identity = free.iter().find(|one| one.is_identity());
                let any = free.get(dice.below(free.len().max(1)));
                let identity = identity.filter(|_| wanted.default_component == "id");
                columns.insert(wanted.reference.clone(), identity.or(any)?.id);
            }
            feature.id
        }
        ReferenceKind::View => {
            let views = into.features.iter().flat_map(|one| &one.views);
            ids(views.map(|one| one.id).collect(), dice)?
        }
        ReferenceKind::Module => ids(into.modules.iter().map(|one| one.id).collect(), dice)?,
        ReferenceKind::Rail => {
            let rails = into.modules.iter().flat_map(|one| &one.rails);
            ids(rails.map(|one| one.id).collect(), dice)?
        }
        ReferenceKind::WorkflowV2 => {
            ids(into.automations.iter().map(|one| one.id).collect(), dice)?
        }
        ReferenceKind::Workflow => {
            let earlier = into.earlier_automations.iter();
            ids(earlier.map(|one| one.id).collect(), dice)?
        }
        _ => return None,
    };
    let id = id.to_string();
    Some(Resolution::Map {
        id,
        columns,
        leave_empty: Vec::new(),
    })
}

/// Whether a column can store what one of the package holds.
fn fits(wanted: &IdentityColumn, column: &Column) -> bool {
    let types = &Definitions::embedded().column_types;
    let storage = |name: &str| types.get(name).map(|kind| kind.storage);
    match (storage(&wanted.column_type), storage(&column.column_type)) {
        (Some(Storage::None), _) | (_, Some(Storage::None)) => false,
        (from, into) => into == Some(Storage::Any) || from == into,
    }
}

/// Some tables by key, some not at all, where the package allows it.
pub(crate) fn modes(package: &Checked<'_>, request: &mut Request, dice: &mut Dice) {
    request.rows_modes.clear();
    for entry in &package.payloads {
        let mode = match dice.below(5) {
            0 => RowsMode::None,
            1 | 2 if entry.key_column.is_some() && entry.key_unique => RowsMode::MissingByKey,
            _ => continue,
        };
        request.rows_modes.insert(entry.feature_ref.clone(), mode);
    }
}
