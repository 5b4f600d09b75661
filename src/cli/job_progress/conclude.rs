//! Output and exit code after waiting for a job.

use std::fmt::Write as _;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tplkit::apply::Report;
use tplkit::client::{Client, Job, JobOutcome, WithDocument};
use tplkit::finding::render::counted;
use tplkit::printable;

use super::{FollowResult, WaitOptions};
use crate::cli::apply_summary;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::interrupt_message;
use crate::cli::item_titles::template_manifest;
use crate::cli::job_titles::Names;
use crate::cli::output::{folded, print_note, write_result};
use crate::cli::resume_hint::ResumeHint;

/// What is known besides the job, and in which form it is reported.
pub(crate) struct OutcomeReport<'t> {
    /// Members of the document that go before the job's.
    pub(crate) members: &'t [(&'t str, Value)],
    pub(crate) form: Form,
    /// Whether an undo may be what was waited for: then it is well that the job is undone.
    pub(crate) undo: bool,
    /// Whether the id of the job is on standard output already, where people read it.
    pub(crate) id_shown: bool,
}

/// Reports how a job ended, or that it has not.
pub(crate) fn conclude(
    client: &Client,
    id: &str,
    followed: FollowResult,
    waiting: &WaitOptions,
    outcome: &OutcomeReport<'_>,
) -> Result<Exit, CliError> {
    let (job, undo) = match followed {
        FollowResult::Elapsed(job) => (job, false),
        FollowResult::Ended { job, undo } => (job, undo && outcome.undo),
    };
    let ended = job.record.ended();
    // What an undo took away was neither carried over nor lost.
    let report = job.record.report.as_ref();
    let report = report.filter(|_| ended == Some(JobOutcome::Completed));
    let open = report.map_or(0, |report| waiting.too_many(report));
    let lost = report.and_then(|report| waiting.lost(report));
    let exit = match ended {
        None => Exit::Running,
        Some(JobOutcome::Completed) if open > 0 || lost.is_some() => Exit::Partial,
        Some(JobOutcome::Completed) => Exit::Done,
        Some(JobOutcome::Undone) if undo => Exit::Done,
        Some(JobOutcome::Undone | JobOutcome::Failed) => Exit::Findings,
    };
    interrupt_message::leave(None);
    let written = match outcome.form {
        Form::Text => {
            // Scripts read the id of a job that goes on.
            let lacks_id = exit == Exit::Running && !outcome.id_shown;
            let first = lacks_id.then(|| format!("{}\n", printable::line(id)));
            let result = first.unwrap_or_default() + &folded(&text(client, &job));
            write_result(&result, None)
        }
        Form::Json => write_result(&document(id, &job, exit, outcome.members), None),
    };
    let hint = match exit {
        Exit::Running => ResumeHint::Job(id.to_owned()),
        _ => ResumeHint::Ended(id.to_owned()),
    };
    written.map_err(|error| hint.of(error))?;
    let words = match exit {
        Exit::Running => Some(format!(
            "error: job {id} still runs ({})\n  help: it goes on; `tplkit job watch {id}` waits for its end",
            printable::line(&job.record.status)
        )),
        Exit::Findings => Some(ended_badly(id, &job.record)),
        Exit::Partial => Some(in_part(id, open, lost)),
        _ => None,
    };
    if let Some(words) = words {
        print_note(&words);
    } else if report.is_some_and(Report::is_partial) {
        print_note("warning: some rows could not be written");
    }
    Ok(exit)
}

/// What was not written, and what was not carried over.
fn in_part(id: &str, open: usize, lost: Option<String>) -> String {
    let accept = match &lost {
        Some(_) => ". `--accept-failed-rows` accepts rows that failed",
        None => "",
    };
    let open = (open > 0).then(|| format!("{} not carried over", counted(open, "entry")));
    let what: Vec<String> = lost.into_iter().chain(open).collect();
    format!(
        "error: applied in part: {}\n  help: the report says which and why; fix it at the destination, or `tplkit job undo {id}`{accept}",
        what.join(", ")
    )
}

fn ended_badly(id: &str, job: &Job) -> String {
    if job.ended() == Some(JobOutcome::Undone) {
        return format!("error: job {id} was undone");
    }
    let why = job
        .failure()
        .map(|why| format!(": {why}"))
        .unwrap_or_default();
    format!(
        "error: job {id} failed{why}\n  help: what is written stays; `tplkit job resume {id}` goes on where it stopped, `tplkit job undo {id}` takes it away"
    )
}

/// A job with its report, for people.
pub(crate) fn text(client: &Client, job: &WithDocument<Job>) -> String {
    let record = &job.record;
    let mut out = format!("{}\n", printable::line(&record.status));
    // Writing to a String cannot fail, here and below.
    let Some(report) = &record.report else {
        return out;
    };
    if record.ended() == Some(JobOutcome::Undone) {
        out.push_str(match report.undo_left.as_slice() {
            [] => "\nThis is what it did; nothing of it is left\n",
            _ => "\nThis is what it did; what people changed since is left\n",
        });
    }
    let manifest = record
        .template_id
        .as_deref()
        .filter(|_| !report.unresolved.is_empty() || !report.rows.is_empty());
    let manifest = manifest.and_then(|id| template_manifest(client, id));
    if report.structure_updated > 0 {
        let values = apply_summary::values(report.structure_updated);
        let _ = writeln!(out, "\nChanged: {values} of records");
    }
    apply_summary::report(&mut out, manifest.as_ref(), report);
    if record.ended() == Some(JobOutcome::Undone) {
        return out;
    }
    if report.published > 0 {
        let count = usize::try_from(report.published).unwrap_or(usize::MAX);
        let _ = writeln!(out, "\nLive from now on: {}", counted(count, "automation"));
    }
    apply_summary::drafts(&mut out, &report.not_published);
    out
}

/// One line about a job.
pub(crate) fn summary(job: &Job, names: &Names) -> String {
    let or = |text: &Option<String>| {
        text.as_deref()
            .map_or_else(|| "-".to_owned(), printable::line)
    };
    let mut line = format!(
        "{}  {:<9}  template {}  workspace {}  {}",
        or(&job.id),
        printable::line(&job.status),
        names.title(job.template_id.as_deref()),
        names.title(job.workspace_id.as_deref()),
        or(&job.created_at)
    );
    if let Some(until) = job.locked_until().filter(|_| job.ended().is_none()) {
        let _ = write!(line, "  held until {}", printable::line(until));
    }
    line
}

/// A job as a document.
pub(crate) fn document(
    id: &str,
    job: &WithDocument<Job>,
    exit: Exit,
    members: &[(&str, Value)],
) -> String {
    let outcome = match exit {
        Exit::Done => "clean",
        Exit::Findings => "findings",
        Exit::Partial => "partial",
        _ => "failed",
    };
    let raw = |value: &Value| document::raw(value);
    let mut all: Vec<(&str, Box<RawValue>)> = Vec::new();
    for (name, value) in members {
        all.push((*name, raw(value)));
    }
    all.push(("job_id", raw(&json!(id))));
    all.push(("status", raw(&json!(job.record.status))));
    all.push(("job", job.document.clone()));
    let all: Vec<(&str, &RawValue)> = all.iter().map(|(name, value)| (*name, &**value)).collect();
    document::write_raw(outcome, &all)
}
