//! I003 to I014 and I016 to I018: consistency of items with each other and with the plan.

use crate::check::facts::{Column, Declared, Facts, Item, Origin, Step};
use crate::definitions::ReferenceKind;
use crate::finding::catalog::{
    I003, I004, I005, I006, I007, I008, I009, I010, I011, I012, I013, I014, I016, I017, I018, J006,
};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Fix, edit};
use crate::json::{Node, write_string};
use crate::maps::{HashMap, HashSet};
use crate::package::Tool;
use crate::package::format::ITEM_KINDS;
use crate::package::reference::is_declaration;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let tables = Tables::new(facts);
    for item in &facts.items {
        kind(item, out);
        declared(facts, item, out);
        misplaced(item, out);
        parent(facts, &tables, item, out);
        match item.kind {
            Some("rows") => rows(facts, &tables, item, out),
            Some("workflow") => step_ids(facts, item, out),
            _ => {}
        }
    }
    duplicates(facts, out);
    steps_without_item(facts, out);
}

/// What is asked about the tables of rows items.
struct Tables<'d> {
    /// Payload entries by the uid of their item.
    entries: HashMap<&'d str, Node<'d>>,
    /// Tables that a link column of another table points at.
    linked: HashSet<&'d str>,
    /// Tables that a column of an unknown table points at: it may be the link that makes another table a reference.
    perhaps: HashSet<&'d str>,
    /// Whether every step of the plan can be read, so that what no step does is known too.
    plan_is_known: bool,
}

impl<'d> Tables<'d> {
    fn new(facts: &Facts<'d>) -> Tables<'d> {
        let mut entries = HashMap::default();
        for entry in facts.payloads().into_iter().flat_map(Node::elements) {
            if let Some(uid) = entry.get_str("itemUid").filter(|uid| !uid.is_empty()) {
                entries.entry(uid).or_insert(entry);
            }
        }
        let of_no_table = facts.columns_of_no_table();
        let links = of_no_table.iter().filter(|column| column.is_link());
        Tables {
            entries,
            linked: linked_tables(facts),
            perhaps: links.filter_map(Column::linked_table).collect(),
            plan_is_known: plan_is_known(facts),
        }
    }

    /// The data class of a table's rows, when it is known.
    fn data_class(&self, table: &str) -> Option<&'static str> {
        if !self.plan_is_known {
            None
        } else if self.linked.contains(table) {
            Some("reference")
        } else if self.perhaps.contains(table) {
            None
        } else {
            Some("transactional")
        }
    }

    /// The payload entry of a rows item.
    fn entry_of(&self, item: &Item<'d>) -> Option<Node<'d>> {
        self.entries.get(item.uid).copied()
    }
}

fn kind(item: &Item<'_>, out: &mut Vec<Finding>) {
    let Some(node) = item.node.get("kind").filter(|_| item.kind.is_none()) else {
        return;
    };
    let message = format!("there is no item kind {}", suggest::short_text(node.raw()));
    let word = node.as_str().unwrap_or_default();
    let kinds = ITEM_KINDS.iter().copied();
    out.push(Finding::at(&I003, node, message).meant(word, kinds, Misspelt::value(node)));
}

/// The kind of thing an item of that kind is created as.
fn created_kind(item_kind: &str) -> Option<ReferenceKind> {
    match item_kind {
        "workflow" => Some(ReferenceKind::WorkflowV2),
        "rows" => None,
        other => ReferenceKind::parse(other),
    }
}

fn declared(facts: &Facts<'_>, item: &Item<'_>, out: &mut Vec<Finding>) {
    let node = item.node.get("ref");
    if item.is_rows() {
        if let Some(node) = node {
            out.push(Finding::at(&I005, node, "rows have no ref").fix(Fix {
                title: "Remove `ref`".to_owned(),
                safe: true,
                edits: vec![edit::remove_member(node)],
            }));
        }
        return;
    }
    let Some(node) = node else {
        if item.kind.is_some() {
            out.push(Finding::at(&I004, item.node, "the item names no ref"));
        }
        return;
    };
    let Some(reference) = item.reference else {
        return;
    };
    match facts.declaring_step(reference) {
        None if !facts.steps_are_readable() => {}
        None if !is_declaration(reference) => {} // I015 speaks.
        None => {
            let declared = facts.steps.iter().filter_map(|step| step.reference);
            let message = format!("no plan step declares {}", node.raw());
            let place = Misspelt::value(node);
            out.push(Finding::at(&I006, node, message).meant(reference, declared, place));
        }
        Some(index) => {
            let step = &facts.steps[index];
            let (Some(kind), Some(tool)) = (item.kind, step.tool) else {
                return;
            };
            if tool.creates() != created_kind(kind) {
                let place = item.node.get("kind").unwrap_or(node);
                let message = format!("the item is a {kind}, but its step is {}", tool.as_str());
                out.push(
                    Finding::at(&I007, place, message)
                        .related(step.node, "the step that declares the ref"),
                );
            }
        }
    }
}

fn misplaced(item: &Item<'_>, out: &mut Vec<Finding>) {
    let Some(kind) = item.kind else { return };
    let owners = [
        ("count", "rows"),
        ("dataClass", "rows"),
        ("stepIds", "workflow"),
    ];
    for (key, owner) in owners.into_iter().filter(|(_, owner)| *owner != kind) {
        if let Some(node) = item.node.get(key) {
            let message = format!("`{key}` belongs to {owner} items, this is a {kind}");
            out.push(Finding::at(&I010, node, message).fix(Fix {
                title: format!("Remove `{key}`"),
                safe: true,
                edits: vec![edit::remove_member(node)],
            }));
        }
    }
}

/// The plan step that creates the item, when item and step agree on the kind.
fn create_step<'f, 'd>(facts: &'f Facts<'d>, item: &Item<'d>) -> Option<&'f Step<'d>> {
    let step = &facts.steps[facts.declaring_step(item.reference?)?];
    (step.tool?.creates() == created_kind(item.kind?)).then_some(step)
}

fn parent<'d>(facts: &Facts<'d>, tables: &Tables<'d>, item: &Item<'d>, out: &mut Vec<Finding>) {
    let expected = match item.kind {
        Some("column" | "view" | "rows") => Some("feature"),
        Some("rail") => Some("module"),
        _ => None,
    };
    let Some(node) = item.node.get("parent") else {
        if let Some(expected) = expected {
            missing_parent(facts, tables, item, expected, out);
        }
        return;
    };
    let Some(uid) = item.parent else { return };
    let Some(parent) = facts.item(uid) else {
        if !facts.uids_are_known() {
            return; // The parent may be an item whose uid is missing.
        }
        out.push(Finding::at(
            &I008,
            node,
            format!("{} is not an item's uid", suggest::short_text(node.raw())),
        ));
        return;
    };
    // Items of other kinds may hang below whatever item they name.
    let Some(expected) = expected else { return };
    // An item whose own kind is doubtful (I003, I007) says nothing about its children.
    let created = parent
        .reference
        .and_then(|r| facts.declaring_step(r))
        .and_then(|i| facts.steps[i].tool);
    let by_step = created.and_then(Tool::creates) == created_kind(expected);
    match parent.kind {
        Some(kind) if kind != expected && !by_step => {
            let message = format!("the parent is a {kind}, not a {expected}");
            out.push(Finding::at(&I009, node, message).related(parent.node, "the parent"));
            return;
        }
        None => return,
        Some(_) => {}
    }
    disagreement(facts, item, parent, node, out);
}

fn disagreement(
    facts: &Facts<'_>,
    item: &Item<'_>,
    parent: &Item<'_>,
    node: Node<'_>,
    out: &mut Vec<Finding>,
) {
    let Some(step) = create_step(facts, item) else {
        return;
    };
    let Some(argument) = step.tool.and_then(Tool::parent_argument) else {
        return;
    };
    let Some(value) = step.arg(argument) else {
        return;
    };
    let Some(text) = value.as_str() else { return };
    let expected_kind = if argument == "moduleId" {
        ReferenceKind::Module
    } else {
        ReferenceKind::Feature
    };
    let named = text.strip_prefix('$');
    // A wrong argument has its own finding (S009, S015, S006, X001); an emptied one names no
    // table to disagree with.
    let sound = named.is_some_and(|r| facts.kind_of(r) == Declared::Kind(expected_kind));
    if sound && named != parent.reference && parent.reference.is_some() {
        let message = format!(
            "the parent is `{}`, but the step creates it in {text}",
            parent.reference.unwrap_or_default()
        );
        out.push(Finding::at(&I017, node, message).related(value, "where the step creates it"));
    }
}

fn missing_parent<'d>(
    facts: &Facts<'d>,
    tables: &Tables<'d>,
    item: &Item<'d>,
    expected: &str,
    out: &mut Vec<Finding>,
) {
    let home = match item.kind {
        Some("rows") => tables
            .entry_of(item)
            .and_then(|entry| entry.get_str("featureRef"))
            .map(crate::package::reference::undollared),
        _ => create_step(facts, item).and_then(|step| step.arg_ref(step.tool?.parent_argument()?)),
    };
    let Some(home) = home else { return };
    let travels = facts
        .declaring_step(home)
        .and_then(|index| facts.steps[index].tool)
        .is_some_and(|tool| tool.creates() == ReferenceKind::parse(expected));
    if !travels {
        return;
    }
    let mut finding = Finding::at(
        &I016,
        item.node,
        format!("the item names no parent, although `{home}` travels"),
    );
    if let Some(parent) = facts.item_of_ref(home) {
        finding = finding.related(parent.node, "its parent").fix(Fix {
            title: "Add `parent`".to_owned(),
            safe: true,
            edits: vec![edit::add_member(
                item.node,
                "parent",
                &write_string(parent.uid),
            )],
        });
    }
    out.push(finding);
}

fn plan_is_known(facts: &Facts<'_>) -> bool {
    facts.plan.and_then(|plan| plan.get("steps")).is_some()
        && facts.steps.iter().all(|step| {
            let kind = step.arg_str("type").unwrap_or_default();
            match step.tool {
                None => false,
                Some(Tool::CreateColumn) => {
                    (facts.definitions.column_types.get(kind)).is_some_and(|kind| {
                        !kind.link || step.arg("config").is_none_or(Node::is_object)
                    })
                }
                Some(_) => true,
            }
        })
}

/// By the effective configs.
fn linked_tables<'d>(facts: &Facts<'d>) -> HashSet<&'d str> {
    let plan = facts
        .tables
        .iter()
        .filter(|table| table.origin == Origin::Plan);
    plan.flat_map(|table| {
        table
            .columns
            .iter()
            .filter(|column| column.is_link())
            .filter_map(Column::linked_table)
            .filter(|target| *target != table.reference)
    })
    .collect()
}

fn rows<'d>(facts: &Facts<'d>, tables: &Tables<'d>, item: &Item<'d>, out: &mut Vec<Finding>) {
    let entry = tables.entry_of(item);
    let table = item
        .parent
        .and_then(|uid| facts.item(uid))
        .and_then(|parent| parent.reference)
        .or_else(|| {
            entry
                .and_then(|entry| entry.get_str("featureRef"))
                .map(crate::package::reference::undollared)
        });
    let derived = table.and_then(|table| tables.data_class(table));
    let lacking: Vec<&str> = ["count", "dataClass"]
        .into_iter()
        .filter(|key| item.node.get(key).is_none())
        .collect();
    if !lacking.is_empty() {
        let names = lacking
            .iter()
            .map(|key| format!("`{key}`"))
            .collect::<Vec<_>>()
            .join(" and ");
        let mut finding = Finding::at(&I011, item.node, format!("the rows item lacks {names}"));
        let count = entry
            .and_then(|entry| entry.get("count"))
            .map(|count| count.raw().to_owned());
        let members: Option<Vec<(&str, String)>> = lacking
            .iter()
            .map(|key| match *key {
                "count" => count.clone().map(|count| (*key, count)),
                _ => derived.map(|class| (*key, write_string(class))),
            })
            .collect();
        if let Some(members) = members {
            let members: Vec<(&str, &str)> = members
                .iter()
                .map(|(key, value)| (*key, value.as_str()))
                .collect();
            finding = finding.fix(Fix {
                title: format!("Add {names}"),
                safe: true,
                edits: vec![edit::add_members(item.node, &members)],
            });
        }
        out.push(finding);
    }
    if let (Some(node), Some(derived)) = (item.node.get("dataClass"), derived)
        && node.as_str() != Some(derived)
    {
        let why = if derived == "reference" {
            "another table of the package links to it"
        } else {
            "no other table of the package links to it"
        };
        let message = format!(
            "`dataClass` is {}, but {why}",
            suggest::short_text(node.raw())
        );
        out.push(
            Finding::at(&I012, node, message)
                .help(format!("Write `{derived}`."))
                .fix(Fix {
                    title: format!("Write `{derived}`"),
                    safe: true,
                    edits: vec![edit::replace(node, write_string(derived))],
                }),
        );
    }
}

fn step_ids(facts: &Facts<'_>, item: &Item<'_>, out: &mut Vec<Finding>) {
    let step = create_step(facts, item);
    let graph = step
        .and_then(|step| step.arg("graphConfig"))
        .and_then(|graph| graph.get("steps"));
    let ids: Option<Vec<&str>> = graph.map(|steps| graph_ids(facts, steps));
    let Some(node) = item.node.get("stepIds") else {
        let mut finding = Finding::at(&J006, item.node, "an automation lacks `stepIds`");
        if let Some(ids) = ids {
            finding = finding.fix(Fix {
                title: "Add `stepIds`".to_owned(),
                safe: true,
                edits: vec![edit::add_member(
                    item.node,
                    "stepIds",
                    &edit::string_list(ids),
                )],
            });
        }
        out.push(finding);
        return;
    };
    let Some(ids) =
        ids.filter(|_| node.elements().all(|id| id.as_str().is_some()) && node.is_array())
    else {
        return;
    };
    let listed: Vec<&str> = node.elements().filter_map(Node::as_str).collect();
    let in_graph: HashSet<&str> = ids.iter().copied().collect();
    let in_list: HashSet<&str> = listed.iter().copied().collect();
    // A step id that repeats in the graph is A006's business.
    if ids.len() != in_graph.len() {
        return;
    }
    if in_graph == in_list && in_list.len() == listed.len() {
        return;
    }
    let missing: Vec<&str> = ids
        .iter()
        .copied()
        .filter(|id| !in_list.contains(id))
        .collect();
    let extra: Vec<&str> = listed
        .iter()
        .copied()
        .filter(|id| !in_graph.contains(id))
        .collect();
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("missing {}", missing.join(", ")));
    }
    if !extra.is_empty() {
        parts.push(format!("no step has {}", extra.join(", ")));
    }
    if parts.is_empty() {
        parts.push("an id is listed twice".to_owned());
    }
    let message = format!(
        "`stepIds` differ from the graph: {}",
        suggest::short_text(&parts.join("; "))
    );
    out.push(Finding::at(&I013, node, message).fix(Fix {
        title: "List the ids of the graph".to_owned(),
        safe: true,
        edits: vec![edit::replace_strings(node, in_listed_order(&ids, &listed))],
    }));
}

/// The ids of the graph in the order in which they are listed; the others follow the one that they follow in the graph.
fn in_listed_order<'d>(graph: &[&'d str], listed: &[&'d str]) -> Vec<&'d str> {
    let in_list: HashSet<&str> = listed.iter().copied().collect();
    let mut kept: HashSet<&str> = HashSet::default();
    let mut following: HashMap<&str, Vec<&'d str>> = HashMap::default();
    let mut order = Vec::new();
    let mut before = None;
    for &id in graph {
        if in_list.contains(id) {
            kept.insert(id);
            before = Some(id);
        } else if let Some(before) = before {
            following.entry(before).or_default().push(id);
        } else {
            order.push(id);
        }
    }
    for &id in listed {
        // An id that is listed twice is there once.
        if kept.remove(id) {
            order.push(id);
            order.extend(following.remove(id).unwrap_or_default());
        }
    }
    order
}

/// Ids of all steps of a graph, branches included, in order of appearance.
fn graph_ids<'d>(facts: &Facts<'d>, steps: Node<'d>) -> Vec<&'d str> {
    let _ = facts;
    crate::automation::step_ids(facts.definitions, steps)
        .into_iter()
        .filter_map(Node::as_str)
        .collect()
}

fn duplicates(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let mut refs: HashMap<&str, Node<'_>> = HashMap::default();
    let mut tables: HashMap<&str, Node<'_>> = HashMap::default();
    for item in &facts.items {
        if let (Some(reference), Some(node)) = (item.reference, item.node.get("ref")) {
            match refs.get(reference) {
                Some(first) => out.push(
                    Finding::at(
                        &I018,
                        node,
                        format!("another item has the ref `{reference}`"),
                    )
                    .related(*first, "the other item"),
                ),
                None => {
                    refs.insert(reference, node);
                }
            }
        }
        if let (true, Some(parent), Some(node)) =
            (item.is_rows(), item.parent, item.node.get("parent"))
        {
            match tables.get(parent) {
                Some(first) => out.push(
                    Finding::at(&I018, node, "another rows item stands for this table")
                        .related(*first, "the other item"),
                ),
                None => {
                    tables.insert(parent, node);
                }
            }
        }
    }
}

fn steps_without_item(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    if facts.layer("items").is_none() {
        return;
    }
    // An item without ref (I004) surely means a step of its kind: one mistake, one finding.
    let mut nameless: Vec<&Item<'_>> = facts
        .items
        .iter()
        .filter(|item| !item.is_rows() && item.reference.is_none())
        .collect();
    let mut unmatched: Vec<&Step<'_>> = facts
        .steps
        .iter()
        .filter(|step| step.tool.is_some_and(|tool| tool.creates().is_some()))
        .filter(|step| {
            step.reference
                .is_some_and(|reference| facts.item_of_ref(reference).is_none())
        })
        .collect();
    for same_label in [true, false] {
        nameless.retain(|item| {
            let means = |step: &&Step<'_>| {
                let kind = item
                    .kind
                    .is_none_or(|kind| step.tool.and_then(Tool::creates) == created_kind(kind));
                kind && (!same_label || step.arg_str("label") == item.node.get_str("label"))
            };
            let found = unmatched.iter().position(means);
            if let Some(found) = found {
                unmatched.remove(found);
            }
            found.is_none()
        });
    }
    for step in unmatched {
        let place = step.node.get("ref").unwrap_or(step.node);
        out.push(Finding::at(
            &I014,
            place,
            format!("no item names `{}`", step.reference.unwrap_or_default()),
        ));
    }
}
