//! The ids that an automation mentions, including tables, and whether one of those tables keeps rows apart.

use tplkit::json::Value as Json;
use uuid::Uuid;

use crate::ids;

/// In a statement: `f` is a table of own rows that a run is about, so that its data is not for everybody. `$1` is the
/// organization, the parameters are the workspace of the run and the ids that it mentions.
macro_rules! keeps_rows_apart {
    ($workspace:literal, $mentioned:literal) => {
        concat!(
            "f.organization_id = $1 AND f.own_rows AND (f.workspace_id = ",
            $workspace,
            " OR (f.is_shared AND {any f.id ",
            $mentioned,
            "}))"
        )
    };
}
pub(super) use keeps_rows_apart;

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
