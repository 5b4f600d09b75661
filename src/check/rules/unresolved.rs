//! U001 to U010: `unresolved` and `redacted`.

use crate::check::facts::{Facts, Unresolved};
use crate::finding::catalog::{U001, U002, U003, U004, U005, U006, U007, U008, U009, U010};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Fix, Rule, edit};
use crate::json::{Node, path, write_string};
use crate::maps::HashMap;
use crate::package::format::{ACTIONS, EXPORT_REASONS, IMPORT_REASONS, UNRESOLVED_KINDS};
use crate::package::{reference, uid};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut cells: HashMap<(&str, &str), Node<'_>> = HashMap::default();
    for entry in &facts.unresolved {
        words(entry.node, out);
        executor_fields(entry.node, out);
        known_uid(facts, entry.node, out);
        label(entry.node, out);
        aggregated(entry, &mut cells, out);
        count(entry.node, out);
        if !action_fits(facts, entry, out) {
            continue;
        }
        emptied(facts, entry, out);
    }
    let redacted = facts.layer("redacted");
    for entry in redacted
        .into_iter()
        .flat_map(Node::elements)
        .filter(|entry| entry.is_object())
    {
        known_uid(facts, entry, out);
        still_set(facts, entry, out);
    }
}

fn words(entry: Node<'_>, out: &mut Vec<Finding>) {
    let mut check = |key: &str, known: &[&'static str], tolerated: &[&str], rule: &'static Rule| {
        let Some(node) = entry.get(key) else { return };
        if node
            .as_str()
            .is_some_and(|word| known.contains(&word) || tolerated.contains(&word))
        {
            return;
        }
        let message = format!("there is no {key} {}", suggest::short_value(node.raw()));
        let finding = Finding::at(rule, node, message);
        out.push(match node.as_str() {
            Some(word) => {
                finding.meant_or_known(word, known.iter().copied(), Misspelt::value(node))
            }
            None => finding,
        });
    };
    check("reason", EXPORT_REASONS, IMPORT_REASONS, &U001);
    check("action", ACTIONS, &[], &U002);
}

fn executor_fields(entry: Node<'_>, out: &mut Vec<Finding>) {
    for key in ["ref", "required", "source"] {
        if let Some(node) = entry.get(key) {
            out.push(
                Finding::at(&U003, node, format!("only an import writes `{key}`")).fix(Fix {
                    title: format!("Remove `{key}`"),
                    safe: false,
                    edits: vec![edit::remove_member(node)],
                }),
            );
        }
    }
    if let Some(reason) = entry.get("reason")
        && let Some(word) = reason.as_str()
        && IMPORT_REASONS.contains(&word)
    {
        let message = format!("only an import gives the reason {}", write_string(word));
        out.push(Finding::at(&U003, reason, message));
    }
}

fn known_uid(facts: &Facts<'_>, entry: Node<'_>, out: &mut Vec<Finding>) {
    let Some(node) = entry.get("uid") else { return };
    let Some(text) = node.as_str() else { return };
    let known = facts.item(text).is_some() || facts.plan_id == Some(text);
    if !known && facts.uids_are_known() && facts.plan_id.is_some() {
        let message = format!(
            "{} is the uid of no item and not the plan's",
            suggest::short_value(node.raw())
        );
        out.push(Finding::at(&U004, node, message));
    }
}

fn label(entry: Node<'_>, out: &mut Vec<Finding>) {
    let is_id = |text: &&str| {
        uid::is_uuid(text)
            || text.strip_prefix("u_").is_some_and(uid::is_uuid)
            || uid::is_step_id(text)
    };
    if let Some(node) = entry.get("sourceLabel")
        && let Some(text) = node.as_str().filter(is_id)
    {
        let message = format!("{} is an id, not a label", write_string(text));
        out.push(Finding::at(&U005, node, message).fix(Fix {
            title: "Remove `sourceLabel`".to_owned(),
            safe: false,
            edits: vec![edit::remove_member(node)],
        }));
    }
}

fn aggregated<'d>(
    entry: &Unresolved<'d>,
    cells: &mut HashMap<(&'d str, &'d str), Node<'d>>,
    out: &mut Vec<Finding>,
) {
    let (Some(at), Some(node)) = (entry.path, entry.node.get("path")) else {
        return;
    };
    let Some(rest) = at.strip_prefix("rows[") else {
        return;
    };
    if !rest.starts_with(']') {
        out.push(Finding::at(
            &U006,
            node,
            format!("{} names a single row", write_string(at)),
        ));
        return;
    }
    let Some(uid) = entry.uid.filter(|_| at.starts_with("rows[].data.")) else {
        return;
    };
    match cells.get(&(uid, at)) {
        Some(first) => {
            let finding = Finding::at(
                &U006,
                entry.node,
                format!("{} is reported twice for one item", write_string(at)),
            );
            out.push(finding.related(*first, "the first entry"));
        }
        None => {
            cells.insert((uid, at), entry.node);
        }
    }
}

fn count(entry: Node<'_>, out: &mut Vec<Finding>) {
    // A kind that is none (J005, J006) may be meant to be rows.
    let kind = entry.get_str("kind");
    let config = kind.is_some_and(|kind| kind != "rows" && UNRESOLVED_KINDS.contains(&kind));
    if let Some(node) = entry.get("count").filter(|_| config) {
        out.push(
            Finding::at(&U007, node, "a count belongs to entries of kind rows").fix(Fix {
                title: "Remove `count`".to_owned(),
                safe: true,
                edits: vec![edit::remove_member(node)],
            }),
        );
    }
}

/// U010; whether the action is one that fits.
fn action_fits(facts: &Facts<'_>, entry: &Unresolved<'_>, out: &mut Vec<Finding>) -> bool {
    let Some(node) = entry.node.get("action") else {
        return false;
    };
    let Some(action) = node.as_str().filter(|action| ACTIONS.contains(action)) else {
        return false;
    };
    let reason = entry.node.get_str("reason");
    let rows = entry.node.get_str("kind") == Some("rows");
    let kept = matches!(
        reason,
        Some("tabela_alvo_sem_linhas" | "envelope_indeterminado")
    );
    // The ids of files are emptied; earlier exporters left them.
    let files = rows && reason == Some("nao_exportavel");
    // A reason that is none (U001, U003, J006) may be meant to say that of them.
    let known = reason.is_some_and(|reason| EXPORT_REASONS.contains(&reason));
    let perhaps_files = rows && !known && action == "chave esvaziada";
    let expected = if perhaps_files || (files && action != "valor mantido") {
        "chave esvaziada"
    } else if kept || rows {
        "valor mantido"
    } else if is_navigation_default(facts, entry) {
        "chave omitida"
    } else {
        return true;
    };
    if action == expected {
        return true;
    }
    let message = format!(
        "the action here is `{expected}`, not {}",
        write_string(action)
    );
    out.push(Finding::at(&U010, node, message).help(format!("Write `{expected}`.")));
    false
}

fn is_navigation_default(facts: &Facts<'_>, entry: &Unresolved<'_>) -> bool {
    let (Some(uid), Some(key)) = (
        entry.uid,
        entry.path.and_then(|path| path.strip_prefix("config.")),
    ) else {
        return false;
    };
    let keys = &facts.definitions.config_keys;
    let fields = if facts.plan_id == Some(uid) {
        &keys.workspace
    } else if facts
        .item(uid)
        .is_some_and(|item| item.kind == Some("module"))
    {
        &keys.module
    } else {
        return false;
    };
    fields
        .get(key)
        .and_then(|field| field.reference.as_ref())
        .is_some_and(|reference| reference.navigation_default)
}

/// Values at a path in any step of what a uid stands for.
fn values<'d>(facts: &Facts<'d>, uid: Option<&str>, at: Option<&str>) -> Vec<Node<'d>> {
    let (Some(uid), Some(at)) = (uid, at) else {
        return Vec::new();
    };
    if at.starts_with("rows[") {
        return Vec::new();
    }
    facts
        .steps_of(uid)
        .iter()
        .filter_map(|step| path::find(step.args?, at))
        .collect()
}

fn emptied(facts: &Facts<'_>, entry: &Unresolved<'_>, out: &mut Vec<Finding>) {
    let Some(action) = entry.node.get("action") else {
        return;
    };
    for value in values(facts, entry.uid, entry.path) {
        let message = match action.as_str() {
            Some("chave esvaziada") if !value.is_empty() && !is_rest(facts, entry, value) => {
                format!(
                    "the field is said to be emptied, but holds {}",
                    suggest::short_value(value.raw())
                )
            }
            Some("chave omitida") => "the key is said to be left out, but is there".to_owned(),
            _ => continue,
        };
        out.push(Finding::at(&U009, action, message).related(value, "the value"));
        return;
    }
}

/// Whether a value is what is left of a text out of which ids were cut: the exporter reports those
/// by a form that no reference by id has, at fields that no declaration calls a reference.
fn is_rest(facts: &Facts<'_>, entry: &Unresolved<'_>, value: Node<'_>) -> bool {
    let cut = entry.node.get_str("reason") == Some("nao_exportavel")
        && entry.node.get_str("form") == Some("uuidOrName");
    let start = value.span().start;
    let mut spots = facts.spots.iter();
    cut && value
        .as_str()
        .is_some_and(|text| reference::used(text).is_none())
        && !spots.any(|spot| spot.reference.is_some() && spot.node.span().start == start)
}

fn still_set(facts: &Facts<'_>, entry: Node<'_>, out: &mut Vec<Finding>) {
    for value in values(facts, entry.get_str("uid"), entry.get_str("path")) {
        if !value.is_empty() {
            // The value is a secret: it is pointed at, never shown.
            let finding = Finding::at(
                &U008,
                value,
                "the field is named in `redacted`, but still holds a value",
            );
            out.push(finding.related(entry, "the entry that names it"));
        }
    }
}
