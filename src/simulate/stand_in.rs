//! Stand-ins: records of a destination that the request of a simulation maps to and that are nowhere.
//!
//! In: the dependencies of a package as it knows them, and the request. Out: records in the state of a workspace.

use indexmap::IndexMap;

use crate::apply::{Request, Resolution};
use crate::check::Checked;
use crate::definitions::ReferenceKind;
use crate::json::Object;
use crate::package::model::{Dependency, DependencyForm};
use crate::workspace::memory::State;
use crate::workspace::{
    Automation, Channel, Column, Connection, Feature, Id, Module, Named, Rail, View,
};

/// Puts what a request maps to into a workspace that does not have it, as far as the package knows
/// what it is like. Gives the refs that got a stand-in.
pub fn stand_in(package: &Checked<'_>, request: &Request, state: &mut State) -> Vec<String> {
    let mut added = Vec::new();
    for dependency in package.manifest.dependencies() {
        let Some(Resolution::Map { id, columns, .. }) =
            request.resolutions.get(&dependency.reference)
        else {
            continue;
        };
        if add_by_id(dependency, id, columns, state) {
            added.push(dependency.reference.clone());
        }
    }
    added
}

fn add_by_id(
    dependency: &Dependency,
    id: &str,
    columns: &IndexMap<String, Id>,
    state: &mut State,
) -> bool {
    let structure = &mut state.structure;
    let name = dependency.identity.name.clone();
    let label = dependency.identity.label.clone();
    if dependency.form == DependencyForm::Name {
        return add_by_name(dependency.kind, id, state);
    }
    let Ok(id) = Id::parse_str(id) else {
        return false;
    };
    let shown = label.clone().unwrap_or_else(|| name.clone());
    match dependency.kind {
        ReferenceKind::Feature => {
            let identity = dependency.identity.columns.iter().flatten();
            let columns = identity.zip(1..).filter_map(|(column, order)| {
                Some(Column {
                    id: *columns.get(&column.reference)?,
                    name: column.name.clone(),
                    label: column.label.clone(),
                    column_type: column.column_type.clone(),
                    default_component: column.default_component.clone(),
                    order,
                    config: Object::new(),
                })
            });
            structure.shared.push(Feature {
                id,
                name,
                label: shown,
                config: Object::new(),
                is_shared: true,
                columns: columns.collect(),
                views: Vec::new(),
            });
        }
        ReferenceKind::View => {
            let order = 1;
            let view = View {
                id,
                name: name.clone(),
                label: shown.clone(),
                view_type: "table".to_owned(),
                order,
                config: Object::new(),
            };
            structure.features.push(Feature {
                // A view is in a table; this one is nobody's.
                id: Id::from_u128(id.as_u128() ^ 1),
                name,
                label: shown,
                config: Object::new(),
                is_shared: false,
                columns: Vec::new(),
                views: vec![view],
            });
        }
        ReferenceKind::Module | ReferenceKind::Rail => {
            let rail = Rail {
                id,
                name: name.clone(),
                label: shown.clone(),
                order: 1,
                config: Vec::new(),
            };
            let is_rail = dependency.kind == ReferenceKind::Rail;
            structure.modules.push(Module {
                id: if is_rail {
                    Id::from_u128(id.as_u128() ^ 1)
                } else {
                    id
                },
                name,
                label: shown,
                icon: None,
                order: 1,
                config: Object::new(),
                rails: if is_rail { vec![rail] } else { Vec::new() },
            });
        }
        ReferenceKind::WorkflowV2 => structure.automations.push(Automation {
            id,
            name,
            trigger_config: Object::new(),
            graph_config: Object::new(),
            active: false,
            draft: false,
            has_draft: false,
        }),
        ReferenceKind::Workflow => structure
            .earlier_automations
            .push(Named { id, name, label }),
        ReferenceKind::Channel => {
            let channel = Channel {
                id,
                name: Some(name),
                label,
            };
            let channels = &mut structure.organization.channels;
            channels.get_or_insert_default().push(channel);
        }
        ReferenceKind::TimerProfile => {
            let profiles = &mut structure.organization.timer_profiles;
            profiles
                .get_or_insert_default()
                .push(Named { id, name, label });
        }
        _ => return false,
    }
    true
}

fn add_by_name(kind: ReferenceKind, name: &str, state: &mut State) -> bool {
    let organization = &mut state.structure.organization;
    match kind {
        ReferenceKind::Connection => {
            let connections = organization.connections.get_or_insert_default();
            connections.push(Connection {
                name: name.to_owned(),
                kind: String::new(),
            });
        }
        ReferenceKind::TimerProfile => {
            let profiles = organization.timer_profiles.get_or_insert_default();
            profiles.push(Named {
                id: Id::nil(),
                name: name.to_owned(),
                label: None,
            });
        }
        _ => return false,
    }
    true
}
