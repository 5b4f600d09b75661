//! Gives ids to steps of automations that have none, or one that must not be exported. The config
//! of an unknown step is not exported, so its steps get none.

use std::collections::HashSet;

use super::leak;
use crate::automation::{Graph, Step};
use crate::context::Ids;
use crate::definitions::Definitions;
use crate::json::path::{dotted, push_dotted};
use crate::json::{Object, SyntaxError};
use crate::package::configs::{Edit, Edits, with_args};

/// Gives an id to every step in `args` that has none, and tells all of them.
pub(super) fn complete(
    args: &mut Object,
    definitions: &Definitions,
    ids: &mut dyn Ids,
) -> Result<Vec<String>, SyntaxError> {
    let edits = with_args(args, |root| {
        let mut edits = Edits::default();
        let steps = root.get("graphConfig").and_then(|graph| graph.get("steps"));
        let Some(steps) = steps else { return edits };
        let graph = Graph::read(definitions, steps);
        let known: HashSet<&str> = graph.steps().iter().filter_map(Step::id).collect();
        for step in graph.steps().iter().filter(|step| step.node.is_object()) {
            let id = step.node.get("id");
            let fits = |id: &str| !id.is_empty() && leak::of(id).is_none();
            if id.is_some_and(|id| id.as_str().map_or(!id.is_empty(), fits)) {
                continue;
            }
            let mut path = dotted(root, step.node);
            push_dotted(&mut path, "id");
            let minted = std::iter::repeat_with(|| mint(ids));
            let free = minted.into_iter().find(|id| !known.contains(id.as_str()));
            edits.at_path(path, Edit::Set(free.unwrap_or_default().into()));
        }
        edits
    })?;
    edits.apply(args);
    with_args(args, |root| {
        let steps = root.get("graphConfig").and_then(|graph| graph.get("steps"));
        let graph = steps.map(|steps| Graph::read(definitions, steps));
        let steps = graph.iter().flat_map(Graph::steps);
        steps.filter_map(Step::id).map(str::to_owned).collect()
    })
}

/// `stp_` and twelve letters or digits.
fn mint(ids: &mut dyn Ids) -> String {
    let uuid = ids.uuid();
    let tail = uuid.get(uuid.len().saturating_sub(12)..);
    format!("stp_{}", tail.unwrap_or_default())
}
