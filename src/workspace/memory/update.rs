//! A record of which some fields become others, where they still are what they were.

use super::records::{features_mut, missing, objects, refused};
use crate::json::{Object, Value};
use crate::problem::Code;
use crate::workspace::{AnyRecord, RecordKind, Refused, Structure};

/// Writes what differs between two forms of a record.
pub(super) fn update(
    structure: &mut Structure,
    from: &AnyRecord,
    to: AnyRecord,
) -> Result<(), Refused> {
    let (kind, id) = (from.kind, from.id);
    let stands = AnyRecord::find(structure, kind, id).ok_or_else(|| missing(kind, id))?;
    if !stands.is_as(from, &to) {
        let message = format!("the {} {id} has changed", kind.noun());
        return Err(refused(Code::Conflict, message));
    }
    let to = stands.with(from, to);
    write(structure, to);
    Ok(())
}

/// Refuses when a record is not what was seen.
pub(super) fn check(structure: &Structure, seen: &AnyRecord) -> Result<(), Refused> {
    let (kind, id) = (seen.kind, seen.id);
    let stands = AnyRecord::find(structure, kind, id).ok_or_else(|| missing(kind, id))?;
    let mut automations = structure.automations.iter();
    let live = automations.any(|found| found.id == id && found.active);
    if live || !stands.is_still(seen) {
        let message = format!("the {} {id} has changed", kind.noun());
        return Err(refused(Code::Conflict, message));
    }
    Ok(())
}

pub(super) fn write(structure: &mut Structure, to: AnyRecord) {
    let label = to.label.unwrap_or_default();
    let order = to.order.unwrap_or_default();
    let object = |config: Value| objects(config).into_iter().next().unwrap_or_default();
    match to.kind {
        RecordKind::Workspace => structure.workspace.config = object(to.config),
        RecordKind::Feature => {
            for feature in features_mut(structure).filter(|found| found.id == to.id) {
                feature.label.clone_from(&label);
                feature.config = object(to.config.clone());
            }
        }
        RecordKind::Column => {
            for feature in features_mut(structure) {
                for column in feature.columns.iter_mut().filter(|found| found.id == to.id) {
                    column.label.clone_from(&label);
                    column.order = order;
                    column.column_type = to.own_type.clone().unwrap_or_default();
                    column.default_component = to.component.clone().unwrap_or_default();
                    column.config = object(to.config.clone());
                }
                feature.columns.sort_by_key(|found| (found.order, found.id));
            }
        }
        RecordKind::View => {
            for feature in features_mut(structure) {
                for view in feature.views.iter_mut().filter(|found| found.id == to.id) {
                    view.label.clone_from(&label);
                    view.order = order;
                    view.view_type = to.own_type.clone().unwrap_or_default();
                    view.config = object(to.config.clone());
                }
            }
        }
        RecordKind::Module => {
            for module in structure
                .modules
                .iter_mut()
                .filter(|found| found.id == to.id)
            {
                module.label.clone_from(&label);
                module.icon.clone_from(&to.icon);
                module.order = order;
                module.config = object(to.config.clone());
            }
            structure
                .modules
                .sort_by_key(|found| (found.order, found.id));
        }
        RecordKind::Rail => {
            for module in &mut structure.modules {
                for rail in module.rails.iter_mut().filter(|found| found.id == to.id) {
                    rail.label.clone_from(&label);
                    rail.order = order;
                    rail.config = objects(to.config.clone());
                }
                module.rails.sort_by_key(|found| (found.order, found.id));
            }
        }
        RecordKind::Workflow => {
            let part = |key: &str| match to.config.get(key) {
                Some(Value::Object(part)) => part.clone(),
                _ => Object::new(),
            };
            let mut automations = structure.automations.iter_mut();
            if let Some(automation) = automations.find(|found| found.id == to.id) {
                automation.trigger_config = part("triggerConfig");
                automation.graph_config = part("graphConfig");
                automation.name = to.name;
            }
        }
    }
}
