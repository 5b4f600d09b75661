//! D012 to D019: the uses of a dependency, and whether the package lists them.

use super::undeclared;
use crate::check::facts::{Dependency, Facts, RefUse, Step, StepPlace, Version};
use crate::finding::catalog::{D012, D013, D014, D015, D016, D017, D018, D019};
use crate::finding::suggest;
use crate::finding::{Finding, Fix, edit};
use crate::json::{Node, path, write_string};
use crate::maps::HashSet;
use crate::package::Tool;
use crate::package::format::DEPENDENCY_KINDS;
use crate::package::reference::{WORKSPACE, undollared};
use crate::package::uid::is_uid;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let repeating = repeating(facts);
    let outside: Vec<(&Step<'_>, RefUse<'_>)> = outside_uses(facts).collect();
    for (index, dependency) in facts.dependencies.iter().enumerate() {
        if dependency.reference.is_none() {
            continue; // J006 or J005 speaks.
        }
        if !matches!(dependency.kind, Some("channel")) || dependency.form == Some("uuid") {
            uses(facts, index, &repeating, &outside, dependency, out);
        }
    }
    external_refs(facts, out);
}

/// A use of a dependency in a plan step of an item.
struct ItemUse<'d> {
    uid: &'d str,
    path: String,
    at: RefUse<'d>,
}

/// The uses in plan steps of refs that no plan step declares.
fn outside_uses<'f, 'd>(facts: &'f Facts<'d>) -> impl Iterator<Item = (&'f Step<'d>, RefUse<'d>)> {
    let uses = facts
        .steps
        .iter()
        .flat_map(|step| step.uses.iter().map(move |at| (step, *at)));
    uses.filter(|(_, at)| facts.declaring_step(at.reference).is_none())
}

/// Whether a dependency or a part of it is used by that ref.
fn is_of(facts: &Facts<'_>, index: usize, reference: &str) -> bool {
    facts.declaring_step(reference).is_none()
        && facts.outside(reference).is_some_and(|outside| outside.dependency == index)
        // Two dependencies with one ref (D008): either may list the use.
        || facts.dependencies[index].reference == Some(reference)
        || facts.dependencies[index]
            .columns
            .iter()
            .any(|column| column.reference == Some(reference))
}

/// The dependencies with a ref that the plan or an earlier dependency has already (D008).
fn repeating(facts: &Facts<'_>) -> Vec<usize> {
    let mut seen: HashSet<&str> = HashSet::default();
    let mut repeating = Vec::new();
    for (index, dependency) in facts.dependencies.iter().enumerate() {
        let known =
            |reference: &str| facts.declaring_step(reference).is_some() || seen.contains(reference);
        if refs(dependency).any(known) {
            repeating.push(index);
        }
        seen.extend(refs(dependency));
    }
    repeating
}

/// The refs that a dependency stands for: its own and those of its columns.
fn refs<'d>(dependency: &'d Dependency<'_>) -> impl Iterator<Item = &'d str> {
    let columns = dependency.columns.iter();
    dependency
        .reference
        .into_iter()
        .chain(columns.filter_map(|column| column.reference))
}

fn uses(
    facts: &Facts<'_>,
    index: usize,
    repeating: &[usize],
    outside: &[(&Step<'_>, RefUse<'_>)],
    dependency: &Dependency<'_>,
    out: &mut Vec<Finding>,
) {
    let mut item_uses = Vec::new();
    let mut used: HashSet<&str> = HashSet::default();
    for (step, at) in outside {
        let Some(args) = step.args.filter(|_| is_of(facts, index, at.reference)) else {
            continue;
        };
        used.insert(at.reference);
        let is_workspace = step.tool == Some(Tool::UpdateWorkspace);
        if let Some(uid) = facts.subject(step).filter(|_| !is_workspace) {
            item_uses.push(ItemUse {
                uid,
                path: path::dotted(args, at.node),
                at: *at,
            });
        }
    }
    // An unknown form (D002) or a missing name (J006) says nothing against a use by name.
    let by_name = dependency.form != Some("uuid")
        && dependency
            .name
            .is_none_or(|name| used_by_name(facts, dependency, name));
    if !facts.steps_are_readable() {
        // Without steps nothing is used: that is the missing plan's fault, not the dependency's.
    } else if facts.may_be_used_unread(dependency) {
        // What cannot be read may be the use.
    } else if used.is_empty() && !by_name {
        out.push(Finding::at(
            &D015,
            dependency.node,
            format!(
                "nothing uses `{}`",
                dependency.reference.unwrap_or_default()
            ),
        ));
    } else {
        for column in &dependency.columns {
            if let Some(reference) = column
                .reference
                .filter(|reference| !used.contains(reference))
            {
                let place = column.node;
                out.push(Finding::at(
                    &D019,
                    place,
                    format!("nothing uses the column `{reference}`"),
                ));
            }
        }
    }
    let Some(list) = dependency.node.get("usedBy").filter(|list| list.is_array()) else {
        return;
    };
    let mut listed: HashSet<(&str, &str)> = HashSet::default();
    let mut astray: Vec<(Option<&str>, Option<&str>)> = Vec::new();
    for entry in list.elements() {
        if !entry.is_object() {
            astray.push((None, None)); // J005 speaks.
            continue;
        }
        let (uid, at) = (entry.get_str("uid"), entry.get_str("path"));
        target(dependency, entry, out);
        if place(facts, index, dependency, entry, out) {
            listed.extend(uid.zip(at));
        } else {
            astray.push((uid, at));
        }
    }
    if repeating.contains(&index) {
        return; // D008 speaks: whose use it is cannot be reported.
    }
    for twin in repeating.iter().map(|at| &facts.dependencies[*at]) {
        if !refs(twin).any(|theirs| refs(dependency).any(|own| own == theirs)) {
            continue;
        }
        let entries = twin.node.get("usedBy").into_iter().flat_map(Node::elements);
        listed.extend(entries.filter_map(|e| e.get_str("uid").zip(e.get_str("path"))));
    }
    let mut unlisted: Vec<&ItemUse<'_>> = item_uses
        .iter()
        .filter(|item_use| {
            let path = item_use.path.as_str();
            let lists =
                |(uid, at): &(&str, &str)| *at == path && facts.speaks_of(uid, item_use.uid);
            let is_listed = listed.contains(&(item_use.uid, path))
                || (item_use.uid.is_empty() && listed.iter().any(lists));
            !is_listed
        })
        .collect();
    // An entry gone astray surely means one of the unlisted uses: the nearest one is excused.
    for (uid, at) in astray {
        let meant = unlisted
            .iter()
            .position(|u| Some(u.path.as_str()) == at)
            .or_else(|| {
                unlisted
                    .iter()
                    .position(|u| uid.is_none() || Some(u.uid) == uid)
            });
        if let Some(meant) = meant {
            unlisted.remove(meant);
        }
    }
    if list.is_empty() && unlisted.is_empty() {
        out.push(Finding::at(&D017, list, "`usedBy` is empty"));
    }
    for item_use in unlisted {
        let message = format!(
            "no `usedBy` entry of the dependency lists this use of `{}`",
            item_use.at.reference
        );
        let finding = if item_use.at.is_key {
            Finding::at_key(&D018, item_use.at.node, message)
        } else {
            Finding::at(&D018, item_use.at.node, message)
        };
        let uid = if item_use.uid.is_empty() {
            "of the item"
        } else {
            item_use.uid
        };
        out.push(
            finding
                .help(format!(
                    "Add an entry with uid {uid} and path {}.",
                    item_use.path
                ))
                .related(list, "the dependency's `usedBy`"),
        );
    }
}

/// Whether a field that names such things by name holds the dependency's. What cannot be read
/// (an unknown kind, tool or automation step) is given the benefit of the doubt.
fn used_by_name(facts: &Facts<'_>, dependency: &Dependency<'_>, name: &str) -> bool {
    let kind = dependency
        .kind
        .filter(|kind| DEPENDENCY_KINDS.contains(kind));
    let at_a_field = facts.spots.iter().any(|spot| {
        matches!(spot.step, StepPlace::Plan(_))
            && spot
                .reference
                .is_some_and(|reference| kind.is_none_or(|kind| reference.kind.as_str() == kind))
            && spot.node.as_str() == Some(name)
    });
    let holds = |node: Node<'_>| node.descendants().any(|value| value.as_str() == Some(name));
    at_a_field
        || facts
            .steps
            .iter()
            .filter_map(|step| Some((step, step.args?)))
            .any(|(step, args)| {
                let unreadable = |node: &Node<'_>| {
                    node.get_str("key")
                        .is_some_and(|key| !facts.definitions.steps.contains_key(key))
                };
                (step.tool.is_none() && holds(args))
                    || (step.tool == Some(Tool::CreateWorkflowV2)
                        && args.descendants().filter(unreadable).any(holds))
            })
}

fn target(dependency: &Dependency<'_>, entry: Node<'_>, out: &mut Vec<Finding>) {
    // A malformed uid (I001) may be the one that is meant.
    let own = dependency.uid.filter(|own| is_uid(own));
    if let (Some(node), Some(own)) = (entry.get("targets"), own)
        && node.as_str().is_some_and(|targets| targets != own)
    {
        let message = format!(
            "{} is not the uid of this dependency",
            suggest::short_value(node.raw())
        );
        out.push(
            Finding::at(&D013, node, message)
                .help(format!("Write {own}."))
                .fix(Fix {
                    title: "Write the dependency's uid".to_owned(),
                    safe: false,
                    edits: vec![edit::replace(node, write_string(own))],
                }),
        );
    }
}

/// D012 and D014; whether the entry names a real use.
fn place(
    facts: &Facts<'_>,
    index: usize,
    dependency: &Dependency<'_>,
    entry: Node<'_>,
    out: &mut Vec<Finding>,
) -> bool {
    let Some(uid) = entry.get("uid") else {
        return false;
    };
    let Some(text) = uid.as_str() else {
        return false;
    };
    if facts.layer("items").is_none() {
        return true;
    }
    let Some(item) = facts.item(text) else {
        if !facts.uids_are_known() {
            return true; // The item may be one whose uid is missing.
        }
        out.push(Finding::at(
            &D012,
            uid,
            format!("{} is not an item's uid", suggest::short_value(uid.raw())),
        ));
        return false;
    };
    let Some(node) = entry.get("path") else {
        return false;
    };
    let Some(at) = node.as_str() else {
        return false;
    };
    let steps = facts.steps_of(item.uid);
    // An item without its step (I006, I007), or with an unknown tool, says nothing about paths.
    let declared = item
        .reference
        .and_then(|reference| facts.declaring_step(reference));
    if steps.is_empty() && declared.is_none_or(|index| facts.steps[index].tool.is_none()) {
        return !item.is_rows() || {
            out.push(Finding::at(
                &D014,
                node,
                "rows items have no args that could use a dependency",
            ));
            false
        };
    }
    let found: Vec<Node<'_>> = steps
        .iter()
        .filter_map(|step| path::find(step.args?, at))
        .collect();
    let holds = |value: &Node<'_>| {
        let by_ref = |text: Option<&str>| {
            text.and_then(|t| t.strip_prefix('$'))
                .is_some_and(|r| is_of(facts, index, r))
        };
        let by_name = value.as_str().is_some()
            && dependency
                .name
                .is_none_or(|name| value.as_str() == Some(name));
        match dependency.form {
            Some("uuid") => by_ref(value.as_str()) || by_ref(value.key()),
            Some("name") => by_name,
            _ => true, // D002, J005 or J006 speaks.
        }
    };
    if found.iter().any(holds) || facts.has_unread_steps(item) {
        return true;
    }
    let message = match found.first() {
        None => format!(
            "the item's steps have nothing at {}",
            suggest::short_value(node.raw())
        ),
        Some(value) => format!(
            "at {} stands {}, not the dependency",
            write_string(at),
            suggest::short_value(value.raw())
        ),
    };
    out.push(Finding::at(&D014, node, message));
    false
}

fn external_refs(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    if !facts.steps_are_readable() {
        return; // What steps would have declared and used is unknown.
    }
    let list = facts
        .plan
        .and_then(|plan| plan.get("externalRefs"))
        .filter(|list| list.is_array());
    let listed: Vec<(&str, Node<'_>)> = list
        .into_iter()
        .flat_map(Node::elements)
        .filter_map(|node| Some((undollared(node.as_str()?), node)))
        .collect();
    let names: HashSet<&str> = listed.iter().map(|(name, _)| *name).collect();
    let mut first_use: Vec<(&str, RefUse<'_>)> = Vec::new();
    let mut used: HashSet<&str> = HashSet::default();
    for (step, at) in outside_uses(facts) {
        if at.reference != WORKSPACE {
            if facts.outside(at.reference).is_none() && !names.contains(at.reference) {
                // Of an unknown tool's args nothing is said (S001).
                if step.tool.is_some() && facts.outside_is_known() {
                    undeclared::report(facts, step, &at, out);
                }
            } else if used.insert(at.reference) {
                first_use.push((at.reference, at));
            }
        }
    }
    undeclared::in_blueprints(facts, out);
    let Some(list) = list else { return };
    let exact = edit::string_list(first_use.iter().map(|(name, _)| *name));
    let fix = || Fix {
        title: "List exactly the refs that come from outside".to_owned(),
        safe: true,
        edits: vec![edit::replace(list, exact.clone())],
    };
    for (name, at) in first_use.iter().filter(|(name, _)| !names.contains(name)) {
        let finding = Finding::at(&D016, list, format!("`externalRefs` lacks `{name}`"));
        out.push(finding.related(at.node, "used here").fix(fix()));
    }
    let mut seen = HashSet::default();
    let may_be_used = |name: &str| {
        let dependency = facts.outside(name).map(|outside| outside.dependency);
        dependency.is_some_and(|index| facts.may_be_used_unread(&facts.dependencies[index]))
    };
    // Without the layer nothing can be said about what stands for a ref (M005).
    let dependencies_known = (facts.layer("dependencies").is_some() && facts.outside_is_known())
        || facts.version == Version::One;
    for (name, node) in &listed {
        let message = if !seen.insert(*name) {
            format!("`{name}` is listed twice")
        } else if facts.declaring_step(name).is_some() {
            format!("`{name}` is declared by a step, it does not come from outside")
        } else if !used.contains(name) && !may_be_used(name) {
            format!("no step uses `{name}`")
        } else if dependencies_known && facts.outside(name).is_none() {
            let finding = Finding::at(&D016, *node, format!("no dependency stands for `{name}`"));
            out.push(finding.help("Declare the dependency, or remove the uses."));
            continue;
        } else {
            continue;
        };
        out.push(Finding::at(&D016, *node, message).fix(fix()));
    }
}
