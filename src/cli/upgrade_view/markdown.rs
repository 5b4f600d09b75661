//! A plan as Markdown that folds into a comment on a pull request (`upgrade` 3.7.5).

use tplkit::apply::Preview;
use tplkit::finding::render::counted;
use tplkit::json::Value;
use tplkit::printable::{code, markdown as plain};
use tplkit::upgrade::{Conflict, KeptRecord, Update};
use tplkit::workspace::RecordKind;

use super::{by_record, counted_cells};
use crate::cli::item_titles::ItemTitles;
use crate::cli::sections::kinds;

/// Lines at most, with those that fold them.
const MOST: usize = 200;

/// Longer values are cut.
const LONGEST: usize = 120;

/// A plan: conflicts first.
pub(crate) fn markdown(
    subject: &str,
    workspace: &str,
    plan: &Preview,
    titles: &ItemTitles,
) -> String {
    let mut lines = Lines(Vec::new());
    conflicts(&mut lines, plan, titles);
    refusals(&mut lines, plan);
    updates(&mut lines, &plan.update, titles);
    kept(&mut lines, &plan.kept, titles);
    rest(&mut lines, plan, titles);
    let head = [
        format!(
            "**Plan for {} in workspace {}: {}**",
            code(subject),
            code(workspace),
            summary(plan)
        ),
        String::new(),
        "<details><summary>What it does</summary>".to_owned(),
    ];
    let mut out = head.to_vec();
    // A blank line and the end of the fold; one for what is left out.
    let room = MOST - head.len() - 4;
    let more = lines.0[room.min(lines.0.len())..].iter();
    let more = more.filter(|line| line.is_entry).count();
    out.extend(lines.0.into_iter().take(room).map(|line| line.text));
    if more > 0 {
        out.extend([String::new(), format!("… and {more} more.")]);
    }
    out.extend([String::new(), "</details>".to_owned()]);
    out.join("\n") + "\n"
}

struct Line {
    text: String,
    /// Whether it says something, and is no heading.
    is_entry: bool,
}

struct Lines(Vec<Line>);

impl Lines {
    fn raw(&mut self, text: &str) {
        self.0.push(Line {
            text: text.to_owned(),
            is_entry: false,
        });
    }

    fn entry(&mut self, text: String) {
        self.0.push(Line {
            text,
            is_entry: true,
        });
    }

    fn heading(&mut self, level: &str, text: &str) {
        self.raw("");
        self.raw(&format!("{level} {text}"));
        self.raw("");
    }

    fn list(&mut self, heading: &str, entries: impl Iterator<Item = String>) {
        let mut entries = entries.peekable();
        if entries.peek().is_none() {
            return;
        }
        self.heading("###", heading);
        for entry in entries {
            self.entry(format!("- {entry}"));
        }
    }

    /// The head of a table.
    fn table(&mut self, columns: &[&str]) {
        self.raw(&format!("| {} |", columns.join(" | ")));
        self.raw(&format!("|{}", "---|".repeat(columns.len())));
    }
}

fn summary(plan: &Preview) -> String {
    let counts = [
        (plan.conflict_count(), "conflict"),
        (plan.update.len(), "change"),
        (plan.create.len(), "new record"),
        (plan.kept.len(), "value kept"),
        (plan.left.len(), "record left"),
    ];
    let parts = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, noun)| match *noun {
            "value kept" => format!("{} kept", counted(*count, "value")),
            "record left" => format!("{} left", counted(*count, "record")),
            noun => counted(*count, noun),
        })
        .collect();
    if parts.is_empty() {
        "nothing to do".to_owned()
    } else {
        parts.join(", ")
    }
}

fn cell(value: &Value, absent: bool) -> String {
    if absent || *value == Value::Null {
        return "–".to_owned();
    }
    let text = value.write();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => code(&format!("{}…", &text[..at])),
        None => code(&text),
    }
}

/// A record by its kind, its label where that is known, and its ref.
fn item(titles: &ItemTitles, kind: &str, reference: &str) -> String {
    let known = RecordKind::parse(kind);
    let noun = known.map_or(kind, |known| known.noun());
    format!("{} {}", plain(noun), titled(titles, reference))
}

fn titled(titles: &ItemTitles, reference: &str) -> String {
    let label = titles
        .label(reference)
        .map(|label| format!("{} ", plain(label)));
    label.unwrap_or_default() + &code(reference)
}

fn conflicts(lines: &mut Lines, plan: &Preview, titles: &ItemTitles) {
    if plan.conflicts.is_empty() {
        return;
    }
    lines.heading("###", "Conflicts");
    let record = |one: &Conflict| (one.kind.clone(), one.reference.clone());
    for ((kind, reference), conflicts) in by_record(&plan.conflicts, record) {
        lines.heading("####", &item(titles, &kind, &reference));
        lines.table(&["Path", "Before", "After", "Base", "Why"]);
        for one in conflicts {
            let absent = |side: &str| one.absent.iter().any(|absent| absent == side);
            let path = one.path.as_deref().map_or("(whole)".to_owned(), code);
            let why = format!("{}{}", one.code.as_str(), counted_cells(one));
            lines.entry(format!(
                "| {path} | {} | {} | {} | {} |",
                cell(&one.ours, absent("ours")),
                cell(&one.theirs, absent("theirs")),
                cell(&one.base, absent("base")),
                plain(&why)
            ));
        }
    }
    if plan.conflicts_more > 0 {
        lines.raw("");
        let more = usize::try_from(plan.conflicts_more).unwrap_or(usize::MAX);
        lines.entry(format!("… and {}.", counted(more, "more cell")));
    }
}

fn refusals(lines: &mut Lines, plan: &Preview) {
    let refusals = plan.refusals.iter().map(|refusal| {
        let about = refusal.reference.as_deref().map(code).unwrap_or_default();
        format!(
            "{} {about} {}",
            code(refusal.code.as_str()),
            plain(&refusal.detail)
        )
    });
    lines.list("Refused", refusals);
}

fn updates(lines: &mut Lines, updates: &[Update], titles: &ItemTitles) {
    if updates.is_empty() {
        return;
    }
    lines.heading("###", "Changed");
    let record = |one: &Update| (one.kind.as_str().to_owned(), one.reference.clone());
    for ((kind, reference), updates) in by_record(updates, record) {
        lines.heading("####", &item(titles, &kind, &reference));
        lines.table(&["Path", "Before", "After"]);
        for one in updates {
            lines.entry(format!(
                "| {} | {} | {} |",
                code(&one.path),
                cell(&one.before, false),
                cell(&one.after, false)
            ));
        }
    }
}

fn kept(lines: &mut Lines, kept: &[KeptRecord], titles: &ItemTitles) {
    let kept = kept.iter().map(|one| {
        let path = one.path.as_deref().map(code).unwrap_or_default();
        let because = serde_json::to_value(one.because).unwrap_or_default();
        let because = because.as_str().unwrap_or_default().replace('_', " ");
        let of = item(titles, one.kind.as_str(), &one.reference);
        format!("{of} {path}: {} ({because})", cell(&one.ours, false))
    });
    lines.list("Stays as people made it", kept);
}

fn rest(lines: &mut Lines, plan: &Preview, titles: &ItemTitles) {
    if !plan.create.is_empty() {
        let created = std::iter::once(plain(&kinds(&plan.create)));
        lines.list("Created", created);
    }
    let replaced = plan.replaced_configs.iter();
    let replaced = replaced.map(|one| item(titles, one.kind.as_str(), &one.reference));
    lines.list("Configs replaced", replaced);
    let rows = plan.rows.iter().map(|(table, rows)| {
        format!(
            "{}: {} to insert, {} to update, {} known, {} left, {} to fail",
            titled(titles, table),
            rows.insert,
            rows.update,
            rows.skipped,
            rows.left,
            rows.failed
        )
    });
    lines.list("Rows", rows);
    let left = plan.left.iter().map(|one| {
        let goes = super::goes(one);
        let of = item(titles, one.kind.as_str(), &one.reference);
        format!("{of}{goes}")
    });
    lines.list("No longer in the package, and left", left);
    let renames = plan.renames.iter().map(|one| {
        let from = item(titles, one.kind.as_str(), &one.from);
        format!("{from} → {}", titled(titles, &one.reference))
    });
    lines.list("Perhaps renamed", renames);
    let not_carried = plan.not_carried.iter().map(|one| {
        let path = one.path.as_deref().map(code).unwrap_or_default();
        let theirs = one.theirs.as_ref().map(|value| cell(value, false));
        let of = item(titles, &one.kind, &one.reference);
        let count = one.count.map(|count| {
            let count = counted(usize::try_from(count).unwrap_or(usize::MAX), "cell");
            let required = one.required.map_or("", |_| ", required");
            format!("({count}{required})")
        });
        let said = theirs.or(count).unwrap_or_default();
        format!("{of} {path} {said}")
    });
    lines.list("In the package, and not carried over", not_carried);
    let unused = plan.unused.iter();
    let unused =
        unused.map(|one| format!("{} {}", titled(titles, &one.reference), code(&one.path)));
    lines.list("Decisions of no use", unused);
    let live = plan.go_live.iter().map(|one| plain(&one.name));
    lines.list("Go live", live);
}
