//! The options of a bench: `--NAME VALUE`, in any order.

use std::str::FromStr;

/// A command line.
pub(crate) struct Arguments(Vec<String>);

impl Arguments {
    /// That of this process.
    pub(crate) fn read() -> Arguments {
        Arguments(std::env::args().skip(1).collect())
    }

    /// Whether it is enough to prove that it runs, on little: `cargo test --benches` passes no `--bench`.
    pub(crate) fn is_small(&self) -> bool {
        !self.0.iter().any(|argument| argument == "--bench")
    }

    /// What an option was given, if it was.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|argument| argument == name)?;
        self.0.get(at + 1).cloned()
    }

    /// The number that an option was given; without one the usual, or the other where little is enough.
    pub(crate) fn number<N: FromStr>(&self, name: &str, usual: N, small: N) -> N {
        match self.text(name) {
            Some(text) => text
                .parse()
                .unwrap_or_else(|_| panic!("{name} takes a number")),
            None if self.is_small() => small,
            None => usual,
        }
    }

    /// Whether a part is wanted: all are, unless `--only` names another.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.text("--only").is_none_or(|only| only == part)
    }
}
