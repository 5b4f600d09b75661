//! The session of a command: its output settings, and the clock and id source for the library.

use std::io;
use std::path::Path;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use jiff::Timestamp;
use tplkit::context::{Clock, Ids};
use tplkit::finding::render::Style;

use super::args::{Colour, Global};
use super::output::{
    has_links, print_note, print_note_with_link, print_styled_note, terminal_width,
};

/// One run of the command line.
#[derive(Debug)]
pub(crate) struct Session {
    colour: Colour,
    quiet: u8,
    verbose: u8,
}

impl Session {
    /// Takes the options that every command has.
    pub(crate) fn new(global: &Global) -> Session {
        Session {
            colour: global.color,
            quiet: global.quiet,
            verbose: global.verbose,
        }
    }

    /// How a text for people is written to `target` (standard output when there is none).
    pub(crate) fn style(&self, target: Option<&Path>) -> Style {
        let colour = match (self.colour, target) {
            (Colour::Always, _) => true,
            (Colour::Never, _) | (Colour::Auto, Some(_)) => false,
            (Colour::Auto, None) => automatic(&io::stdout()) != ColorChoice::Never,
        };
        Style {
            colour,
            quiet: self.quiet > 0,
            width: match target {
                Some(_) => None,
                None => terminal_width(&io::stdout()),
            },
            links: target.is_none() && has_links(&io::stdout()),
        }
    }

    /// How findings are written on the side, to standard error.
    pub(crate) fn note_style(&self) -> Style {
        let stderr = io::stderr();
        Style {
            colour: match self.colour {
                Colour::Always => true,
                Colour::Never => false,
                Colour::Auto => automatic(&stderr) != ColorChoice::Never,
            },
            quiet: self.quiet > 0,
            width: terminal_width(&stderr),
            links: has_links(&stderr),
        }
    }

    /// Whether results for people are wanted at all (`-qq` leaves the exit code alone).
    pub(crate) fn silent(&self) -> bool {
        self.quiet > 1
    }

    /// Whether nothing is wanted on the side.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet > 0
    }

    /// Whether people want to know more.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    /// Reports something on the side, unless quiet.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        if self.quiet == 0 {
            print_note(text.as_ref());
        }
    }

    /// Reports findings on the side, unless quiet: as they were rendered in [`Session::note_style`].
    pub(crate) fn styled_note(&self, text: &str) {
        if self.quiet == 0 {
            print_styled_note(text);
        }
    }

    /// Reports something on the side, unless quiet; a word of it leads to an address where the terminal has
    /// links.
    pub(crate) fn note_with_link(&self, text: &str, word: &str, address: &str) {
        if self.quiet == 0 {
            print_note_with_link(text, word, address);
        }
    }

    /// Prints a detail, with `--verbose` only.
    pub(crate) fn detail(&self, text: impl FnOnce() -> String) {
        if self.verbose > 0 {
            print_note(&text());
        }
    }
}

/// Whether a stream gets colours by default. Only a terminal does: `CLICOLOR_FORCE` forces none on a pipe.
pub(crate) fn automatic(stream: &impl RawStream) -> ColorChoice {
    if !stream.is_terminal() {
        return ColorChoice::Never;
    }
    // Knows NO_COLOR, CLICOLOR and TERM=dumb.
    AutoStream::choice(stream)
}

/// The time of this machine.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "the clock that is handed to the library"
        )]
        Timestamp::now()
    }
}

/// Ids from the random numbers of this machine.
pub(crate) struct RandomIds;

impl Ids for RandomIds {
    fn uuid(&mut self) -> String {
        #[expect(
            clippy::disallowed_methods,
            reason = "the ids that are handed to the library"
        )]
        uuid::Uuid::new_v4().to_string()
    }
}
