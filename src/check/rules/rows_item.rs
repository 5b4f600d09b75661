//! I011 and I012: what a rows item says of the rows of its table.

use crate::check::facts::{Column, Facts, Item, Origin};
use crate::finding::catalog::{I011, I012};
use crate::finding::{Finding, Fix, edit, suggest};
use crate::json::{Node, write_string};
use crate::maps::HashSet;
use crate::package::Tool;
use crate::package::reference::undollared;

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let links = TableLinks::new(facts);
    for item in facts.items.iter().filter(|item| item.is_rows()) {
        let class = table_of(facts, item).and_then(|table| links.data_class(table));
        lacking(facts, item, class, out);
        data_class(item, class, out);
    }
}

/// The tables that links of the package point at.
struct TableLinks<'d> {
    /// Tables that a link column of another table points at.
    linked: HashSet<&'d str>,
    /// Tables that a column of an unknown table points at: it may be the link that makes another table a reference.
    perhaps: HashSet<&'d str>,
    /// Whether every step of the plan can be read, so that what no step does is known too.
    plan_is_known: bool,
}

impl<'d> TableLinks<'d> {
    fn new(facts: &Facts<'d>) -> TableLinks<'d> {
        let of_no_table = facts.columns_of_no_table();
        let links = of_no_table.iter().filter(|column| column.is_link());
        TableLinks {
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

/// The ref of the table whose rows an item stands for.
fn table_of<'d>(facts: &Facts<'d>, item: &Item<'d>) -> Option<&'d str> {
    item.parent
        .and_then(|uid| facts.item(uid))
        .and_then(|parent| parent.reference)
        .or_else(|| {
            let entry = facts.payload_entry(item)?;
            entry.get_str("featureRef").map(undollared)
        })
}

fn lacking(
    facts: &Facts<'_>,
    item: &Item<'_>,
    class: Option<&'static str>,
    out: &mut Vec<Finding>,
) {
    let lacking: Vec<&str> = ["count", "dataClass"]
        .into_iter()
        .filter(|key| item.node.get(key).is_none())
        .collect();
    if lacking.is_empty() {
        return;
    }
    let names = lacking
        .iter()
        .map(|key| format!("`{key}`"))
        .collect::<Vec<_>>()
        .join(" and ");
    let mut finding = Finding::at(&I011, item.node, format!("the rows item lacks {names}"));
    let count = facts
        .payload_entry(item)
        .and_then(|entry| entry.get("count"))
        .map(|count| count.raw().to_owned());
    let members: Option<Vec<(&str, String)>> = lacking
        .iter()
        .map(|key| match *key {
            "count" => count.clone().map(|count| (*key, count)),
            _ => class.map(|class| (*key, write_string(class))),
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

fn data_class(item: &Item<'_>, class: Option<&'static str>, out: &mut Vec<Finding>) {
    let (Some(node), Some(class)) = (item.node.get("dataClass"), class) else {
        return;
    };
    if node.as_str() == Some(class) {
        return;
    }
    let why = if class == "reference" {
        "another table of the package links to it"
    } else {
        "no other table of the package links to it"
    };
    let message = format!(
        "`dataClass` is {}, but {why}",
        suggest::short_value(node.raw())
    );
    out.push(
        Finding::at(&I012, node, message)
            .help(format!("Write `{class}`."))
            .fix(Fix {
                title: format!("Write `{class}`"),
                safe: true,
                edits: vec![edit::replace(node, write_string(class))],
            }),
    );
}
