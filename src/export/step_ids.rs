//! Gives ids to steps of automations that have none, or one that must not be exported. The config
//! of an unknown step is not exported, so its steps get none.

use std::collections::HashSet;

use super::leak;
use crate::automation::{Graph, Step};
use crate::context::Ids;
use crate::definitions::Definitions;
use crate::json::path::{dotted, push_dotted, split_dotted};
use crate::json::{Object, SyntaxError, Value};
use crate::package::configs::{Edit, Edits, with_args};
use crate::package::uid::is_step_id;

/// Gives an id to every step in `args` that has none, and returns all of them. `before` are the args of
/// the same automation in an earlier package: the step at the same place keeps the id that it got there.
pub(super) fn complete(
    args: &mut Object,
    before: Option<&Object>,
    definitions: &Definitions,
    ids: &mut dyn Ids,
) -> Result<Vec<String>, SyntaxError> {
    let edits = with_args(args, |root| {
        let mut edits = Edits::default();
        let steps = root.get("graphConfig").and_then(|graph| graph.get("steps"));
        let Some(steps) = steps else { return edits };
        let graph = Graph::read(definitions, steps);
        let mut known: HashSet<String> = graph
            .steps()
            .iter()
            .filter_map(Step::id)
            .map(str::to_owned)
            .collect();
        for step in graph.steps().iter().filter(|step| step.node.is_object()) {
            let id = step.node.get("id");
            let fits = |id: &str| !id.is_empty() && leak::of(id).is_none();
            if id.is_some_and(|id| id.as_str().map_or(!id.is_empty(), fits)) {
                continue;
            }
            let mut path = dotted(root, step.node);
            let key = step.node.get_str("key").unwrap_or_default();
            let earlier = before.and_then(|before| id_at(before, &path, key));
            push_dotted(&mut path, "id");
            let mut minted = std::iter::repeat_with(|| mint(ids));
            let free = earlier
                .filter(|id| !known.contains(id))
                .or_else(|| minted.find(|id| !known.contains(id)));
            let free = free.unwrap_or_default();
            known.insert(free.clone());
            edits.at_path(path, Edit::Set(free.into()));
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

/// The id that the step at a place had, if it was a step of that key.
fn id_at(args: &Object, path: &str, key: &str) -> Option<String> {
    let mut segments = split_dotted(path).into_iter();
    let mut found = args.get(&segments.next()?)?;
    for segment in segments {
        found = match found {
            Value::Object(members) => members.get(&segment)?,
            Value::List(elements) => elements.get(segment.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    let step = found.as_object()?;
    let same = step.get("key").and_then(Value::as_str) == Some(key);
    let id = step.get("id").and_then(Value::as_str).filter(|_| same)?;
    is_step_id(id).then(|| id.to_owned())
}

/// `stp_` and twelve letters or digits.
fn mint(ids: &mut dyn Ids) -> String {
    let uuid = ids.uuid();
    let tail = uuid.get(uuid.len().saturating_sub(12)..);
    format!("stp_{}", tail.unwrap_or_default())
}
