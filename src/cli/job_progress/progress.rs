//! Shows the progress of a job: a redrawn line on a terminal, elsewhere a line as each phase begins.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};
use tplkit::client::{Job, JobOutcome};
use tplkit::printable;

use crate::cli::session::Session;
use crate::cli::transfer_rate::with_pace;

/// The phases of an apply, in order (`service` 8).
const PHASES: [&str; 3] = ["structure", "rows", "publish"];

/// Of how many it is not known yet.
const WITHOUT_TOTAL: &str = "{spinner} {msg}";
const WITH_TOTAL: &str = "{spinner} {msg} {wide_bar} {pos}/{len}  {rate}  {rest} left";

/// Shows how far a job is.
pub(super) struct Progress<'s> {
    session: &'s Session,
    terminal: bool,
    bar: Option<ProgressBar>,
    /// The phase that was shown last, and whether its total was known.
    shown: Option<(String, bool)>,
}

impl<'s> Progress<'s> {
    pub(super) fn new(session: &'s Session) -> Progress<'s> {
        Progress {
            session,
            terminal: io::stderr().is_terminal() && !session.is_quiet(),
            bar: None,
            shown: None,
        }
    }

    pub(super) fn show(&mut self, job: &Job) {
        let progress = job.progress.as_ref();
        let phase = progress.and_then(|progress| progress.phase.as_ref());
        let phase = printable::line(phase.unwrap_or(&job.status));
        let total = progress.map_or(0, |progress| progress.total);
        let done = progress.map_or(0, |progress| progress.done);
        if !self.terminal {
            self.note(job, phase);
            return;
        }
        if job.ended().is_some() {
            return;
        }
        let now = (phase, total > 0);
        if self.shown.as_ref() != Some(&now) {
            // Another phase has another pace: the rate and the time that is left begin anew.
            self.clear();
            self.bar = Some(bar(&now.0, done, total));
            self.shown = Some(now);
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
            bar.tick();
        }
    }

    /// A line for each phase that has begun since the last look, also for those that were over before the next.
    fn note(&mut self, job: &Job, phase: String) {
        let ended = job.ended();
        if ended.is_some() && self.shown.is_none() {
            return;
        }
        let before = self.shown.take().map(|(phase, _)| phase);
        let at = |name: &str| PHASES.iter().position(|known| *known == name);
        let begun = match (at(&phase), ended) {
            (_, Some(JobOutcome::Completed)) => PHASES.len(),
            (Some(at), _) => at + 1,
            (None, _) => 0,
        };
        let from = before.as_deref().and_then(at).map_or(0, |at| at + 1);
        if begun > 0 {
            for name in &PHASES[from.min(begun)..begun] {
                self.session.note(format!("{name}…"));
            }
        } else if ended.is_none() && phase != "pending" && before.as_ref() != Some(&phase) {
            self.session.note(format!("{phase}…"));
        }
        self.shown = Some((phase, false));
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A line for a phase, with a bar where it is known of how many. What was done before it was drawn counts as done, and
/// not as done in an instant.
fn bar(phase: &str, done: u64, total: u64) -> ProgressBar {
    let template = if total > 0 { WITH_TOTAL } else { WITHOUT_TOTAL };
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(total).with_position(done);
    bar.set_style(with_pace(style, done, |rows| rows.to_string()));
    bar.set_message(phase.to_owned());
    bar
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
