//! Shows a plan as text.

use std::fmt::Write as _;

use similar::TextDiff;
use tplkit::apply::{Preview, ReplacedConfig, RowsPreview};
use tplkit::finding::render::counted;
use tplkit::printable;
use tplkit::workspace::RecordKind;

use super::pretty;
use crate::cli::apply_summary::drafts;
use crate::cli::item_titles::ItemTitles;
use crate::cli::sections::{kinds, section};
use crate::cli::upgrade_view;

/// A plan on one screen.
pub(crate) fn screen(
    subject: &str,
    workspace: &str,
    plan: &Preview,
    titles: &ItemTitles,
) -> String {
    let mut out = format!("Plan for {subject} in workspace {workspace}\n");
    // Writing to a String cannot fail, here and below.
    if !plan.refusals.is_empty() {
        let count = counted(plan.refusals.len(), "refusal");
        let _ = writeln!(out, "\nIt cannot be applied as asked: {count}");
        for refusal in &plan.refusals {
            let about = refusal.reference.as_deref();
            let about = about.map(|reference| titles.of(reference));
            let about = about.map_or_else(String::new, |about| format!(" {about}"));
            let why = printable::line(&refusal.detail);
            let _ = write!(out, "\n{}{about}\n  {why}\n", refusal.code);
        }
        upgrade_view::upgrade(&mut out, plan, titles);
        return out;
    }
    let _ = writeln!(out, "\nCreate: {}", kinds(&plan.create));
    for one in plan
        .create
        .iter()
        .filter(|one| one.kind != RecordKind::Column)
    {
        let (kind, reference) = (one.kind.noun(), &one.reference);
        // An automation has its name alone.
        let name = Some(&one.name).filter(|name| **name != one.label);
        let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
        let text = format!("{kind} {:?}{name}, {reference}", one.label);
        let _ = writeln!(out, "  {}", printable::line(&text));
    }
    let (columns, kept): (Vec<_>, Vec<_>) = plan
        .bind
        .iter()
        .partition(|one| one.kind == RecordKind::Column);
    section(&mut out, "Keep, from an earlier apply", &kept, |one| {
        titles.with_kind(one.kind, &one.reference)
    });
    if !columns.is_empty() {
        if kept.is_empty() {
            out.push_str("\nKeep, from an earlier apply\n");
        }
        let _ = writeln!(out, "  {}", counted(columns.len(), "column"));
    }
    section(
        &mut out,
        "Rename, because the name is taken",
        &plan.rename,
        |one| {
            let of = titles.with_kind(one.kind, &one.reference);
            format!("{of}: {} -> {}", one.from, one.to)
        },
    );
    if !plan.replaced_configs.is_empty() {
        out.push_str("\nReplace configs\n");
    }
    plan.replaced_configs
        .iter()
        .for_each(|one| replaced(&mut out, one, titles));
    section(
        &mut out,
        "Drop config keys that the definitions do not have",
        &plan.dropped_keys,
        |key| format!("{}: {}", titles.of(&key.reference), key.path),
    );
    let tables: Vec<_> = plan.rows.iter().collect();
    section(&mut out, "Rows", &tables, |(table, rows)| {
        format!("{}  {}", titles.of(table), counts(rows))
    });
    upgrade_view::upgrade(&mut out, plan, titles);
    upgrade_view::not_carried(&mut out, &plan.not_carried, titles);
    section(&mut out, "Go live", &plan.go_live, |one| one.name.clone());
    drafts(&mut out, &plan.stays_draft);
    section(
        &mut out,
        "Secrets to enter by hand",
        &plan.redacted,
        |one| format!("{} {}", one.name, one.path),
    );
    out
}

fn replaced(out: &mut String, one: &ReplacedConfig, titles: &ItemTitles) {
    let of = match one.kind {
        // There is one.
        RecordKind::Workspace => one.kind.noun().to_owned(),
        kind => titles.with_kind(kind, &one.reference),
    };
    let _ = writeln!(out, "  {of}");
    let (before, after) = (pretty::lines(&one.before), pretty::lines(&one.after));
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let hunks = diff.unified_diff().context_radius(2).to_string();
    for line in hunks.lines() {
        let _ = writeln!(out, "    {}", printable::line(line));
    }
}

fn counts(rows: &RowsPreview) -> String {
    let links = match rows.dropped_links {
        1 => "link that finds no row",
        _ => "links that find no row",
    };
    let cells = |count: u64, what: &str| match count {
        1 => format!("cell {what}"),
        _ => format!("cells {what}"),
    };
    let counts = [
        (rows.update, "to update"),
        (rows.conflicts, &*cells(rows.conflicts, "in conflict")),
        (rows.kept, &*cells(rows.kept, "kept")),
        (rows.left, "left"),
        (rows.skipped, "written before"),
        (rows.existing, "left out"),
        (rows.dropped_links, links),
    ];
    let more = counts.iter().filter(|(count, _)| *count > 0);
    let more: Vec<String> = more
        .map(|(count, word)| format!(", {count} {word}"))
        .collect();
    let failed = match rows.failed {
        0 => String::new(),
        failed => format!(", {failed} TO FAIL ({})", reasons(rows)),
    };
    format!("{} to insert{}{failed}", rows.insert, more.concat())
}

/// `3 unique_violation in code, 1 quota_exceeded`.
fn reasons(rows: &RowsPreview) -> String {
    let reasons = rows.reasons.iter().map(|reason| {
        let column = reason.column.as_ref();
        let column = column.map(|column| format!(" in {column}"));
        let column = column.unwrap_or_default();
        format!("{} {}{column}", reason.count, reason.code)
    });
    reasons.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{RowsPreview, counts};

    #[test]
    fn rows_of_an_upgrade_are_counted_by_what_becomes_of_them() {
        let rows = RowsPreview {
            update: 3,
            conflicts: 1,
            kept: 2,
            skipped: 3,
            ..RowsPreview::default()
        };
        let text = "0 to insert, 3 to update, 1 cell in conflict, 2 cells kept, 3 written before";
        assert_eq!(counts(&rows), text);
    }
}
