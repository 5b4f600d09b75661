//! The leaves of a record: what is compared, decided and written on its own (`upgrade` 3.3).

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::key::Key;
use super::shape;
use crate::definitions::{Definitions, Field, FieldType};
use crate::json::{Object, Value};
use crate::workspace::{AnyRecord, RecordKind};

/// The path of the order of siblings, a leaf of their parent; nothing for records that have no order.
pub const fn order_path(kind: RecordKind) -> Option<&'static str> {
    match kind {
        RecordKind::Module => Some("order.modules"),
        RecordKind::Rail => Some("order.rails"),
        RecordKind::Column => Some("order.columns"),
        _ => None,
    }
}

/// One leaf: a key, or several that go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The path of the key that names the others' target.
    pub path: String,
    /// Where it stands.
    pub keys: Vec<Key>,
    /// Whether its value is a list of references, which merges by element.
    pub list: bool,
}

/// The three sides of a record.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'s> {
    /// What the base says of it.
    pub base: &'s AnyRecord,
    /// What the package says of it.
    pub theirs: &'s AnyRecord,
    /// What the destination has.
    pub ours: &'s AnyRecord,
}

impl<'s> Sides<'s> {
    fn all(self) -> [&'s AnyRecord; 3] {
        [self.base, self.theirs, self.ours]
    }

    /// What a leaf is on each side: base, theirs, ours.
    pub fn values(self, leaf: &Leaf, definitions: &Definitions) -> [Value; 3] {
        if leaf.keys == [Key::Shape] {
            return self.shapes(definitions);
        }
        self.all().map(|record| leaf.value(record, definitions))
    }

    /// The steps that all sides have.
    fn common(self, definitions: &Definitions) -> std::collections::HashSet<String> {
        let steps = self.all().map(|record| graph_steps(record, definitions));
        shape::common(&steps.each_ref())
    }

    fn shapes(self, definitions: &Definitions) -> [Value; 3] {
        let common = self.common(definitions);
        let shapes = self.all();
        let shapes =
            shapes.map(|record| shape::shape(definitions, &record.part("graphConfig"), &common));
        // A key that is absent equals its default. What is written stays as it is said.
        let plain = shapes
            .each_ref()
            .map(|side| shape::without_defaults(definitions, side));
        let [mut base, mut theirs, ours] = shapes;
        if plain[1] == plain[2] {
            theirs.clone_from(&ours);
        }
        if plain[0] == plain[2] {
            base.clone_from(&ours);
        }
        if plain[0] == plain[1] {
            theirs.clone_from(&base);
        }
        [base, theirs, ours]
    }

    /// Gives an automation a shape; the steps that all sides have stay what they say in it.
    pub fn set_shape(self, record: &mut AnyRecord, shape: &Value, definitions: &Definitions) {
        let common = self.common(definitions);
        let known = graph_steps(record, definitions);
        let graph = shape::rebuilt(definitions, shape, &known, &common);
        super::key::set_part(record, "graphConfig", graph);
    }
}

fn graph_steps<'t>(
    record: &'t AnyRecord,
    definitions: &Definitions,
) -> IndexMap<&'t str, &'t Object> {
    let graph = record.config.get("graphConfig");
    graph.map_or_else(IndexMap::new, |graph| shape::steps(definitions, graph))
}

impl Leaf {
    fn one(key: Key) -> Leaf {
        Leaf {
            path: key.to_string(),
            keys: vec![key],
            list: false,
        }
    }

    /// What it is in a record: of several keys an object. A key that is absent equals its default.
    pub fn value(&self, record: &AnyRecord, definitions: &Definitions) -> Value {
        let value = |key: &Key| normal(key, record, definitions);
        match self.keys.as_slice() {
            [key] => value(key),
            keys => {
                let members = keys.iter().map(|key| (key.short(), value(key)));
                Value::Object(members.filter(|(_, value)| *value != Value::Null).collect())
            }
        }
    }

    /// A value that somebody wrote for it, as [`value`](Leaf::value) has those of records.
    pub fn plain(&self, written: Value, record: &AnyRecord, definitions: &Definitions) -> Value {
        match (self.keys.as_slice(), written) {
            ([Key::Shape], shape) => shape,
            ([key], written) => without_default(key, written, record, definitions),
            (keys, Value::Object(members)) => {
                let members = members.into_iter().map(|(name, member)| {
                    let key = keys.iter().find(|key| key.short() == name);
                    let member = match key {
                        Some(key) => without_default(key, member, record, definitions),
                        None => member,
                    };
                    (name, member)
                });
                Value::Object(
                    members
                        .filter(|(_, member)| *member != Value::Null)
                        .collect(),
                )
            }
            (_, written) => written,
        }
    }

    /// Makes it that in a record.
    pub fn set(
        &self,
        sides: Sides<'_>,
        record: &mut AnyRecord,
        value: &Value,
        definitions: &Definitions,
    ) {
        match self.keys.as_slice() {
            [Key::Shape] => sides.set_shape(record, value, definitions),
            [key] => key.set(record, value.clone(), definitions),
            keys => {
                for key in keys {
                    let part = value.get(&key.short()).cloned().unwrap_or_default();
                    key.set(record, part, definitions);
                }
            }
        }
    }
}

/// The value at a key; null for what equals the declared default.
fn normal(key: &Key, record: &AnyRecord, definitions: &Definitions) -> Value {
    without_default(key, key.get(record, definitions), record, definitions)
}

/// What is declared as default is absent.
fn without_default(
    key: &Key,
    value: Value,
    record: &AnyRecord,
    definitions: &Definitions,
) -> Value {
    let default = field(key, record, definitions).and_then(|field| field.default.as_ref());
    match default.and_then(|default| Value::parse(&default.to_string()).ok()) {
        Some(default) if default == value => Value::Null,
        _ => value,
    }
}

/// The declared keys of a record's config.
pub fn declared_fields<'f>(
    record: &AnyRecord,
    definitions: &'f Definitions,
) -> Vec<(&'f str, &'f Field)> {
    let keys = &definitions.config_keys;
    let own_type = record.own_type.as_deref().unwrap_or_default();
    let fields = match record.kind {
        RecordKind::Column => {
            let component = record.component.as_deref().unwrap_or_default();
            return definitions
                .column_fields(own_type, component)
                .unwrap_or_default();
        }
        RecordKind::View => definitions
            .view_types
            .get(own_type)
            .map(|kind| &kind.config),
        RecordKind::Workspace => Some(&keys.workspace),
        RecordKind::Module => Some(&keys.module),
        RecordKind::Rail => Some(&keys.rail),
        RecordKind::Feature => Some(&keys.feature),
        RecordKind::Workflow => None,
    };
    let fields = fields.into_iter().flatten();
    fields.map(|(name, field)| (name.as_str(), field)).collect()
}

/// The declaration of a key.
pub fn field<'f>(key: &Key, record: &AnyRecord, definitions: &'f Definitions) -> Option<&'f Field> {
    match key {
        Key::Config(name) | Key::Nth(_, name) => {
            let mut fields = declared_fields(record, definitions).into_iter();
            fields
                .find(|(known, _)| known == name)
                .map(|(_, field)| field)
        }
        Key::Step(id, name) => {
            let graph = record.config.get("graphConfig")?;
            shape::field(definitions, shape::step(definitions, graph, id)?, name)
        }
        _ => None,
    }
}

/// All leaves that base or package have, in an order that does not depend on the sides.
pub fn leaves(sides: Sides<'_>, definitions: &Definitions) -> Vec<Leaf> {
    let kind = sides.theirs.kind;
    let mut leaves = Vec::new();
    if kind == RecordKind::Workflow {
        leaves.extend([Key::Name, Key::Trigger, Key::Shape].map(Leaf::one));
        leaves.extend(step_leaves(sides, definitions));
        return leaves;
    }
    if kind != RecordKind::Workspace {
        leaves.push(Leaf::one(Key::Label));
    }
    // What the package does not give is not a leaf.
    if kind == RecordKind::Module && sides.theirs.icon.is_some() {
        leaves.push(Leaf::one(Key::Icon));
    }
    let typed = typed(sides, definitions);
    if matches!(kind, RecordKind::Column | RecordKind::View) {
        leaves.push(typed.clone());
        if kind == RecordKind::Column && typed.keys.len() == 1 {
            leaves.push(Leaf::one(Key::Component));
        }
    }
    leaves.extend(config_leaves(sides, &typed, definitions));
    leaves
}

/// The type, with what goes with it where it differs.
fn typed(sides: Sides<'_>, definitions: &Definitions) -> Leaf {
    let mut leaf = Leaf::one(Key::Type);
    let types = sides.all().map(|record| record.own_type.as_deref());
    if types.windows(2).all(|pair| pair[0] == pair[1]) {
        return leaf;
    }
    if sides.theirs.kind == RecordKind::Column {
        leaf.keys.push(Key::Component);
    }
    let declared = sides.all().map(|record| {
        let fields = declared_fields(record, definitions).into_iter();
        fields.map(|(name, _)| name).collect::<BTreeSet<_>>()
    });
    let all = declared.iter().flatten().collect::<BTreeSet<_>>();
    let own = all
        .into_iter()
        .filter(|name| !declared.iter().all(|fields| fields.contains(*name)));
    leaf.keys
        .extend(own.map(|name| Key::Config((*name).to_owned())));
    leaf
}

fn config_leaves(sides: Sides<'_>, typed: &Leaf, definitions: &Definitions) -> Vec<Leaf> {
    if sides.theirs.kind == RecordKind::Rail {
        let [base, theirs, ours] = sides.all().map(|record| record.objects().len());
        if base != theirs || theirs != ours {
            return vec![Leaf::one(Key::Whole)];
        }
        if base != 1 {
            let keys = |at: usize| {
                let names = names(sides, |record| record.objects().get(at)?.as_object());
                names.into_iter().map(move |name| Key::Nth(at, name))
            };
            let keys = (0..base).flat_map(keys).map(Leaf::one);
            return keys.map(|leaf| listed(leaf, sides, definitions)).collect();
        }
    }
    let names = names(sides, AnyRecord::object);
    let mut left: Vec<Key> = names
        .into_iter()
        .map(Key::Config)
        .filter(|key| !typed.keys.contains(key))
        .collect();
    let fields = declared_fields(sides.theirs, definitions);
    let mut leaves = Vec::new();
    for (head, members) in linked_fields(&fields) {
        let key = Key::Config(head.to_owned());
        let members: Vec<Key> = members
            .into_iter()
            .map(|name| Key::Config(name.to_owned()))
            .collect();
        leaves.extend(joined(sides, &mut left, key, members, definitions));
    }
    let rest = left.into_iter().map(Leaf::one);
    leaves.extend(rest.map(|leaf| listed(leaf, sides, definitions)));
    leaves
}

/// Config keys that base or package have.
fn names<'s>(
    sides: Sides<'s>,
    object: impl Fn(&'s AnyRecord) -> Option<&'s Object>,
) -> BTreeSet<String> {
    let objects = [sides.base, sides.theirs].map(object);
    let names = objects.into_iter().flatten().flat_map(Object::keys);
    names.cloned().collect()
}

/// Takes keys that go together out of those that are left, when what the first names differs.
fn joined(
    sides: Sides<'_>,
    left: &mut Vec<Key>,
    head: Key,
    members: Vec<Key>,
    definitions: &Definitions,
) -> Option<Leaf> {
    let [base, theirs, ours] = sides.all().map(|record| normal(&head, record, definitions));
    if (base == theirs && theirs == ours) || !left.contains(&head) {
        return None;
    }
    left.retain(|key| *key != head && !members.contains(key));
    let path = head.to_string();
    let mut keys = vec![head];
    keys.extend(members);
    Some(Leaf {
        path,
        keys,
        list: false,
    })
}

/// Keys that name a target, with those that name something inside it.
fn linked_fields<'f>(fields: &[(&'f str, &'f Field)]) -> Vec<(&'f str, Vec<&'f str>)> {
    let heads = fields.iter().map(|(head, _)| {
        let members = fields.iter().filter(|(_, field)| names_inside(field, head));
        (*head, members.map(|(name, _)| *name).collect::<Vec<_>>())
    });
    heads.filter(|(_, members)| !members.is_empty()).collect()
}

fn names_inside(field: &Field, head: &str) -> bool {
    let references = field.reference.iter().chain(&field.references);
    let mut inside = field.fields.iter().flat_map(|fields| fields.values());
    references
        .filter_map(|found| found.of.as_deref())
        .any(|of| of == head)
        || field
            .items
            .as_deref()
            .is_some_and(|field| names_inside(field, head))
        || inside.any(|field| names_inside(field, head))
}

/// Says whether a leaf is a list of references.
fn listed(mut leaf: Leaf, sides: Sides<'_>, definitions: &Definitions) -> Leaf {
    let [key] = leaf.keys.as_slice() else {
        return leaf;
    };
    leaf.list = field(key, sides.theirs, definitions).is_some_and(|field| {
        field.kind == FieldType::List && field.items.as_deref().is_some_and(Field::is_reference)
    });
    leaf
}

fn step_leaves(sides: Sides<'_>, definitions: &Definitions) -> Vec<Leaf> {
    let common = sides.common(definitions);
    let theirs = graph_steps(sides.theirs, definitions);
    let base = graph_steps(sides.base, definitions);
    let mut leaves = Vec::new();
    for (id, step) in theirs.iter().filter(|(id, _)| common.contains(**id)) {
        let own = [Some(step), base.get(id)].into_iter().flatten();
        let names: BTreeSet<String> = own
            .flat_map(|step| shape::keys(definitions, step))
            .collect();
        let mut left: Vec<Key> = names
            .into_iter()
            .map(|name| Key::Step((*id).to_owned(), name))
            .collect();
        let declared = step.get("key").and_then(Value::as_str);
        let declared = declared.and_then(|key| definitions.steps.get(key));
        let fields = declared.into_iter().flat_map(|step| &step.config);
        let fields: Vec<(&str, &Field)> =
            fields.map(|(name, field)| (name.as_str(), field)).collect();
        for (head, members) in linked_fields(&fields) {
            let key = |name: &str| Key::Step((*id).to_owned(), name.to_owned());
            let members = members.into_iter().map(key).collect();
            leaves.extend(joined(sides, &mut left, key(head), members, definitions));
        }
        leaves.extend(left.into_iter().map(Leaf::one));
    }
    leaves
}
