//! The parts of a plan about an upgrade, as text.

use std::fmt::Write as _;

use tplkit::apply::{NotCarried, Preview};
use tplkit::finding::render::counted;
use tplkit::printable;
use tplkit::upgrade::{KeptRecord, LeftRecord, Update};

use super::decision::decisions_file;
use super::{by_record, inline_value};
use crate::cli::item_titles::ItemTitles;
use crate::cli::sections::section;

/// The parts of a plan about an upgrade.
pub(crate) fn upgrade(out: &mut String, preview: &Preview, titles: &ItemTitles) {
    conflicts(out, preview, titles);
    updates(out, &preview.update, titles);
    section(
        out,
        KeptRecord::TITLE,
        &preview.kept,
        |kept: &KeptRecord| {
            let path = kept.path.as_deref().unwrap_or("(whole)");
            let because = kept.because.words();
            let of = titles.with_kind(kept.kind, &kept.reference);
            format!("{of} {path}: {} ({because})", kept.ours.write())
        },
    );
    section(out, LeftRecord::TITLE, &preview.left, |left| {
        let goes = super::goes(left);
        let of = titles.with_kind(left.kind, &left.reference);
        format!("{of}{goes}")
    });
    section(out, "Perhaps renamed", &preview.renames, |rename| {
        let reference = &rename.reference;
        let (from, to) = (
            titles.with_kind(rename.kind, &rename.from),
            titles.of(reference),
        );
        format!("{from} → {to}: decide `\"{reference}\" = \"rename\"`")
    });
    section(out, "Decisions of no use", &preview.unused, |unused| {
        format!("{} {}", titles.of(&unused.reference), unused.path)
    });
}

/// Leaves that become something else, by record.
fn updates(out: &mut String, updates: &[Update], titles: &ItemTitles) {
    if updates.is_empty() {
        return;
    }
    out.push_str("\nChanged\n");
    let record = |update: &Update| (update.kind.as_str().to_owned(), update.reference.clone());
    for ((kind, reference), updates) in by_record(updates, record) {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "  {}", titles.with_word(&kind, &reference));
        for update in updates {
            let (before, after) = (inline_value(&update.before), inline_value(&update.after));
            let line = format!("{}: {before} → {after}", update.path);
            let _ = writeln!(out, "    {}", printable::line(&line));
        }
    }
}

/// What the package says and the destination does not get.
pub(crate) fn not_carried(out: &mut String, entries: &[NotCarried], titles: &ItemTitles) {
    section(out, NotCarried::TITLE, entries, |left| {
        let path = left.path.as_deref().unwrap_or("(whole)");
        let count = left.count.map_or(String::new(), |count| {
            format!(
                " ({})",
                counted(usize::try_from(count).unwrap_or(usize::MAX), "cell")
            )
        });
        let required = left.required.map_or("", |_| ", required");
        let count = count.replacen(')', &format!("{required})"), 1);
        let theirs = left.theirs.as_ref();
        let theirs = theirs.map_or(String::new(), |value| format!(": {}", value.write()));
        let of = titles.with_word(&left.kind, &left.reference);
        format!("{of} {path}{theirs}{count}")
    });
}

fn conflicts(out: &mut String, preview: &Preview, titles: &ItemTitles) {
    if preview.conflicts.is_empty() {
        return;
    }
    let count = preview.conflict_count();
    let _ = writeln!(
        out,
        "\n{}, to be decided in a resolutions file",
        counted(count, "conflict")
    );
    out.push_str(&decisions_file(preview, titles, &|_| None));
}
