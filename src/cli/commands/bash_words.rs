//! Completion in bash, which takes `--name=value` apart at the `=` and completes what stands behind it.
//!
//! In: the words as bash has them. Out: candidates for the last piece. All else is done as in other shells.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::engine;
use clap_complete::env::{Bash, EnvCompleter};

/// The completer of bash, for words that are whole again.
pub(super) struct WholeWordsBash;

impl EnvCompleter for WholeWordsBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn io::Write,
    ) -> io::Result<()> {
        Bash.write_registration(var, name, bin, completer, buf)
    }

    fn write_complete(
        &self,
        cmd: &mut Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn io::Write,
    ) -> io::Result<()> {
        let index = variable("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse().ok());
        let separator = variable("_CLAP_IFS").unwrap_or_else(|| "\n".to_owned());
        let line = Line::new(args, index.unwrap_or_default());
        let candidates = engine::complete(cmd, line.words, line.index, current_dir)?;
        let offered = candidates.iter().map(|candidate| {
            let value = candidate.get_value().to_string_lossy();
            let rest = value.strip_prefix(line.kept.as_str());
            rest.map_or_else(|| value.to_string(), str::to_owned)
        });
        let offered: Vec<String> = offered.collect();
        write!(buf, "{}", offered.join(&separator))
    }
}

/// What the script of the shell says next to the words.
#[expect(
    clippy::disallowed_methods,
    reason = "the shell hands it over in the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A line that is typed.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    words: Vec<OsString>,
    /// Which of them is completed.
    index: usize,
    /// What stands before the piece of it that bash replaces.
    kept: String,
}

impl Line {
    /// Puts `--name`, `=`, `value` together.
    fn new(pieces: Vec<OsString>, index: usize) -> Line {
        let mut line = Line {
            words: Vec::with_capacity(pieces.len()),
            index,
            kept: String::new(),
        };
        let mut pieces = pieces.into_iter().enumerate().peekable();
        while let Some((_, mut word)) = pieces.next() {
            let is_option = word.as_encoded_bytes().starts_with(b"--");
            if is_option && pieces.next_if(|(_, piece)| piece == "=").is_some() {
                word.push("=");
                if let Some((at, value)) = pieces.next() {
                    if at == index {
                        line.kept = word.to_string_lossy().into_owned();
                    }
                    if at <= index {
                        line.index -= 2;
                    }
                    word.push(value);
                }
            }
            line.words.push(word);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::Line;

    #[test]
    fn options_and_their_values_are_one_word() {
        for (pieces, index, words, new_index, kept) in [
            (
                "t check --select = R00",
                4,
                "t check --select=R00",
                2,
                "--select=",
            ),
            ("t a --x = 1 --y = 2", 7, "t a --x=1 --y=2", 3, "--y="),
            ("t a --x = 1 b", 5, "t a --x=1 b", 3, ""),
            ("t b --x = 1", 1, "t b --x=1", 1, ""),
            ("t a = b", 3, "t a = b", 3, ""),
            ("t --x y", 2, "t --x y", 2, ""),
        ] {
            let split = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
            let expected = Line {
                words: split(words),
                index: new_index,
                kept: kept.to_owned(),
            };
            assert_eq!(Line::new(split(pieces), index), expected, "{pieces}");
        }
    }
}
