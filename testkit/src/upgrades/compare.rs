//! Two workspaces compared by the refs and uids of one package: ids, positions and minted identities
//! aside, and what else there is.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value};
use tplkit::package::model::DataClass;
use tplkit::package::payload::RawRow;
use tplkit::rows::{Cell, equal};
use tplkit::upgrade::{Key, field};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::State;
use tplkit::workspace::{AnyRecord, Column, Id, RecordKind, Structure};

use super::changes::things;

/// Records by kind and ref, and rows by the refs of their tables and their uids.
pub(super) struct Content {
    pub(super) things: BTreeMap<(RecordKind, String), AnyRecord>,
    rows: BTreeMap<(String, u128), BTreeMap<String, String>>,
}

/// What refs and uids stand for, as ledgers record it.
#[derive(Default)]
struct Names {
    refs: HashMap<Id, String>,
    rows: HashMap<(Id, u128), Id>,
}

impl Names {
    fn of(entries: &[Entry]) -> Names {
        let mut names = Names::default();
        for entry in entries {
            match entry {
                Entry::Structure(done) => {
                    for made in done.created.iter().chain(&done.known) {
                        // A ref stands for one record at a time.
                        names.refs.retain(|_, known| *known != made.reference);
                        names.refs.insert(made.id, made.reference.clone());
                    }
                }
                Entry::Rows(written) => {
                    let rows = written.rows.iter().zip(&written.names.rows);
                    let rows = rows.map(|(row, name)| ((written.feature, name.uid), row.id));
                    names.rows.extend(rows);
                }
                Entry::Recognised(known) => {
                    let rows = known.rows.iter().zip(&known.names.rows);
                    let rows = rows.map(|(id, name)| ((known.feature, name.uid), *id));
                    names.rows.extend(rows);
                }
                _ => {}
            }
        }
        names
    }

    /// With refs in place of ids.
    fn named(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match Id::parse_str(text).ok().and_then(|id| self.refs.get(&id))
            {
                Some(reference) => format!("${reference}").into(),
                None => value.clone(),
            },
            Value::List(elements) => {
                Value::List(elements.iter().map(|one| self.named(one)).collect())
            }
            Value::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, one)| (key.clone(), self.named(one)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }
}

/// What is in a workspace of what a package and ledgers name.
pub(super) fn content(state: &State, entries: &[Entry]) -> Content {
    let names = Names::of(entries);
    let mut content = Content {
        things: BTreeMap::new(),
        rows: BTreeMap::new(),
    };
    for ((kind, id), thing) in things(&state.structure) {
        let reference = match kind {
            RecordKind::Workspace => "workspace".to_owned(),
            _ => match names.refs.get(&id) {
                Some(reference) => reference.clone(),
                None => continue,
            },
        };
        let config = names.named(&plain(&thing));
        let name = match kind {
            // Each workspace has its own.
            RecordKind::Workspace => String::new(),
            _ => thing.name.clone(),
        };
        let thing = AnyRecord {
            name,
            id: Id::nil(),
            parent: None,
            order: None,
            config,
            ..thing
        };
        content.things.insert((kind, reference), thing);
    }
    for ((feature, uid), id) in &names.rows {
        let rows = state.rows.get(feature).map_or(&[][..], Vec::as_slice);
        let row = rows.iter().find(|row| row.id == *id);
        let (Some(row), Some(table)) = (row, state.structure.feature(*feature)) else {
            continue;
        };
        let Some(reference) = names.refs.get(feature) else {
            continue;
        };
        let mut cells = BTreeMap::new();
        for column in table
            .columns
            .iter()
            .filter(|one| compares(&state.structure, one))
        {
            if let (Some(name), Some(cell)) =
                (names.refs.get(&column.id), row.data.cell(&column.name))
                && !Cell::new(cell).is_empty()
            {
                cells.insert(name.clone(), cell.to_owned());
            }
        }
        content.rows.insert((reference.clone(), *uid), cells);
    }
    content
}

/// Whether cells of a column are the same wherever a package is applied: no identity, and no link to
/// one.
fn compares(structure: &Structure, column: &Column) -> bool {
    let text = |key: &str| column.config.get(key).and_then(Value::as_str);
    let target = text("linkedFeatureId").and_then(|id| Id::parse_str(id).ok());
    let target = target.and_then(|id| structure.feature(id));
    let linked = text("linkedValueColumn").and_then(|name| target?.column_named(name));
    !column.is_identity() && !linked.is_some_and(Column::is_identity)
}

/// The config without what says nothing: nulls, and what is so anyway.
pub(super) fn plain(thing: &AnyRecord) -> Value {
    let definitions = Definitions::embedded();
    let says = |key: &str, value: &Value| {
        let field = field(&Key::Config(key.to_owned()), thing, definitions);
        let default = field.and_then(|field| field.default.as_ref());
        let default = default.and_then(|one| Value::parse(&one.to_string()).ok());
        *value != Value::Null && default.as_ref() != Some(value)
    };
    let object = |members: &Object| -> Value {
        let members = members.iter().filter(|(key, value)| says(key, value));
        let sorted: BTreeMap<String, Value> = members
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Value::Object(sorted.into_iter().collect())
    };
    match &thing.config {
        Value::Object(members) if thing.kind != RecordKind::Workflow => object(members),
        Value::List(list) => {
            let objects = list.iter().filter_map(Value::as_object).map(object);
            Value::List(objects.collect())
        }
        other => other.clone(),
    }
}

/// Rows of a package that are never changed once they are there: table refs and uids.
pub(super) fn transactional(new: &str, base: &str) -> Result<BTreeSet<(String, u128)>, String> {
    let read = |text| Checked::trusted(text).map_err(|error| error.to_string());
    let (new, base) = (read(new)?, read(base)?);
    let items = new.manifest.items().iter();
    let class: BTreeSet<&str> = items
        .filter(|item| item.data_class == Some(DataClass::Transactional))
        .map(|item| item.uid.as_str())
        .collect();
    let tables: BTreeSet<&str> = new
        .payloads
        .iter()
        .filter(|entry| class.contains(entry.item_uid.as_str()))
        .map(|entry| entry.feature_ref.as_str())
        .collect();
    let mut rows = BTreeSet::new();
    for entry in &base.payloads {
        if tables.contains(entry.feature_ref.as_str()) {
            let numbers = entry.rows().filter_map(|row| number(&row.uid.decoded()));
            rows.extend(numbers.map(|uid| (entry.feature_ref.clone(), uid)));
        }
    }
    Ok(rows)
}

/// Rows with links that only the next package has, in transactional tables or to rows of such: what these hold stays, and
/// so does what links show of them.
pub(super) fn linking(new: &str, base: &str) -> Result<BTreeSet<(String, u128)>, String> {
    let read = |text| Checked::trusted(text).map_err(|error| error.to_string());
    let (stay, old) = (transactional(new, base)?, rows(&read(base)?, |_| true));
    let uids = stay.iter();
    let uids: Vec<String> = uids
        .map(|(_, uid)| format!("u_{}", Id::from_u128(*uid)))
        .collect();
    let points = |refs: &str| uids.iter().any(|uid| refs.contains(uid));
    let mut linking = rows(&read(new)?, |row| row.refs.is_some_and(points));
    let inside = transactional(new, new)?;
    let mut more = rows(&read(new)?, |row| row.refs.is_some());
    more.retain(|row| inside.contains(row));
    linking.extend(more);
    linking.retain(|row| !old.contains(row));
    Ok(linking)
}

/// Some rows of a package: table refs and uids.
fn rows(package: &Checked<'_>, some: impl Fn(&RawRow<'_>) -> bool) -> BTreeSet<(String, u128)> {
    let entries = package.payloads.iter();
    let rows = entries.flat_map(|entry| {
        let rows = entry.rows().filter(&some);
        let numbers = rows.filter_map(|row| number(&row.uid.decoded()));
        numbers.map(|uid| (entry.feature_ref.clone(), uid))
    });
    rows.collect()
}

/// The refs of tables in which rows keep what they hold, whatever the next package brings: transactional ones, and those
/// of which it lacks rows.
pub(super) fn keeping(new: &str, base: &str) -> Result<BTreeSet<String>, String> {
    let read = |text| Checked::trusted(text).map_err(|error| error.to_string());
    let [before, after] = [read(base)?, read(new)?].map(|package| rows(&package, |_| true));
    let mut keeping = transactional(new, base)?;
    keeping.extend(before.into_iter().filter(|row| !after.contains(row)));
    Ok(keeping.into_iter().map(|(table, _)| table).collect())
}

fn number(uid: &str) -> Option<u128> {
    let id = Id::parse_str(uid.strip_prefix("u_")?).ok()?;
    Some(id.as_u128())
}

/// What one workspace has otherwise than the other, of what the other has; nothing when all is the same.
pub(super) fn differs(
    is: &Content,
    should: &Content,
    aside: &BTreeSet<(String, u128)>,
) -> Option<String> {
    for (key, expected) in &should.things {
        let Some(found) = is.things.get(key) else {
            return Some(format!("{key:?} is missing: {expected:#?}"));
        };
        if found != expected {
            return Some(format!(
                "{key:?} is {found:#?}\nand should be {expected:#?}"
            ));
        }
    }
    for (key, expected) in &should.rows {
        if aside.contains(key) {
            continue;
        }
        let Some(found) = is.rows.get(key) else {
            return Some(format!("row {key:?} is missing: {expected:?}"));
        };
        let known = |name: &str| {
            let column = (RecordKind::Column, name.to_owned());
            should.things.get(&column)
        };
        // An id in a column of files counts as empty, and is never written over.
        let is_file = |name: &str, cell: &str| {
            let file = known(name).and_then(|column| column.own_type.as_deref()) == Some("file");
            file && Id::parse_str(cell.trim_matches('"')).is_ok()
        };
        for (name, expected) in expected {
            let cell = found.get(name);
            let same = cell.is_some_and(|cell| equal(cell, expected) || is_file(name, cell));
            if !same {
                return Some(format!(
                    "cell {name} of row {key:?} is {cell:?} and should be {expected:?}"
                ));
            }
        }
        // Columns that the package does not have are aside, those that it has are not.
        let mut more = found.iter().filter(|(name, cell)| {
            known(name).is_some() && !expected.contains_key(*name) && !is_file(name, cell)
        });
        if let Some((name, cell)) = more.next() {
            return Some(format!(
                "cell {name} of row {key:?} is {cell} and should be empty"
            ));
        }
    }
    None
}
