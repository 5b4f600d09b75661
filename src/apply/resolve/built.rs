//! What the steps of a package come to: records, columns, automations to publish.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::rewrite::{EmptiedField, Link};
use crate::apply::{Bound, NotPublished, Publish, StructureWork};
use crate::workspace::{AnyRecord, Column, Id};

/// What the steps come to.
#[derive(Debug, Default)]
pub(super) struct Built<'p> {
    pub(super) work: StructureWork,
    pub(super) bound: Vec<Bound>,
    pub(super) publish: Vec<Publish>,
    /// Automations that were live at the source and are not whole here.
    pub(super) not_published: Vec<NotPublished>,
    /// Columns that the package brings, by ref, in order.
    pub(super) columns: IndexMap<&'p str, BuiltColumn>,
    /// What the package says of every record, by ref, in order.
    pub(super) declared: IndexMap<&'p str, DeclaredRecord>,
    /// What this apply empties in automations that are there, by their refs.
    pub(super) emptied: HashMap<&'p str, Vec<EmptiedField<'p>>>,
}

/// What a package says of a record, in the destination's references.
#[derive(Debug, Clone)]
pub(super) struct DeclaredRecord {
    /// The record. What is not at the destination is marked.
    pub(super) record: AnyRecord,
    /// Its name in the package.
    pub(super) name: String,
    /// Whether it is created.
    pub(super) fresh: bool,
    /// Whether a blueprint says it.
    pub(super) blueprint: bool,
}

/// A column that the package brings, as it is when all steps are done.
#[derive(Debug)]
pub(super) struct BuiltColumn {
    /// Its table.
    pub(super) feature: Id,
    /// Its name in the package.
    pub(super) package_name: String,
    /// The column at the destination.
    pub(super) column: Column,
    /// What it points at, in refs.
    pub(super) link: Link,
}
