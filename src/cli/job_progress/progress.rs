//! Shows the progress of a job: a redrawn line on a terminal, otherwise one note per phase with
//! `--verbose`.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};
use tplkit::client::Job;
use tplkit::printable;

use crate::cli::session::Session;

/// Shows how far a job is.
pub(super) struct Progress<'s> {
    session: &'s Session,
    bar: Option<ProgressBar>,
    phase: String,
}

impl<'s> Progress<'s> {
    pub(super) fn new(session: &'s Session) -> Progress<'s> {
        let wanted = io::stderr().is_terminal() && !session.is_quiet();
        let bar = wanted.then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len}");
            let bar = ProgressBar::new(0);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress {
            session,
            bar,
            phase: String::new(),
        }
    }

    pub(super) fn show(&mut self, job: &Job) {
        let progress = job.progress.as_ref();
        let phase = progress.and_then(|progress| progress.phase.as_ref());
        let phase = phase.unwrap_or(&job.status);
        let phase = printable::line(phase);
        if let Some(bar) = &self.bar {
            bar.set_length(progress.map_or(0, |progress| progress.total));
            bar.set_position(progress.map_or(0, |progress| progress.done));
            bar.set_message(phase);
            bar.tick();
        } else if phase != self.phase {
            self.session.detail(|| format!("{phase}…"));
            self.phase = phase;
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
