//! Shows a difference as text, and as Markdown for a pull request.

use std::fmt::Write as _;

use super::{Change, ChangeKind, Diff, FieldChange, RowChange, RowsDiff, ThingKind};
use crate::printable::{self, code, line};

/// Longer values are cut in what people read.
const MAX_VALUE_CHARS: usize = 80;

/// The difference as text.
pub fn text(diff: &Diff) -> String {
    let mut out = String::new();
    for change in &diff.changes {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "{} {}", sign(change.change_kind), title(change));
        for field in &change.fields {
            let _ = writeln!(out, "    {}: {}", line(&field.path), arrow(field, cut));
        }
    }
    for rows in diff.rows.iter().flatten() {
        let _ = writeln!(
            out,
            "~ rows of {}: {}",
            line(&rows.table),
            counts(rows, line)
        );
        for row in &rows.first {
            let _ = writeln!(
                out,
                "    {} {}",
                sign(row.change_kind),
                row_text(row, cut, line)
            );
        }
        if let Some(more) = unlisted(rows) {
            let _ = writeln!(out, "    … and {more} more");
        }
    }
    let _ = writeln!(out, "{}", summary(diff));
    out
}

/// The difference as Markdown.
pub fn markdown(diff: &Diff) -> String {
    let mut out = format!("**{}**\n", summary(diff));
    let mut kind = None;
    for change in &diff.changes {
        if kind != Some(change.kind) {
            kind = Some(change.kind);
            let _ = write!(out, "\n### {}\n\n", heading(change.kind));
        }
        let label = change
            .label
            .as_ref()
            .map(|label| format!(" {}", plain(label)));
        let name = match change.kind {
            ThingKind::Catalog => "Manifest".to_owned(),
            _ => code(&change.name),
        };
        let _ = writeln!(
            out,
            "- {} {name}{}",
            word(change.change_kind),
            label.unwrap_or_default()
        );
        for field in &change.fields {
            let _ = writeln!(out, "  - {}: {}", code(&field.path), arrow(field, code_cut));
        }
    }
    let rows = diff.rows.as_deref().unwrap_or_default();
    if !rows.is_empty() {
        out.push_str("\n### Rows\n\n");
    }
    for rows in rows {
        let _ = writeln!(out, "- {}: {}", code(&rows.table), counts(rows, code));
        for row in &rows.first {
            let _ = writeln!(
                out,
                "  - {} {}",
                word(row.change_kind),
                row_text(row, code_cut, code)
            );
        }
        if let Some(more) = unlisted(rows) {
            let _ = writeln!(out, "  - … and {more} more");
        }
    }
    out
}

fn sign(change_kind: ChangeKind) -> char {
    match change_kind {
        ChangeKind::Added => '+',
        ChangeKind::Removed => '-',
        ChangeKind::Changed => '~',
    }
}

fn word(change_kind: ChangeKind) -> &'static str {
    match change_kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
    }
}

fn title(change: &Change) -> String {
    let mut title = change.kind.as_str().to_owned();
    if change.kind != ThingKind::Catalog && change.kind != ThingKind::Workspace {
        let _ = write!(title, " {}", line(&change.name));
    }
    if let Some(label) = &change.label {
        let _ = write!(title, " ({})", cut(label));
    }
    title
}

fn heading(kind: ThingKind) -> &'static str {
    match kind {
        ThingKind::Catalog => "Catalog",
        ThingKind::Feature => "Tables",
        ThingKind::Column => "Columns",
        ThingKind::View => "Views",
        ThingKind::Module => "Modules",
        ThingKind::Rail => "Navigation",
        ThingKind::Workflow => "Automations",
        ThingKind::Step => "Automation steps",
        ThingKind::Workspace => "Workspace",
        ThingKind::Rows => "Payloads",
        ThingKind::Dependency => "Dependencies",
        ThingKind::Unresolved => "Unresolved",
        ThingKind::Redacted => "Redacted",
        ThingKind::Other => "Other steps",
    }
}

fn arrow(field: &FieldChange, shown: fn(&str) -> String) -> String {
    match (&field.old, &field.new) {
        (Some(old), Some(new)) => format!("{} → {}", shown(old), shown(new)),
        (None, Some(new)) => format!("added {}", shown(new)),
        (Some(old), None) => format!("removed {}", shown(old)),
        (None, None) => String::new(),
    }
}

fn counts(rows: &RowsDiff, named: fn(&str) -> String) -> String {
    let by = rows.key.as_ref().map_or_else(
        || "compared whole".to_owned(),
        |key| format!("matched by {}", named(key)),
    );
    format!(
        "{} added, {} removed, {} changed, {by}",
        rows.added, rows.removed, rows.changed
    )
}

fn row_text(row: &RowChange, shown: fn(&str) -> String, named: fn(&str) -> String) -> String {
    let cells = row.cells.iter().map(|cell| {
        let value = match row.change_kind {
            ChangeKind::Changed => arrow(cell, shown),
            ChangeKind::Added | ChangeKind::Removed => shown(
                cell.new
                    .as_ref()
                    .or(cell.old.as_ref())
                    .map_or("", String::as_str),
            ),
        };
        format!("{}: {value}", named(&cell.path))
    });
    let cells: Vec<String> = cells.collect();
    match (&row.key, row.change_kind) {
        (Some(key), ChangeKind::Changed) => format!("{} {}", shown(key), cells.join("; ")),
        _ => cells.join("; "),
    }
}

fn unlisted(rows: &RowsDiff) -> Option<usize> {
    let more = (rows.added + rows.removed + rows.changed).saturating_sub(rows.first.len());
    (more > 0).then_some(more)
}

fn summary(diff: &Diff) -> String {
    let rows = match &diff.rows {
        None => " (rows not compared)",
        Some(_) => "",
    };
    if diff.is_empty() {
        return format!("No difference{rows}");
    }
    let count = |change_kind| {
        diff.changes
            .iter()
            .filter(|change| change.change_kind == change_kind)
            .count()
    };
    let of_rows =
        |count: fn(&RowsDiff) -> usize| -> usize { diff.rows.iter().flatten().map(count).sum() };
    let mut summary = format!(
        "{} added, {} removed, {} changed",
        count(ChangeKind::Added),
        count(ChangeKind::Removed),
        count(ChangeKind::Changed)
    );
    let (added, removed) = (of_rows(|rows| rows.added), of_rows(|rows| rows.removed));
    let changed = of_rows(|rows| rows.changed);
    if diff.rows.is_some() {
        let _ = write!(
            summary,
            "; rows: {added} added, {removed} removed, {changed} changed"
        );
    }
    summary + rows
}

fn cut(text: &str) -> String {
    let mut characters = text.chars();
    let mut cut: String = characters.by_ref().take(MAX_VALUE_CHARS).collect();
    if characters.next().is_some() {
        cut.push('…');
    }
    line(&cut)
}

fn code_cut(text: &str) -> String {
    code(&cut(text))
}

/// Text that Markdown would read otherwise.
fn plain(text: &str) -> String {
    printable::markdown(&cut(text))
}
