//! The examples at the end of a command's `--help`.
//!
//! In: pairs of what a command line does and the line itself. Out: the text for `after_long_help`. The files
//! that the lines name are those of the folder `examples`. `tests/cli/examples.rs` runs the lines that need no
//! server, `server/tests/examples.rs` the others.

use clap::builder::StyledStr;

use super::args::STYLES;

/// The text for `after_long_help`.
pub(crate) fn examples(pairs: &[(&str, &str)]) -> StyledStr {
    let header = STYLES.get_header();
    let lines = pairs
        .iter()
        .map(|(purpose, line)| format!("  # {purpose}\n  {line}"));
    let lines: Vec<String> = lines.collect();
    StyledStr::from(format!(
        "{header}Examples:{header:#}\n{}",
        lines.join("\n\n")
    ))
}
