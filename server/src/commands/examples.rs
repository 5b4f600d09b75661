//! The examples at the end of a command's `--help`: what a line does, and the line. `server/tests/examples.rs`
//! runs them. A line that is longer than a terminal is wide goes on in the next behind a backslash.

/// The text for `after_long_help`; `note` stands before the examples.
pub(super) fn examples(note: &str, pairs: &[(&str, &str)]) -> String {
    let lines = pairs
        .iter()
        .map(|(purpose, line)| format!("  # {purpose}\n  {}", line.replace('\n', "\n    ")));
    let lines: Vec<String> = lines.collect();
    let gap = if note.is_empty() { "" } else { "\n\n" };
    format!("{note}{gap}Examples:\n{}", lines.join("\n\n"))
}
