//! Decided values that a record cannot hold (`upgrade` 3.5.3): they are refused before anything is written, by the
//! rules for records that are written by hand.

use std::collections::BTreeSet;

use super::Merging;
use super::unused_decisions::unfit_decision;
use crate::apply::Refusal;
use crate::apply::resolve::bindings::record_kind;
use crate::apply::resolve::completeness::CompletenessCheck;
use crate::automation::{attached_files, each_secret};
use crate::definitions::{
    ConfigFault, DeclaredValue, Definitions, ReferenceKind, Visitor, walk_listed,
};
use crate::json::{Doc, Value};
use crate::package::size::MOST_LABEL;
use crate::upgrade::LeafDecision;
use crate::upgrade::{Key, Leaf, Sides, Take, declared_fields, leaves, record_faults};
use crate::workspace::{AnyRecord, Id, RecordKind};

/// Fields of every row, which views may name next to the columns.
const BUILTIN: [&str; 3] = ["id", "created_at", "updated_at"];

/// How a reference to a column says that it is of the table that the record is, or is in.
const OWN_TABLE: &str = "$feature";

impl Merging<'_, '_> {
    /// Refuses values that a record cannot hold. In a job, where people have changed since what they rest on, the
    /// leaves stay as they are.
    pub(super) fn check_values(&mut self, reference: &str, sides: Sides<'_>) {
        if !self.tracked.has_values(reference) {
            return;
        }
        let (mut unfit, mut secret, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for leaf in leaves(sides, self.definitions) {
            let [_, theirs, ours] = sides.values(&leaf, self.definitions);
            if theirs == ours {
                continue;
            }
            let read = |value: &Value| leaf.plain(self.read(value), sides.ours, self.definitions);
            let decided = self.tracked.at(reference, &leaf.path, &ours, &read);
            if let LeafDecision::Take(Take::Value(value)) = decided {
                let value = self.read(value);
                let found = secrets(&leaf, &value, self.definitions);
                if !found.is_empty() {
                    secret.push((leaf.path, found));
                } else if self.brings_file(&leaf, sides, &value) {
                    files.push(leaf.path);
                } else if value != ours && !self.fits(&leaf, sides, &value) {
                    unfit.push(leaf.path);
                }
            }
        }
        for path in unfit {
            self.refuse_value(reference, &path);
        }
        for (path, found) in secret {
            let why = format!(
                "it holds a secret ({found}), and decisions are kept in plain text; leave the field empty, and enter the secret in the workspace"
            );
            self.refuse_value_because(reference, &path, &why);
        }
        for path in files {
            let why = "it names a file, and files are chosen by whoever saves the automation; leave the field empty, and \
                       choose the file in the workspace";
            self.refuse_value_because(reference, &path, why);
        }
    }

    /// Whether a value has steps attach a file that they do not attach at the destination.
    fn brings_file(&self, leaf: &Leaf, sides: Sides<'_>, value: &Value) -> bool {
        if sides.ours.kind != RecordKind::Workflow {
            return false;
        }
        let files =
            |record: &AnyRecord| attached_files(self.definitions, &record.part("graphConfig"));
        let known = files(sides.ours);
        let mut sides_with_it = [sides.ours, sides.theirs].into_iter();
        sides_with_it.any(|side| {
            let mut record = side.clone();
            leaf.set(sides, &mut record, value, self.definitions);
            let mut named = files(&record).into_iter();
            named.any(|file| !known.contains(&file))
        })
    }

    /// Refuses a value that is decided for a leaf.
    pub(super) fn refuse_value(&mut self, reference: &str, path: &str) {
        self.tracked.refuses_value(reference, path);
        if !self.tracked.is_of_job() {
            self.refusals.push(unfit_decision(reference, path));
        }
    }

    /// The same, where it can be said what is wrong with the value.
    pub(super) fn refuse_value_because(&mut self, reference: &str, path: &str, why: &str) {
        self.tracked.refuses_value(reference, path);
        if !self.tracked.is_of_job() {
            let unfit = unfit_decision(reference, path);
            let detail = format!("{} What is wrong: {why}.", unfit.detail);
            self.refusals.push(Refusal { detail, ..unfit });
        }
    }

    /// Whether a record can hold a value at a leaf, as it is at the destination or as the package has it.
    fn fits(&self, leaf: &Leaf, sides: Sides<'_>, value: &Value) -> bool {
        if !is_of_shape(leaf, sides, value) {
            return false;
        }
        let known = [sides.ours, sides.theirs].map(|side| self.faults(side));
        [sides.ours, sides.theirs].into_iter().any(|side| {
            let mut record = side.clone();
            leaf.set(sides, &mut record, value, self.definitions);
            let mut faults = self.faults(&record).into_iter();
            faults.all(|fault| known.iter().any(|known| known.contains(&fault)))
        })
    }

    /// The fault that a write of such a record by hand reports.
    fn faults(&self, record: &AnyRecord) -> BTreeSet<String> {
        if record.kind == RecordKind::Workflow {
            let check = CompletenessCheck {
                manifest: self.manifest,
                destination: self.destination,
                gone: self.gone,
                bindings: self.bindings,
                columns: &self.built.columns,
                definitions: self.definitions,
            };
            return check.errors(record.id, &record.config);
        }
        let mut faults = record_faults(record, self.definitions);
        if !self.has_known_type(record) {
            let [own_type, component] = [&record.own_type, &record.component];
            faults.insert(format!("{own_type:?} {component:?}"));
        }
        let text = record.config.write();
        if let Ok(doc) = Doc::parse(&text) {
            let root = doc.root();
            let fields = declared_fields(record, self.definitions);
            let mut dangling = Dangling {
                merging: self,
                record,
                faults: &mut faults,
            };
            for object in root.elements().chain((!root.is_array()).then_some(root)) {
                walk_listed(object, &fields, &mut dangling);
            }
        }
        faults
    }

    /// Whether the type of a column or a view is declared, and goes with its component.
    fn has_known_type(&self, record: &AnyRecord) -> bool {
        let own_type = record.own_type.as_deref().unwrap_or_default();
        match record.kind {
            RecordKind::Column => {
                let known = self.definitions.column_types.get(own_type);
                let mut components = known.into_iter().flat_map(|known| &known.components);
                components.any(|known| Some(known) == record.component.as_ref())
            }
            RecordKind::View => self.definitions.view_types.contains_key(own_type),
            _ => true,
        }
    }

    /// Whether the workspace has a record when this upgrade has ended.
    fn stands(&self, kind: RecordKind, id: Id) -> bool {
        if self.gone.contains(&id) {
            return false;
        }
        let mut bound = self.bindings.records();
        let bound = bound.any(|record| record.kind == kind && record.id == id && !record.gone);
        bound || AnyRecord::find(self.destination, kind, id).is_some()
    }

    /// Whether a table has a column of that name when this upgrade has ended.
    fn has_column(&self, table: Id, name: &str) -> bool {
        if self.gone.contains(&table) {
            return false;
        }
        let mut bound = self.bindings.records();
        let bound = bound.any(|record| {
            (record.kind, record.parent) == (RecordKind::Column, Some(table))
                && record.name == name
                && !record.gone
        });
        let table = self.destination.feature(table);
        let column = table.and_then(|table| table.column_named(name));
        bound || column.is_some_and(|column| !self.gone.contains(&column.id))
    }
}

/// Where a value for a leaf holds secrets that are not empty.
fn secrets(leaf: &Leaf, value: &Value, definitions: &Definitions) -> String {
    let mut places = Vec::new();
    if leaf.keys == [Key::Shape] {
        each_secret(definitions, &mut value.clone(), &mut |at, _| {
            places.push(format!("`{}`", at.place));
        });
    }
    places.join(", ")
}

/// Whether a value is what can stand at a leaf at all: a text, or an object of the keys that go together.
fn is_of_shape(leaf: &Leaf, sides: Sides<'_>, value: &Value) -> bool {
    match leaf.keys.as_slice() {
        [Key::Label | Key::Name] => {
            let text = value.as_str().unwrap_or_default();
            !text.is_empty() && text.chars().count() <= MOST_LABEL
        }
        [Key::Icon] => value.as_str().is_some() || *value == Value::Null,
        [Key::Type | Key::Component] => value.as_str().is_some(),
        [Key::Shape | Key::Trigger] => {
            let theirs = match leaf.keys[0] {
                Key::Trigger => sides.theirs.part("triggerConfig"),
                _ => sides.theirs.part("graphConfig"),
            };
            theirs.as_object().is_some() == value.as_object().is_some()
                && theirs.as_list().is_some() == value.as_list().is_some()
        }
        [Key::Whole] => {
            let objects = value.as_list();
            objects.is_some_and(|list| list.iter().all(|one| one.as_object().is_some()))
        }
        [_] => true,
        keys => value.as_object().is_some_and(|members| {
            let mut members = members.keys();
            members.all(|member| keys.iter().any(|key| key.short() == *member))
        }),
    }
}

/// Collects references that name nothing.
struct Dangling<'m, 'a, 'p> {
    merging: &'m Merging<'a, 'p>,
    record: &'m AnyRecord,
    faults: &'m mut BTreeSet<String>,
}

impl Dangling<'_, '_, '_> {
    /// Whether a column of that name is in the table that the reference speaks of, as far as that is known.
    fn has_column(&self, of: Option<&str>, spot: DeclaredValue<'_, '_>, name: &str) -> bool {
        let is_view = self.record.kind == RecordKind::View;
        if of == Some(OWN_TABLE) && is_view && BUILTIN.contains(&name) {
            return true;
        }
        // What is wrong with the field that names the table is found there.
        let table = table_of(self.record, of, spot);
        table.is_none_or(|table| self.merging.has_column(table, name))
    }
}

/// The table that a reference to a column speaks of, as far as that is known.
pub(super) fn table_of(
    record: &AnyRecord,
    of: Option<&str>,
    spot: DeclaredValue<'_, '_>,
) -> Option<Id> {
    match of? {
        OWN_TABLE => own_table(record),
        "$envelope" => None,
        of => {
            let mut around = std::iter::successors(Some(spot.owner), |node| node.parent());
            Id::parse_str(around.find_map(|node| node.get_str(of))?).ok()
        }
    }
}

/// The table that a record is, or is in.
pub(super) fn own_table(record: &AnyRecord) -> Option<Id> {
    match record.kind {
        RecordKind::Feature => Some(record.id),
        _ => record.parent,
    }
}

impl<'d, 'f> Visitor<'d, 'f> for Dangling<'_, '_, '_> {
    fn field(&mut self, spot: DeclaredValue<'d, 'f>) {
        let (Some(reference), Some(text)) = (spot.reference(), spot.node.as_str()) else {
            return;
        };
        // An empty one names nothing, which is legal.
        let stands = text.is_empty()
            || match (reference.kind, record_kind(reference.kind)) {
                (ReferenceKind::Column, _) => self.has_column(reference.of.as_deref(), spot, text),
                (_, Some(kind)) => {
                    let id = Id::parse_str(text).ok();
                    id.is_some_and(|id| self.merging.stands(kind, id))
                }
                (_, None) => true,
            };
        if !stands {
            self.faults.insert(format!("nothing is {text:?}"));
        }
    }

    fn fault(&mut self, _: ConfigFault<'d, 'f>) {}

    fn steps(&mut self, _: DeclaredValue<'d, 'f>) {}
}
