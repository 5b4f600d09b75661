//! Shows the progress of reading many pages, on a terminal.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::job_progress::with_rate;
use crate::cli::session::Session;

/// A line that is drawn over again; nothing where it would be in the way.
pub(in crate::cli::commands) struct Progress {
    wanted: bool,
    rows: u64,
    bar: Option<ProgressBar>,
}

/// Of how many it is not known.
const WITHOUT_TOTAL: &str = "{spinner} {pos} rows  {rate}";
const WITH_TOTAL: &str = "{spinner} rows {wide_bar} {pos}/{len}  {rate}  {eta} left";

impl Progress {
    /// `silent` when nothing is written before the end, so that the screen is free.
    pub(in crate::cli::commands) fn new(session: &Session, silent: bool) -> Progress {
        let free = silent || !io::stdout().is_terminal();
        Progress {
            wanted: free && io::stderr().is_terminal() && !session.is_quiet(),
            rows: 0,
            bar: None,
        }
    }

    /// So many rows more. One page is not worth a word.
    pub(in crate::cli::commands) fn add(&mut self, rows: usize) {
        self.add_of(rows, || None);
    }

    /// The same of a number that is asked for once it is worth a word.
    pub(in crate::cli::commands) fn add_of(
        &mut self,
        rows: usize,
        total: impl FnOnce() -> Option<u64>,
    ) {
        let first = self.rows == 0;
        self.rows += rows as u64;
        if !self.wanted || first {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let total = total();
            let template = total.map_or(WITHOUT_TOTAL, |_| WITH_TOTAL);
            let style = ProgressStyle::with_template(template);
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            bar.set_style(with_rate(
                style.unwrap_or_else(|_| ProgressStyle::default_spinner()),
            ));
            bar
        });
        bar.set_position(self.rows);
        bar.tick();
    }

    /// Takes the line away.
    pub(in crate::cli::commands) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
