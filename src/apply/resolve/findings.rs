//! Side effects of an apply for its report: emptied fields, changed names, dropped keys.

use std::collections::HashSet;

use super::bindings::Cause;
use super::rewrite::{EmptiedField, Rewritten};
use crate::apply::{DroppedKey, RenamedRecord, UnresolvedEntry};
use crate::definitions::ReferenceKind;
use crate::package::model::{Action, Manifest, Reason, UnresolvedForm, WireWord as _};

/// The reason that a report gives for a field that becomes empty.
pub(super) fn reason_of(cause: &Cause<'_>) -> Reason {
    match cause {
        Cause::Skipped { .. } => Reason::DependencySkipped,
        Cause::LeftOut => Reason::NotSelected,
    }
}

/// What is reported.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) unresolved: Vec<UnresolvedEntry>,
    pub(super) renamed: Vec<RenamedRecord>,
    pub(super) dropped_keys: Vec<DroppedKey>,
    /// uid and path of entries: a create step and its update speak of one field.
    reported: HashSet<(String, String)>,
}

impl Findings {
    /// Begins with what the package says of itself.
    pub(super) fn of(manifest: &Manifest) -> Findings {
        let mut findings = Findings::default();
        let entries = manifest
            .layers()
            .map_or(&[][..], |layers| &layers.unresolved);
        for entry in entries {
            findings
                .reported
                .insert((entry.uid.clone(), entry.path.clone()));
            findings.unresolved.push(UnresolvedEntry::of_package(entry));
        }
        findings
    }

    /// Reports a field that became empty.
    pub(super) fn emptied(&mut self, uid: &str, emptied: &EmptiedField<'_>) {
        if !self.reported.insert((uid.to_owned(), emptied.path.clone())) {
            return;
        }
        let reason = reason_of(&emptied.cause);
        let (reference, required) = match emptied.cause {
            Cause::Skipped {
                dependency,
                required,
            } => (Some(dependency.to_owned()), required.then_some(true)),
            Cause::LeftOut => (None, None),
        };
        self.unresolved.push(UnresolvedEntry {
            uid: uid.to_owned(),
            path: emptied.path.clone(),
            kind: emptied.kind.as_str().to_owned(),
            form: emptied.form.word().to_owned(),
            source_label: None,
            reason: reason.as_str().to_owned(),
            action: Action::Emptied.as_str().to_owned(),
            count: None,
            reference,
            required,
            source: None,
        });
    }

    /// Reports all fields of a step that became empty.
    pub(super) fn all_emptied(&mut self, uid: &str, rewritten: &Rewritten<'_>) {
        for emptied in &rewritten.emptied {
            self.emptied(uid, emptied);
        }
    }

    /// Reports that a record has no place to be.
    pub(super) fn left_out(&mut self, uid: &str, argument: &str, cause: Cause<'_>) {
        let kind = match argument {
            "moduleId" => ReferenceKind::Module,
            "columnId" => ReferenceKind::Column,
            "viewId" => ReferenceKind::View,
            _ => ReferenceKind::Feature,
        };
        self.emptied(
            uid,
            &EmptiedField {
                path: argument.to_owned(),
                kind,
                form: UnresolvedForm::Uuid,
                cause,
            },
        );
    }

    /// Reports one config key that was dropped.
    pub(super) fn dropped_key(&mut self, reference: &str, path: &str) {
        let dropped = DroppedKey {
            reference: reference.to_owned(),
            path: path.to_owned(),
        };
        if !self.dropped_keys.contains(&dropped) {
            self.dropped_keys.push(dropped);
        }
    }

    /// Reports config keys that were dropped.
    pub(super) fn dropped(&mut self, reference: &str, rewritten: &Rewritten<'_>) {
        for path in &rewritten.dropped {
            self.dropped_key(reference, path);
        }
    }

    /// Reports the rows of a table.
    pub(super) fn rows(&mut self, uid: &str, reason: Reason, count: Option<u64>) {
        self.unresolved.push(UnresolvedEntry {
            uid: uid.to_owned(),
            path: "rows[]".to_owned(),
            kind: "rows".to_owned(),
            form: UnresolvedForm::Uuid.word().to_owned(),
            source_label: None,
            reason: reason.as_str().to_owned(),
            action: Action::Emptied.as_str().to_owned(),
            count,
            reference: None,
            required: None,
            source: None,
        });
    }
}
