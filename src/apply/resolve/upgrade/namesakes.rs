//! Columns of people that are called as one of the template was that they removed (`upgrade` 3.3.2). Configs name
//! columns by their names: the destination's name the one that lives, those of the base the one that is gone.

use std::collections::HashMap;

use super::decided_values::{own_table, table_of};
use super::{Base, Merging};
use crate::apply::resolve::absent_names::marked;
use crate::definitions::{ConfigFault, DeclaredValue, ReferenceKind, Visitor, walk_listed};
use crate::json::{Node, Value};
use crate::package::configs::{Edit, Edits, with_args};
use crate::upgrade::declared_fields;
use crate::workspace::{AnyRecord, Id, RecordKind, Structure};

/// The refs of columns of the base that are gone while people have one of that name, by table and name.
pub(super) struct Namesakes<'b>(HashMap<(Id, &'b str), &'b str>);

impl<'b> Namesakes<'b> {
    pub(super) fn of(base: &'b Base, destination: &Structure) -> Namesakes<'b> {
        let columns = base.all();
        let columns = columns.filter(|based| based.record.kind == RecordKind::Column);
        let gone = columns.filter_map(|based| {
            let (table, name) = (based.record.parent?, based.record.name.as_str());
            let here = destination.feature(table)?;
            let living = here.column_named(name)?;
            let is_gone = here.column(based.record.id).is_none();
            let is_of_people = base.get(living.id).is_none();
            (is_gone && is_of_people).then_some(((table, name), based.reference.as_str()))
        });
        Namesakes(gone.collect())
    }
}

impl Merging<'_, '_> {
    /// What the base says of a record, where a name of a column may stand for another column now: one that is gone is
    /// marked, and one that comes back has its new name. No list has that one: it comes in next to people's.
    pub(super) fn mark_namesakes(&self, base: AnyRecord, namesakes: &Namesakes<'_>) -> AnyRecord {
        if namesakes.0.is_empty() {
            return base;
        }
        let mut with_marks = base.clone();
        let Value::Object(config) = &mut with_marks.config else {
            return base;
        };
        let edits = with_args(config, |root| {
            let mut uses = Uses {
                merging: self,
                namesakes,
                record: &base,
                root,
                edits: Edits::default(),
            };
            walk_listed(root, &declared_fields(&base, self.definitions), &mut uses);
            uses.edits
        });
        // What was read is nested no deeper than a document may be.
        edits.unwrap_or_default().apply(config);
        with_marks
    }

    /// Whether an element of a list of a record names a column that its table has.
    pub(super) fn is_living(&self, record: &AnyRecord, element: &Value) -> bool {
        let table = own_table(record).and_then(|table| self.destination.feature(table));
        let column = element.as_str().zip(table);
        column.is_some_and(|(name, table)| table.column_named(name).is_some())
    }
}

/// Collects uses of names that stand for columns that are gone.
struct Uses<'m, 'd, 'a, 'p> {
    merging: &'m Merging<'a, 'p>,
    namesakes: &'m Namesakes<'m>,
    record: &'m AnyRecord,
    root: Node<'d>,
    edits: Edits,
}

impl<'d, 'f> Visitor<'d, 'f> for Uses<'_, 'd, '_, '_> {
    fn field(&mut self, spot: DeclaredValue<'d, 'f>) {
        let (Some(declared), Some(name)) = (spot.reference(), spot.node.as_str()) else {
            return;
        };
        if declared.kind != ReferenceKind::Column {
            return;
        }
        let table = table_of(self.record, declared.of.as_deref(), spot);
        let Some(reference) = table.and_then(|table| self.namesakes.0.get(&(table, name))) else {
            return;
        };
        let column = self.merging.bindings.record(reference);
        let edit = match column.filter(|column| !column.gone) {
            Some(_) if spot.node.key().is_none() => Edit::Remove,
            Some(column) => Edit::Set(column.name.as_str().into()),
            None => Edit::Set(marked(reference, name).into()),
        };
        self.edits.at(self.root, spot.node, edit);
    }

    fn fault(&mut self, _: ConfigFault<'d, 'f>) {}

    fn steps(&mut self, _: DeclaredValue<'d, 'f>) {}
}
