//! Decisions that did nothing, and those about nothing (`upgrade` 3.5.3).

use std::collections::{HashMap, HashSet};

use super::{Counterpart, Merging};
use crate::apply::Refusal;
use crate::json::path::split_dotted;
use crate::package::payload::RawEntry;
use crate::package::reference::WORKSPACE;
use crate::problem::Code;
use crate::upgrade::{EVERYTHING, RecordDecision, UnusedDecision, declared_fields};

/// The uids of rows by the refs of their tables.
type Rows<'a> = HashMap<&'a str, HashSet<String>>;

impl Merging<'_, '_> {
    /// Lists decisions that did nothing; those about nothing are refused.
    pub(super) fn unused(&mut self) {
        let unused = self.tracked.unused();
        let mut rows: Option<Rows<'_>> = None;
        for (reference, path, known) in unused {
            let stands = reference == WORKSPACE
                || self.built.said.contains_key(reference)
                || self.base.knows(reference);
            let detail = if !stands {
                format!(
                    "`decisions` names `{reference}`, which neither the package nor what was applied has."
                )
            } else if path.starts_with("rows.") {
                // Cells are merged after all tables.
                let rows = rows.get_or_insert_with(|| uids(self.payloads));
                if self.has_cell(reference, path, rows) {
                    continue;
                }
                format!(
                    "`decisions.{reference}` decides about `{path}`, which is no cell of the rows that the package has for it."
                )
            } else if path == EVERYTHING && self.may_decide_cells(reference) {
                self.work.words.insert(reference.to_owned());
                continue;
            } else if known
                || self.is_declared_key(reference, path)
                || path == EVERYTHING && self.knows_word(reference)
            {
                self.work.unused.push(UnusedDecision {
                    reference: reference.to_owned(),
                    path: path.to_owned(),
                });
                continue;
            } else if path == EVERYTHING {
                let word = self
                    .tracked
                    .word(reference)
                    .map_or("", RecordDecision::as_str);
                format!(
                    "`decisions.{reference}` says `{word}`, and nothing is to be decided there by that word. The plan of the upgrade lists what can be decided."
                )
            } else if self.earlier.has_merged(reference) {
                // A leaf that neither side has any more.
                continue;
            } else {
                format!(
                    "`decisions.{reference}` decides about `{path}`, which is no leaf of it. The plan of the upgrade lists the paths that can be decided."
                )
            };
            let code = Code::UnknownResolutionRef;
            self.refusals.push(Refusal::about(code, reference, detail));
        }
    }

    /// Whether it is a key that the config of a record may have: a leaf that neither side has any more is one.
    fn is_declared_key(&self, reference: &str, path: &str) -> bool {
        let segments = split_dotted(path);
        let ([config, key], Some(said)) = (segments.as_slice(), self.built.said.get(reference))
        else {
            return false;
        };
        let mut fields = declared_fields(&said.thing, self.definitions).into_iter();
        config == "config" && fields.any(|(name, _)| name == key)
    }

    /// Whether the rules know the word for a ref there, or an earlier job may have carried it out.
    fn knows_word(&self, reference: &str) -> bool {
        let Some(word) = self.tracked.word(reference) else {
            return true;
        };
        if reference == WORKSPACE {
            return false;
        }
        if !self.built.said.contains_key(reference) {
            return word == RecordDecision::Delete;
        }
        let counterpart = self.pairs.counterpart(reference);
        let away = matches!(
            counterpart,
            Counterpart::Removed(_) | Counterpart::Recreated(_) | Counterpart::LeftOut
        );
        let earlier = matches!(
            counterpart,
            Counterpart::Present(_) | Counterpart::Adopted(_)
        ) || away;
        let taken = || self.pairs.taken.iter().any(|(taken, _)| taken == reference);
        match word {
            RecordDecision::Rename => {
                let mut renames = self.pairs.renames.iter();
                earlier || renames.any(|rename| rename.reference == reference)
            }
            RecordDecision::Adopt | RecordDecision::Create => earlier || taken(),
            RecordDecision::Leave => away,
            RecordDecision::Delete => false,
        }
    }

    /// Whether the word for a ref is one of the sides, and the package has rows of it.
    fn may_decide_cells(&self, reference: &str) -> bool {
        let mut entries = self.payloads.iter();
        self.tracked.word(reference).is_none()
            && entries.any(|entry| entry.feature_ref == *reference)
    }

    /// Whether the package has a row and a column of a table at the path of a cell.
    fn has_cell(&self, reference: &str, path: &str, rows: &Rows<'_>) -> bool {
        let segments = split_dotted(path);
        let [_, uid, name] = segments.as_slice() else {
            return false;
        };
        let Some(table) = self.bindings.record(reference) else {
            return false;
        };
        let mut columns = self.built.columns.values();
        columns.any(|column| column.feature == table.id && column.package_name == *name)
            && rows.get(reference).is_some_and(|uids| uids.contains(uid))
    }
}

/// The uids of the rows of a package, by the refs of their tables.
fn uids<'a>(payloads: &'a [RawEntry<'a>]) -> Rows<'a> {
    let mut rows = Rows::new();
    for entry in payloads {
        let uids = entry.rows().map(|row| row.uid.decoded().into_owned());
        rows.entry(&entry.feature_ref).or_default().extend(uids);
    }
    rows
}

/// A decided value that a cell cannot hold.
pub(in crate::apply) fn unfit_decision(reference: &str, path: &str) -> Refusal {
    let detail = format!("`decisions.{reference}.{path}` is no value that can be written there.");
    Refusal::about(Code::ValidationFailed, reference, detail)
}
