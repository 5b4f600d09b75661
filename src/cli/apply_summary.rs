//! Shows the report of an apply as text.

use std::fmt::Write as _;
use std::path::Path;

use tplkit::apply::{NotPublished, Report, UnresolvedEntry};
use tplkit::finding::render::counted;
use tplkit::package::model::{Action, Manifest, Reason, WireWord as _};
use tplkit::printable;
use tplkit::simulate::Simulation;
use tplkit::upgrade::MovedLeaf;
use tplkit::workspace::RecordKind;
use unicode_width::UnicodeWidthStr as _;

use super::item_titles::ItemTitles;
use super::sections::{kinds, section};
use super::upgrade_view;

/// The widest name of a table that others are lined up with.
const MAX_NAME_COLUMNS: usize = 32;

/// Whether rows may fail.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct FailedRows {
    /// Accept rows that could not be written, whatever the reason; without it the exit code is 68.
    #[arg(long)]
    accept_failed_rows: bool,
}

impl FailedRows {
    /// What could not be written, unless that is accepted.
    pub(crate) fn lost(self, report: &Report) -> Option<String> {
        if self.accept_failed_rows || !report.is_partial() {
            return None;
        }
        Some(match usize::try_from(report.failed_rows()) {
            Ok(0) if report.errors.is_empty() => {
                let moved = counted(report.moved.len(), "value");
                format!("{moved} changed by people meanwhile")
            }
            Ok(0) => format!("{} of the report", counted(report.errors.len(), "error")),
            Ok(rows) => format!("{} failed", counted(rows, "row")),
            Err(_) => "rows failed".to_owned(),
        })
    }
}

/// A simulation on one screen.
pub(crate) fn simulation(path: &Path, manifest: &Manifest, simulation: &Simulation) -> String {
    let mut out = format!("`{}` applied in memory\n", printable::path(path));
    created(&mut out, simulation);
    let titles = ItemTitles::of_manifest(manifest).with_plan(&simulation.preview);
    upgrade_view::upgrade(&mut out, &simulation.preview, &titles);
    report(&mut out, Some(manifest), &simulation.report);
    let live = &simulation.preview.go_live;
    section(&mut out, "Live from now on", live, |live| live.name.clone());
    drafts(&mut out, &simulation.report.not_published);
    let rows: u64 = simulation
        .again
        .rows
        .values()
        .map(|table| table.skipped)
        .sum();
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    // Writing to a String cannot fail, here and below.
    let _ = if simulation.again_changed {
        writeln!(
            out,
            "\nAgain: THE WORKSPACE CHANGED, which is a bug of tplkit"
        )
    } else {
        writeln!(out, "\nAgain: 0 changes, {} known", counted(rows, "row"))
    };
    let _ = if simulation.restored {
        writeln!(out, "Undo: the workspace is what it was before")
    } else {
        writeln!(out, "Undo: SOMETHING IS LEFT, which is a bug of tplkit")
    };
    out
}

fn created(out: &mut String, simulation: &Simulation) {
    let _ = writeln!(out, "\nCreated: {}", kinds(&simulation.preview.create));
    for replaced in &simulation.preview.replaced_configs {
        let kind = replaced.kind.as_str();
        let _ = writeln!(out, "Replaced: config of {kind} `{}`", replaced.reference);
        let _ = writeln!(out, "  before {}", replaced.before.write());
        let _ = writeln!(out, "  after  {}", replaced.after.write());
    }
}

/// The report of a job; what is not carried over is called by its label where the package is at
/// hand.
pub(crate) fn report(out: &mut String, manifest: Option<&Manifest>, report: &Report) {
    let known = manifest.map_or_else(ItemTitles::default, ItemTitles::of_manifest);
    if !report.rows.is_empty() {
        let _ = writeln!(out, "\nRows");
    }
    let titles: Vec<String> = report.rows.keys().map(|table| known.of(table)).collect();
    let longest = titles.iter().map(|title| title.width()).max();
    let width = longest.unwrap_or_default().min(MAX_NAME_COLUMNS);
    for (table, rows) in titles.iter().zip(report.rows.values()) {
        let counts = [
            (Some(rows.inserted), "inserted"),
            (positive(rows.updated), "updated"),
            (positive(rows.skipped), "written before"),
            (positive(rows.existing), "left out"),
            (positive(rows.failed), "FAILED"),
            (rows.linked, "links inside the table"),
        ];
        let counts: Vec<String> = counts
            .into_iter()
            .filter_map(|(count, word)| Some(format!("{} {word}", count?)))
            .collect();
        let pad = width.saturating_sub(table.width());
        let _ = writeln!(out, "  {table}{:pad$}  {}", "", counts.join(", "));
    }
    for error in &report.errors {
        let rows = match (error.first, error.last) {
            (first, last) if first == last => format!("row {first}"),
            (first, last) => format!("rows {first} to {last}"),
        };
        let text = format!(
            "{} {rows}: {} ({})",
            known.of(&error.reference),
            error.message,
            error.code
        );
        let _ = writeln!(out, "  {}", printable::line(&text));
    }
    for (table, rows) in &report.rows {
        if let Some(more) = positive(rows.errors_more) {
            let more = counted(usize::try_from(more).unwrap_or(usize::MAX), "error");
            let table = known.of(table);
            let _ = writeln!(out, "  {table}: {more} more");
        }
    }
    section(
        out,
        "Renamed, because the name is taken",
        &report.renamed,
        |renamed| {
            let of = known.with_kind(renamed.kind, &renamed.reference);
            format!("{of}: {} -> {}", renamed.from, renamed.to)
        },
    );
    section(
        out,
        "Config keys that the definitions do not have",
        &report.dropped_keys,
        |key| format!("{}: {}", known.of(&key.reference), key.path),
    );
    section(
        out,
        "Changed by people meanwhile, and left",
        &report.moved,
        |leaf| moved(&known, leaf),
    );
    undo_left(out, report, &known);
    upgrade_view::not_carried(out, &report.not_carried, &known);
    let (brought, new): (Vec<_>, Vec<_>) = report
        .unresolved
        .iter()
        .partition(|entry| entry.source.is_some());
    let line = |entry: &&UnresolvedEntry| unresolved(manifest, entry);
    section(out, "Not carried over by this apply", &new, line);
    section(out, "Not carried over by the export", &brought, line);
}

/// What an undo leaves as people made it.
fn undo_left(out: &mut String, report: &Report, known: &ItemTitles) {
    let heading = "Changed by people since, and left by the undo";
    section(out, heading, &report.undo_left, |leaf| moved(known, leaf));
}

/// What the undo of a job did with values that the job had changed; nothing where it changed none.
pub(crate) fn undone(report: &Report) -> String {
    let mut out = String::new();
    let left = report.undo_left.iter().filter(|left| left.kind.is_some());
    let back = report.structure_updated.saturating_sub(left.count() as u64);
    if back > 0 {
        let _ = writeln!(out, "Back as before: {} of records", values(back));
    }
    undo_left(&mut out, report, &ItemTitles::default());
    out
}

/// `1 value`, `2 values`.
pub(crate) fn values(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "value")
}

/// Automations that do not go live, with what is left to do by hand.
pub(crate) fn drafts(out: &mut String, drafts: &[NotPublished]) {
    if drafts.is_empty() {
        return;
    }
    out.push_str("\nLive at the source, drafts here until these fields are entered by hand\n");
    for draft in drafts {
        let name = format!("{} ({})", draft.name, draft.reference);
        let _ = writeln!(out, "  {}", printable::line(&name));
        for because in &draft.because {
            let why = why(&because.reason);
            let text = match because.path.as_str() {
                "" => format!("{why} ({})", because.reason),
                path => format!("{path}: {why} ({})", because.reason),
            };
            let _ = writeln!(out, "    {}", printable::line(&text));
        }
    }
}

/// A reason of a place that has to be completed, in words.
fn why(reason: &str) -> String {
    match reason {
        "redacted" => "a secret that the export left out".to_owned(),
        "secret_empty" => "an empty secret".to_owned(),
        "workflow_moved" => "somebody published another version meanwhile".to_owned(),
        reason => match Reason::parse(reason) {
            Some(reason) => reason.in_words().to_owned(),
            None => "not valid as it is".to_owned(),
        },
    }
}

/// A leaf or a cell that people changed, or a row; of cells that are not shown how many.
fn moved(known: &ItemTitles, moved: &MovedLeaf) -> String {
    let place = moved.path.as_deref().or(moved.column.as_deref());
    let cells = moved.count.map(hidden_cells);
    // A row that does not come back has no more than its id.
    let row = moved.id.filter(|_| moved.kind.is_none());
    let row = row.map(|row| format!("row {row}"));
    let place = place.map(str::to_owned).or(cells).or(row);
    let place = place.unwrap_or_default();
    format!("{} {place}", known.of(&moved.reference))
}

fn hidden_cells(count: u64) -> String {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    counted(count, "hidden cell")
}

fn positive(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}

/// `automation "Remind", path: emptied; … (code)`.
fn unresolved(manifest: Option<&Manifest>, entry: &UnresolvedEntry) -> String {
    let owner = match manifest {
        None => entry.uid.clone(),
        Some(manifest) => {
            let item = manifest.items().iter().find(|item| item.uid == entry.uid);
            item.map_or_else(
                || "the workspace".to_owned(),
                |item| {
                    let word = item.kind.word();
                    let kind = RecordKind::parse(word).map_or(word, RecordKind::noun);
                    format!("{kind} {:?}", item.label)
                },
            )
        }
    };
    let what = match (&entry.reference, &entry.source_label) {
        (Some(reference), _) => format!("`{reference}`: "),
        (None, Some(label)) => format!("{label:?} "),
        (None, None) => String::new(),
    };
    let reason = Reason::parse(&entry.reason).map_or("", Reason::in_words);
    let action = Action::parse(&entry.action).map_or("", Action::in_words);
    let required = entry.required.map(|_| ", required").unwrap_or_default();
    let rows = entry.count.map(|count| {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        format!(", {}", counted(count, "row"))
    });
    format!(
        "{owner}, {}: {action}{}; {what}{reason} ({}{required})",
        entry.path,
        rows.unwrap_or_default(),
        entry.reason,
    )
}
