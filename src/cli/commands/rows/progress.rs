//! Shows the progress of reading many pages: a redrawn line on a terminal, elsewhere a line as it begins.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::session::Session;
use crate::cli::transfer_rate::with_pace;

/// A line that is drawn over again; nothing where it would be in the way.
pub(in crate::cli::commands) struct Progress<'s> {
    session: &'s Session,
    shows: Shows,
    rows: u64,
    bar: Option<ProgressBar>,
}

/// What can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// A line that is drawn over again.
    Bar,
    /// One line, when it begins.
    Line,
    Nothing,
}

/// Of how many it is not known.
const WITHOUT_TOTAL: &str = "{spinner} {pos} rows  {rate}";
const WITH_TOTAL: &str = "{spinner} rows {wide_bar} {pos}/{len}  {rate}  {rest} left";

impl<'s> Progress<'s> {
    /// `silent` when nothing is written before the end, so that the screen is free.
    pub(in crate::cli::commands) fn new(session: &'s Session, silent: bool) -> Progress<'s> {
        let free = silent || !io::stdout().is_terminal();
        let shows = match (session.is_quiet(), io::stderr().is_terminal()) {
            (false, true) if free => Shows::Bar,
            _ => Shows::Nothing,
        };
        Progress {
            session,
            shows,
            rows: 0,
            bar: None,
        }
    }

    /// Also where there is no terminal: a line as rows begin to come.
    pub(in crate::cli::commands) fn with_lines(mut self) -> Progress<'s> {
        if !self.session.is_quiet() && !io::stderr().is_terminal() {
            self.shows = Shows::Line;
        }
        self
    }

    /// A phase begins that has no rows.
    pub(in crate::cli::commands) fn begin(&self, phase: &str) {
        if self.shows == Shows::Line {
            self.session.note(format!("{phase}…"));
        }
    }

    /// So many rows more, of a number that is asked for once it is worth a word. One page is not.
    pub(in crate::cli::commands) fn add_of(
        &mut self,
        rows: usize,
        total: impl FnOnce() -> Option<u64>,
    ) {
        let first = self.rows == 0;
        self.rows += rows as u64;
        match self.shows {
            Shows::Line => {
                self.begin("rows");
                self.shows = Shows::Nothing;
            }
            _ if first => {}
            Shows::Nothing => {}
            Shows::Bar => {
                let bar = self.bar.get_or_insert_with(|| bar(total()));
                bar.set_position(self.rows);
                bar.tick();
            }
        }
    }

    /// Whether a total would be shown.
    pub(in crate::cli::commands) fn is_drawn(&self) -> bool {
        self.shows == Shows::Bar
    }

    /// Takes the line away.
    pub(in crate::cli::commands) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A line with a bar where it is known of how many.
fn bar(total: Option<u64>) -> ProgressBar {
    let template = total.map_or(WITHOUT_TOTAL, |_| WITH_TOTAL);
    let style = ProgressStyle::with_template(template);
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(with_pace(style, 0, |rows| rows.to_string()));
    bar
}
