//! What commands share of the command line: options that all have, output formats, the style of help texts.
//!
//! Names no command; each declares its own arguments next to its code.

use clap::ValueEnum;
use clap::builder::styling::{AnsiColor, Styles};

/// No line of a help text is wider.
pub(crate) const MAX_HELP_COLUMNS: usize = 100;

/// The colours of help texts.
pub(crate) const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Blue.on_default().bold())
    .usage(AnsiColor::Blue.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Options that every command has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// When to colour the output; `auto` means on a terminal, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Colour,
    /// Print results only; twice: print nothing.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) quiet: u8,
    /// Print more on standard error.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal.
    Auto,
    /// In files and pipes too.
    Always,
    /// Never.
    Never,
}

/// Output formats of commands that are not a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Text to read.
    Text,
    /// One JSON document.
    Json,
}
