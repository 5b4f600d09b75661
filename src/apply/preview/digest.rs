//! The digest of a plan: shows whether a saved plan is still what an apply would do now.

use std::fmt::Write as _;
use std::io;

use sha2::{Digest as _, Sha256};

use crate::apply::{Approved, Refusal, Request, Resolution};
use crate::package::canonical::{self, CanonicalError};
use crate::printable::hex;
use crate::problem::Code;

/// The digest of a package: of its text, byte by byte.
pub fn package_digest(text: &str) -> String {
    hex(Sha256::digest(text.as_bytes()).as_slice())
}

/// The digest of a package's canonical form: of its content, however the file or the files of a
/// folder are laid out. The `$schema` of its root is for editors and no content.
pub fn content_digest(text: &str) -> String {
    write_content(text, &mut io::sink()).unwrap_or_else(|_| package_digest(text))
}

/// Writes the canonical form of a package piece by piece, and gives its [`content_digest`]: the package is gone
/// through once, and never held.
///
/// # Errors
/// When it has none, or could not be written; the sink may hold a part of it.
pub fn write_content(text: &str, sink: &mut dyn io::Write) -> Result<String, CanonicalError> {
    let mut content = Content::over(sink);
    canonical::write_to(text, &mut content)?;
    Ok(content.digest())
}

/// Takes canonical text into a digest, without the line of `$schema` that it may begin with, and hands all of it on.
struct Content<'s> {
    digest: Sha256,
    /// What it begins with, until that is known to be such a line or not.
    head: Vec<u8>,
    begun: bool,
    sink: &'s mut dyn io::Write,
}

impl<'s> Content<'s> {
    fn over(sink: &'s mut dyn io::Write) -> Content<'s> {
        Content {
            digest: Sha256::new(),
            head: Vec::new(),
            begun: false,
            sink,
        }
    }

    const OPENING: &'static [u8] = b"{\n";
    const SCHEMA: &'static [u8] = b"{\n  \"$schema\": \"";

    fn begin(&mut self) {
        let head = std::mem::take(&mut self.head);
        let line = &head[Self::OPENING.len().min(head.len())..];
        match line.iter().position(|byte| *byte == b'\n') {
            Some(end) if head.starts_with(Self::SCHEMA) => {
                self.digest.update(Self::OPENING);
                self.digest.update(&line[end + 1..]);
            }
            _ => self.digest.update(&head),
        }
        self.begun = true;
    }

    fn digest(mut self) -> String {
        self.begin();
        hex(self.digest.finalize().as_slice())
    }
}

impl io::Write for Content<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write_all(bytes)?;
        if self.begun {
            self.digest.update(bytes);
            return Ok(bytes.len());
        }
        self.head.extend_from_slice(bytes);
        let known = self.head.len().min(Self::SCHEMA.len());
        let is_other = self.head[..known] != Self::SCHEMA[..known];
        let mut ends = self.head.iter().filter(|byte| **byte == b'\n');
        if is_other || ends.nth(1).is_some() {
            self.begin();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Refuses a request whose plan is not the one that would be carried out now; a request without a
/// plan agrees to whatever is done.
pub fn fresh(plan: Option<&str>, digest: &str) -> Result<(), Refusal> {
    match plan {
        Some(plan) if plan != digest => Err(Refusal::new(
            Code::PlanStale,
            "the package, the request or the destination has changed since this plan was made. Plan again, look at it, and send its digest.",
        )),
        _ => Ok(()),
    }
}

/// A digest that grows with what a preview rests on.
pub(super) struct Digest(Sha256);

impl Digest {
    /// Begins with package and request; which plan was looked at is not part of what is asked.
    pub(super) fn of(package: &str, request: &Request) -> Digest {
        let mut digest = Digest(Sha256::new());
        let mut request = Request {
            plan: None,
            ..request.clone()
        };
        // In which order somebody wrote it down changes nothing.
        request.resolutions.sort_unstable_keys();
        request.rows_modes.sort_unstable_keys();
        request.terms.decisions.sort_unstable_keys();
        for paths in request.terms.decisions.values_mut() {
            paths.sort_unstable_keys();
        }
        for resolution in request.resolutions.values_mut() {
            if let Resolution::Map {
                columns,
                leave_empty,
                ..
            } = resolution
            {
                columns.sort_unstable_keys();
                leave_empty.sort_unstable();
            }
        }
        digest.part(&package);
        digest.part(&request);
        digest
    }

    pub(super) fn refusals(&mut self, refusals: &[Refusal]) {
        self.part(&refusals);
    }

    /// Every decision. Of columns that rows enter only what rows are checked by counts: a label is
    /// nothing that an apply rests on.
    pub(super) fn approved(&mut self, approved: &Approved) {
        self.part(&approved.structure);
        self.part(&approved.row_steps.len());
        self.part(&approved.publish);
        self.part(&approved.not_published);
        self.part(&approved.bound);
        self.part(&approved.unresolved);
        self.part(&approved.renamed);
        self.part(&approved.dropped_keys);
        self.part(&approved.not_carried);
        self.part(&approved.upgrade);
        for table in &approved.tables {
            self.part(&(&table.uid, table.feature, &table.mode));
            for work in &table.columns {
                let column = &work.column;
                let compared = (&column.name, &column.column_type, &column.config);
                self.part(&(&work.package_name, column.id, compared, &work.link));
            }
        }
    }

    /// What was read of rows, and what follows from it.
    pub(super) fn read(&mut self, responses: &str) {
        self.part(&responses);
    }

    pub(super) fn finish(self) -> String {
        hex(self.0.finalize().as_slice())
    }

    /// Everything of a value, as its derived form shows it: what is added to a type later counts
    /// by itself. A digest lives as long as a plan, not longer than a version.
    fn part(&mut self, part: &dyn std::fmt::Debug) {
        // Writing into a hasher cannot fail; the mark keeps parts apart.
        let _ = write!(self, "{part:?}\u{1f}");
    }
}

impl std::fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}
