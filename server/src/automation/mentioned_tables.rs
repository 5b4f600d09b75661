//! The ids that an automation mentions, including tables.

use tplkit::json::Value as Json;
use uuid::Uuid;

use crate::ids;

/// Every id in a definition, each once.
pub(super) fn mentioned_ids(definition: &Json) -> Vec<Uuid> {
    let mut ids = Vec::new();
    collect(definition, &mut ids);
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn collect(value: &Json, ids: &mut Vec<Uuid>) {
    match value {
        Json::String(text) => ids.extend(ids::uuid(text)),
        Json::List(elements) => elements.iter().for_each(|element| collect(element, ids)),
        Json::Object(members) => members.values().for_each(|member| collect(member, ids)),
        _ => {}
    }
}
