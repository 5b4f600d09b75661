//! A baseline: known and accepted findings, so that only new ones are shown.
//!
//! An entry names a finding by path, code, pointer and a digest of its message, never by line, so
//! that it stays true while the file is edited around it. The file is meant for version control:
//! one entry per kind of finding with a count of equal ones, in a fixed order when it is written anew, in
//! its own order when entries are taken out.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::catalog::{J001, J010};
use super::{Located, digest};

/// The version of the file that is written and understood.
const VERSION: u32 = 1;

/// What one entry stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BaselineKey {
    /// Path of the package, with slashes, relative to the baseline's own folder where it can be.
    pub path: String,
    /// The rule.
    pub code: String,
    /// Where.
    pub pointer: String,
    /// Digest of the message.
    pub message: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    schema_version: u32,
    findings: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: String,
    code: String,
    pointer: String,
    message: String,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    count: usize,
}

fn one() -> usize {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_one(count: &usize) -> bool {
    *count == 1
}

/// A file that is not a baseline.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// Not the shape of one.
    #[error("it is not a baseline file: {0}")]
    Shape(#[from] serde_json::Error),
    /// Written by another edition.
    #[error("its schemaVersion is {0}, and this edition knows {VERSION}")]
    Version(u32),
}

/// Known findings with how many of each there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    known: IndexMap<BaselineKey, usize>,
}

impl Baseline {
    /// Reads a baseline file. An editor makes a file before it fills it: an empty one accepts nothing.
    pub fn parse(text: &str) -> Result<Baseline, BaselineError> {
        if text.trim().is_empty() {
            return Ok(Baseline::default());
        }
        let file: File = serde_json::from_str(text)?;
        if file.schema_version != VERSION {
            return Err(BaselineError::Version(file.schema_version));
        }
        let entries = file.findings.into_iter().map(|entry| {
            let Entry {
                path,
                code,
                pointer,
                message,
                count,
            } = entry;
            (
                BaselineKey {
                    path,
                    code,
                    pointer,
                    message,
                },
                count,
            )
        });
        Ok(Baseline {
            known: entries.collect(),
        })
    }

    /// The file's text.
    pub fn write(&self) -> String {
        let entries = self.known.iter().map(|(known, count)| Entry {
            path: known.path.clone(),
            code: known.code.clone(),
            pointer: known.pointer.clone(),
            message: known.message.clone(),
            count: *count,
        });
        let file = File {
            schema_version: VERSION,
            findings: entries.collect(),
        };
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Adds the findings of one package, each in its place in the fixed order.
    pub fn add(&mut self, path: &str, findings: &[Located]) {
        for finding in findings.iter().filter(|finding| !is_fixed(finding)) {
            *self.known.entry(key_of(path, finding)).or_default() += 1;
        }
        self.known.sort_unstable_keys();
    }

    /// Takes out what does not pass.
    pub fn retain(&mut self, passes: impl Fn(&BaselineKey) -> bool) {
        self.known.retain(|known, _| passes(known));
    }

    /// Takes out what is stale in `used`: this baseline after all findings were held against it.
    pub fn prune(&mut self, used: &Baseline, searched: &dyn Fn(&BaselineKey) -> bool) {
        for (known, unused) in used.stale(searched) {
            if let Some(count) = self.known.get_mut(known) {
                *count -= unused.min(*count);
            }
        }
        self.known.retain(|_, count| *count > 0);
    }

    /// How many findings it holds.
    pub fn len(&self) -> usize {
        self.known.values().sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Drops the findings of one package that are known, using each entry up as often as it counts.
    /// Gives how many were dropped. A file that is not JSON, and a broken folder, is never accepted.
    pub fn suppress(&mut self, path: &str, findings: &mut Vec<Located>) -> usize {
        let before = findings.len();
        findings.retain(|finding| {
            if is_fixed(finding) {
                return true;
            }
            match self.known.get_mut(&key_of(path, finding)) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        before - findings.len()
    }

    /// Entries that no finding used up, among those that were searched for: they can be removed.
    pub fn stale<'b>(
        &'b self,
        searched: &'b dyn Fn(&BaselineKey) -> bool,
    ) -> impl Iterator<Item = (&'b BaselineKey, usize)> {
        let left = self
            .known
            .iter()
            .filter(|(known, count)| **count > 0 && searched(known));
        left.map(|(known, count)| (known, *count))
    }
}

/// Whether everything that the findings are about was checked.
pub fn is_whole(findings: &[Located]) -> bool {
    !findings.iter().any(is_fixed)
}

/// Whether the finding cannot be accepted: a part of the package was not checked.
fn is_fixed(finding: &Located) -> bool {
    [&J001, &J010].contains(&finding.rule)
}

fn key_of(path: &str, finding: &Located) -> BaselineKey {
    BaselineKey {
        path: path.to_owned(),
        code: finding.rule.code.to_owned(),
        pointer: finding.spot.pointer.clone(),
        message: digest::message(finding),
    }
}

#[cfg(test)]
mod tests {
    use super::Baseline;

    #[test]
    fn an_empty_file_accepts_nothing() {
        for text in ["", " \r\n\t"] {
            assert_eq!(
                Baseline::parse(text).ok(),
                Some(Baseline::default()),
                "{text:?}"
            );
        }
        for text in ["{}", "[]", "null", "{"] {
            assert!(Baseline::parse(text).is_err(), "{text}");
        }
    }
}
