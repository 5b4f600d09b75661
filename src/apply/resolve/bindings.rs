//! The bindings: the record at the destination for every ref of a package.

use std::collections::HashMap;

use crate::definitions::ReferenceKind;
use crate::package::model::UnresolvedForm;
use crate::workspace::{Id, RecordKind};

/// What a ref stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Binding<'p> {
    /// A record of the workspace (or of the organization's shared tables).
    Record(Record),
    /// A record that configs point at and that no step changes: a channel.
    Outside(Id),
    /// Something that configs name.
    Name(String),
    /// Nothing: every use becomes empty.
    Nothing(Cause<'p>),
}

/// A record at the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: RecordKind,
    pub(super) id: Id,
    /// Its technical name there: configs hold it instead of the id of a column.
    pub(super) name: String,
    /// The table of a column or view, the module of a rail.
    pub(super) parent: Option<Id>,
    /// Whether this job creates it now.
    pub(super) fresh: bool,
    /// Whether it replaces a record of an earlier job that was removed since.
    pub(super) anew: bool,
    /// Whether it is not there any more: uses of it are marked.
    pub(super) gone: bool,
}

/// Why a ref stands for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause<'p> {
    /// A dependency was skipped.
    Skipped { dependency: &'p str, required: bool },
    /// It has no place to be: its parent does not travel, or nothing declares it.
    LeftOut,
}

/// What a ref names, and how fields that are not declared hold it.
pub(super) type Named = (ReferenceKind, UnresolvedForm);

/// What all refs stand for, and of the names of dependencies that configs name.
#[derive(Debug, Default)]
pub(super) struct Bindings<'p> {
    refs: HashMap<&'p str, (Named, Binding<'p>)>,
    names: Vec<((ReferenceKind, &'p str), Binding<'p>)>,
}

impl<'p> Bindings<'p> {
    pub(super) fn bind(&mut self, reference: &'p str, named: Named, meaning: Binding<'p>) {
        self.refs.insert(reference, (named, meaning));
    }

    pub(super) fn bind_name(&mut self, kind: ReferenceKind, name: &'p str, meaning: Binding<'p>) {
        self.names.push(((kind, name), meaning));
    }

    /// What a ref stands for; nothing, when the package leaves it open who declares it.
    pub(super) fn of(&self, reference: &str) -> &Binding<'p> {
        self.refs
            .get(reference)
            .map_or(&Binding::Nothing(Cause::LeftOut), |(_, meaning)| meaning)
    }

    /// What a ref names, where the field does not say it.
    pub(super) fn declared(&self, reference: &str) -> Named {
        let declared = self.refs.get(reference).map(|(named, _)| *named);
        declared.unwrap_or((ReferenceKind::Feature, UnresolvedForm::Uuid))
    }

    /// The record that a ref stands for.
    pub(super) fn record(&self, reference: &str) -> Option<&Record> {
        match self.of(reference) {
            Binding::Record(record) => Some(record),
            _ => None,
        }
    }

    /// All records that refs stand for.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        let bindings = self.refs.values();
        bindings.filter_map(|(_, meaning)| match meaning {
            Binding::Record(record) => Some(record),
            _ => None,
        })
    }

    /// What a name in a field for that kind stands for, when it is a dependency's.
    pub(super) fn of_name(&self, kind: ReferenceKind, name: &str) -> Option<&Binding<'p>> {
        let mut names = self.names.iter();
        let found = names.find(|((known, of), _)| *known == kind && *of == name);
        found.map(|(_, meaning)| meaning)
    }
}

/// Mapped and created records are of these kinds; what else a reference names is outside.
pub(super) fn record_kind(kind: ReferenceKind) -> Option<RecordKind> {
    Some(match kind {
        ReferenceKind::Feature => RecordKind::Feature,
        ReferenceKind::Column => RecordKind::Column,
        ReferenceKind::View => RecordKind::View,
        ReferenceKind::Module => RecordKind::Module,
        ReferenceKind::Rail => RecordKind::Rail,
        ReferenceKind::WorkflowV2 => RecordKind::Workflow,
        _ => return None,
    })
}
