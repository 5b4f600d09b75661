//! A plan as Markdown that folds into a comment on a pull request (`upgrade` 3.7.5).

use tplkit::apply::{NotCarried, Preview};
use tplkit::finding::render::counted;
use tplkit::json::Value;
use tplkit::printable::{code, markdown as plain};
use tplkit::upgrade::{Conflict, KeptRecord, LeftRecord, Update};
use tplkit::workspace::RecordKind;

use super::{by_record, counted_cells};
use crate::cli::item_titles::ItemTitles;
use crate::cli::sections::kinds;

/// Lines at most, with those that fold them.
const MAX_LINES: usize = 200;

/// Longer values are cut.
const MAX_VALUE_CHARS: usize = 120;

/// A plan: conflicts first.
pub(crate) fn markdown(
    subject: &str,
    workspace: &str,
    plan: &Preview,
    titles: &ItemTitles,
) -> String {
    let mut items = Items::default();
    conflicts(&mut items, plan, titles);
    refusals(&mut items, plan);
    updates(&mut items, &plan.update, titles);
    kept(&mut items, &plan.kept, titles);
    rest(&mut items, plan, titles);
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
    // A blank line and the end of the fold; a blank line and one for what is left out.
    let room = MAX_LINES - head.len() - 4;
    let (shown, more) = items.cut(room);
    out.extend(shown);
    if let Some(more) = more {
        out.extend([String::new(), more]);
    }
    out.extend([String::new(), "</details>".to_owned()]);
    out.join("\n") + "\n"
}

/// What stands together: an entry of a list, or a record with the table of its leaves.
#[derive(Default)]
struct Item {
    /// Headings, and the head of the table.
    head: Vec<String>,
    /// What it says.
    entries: Vec<String>,
}

impl Item {
    fn len(&self) -> usize {
        self.head.len() + self.entries.len()
    }

    fn lines(self) -> impl Iterator<Item = String> {
        self.head.into_iter().chain(self.entries)
    }
}

#[derive(Default)]
struct Items {
    all: Vec<Item>,
    /// The heading of the items that follow: it stands before the first of them.
    heading: Vec<String>,
}

impl Items {
    fn section(&mut self, text: &str) {
        self.heading = heading("###", text);
    }

    fn add(&mut self, head: Vec<String>, entries: Vec<String>) {
        let mut above = std::mem::take(&mut self.heading);
        above.extend(head);
        self.all.push(Item {
            head: above,
            entries,
        });
    }

    /// A record with the leaves of it.
    fn record(&mut self, title: &str, columns: &[&str], leaves: Vec<String>) {
        let mut head = heading("####", title);
        head.push(format!("| {} |", columns.join(" | ")));
        head.push(format!("|{}", "---|".repeat(columns.len())));
        self.add(head, leaves);
    }

    fn list(&mut self, heading: &str, entries: impl Iterator<Item = String>) {
        self.section(heading);
        for entry in entries {
            self.add(Vec::new(), vec![format!("- {entry}")]);
        }
    }

    /// As many of the first items as have room, and what is said of the others. Only an item that has no room on its
    /// own is cut.
    fn cut(self, room: usize) -> (Vec<String>, Option<String>) {
        let mut shown = Vec::new();
        let mut items = self.all.into_iter().peekable();
        while let Some(item) = items.next_if(|item| shown.len() + item.len() <= room) {
            shown.extend(item.lines());
        }
        let rest: Vec<Item> = items.collect();
        let mut lines: usize = rest.iter().map(|item| item.entries.len()).sum();
        let more = rest.len();
        if let Some(first) = rest.into_iter().next().filter(|first| first.len() > room) {
            let free = room - shown.len();
            let entries = free.saturating_sub(first.head.len());
            if entries > 0 {
                shown.extend(first.lines().take(free));
                lines -= entries;
            }
        }
        let (items, lines) = (counted(more, "more item"), counted(lines, "line"));
        (
            shown,
            (more > 0).then(|| format!("… and {items}, {lines}.")),
        )
    }
}

fn heading(level: &str, text: &str) -> Vec<String> {
    vec![String::new(), format!("{level} {text}"), String::new()]
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
    match text.char_indices().nth(MAX_VALUE_CHARS) {
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

fn conflicts(items: &mut Items, plan: &Preview, titles: &ItemTitles) {
    if plan.conflicts.is_empty() {
        return;
    }
    items.section("Conflicts");
    let record = |one: &Conflict| (one.kind.clone(), one.reference.clone());
    for ((kind, reference), conflicts) in by_record(&plan.conflicts, record) {
        let leaves = conflicts.into_iter().map(|one| {
            let absent = |side: &str| one.absent.iter().any(|absent| absent == side);
            let path = one.path.as_deref().map_or("(whole)".to_owned(), code);
            let why = format!("{}{}", one.code.as_str(), counted_cells(one));
            format!(
                "| {path} | {} | {} | {} | {} |",
                cell(&one.ours, absent("ours")),
                cell(&one.theirs, absent("theirs")),
                cell(&one.base, absent("base")),
                plain(&why)
            )
        });
        let title = item(titles, &kind, &reference);
        items.record(
            &title,
            &["Path", "Before", "After", "Base", "Why"],
            leaves.collect(),
        );
    }
    if plan.conflicts_more > 0 {
        let more = usize::try_from(plan.conflicts_more).unwrap_or(usize::MAX);
        let more = format!("… and {}.", counted(more, "more cell"));
        items.add(vec![String::new()], vec![more]);
    }
}

fn refusals(items: &mut Items, plan: &Preview) {
    let refusals = plan.refusals.iter().map(|refusal| {
        let about = refusal.reference.as_deref().map(code).unwrap_or_default();
        format!(
            "{} {about} {}",
            code(refusal.code.as_str()),
            plain(&refusal.detail)
        )
    });
    items.list("Refused", refusals);
}

fn updates(items: &mut Items, updates: &[Update], titles: &ItemTitles) {
    if updates.is_empty() {
        return;
    }
    items.section("Changed");
    let record = |one: &Update| (one.kind.as_str().to_owned(), one.reference.clone());
    for ((kind, reference), updates) in by_record(updates, record) {
        let leaves = updates.into_iter().map(|one| {
            format!(
                "| {} | {} | {} |",
                code(&one.path),
                cell(&one.before, false),
                cell(&one.after, false)
            )
        });
        let title = item(titles, &kind, &reference);
        items.record(&title, &["Path", "Before", "After"], leaves.collect());
    }
}

fn kept(items: &mut Items, kept: &[KeptRecord], titles: &ItemTitles) {
    let kept = kept.iter().map(|one| {
        let path = one.path.as_deref().map(code).unwrap_or_default();
        let because = one.because.words();
        let of = item(titles, one.kind.as_str(), &one.reference);
        format!("{of} {path}: {} ({because})", cell(&one.ours, false))
    });
    items.list(KeptRecord::TITLE, kept);
}

fn rest(items: &mut Items, plan: &Preview, titles: &ItemTitles) {
    if !plan.create.is_empty() {
        let created = std::iter::once(plain(&kinds(&plan.create)));
        items.list("Created", created);
    }
    let replaced = plan.replaced_configs.iter();
    let replaced = replaced.map(|one| item(titles, one.kind.as_str(), &one.reference));
    items.list("Configs replaced", replaced);
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
    items.list("Rows", rows);
    let left = plan.left.iter().map(|one| {
        let goes = super::goes(one);
        let of = item(titles, one.kind.as_str(), &one.reference);
        format!("{of}{goes}")
    });
    items.list(LeftRecord::TITLE, left);
    let renames = plan.renames.iter().map(|one| {
        let from = item(titles, one.kind.as_str(), &one.from);
        format!("{from} → {}", titled(titles, &one.reference))
    });
    items.list("Perhaps renamed", renames);
    let not_carried = plan.not_carried.iter().map(|one| {
        let path = one.path.as_deref().map(code).unwrap_or_default();
        let theirs = one.theirs.as_ref().map(|value| cell(value, false));
        let of = item(titles, &one.kind, &one.reference);
        let count = one.count.map(|count| {
            let count = counted(usize::try_from(count).unwrap_or(usize::MAX), "cell");
            let required = one.required.map_or("", |_| ", required");
            format!("({count}{required})")
        });
        let detail = theirs.or(count).unwrap_or_default();
        format!("{of} {path} {detail}")
    });
    items.list(NotCarried::TITLE, not_carried);
    let unused = plan.unused.iter();
    let unused =
        unused.map(|one| format!("{} {}", titled(titles, &one.reference), code(&one.path)));
    items.list("Decisions of no use", unused);
    let live = plan.go_live.iter().map(|one| plain(&one.name));
    items.list("Go live", live);
}
