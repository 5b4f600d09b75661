//! Decisions that did nothing, and those about nothing (`upgrade` 3.5.3).

use std::collections::{HashMap, HashSet};

use super::Merging;
use crate::apply::resolve::counterparts::Counterpart;
use crate::apply::{Refusal, RowBase};
use crate::json::path::split_dotted;
use crate::package::payload::RawEntry;
use crate::package::reference::WORKSPACE;
use crate::problem::Code;
use crate::upgrade::{
    EVERYTHING, RecordDecision, Sides, UnusedDecision, declared_fields, leaves, order_path,
};
use crate::workspace::RecordKind;

/// The uids of rows by the refs of their tables.
type Rows<'a> = HashMap<&'a str, HashSet<String>>;

impl Merging<'_, '_> {
    /// Lists decisions that did nothing; those about nothing are refused.
    pub(super) fn unused(&mut self) {
        let unused = self.tracked.unused();
        let mut rows: Option<Rows<'_>> = None;
        for (reference, path, known) in unused {
            let stands = reference == WORKSPACE
                || self.built.declared.contains_key(reference)
                || self.base.knows(reference);
            let detail = if !stands {
                format!(
                    "`decisions` names `{reference}`, which neither the package nor what was applied has."
                )
            } else if path.starts_with("rows.") {
                // Cells are merged after all tables.
                let rows = rows.get_or_insert_with(|| uids(self.payloads, self.row_bases));
                if self.has_cell(reference, path, rows) {
                    continue;
                }
                format!(
                    "`decisions.{reference}` decides about `{path}`, which is not a cell of the rows that the package or what was applied has for it."
                )
            } else if path == EVERYTHING && self.may_decide_cells(reference) {
                self.work.words.insert(reference.to_owned());
                continue;
            } else if known
                || self.has_leaf(reference, path)
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
                    "`decisions.{reference}` decides about `{path}`, which is not a leaf of it. The plan of the upgrade lists the paths that can be decided."
                )
            };
            let code = Code::UnknownResolutionRef;
            self.refusals.push(Refusal::about(code, reference, detail));
        }
    }

    /// Whether a record has a leaf there by the package or by what was applied, or may have the key: decided, it may
    /// be one that no side has any more.
    fn has_leaf(&self, reference: &str, path: &str) -> bool {
        if reference == WORKSPACE && path == "order.modules" {
            return true;
        }
        let declared = self
            .built
            .declared
            .get(reference)
            .map(|declared| &declared.record);
        let applied = self.base.ever();
        let applied = applied.filter(|based| based.reference == reference);
        let mut sides = applied.map(|based| &based.record).chain(declared);
        let segments = split_dotted(path);
        sides.any(|record| {
            let fields = declared_fields(record, self.definitions);
            let is_key = match segments.as_slice() {
                [config, key] if config == "config" => fields.iter().any(|(name, _)| name == key),
                _ => false,
            };
            let sides = Sides {
                base: record,
                theirs: record,
                ours: record,
            };
            let mut leaves = leaves(sides, self.definitions).into_iter();
            is_key || is_order(record.kind, path) || leaves.any(|leaf| leaf.path == path)
        })
    }

    /// Whether the rules know the word for a ref there, or an earlier job may have carried it out.
    fn knows_word(&self, reference: &str) -> bool {
        let Some(word) = self.tracked.word(reference) else {
            return true;
        };
        if reference == WORKSPACE {
            return false;
        }
        let mut applied = self.base.ever();
        let once = applied.any(|based| based.reference == reference);
        let declared = self.built.declared.contains_key(reference);
        let counterpart = self.pairs.counterpart(reference);
        let away = matches!(
            counterpart,
            Counterpart::Removed(_) | Counterpart::Recreated(_) | Counterpart::LeftOut
        );
        let found = self.earlier.has_found(reference);
        let taken = || self.pairs.taken.iter().any(|(taken, _)| taken == reference);
        match word {
            RecordDecision::Rename => {
                let mut renames = self.pairs.renames.iter();
                found || renames.any(|rename| rename.reference == reference)
            }
            RecordDecision::Adopt => {
                found || matches!(counterpart, Counterpart::Adopted(_)) || taken()
            }
            RecordDecision::Create | RecordDecision::Leave if !declared => once,
            RecordDecision::Create => *counterpart != Counterpart::New || taken(),
            RecordDecision::Leave => away || self.earlier.has_recreated(reference),
            // It went, and the package brings it once more.
            RecordDecision::Delete => !declared || once && *counterpart == Counterpart::New,
        }
    }

    /// Whether the word for a ref is one of the sides, and the package has rows of it.
    fn may_decide_cells(&self, reference: &str) -> bool {
        let mut entries = self.payloads.iter();
        self.tracked.word(reference).is_none()
            && entries.any(|entry| entry.feature_ref == *reference)
    }

    /// Whether the package, or what was applied, has a row and a column of a table at the path of a cell.
    fn has_cell(&self, reference: &str, path: &str, rows: &Rows<'_>) -> bool {
        let segments = split_dotted(path);
        let [_, uid, name] = segments.as_slice() else {
            return false;
        };
        let bound = self.bindings.record(reference).map(|table| table.id);
        let mut applied = self.base.ever();
        let applied = applied
            .find(|based| based.record.kind == RecordKind::Feature && based.reference == reference);
        let Some(table) = bound.or(applied.map(|table| table.record.id)) else {
            return false;
        };
        let mut columns = self.built.columns.values();
        let mut applied = self.base.ever().filter(|based| {
            let column = &based.record;
            (column.kind, column.parent) == (RecordKind::Column, Some(table))
        });
        let has_column = columns
            .any(|column| column.feature == table && column.package_name == *name)
            || applied.any(|based| based.package_name() == name);
        has_column && rows.get(reference).is_some_and(|uids| uids.contains(uid))
    }
}

/// The uids of the rows of a package and of those that were applied, by the refs of their tables.
fn uids<'a>(payloads: &'a [RawEntry<'a>], applied: &'a [RowBase<'a>]) -> Rows<'a> {
    let applied = applied.iter().flat_map(|base| &base.package.payloads);
    let mut rows = Rows::new();
    for entry in payloads.iter().chain(applied) {
        let uids = entry.rows().map(|row| row.uid.decoded().into_owned());
        rows.entry(&entry.feature_ref).or_default().extend(uids);
    }
    rows
}

/// Whether it is the path of the order of what is in a record of that kind.
fn is_order(kind: RecordKind, path: &str) -> bool {
    let inside = match kind {
        RecordKind::Feature => RecordKind::Column,
        RecordKind::Module => RecordKind::Rail,
        _ => return false,
    };
    order_path(inside) == Some(path)
}

/// A decided value that a cell cannot hold.
pub(in crate::apply) fn unfit_decision(reference: &str, path: &str) -> Refusal {
    let detail =
        format!("`decisions.{reference}.{path}` is not a value that can be written there.");
    Refusal::about(Code::ValidationFailed, reference, detail)
}
