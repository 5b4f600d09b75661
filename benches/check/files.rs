//! Commands that go through a whole package once: comparing two, and taking one apart.

use std::io;
use std::path::Path;

use serde::de::IgnoredAny;
use tplkit::diff::Diff;
use tplkit::layout::{FileSink, WriteContent, unpack};
use tplkit::package::Source;
use tplkit::package::canonical::CanonicalError;

use crate::measure::measure;

/// Takes files and only counts them.
#[derive(Default)]
struct Counted(u64);

impl FileSink for Counted {
    fn create(&mut self, _: &str, fill: WriteContent<'_>) -> Result<(), CanonicalError> {
        fill(self)
    }
}

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both files are read by the yardstick of `diff`, one by that of `unpack`.
pub(crate) fn case(file: &Path, other: &Path, rounds: usize) {
    let (source, second) = (Source::open(file), Source::open(other));
    let (source, second) = (source.expect("opened"), second.expect("opened"));
    let (text, other) = (source.text().expect("text"), second.text().expect("text"));
    println!("the same file, and one with other rows");
    measure(
        rounds,
        [
            ("serde_json, IgnoredAny, 1 thread", &|| {
                serde_json::from_str::<IgnoredAny>(text).expect("JSON");
            }),
            ("diff", &|| {
                let diff = Diff::of(text, other, false).expect("packages");
                assert!(diff.rows.is_none());
            }),
            ("diff --rows", &|| {
                let diff = Diff::of(text, other, true).expect("packages");
                assert!(!diff.is_empty(), "the rows differ");
            }),
            ("unpack (into nothing)", &|| {
                let mut files = Counted::default();
                unpack(text, &mut files).expect("a package");
                assert!(files.0 > text.len() as u64 / 2);
            }),
        ],
    );
}
