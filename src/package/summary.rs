//! The one sentence of a plan: it counts items, not steps, and rows per table.

use crate::package::model::ItemKind;

/// Kinds in the order of the sentence, with their words.
const KINDS: [(ItemKind, &str); 6] = [
    (ItemKind::Feature, "table"),
    (ItemKind::Column, "column"),
    (ItemKind::View, "view"),
    (ItemKind::Workflow, "automation"),
    (ItemKind::Module, "module"),
    (ItemKind::Rail, "rail"),
];

/// The sentence about items of these kinds and the rows of tables of these labels.
pub(crate) fn sentence(items: &[ItemKind], rows: &[(&str, u64)]) -> String {
    let mut parts: Vec<String> = KINDS
        .iter()
        .filter_map(|(kind, word)| {
            let count = items.iter().filter(|item| *item == kind).count();
            (count > 0).then(|| counted(count, word))
        })
        .collect();
    if !rows.is_empty() {
        let tables: Vec<String> = rows
            .iter()
            .map(|(label, count)| format!("{label} {count}"))
            .collect();
        let of = counted(rows.len(), "table");
        parts.push(format!("rows of {of} ({})", tables.join(", ")));
    }
    let total = counted(items.len() + rows.len(), "item");
    match parts.split_last() {
        None => "Creates nothing.".to_owned(),
        Some((only, [])) => format!("Creates {total}: {only}."),
        Some((last, rest)) => format!("Creates {total}: {} and {last}.", rest.join(", ")),
    }
}

fn counted(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}

#[cfg(test)]
mod tests {
    use super::sentence;
    use crate::package::model::ItemKind::{Column, Feature, Rail, Workflow};

    #[test]
    fn items_are_counted_by_kind() {
        let items = [Feature, Column, Column, Workflow, Rail];
        assert_eq!(
            sentence(&items, &[("Clients", 3)]),
            "Creates 6 items: 1 table, 2 columns, 1 automation, 1 rail and rows of 1 table (Clients 3)."
        );
        assert_eq!(sentence(&items[..1], &[]), "Creates 1 item: 1 table.");
        assert_eq!(sentence(&[], &[]), "Creates nothing.");
    }
}
