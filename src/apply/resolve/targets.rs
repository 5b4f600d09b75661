//! Checks that the target of each mapping exists at the destination.

use super::bindings::{Binding, Record, record_kind};
use crate::definitions::ReferenceKind;
use crate::workspace::{Id, Structure};

/// The record of that kind and id, as far as it may be mapped.
pub(super) fn by_id(
    destination: &Structure,
    kind: ReferenceKind,
    id: Id,
) -> Option<Binding<'static>> {
    let features = || destination.features.iter().chain(&destination.shared);
    let named = |name: &String, parent: Option<Id>| (name.clone(), parent);
    let found = match kind {
        ReferenceKind::Feature => destination
            .feature(id)
            .map(|found| named(&found.name, None)),
        ReferenceKind::View => features().find_map(|feature| {
            let view = feature.views.iter().find(|view| view.id == id)?;
            Some(named(&view.name, Some(feature.id)))
        }),
        ReferenceKind::Module => {
            let mut modules = destination.modules.iter();
            modules
                .find(|found| found.id == id)
                .map(|found| named(&found.name, None))
        }
        ReferenceKind::Rail => destination.modules.iter().find_map(|module| {
            let rail = module.rails.iter().find(|rail| rail.id == id)?;
            Some(named(&rail.name, Some(module.id)))
        }),
        ReferenceKind::WorkflowV2 => {
            let mut automations = destination.automations.iter();
            let found = automations.find(|found| found.id == id);
            found.map(|found| named(&found.name, None))
        }
        ReferenceKind::Workflow => {
            let mut earlier = destination.earlier_automations.iter();
            return earlier
                .any(|found| found.id == id)
                .then_some(Binding::Outside(id));
        }
        ReferenceKind::Channel => {
            // A reader that cannot read the channels takes the caller's word.
            let Some(channels) = &destination.organization.channels else {
                return Some(Binding::Outside(id));
            };
            let mut channels = channels.iter();
            let has = channels.any(|channel| channel.id == id && channel.name.is_some());
            return has.then_some(Binding::Outside(id));
        }
        ReferenceKind::TimerProfile => {
            let profiles = destination.organization.timer_profiles.as_ref();
            let has = profiles.is_none_or(|list| list.iter().any(|found| found.id == id));
            return has.then_some(Binding::Outside(id));
        }
        _ => None,
    };
    let (name, parent) = found?;
    Some(Binding::Record(Record {
        kind: record_kind(kind)?,
        id,
        name,
        parent,
        fresh: false,
        anew: false,
        gone: false,
    }))
}

/// Whether there is something of that kind and name; a list that is not known has everything.
pub(super) fn has_name(destination: &Structure, kind: ReferenceKind, name: &str) -> bool {
    let organization = &destination.organization;
    match kind {
        ReferenceKind::Connection => {
            let list = organization.connections.as_ref();
            list.is_none_or(|list| list.iter().any(|found| found.name == name))
        }
        ReferenceKind::TimerProfile => {
            let list = organization.timer_profiles.as_ref();
            list.is_none_or(|list| list.iter().any(|found| found.name == name))
        }
        ReferenceKind::Channel => {
            let list = organization.channels.as_ref();
            list.is_none_or(|list| list.iter().any(|found| found.name.as_deref() == Some(name)))
        }
        ReferenceKind::Feature => destination.features.iter().any(|found| found.name == name),
        ReferenceKind::Module => destination.modules.iter().any(|found| found.name == name),
        ReferenceKind::WorkflowV2 => destination.automations.iter().any(|f| f.name == name),
        _ => false,
    }
}
