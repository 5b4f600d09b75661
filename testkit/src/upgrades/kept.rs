//! What people changed, leaf by leaf: none of it changes without a decision (`upgrade` 3.4.1).
//!
//! Leaves are found here on their own: by the attributes of a record and the keys of its config, by the ids
//! of steps, by cells.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tplkit::json::Value;
use tplkit::upgrade::Conflict;
use tplkit::workspace::memory::State;
use tplkit::workspace::{AnyRecord, Column, Id, RecordKind};

use super::changes::things;
use super::compare::plain;

/// How many objects the config of a record has.
fn objects(thing: &AnyRecord) -> usize {
    thing.config.as_list().map_or(1, <[Value]>::len)
}

/// The leaves of a record by their paths; several objects of a config are one leaf, or `by_position`.
fn leaves(thing: &AnyRecord, by_position: bool) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let mut add = |path: String, value: Value| {
        if value != Value::Null {
            all.insert(path, value);
        }
    };
    let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
    add("label".to_owned(), text(&thing.label));
    add("icon".to_owned(), text(&thing.icon));
    add("type".to_owned(), text(&thing.own_type));
    add("component".to_owned(), text(&thing.component));
    add("name".to_owned(), thing.name.as_str().into());
    if thing.kind == RecordKind::Workflow {
        add("trigger".to_owned(), thing.part("triggerConfig"));
        let graph = thing.part("graphConfig");
        let mut shape = String::new();
        steps(&graph, &mut shape, &mut add);
        add("shape".to_owned(), shape.into());
        return all;
    }
    match plain(thing) {
        Value::Object(members) => {
            for (key, value) in members {
                add(format!("config.{}", key.replace('.', "\\.")), value);
            }
        }
        Value::List(objects) => match objects.as_slice() {
            [Value::Object(members)] => {
                for (key, value) in members {
                    add(format!("config.{}", key.replace('.', "\\.")), value.clone());
                }
            }
            several if by_position => {
                for (at, object) in several.iter().enumerate() {
                    for (key, value) in object.as_object().into_iter().flatten() {
                        let key = key.replace('.', "\\.");
                        add(format!("config.{at}.{key}"), value.clone());
                    }
                }
            }
            _ => add("config".to_owned(), Value::List(objects)),
        },
        _ => {}
    }
    all
}

/// Steps by their ids, and which of them stand where.
fn steps(value: &Value, shape: &mut String, add: &mut impl FnMut(String, Value)) {
    match value {
        Value::List(elements) => {
            shape.push('[');
            for element in elements {
                steps(element, shape, add);
            }
            shape.push(']');
        }
        Value::Object(members) => {
            let id = members.get("id").and_then(Value::as_str);
            let id = id.filter(|id| id.starts_with("stp_"));
            let Some(id) = id else {
                for (_, one) in members {
                    steps(one, shape, add);
                }
                return;
            };
            let key = members
                .get("key")
                .and_then(Value::as_str)
                .unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = write!(shape, "{id}:{key}(");
            if let Some(name) = members.get("name") {
                add(format!("steps.{id}.name"), name.clone());
            }
            let config = members.get("config").and_then(Value::as_object);
            for (key, one) in config.into_iter().flatten() {
                if one.write().contains("\"stp_") {
                    steps(one, shape, add);
                } else {
                    add(format!("steps.{id}.{key}"), one.clone());
                }
            }
            shape.push(')');
        }
        _ => {}
    }
}

/// What somebody decided for the package, by the ids of records and rows: paths, and keys that go with
/// them.
#[derive(Default)]
pub(super) struct Decided {
    paths: BTreeMap<Id, BTreeSet<String>>,
    /// Records that are created once more, and new ones that take a name.
    pub(super) whole: bool,
}

impl Decided {
    pub(super) fn take(&mut self, conflict: &Conflict) {
        let (Some(id), Some(path)) = (conflict.id, &conflict.path) else {
            self.whole = true;
            return;
        };
        let paths = self.paths.entry(id).or_default();
        paths.insert(path.clone());
        // Of what goes together the value is an object of its keys.
        for value in [&conflict.base, &conflict.theirs, &conflict.ours] {
            for key in value.as_object().into_iter().flat_map(|one| one.keys()) {
                paths.insert(key.clone());
                paths.insert(format!("config.{key}"));
            }
        }
    }

    fn holds(&self, id: Id, path: &str) -> bool {
        let paths = self.paths.get(&id);
        // A whole config, or a graph whose steps went with its shape.
        let within = |whole: &str, part: &str| path.starts_with(part) && path != whole;
        paths.is_some_and(|paths| {
            paths.contains(path)
                || paths.contains("config") && within("config", "config")
                || paths.contains("shape") && within("shape", "steps.")
        })
    }
}

/// What became otherwise than people left it although nobody decided so; nothing when all stayed.
pub(super) fn lost(
    base: &State,
    before: &State,
    after: &State,
    decided: &Decided,
) -> Option<String> {
    let all = [base, before, after].map(|state| things(&state.structure));
    let [was, ours, now] = &all;
    for (key, ours) in ours {
        let Some(now) = now.get(key) else {
            return Some(format!("{ours:?} is gone"));
        };
        let known = was.get(key);
        let by_position =
            objects(now) == objects(ours) && known.is_none_or(|was| objects(was) == objects(ours));
        let now = leaves(now, by_position);
        let known = known.map(|was| leaves(was, by_position));
        let ours_leaves = leaves(ours, by_position);
        let paths: BTreeSet<&String> = ours_leaves
            .keys()
            .chain(known.iter().flat_map(BTreeMap::keys))
            .collect();
        for path in paths {
            let none = Value::Null;
            let [was, ours_value, now] = [known.as_ref(), Some(&ours_leaves), Some(&now)]
                .map(|side| side.and_then(|side| side.get(path)).unwrap_or(&none));
            let theirs_to_change = known.is_some() && was == ours_value;
            if theirs_to_change || ours_value == now || decided.holds(ours.id, path) {
                continue;
            }
            if known.is_some() && merges(path, was, ours_value, now) {
                continue;
            }
            return Some(format!(
                "{:?} {:?}: {path} was {}, people made it {}, and it is {}",
                ours.kind,
                ours.name,
                was.write(),
                ours_value.write(),
                now.write()
            ));
        }
    }
    for key in was.keys() {
        if !ours.contains_key(key) && now.contains_key(key) && !decided.whole {
            return Some(format!("{key:?} was removed and is back"));
        }
    }
    cells(base, before, after, decided)
}

/// Whether a list of references holds what people added to it, and nothing of what they took out.
fn merges(path: &str, was: &Value, ours: &Value, now: &Value) -> bool {
    let list = |value: &Value| -> Option<Vec<String>> {
        match value {
            Value::Null => Some(Vec::new()),
            Value::List(elements) => {
                let texts = elements.iter().map(|one| one.as_str().map(str::to_owned));
                texts.collect()
            }
            _ => None,
        }
    };
    let key = path.strip_prefix("config.");
    let key = key.map(|key| key.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.'));
    let is_list = path == "trigger" || matches!(key, Some("visibleColumns" | "views"));
    let (Some(was), Some(ours), Some(now)) = (list(was), list(ours), list(now)) else {
        return false;
    };
    let added = ours.iter().filter(|one| !was.contains(one));
    let gone = was.iter().filter(|one| !ours.contains(one));
    is_list
        && added.into_iter().all(|one| now.contains(one))
        && gone.into_iter().all(|one| !now.contains(one))
}

/// Whether a link points where it pointed, and shows what people made of the rows there.
fn follows(base: &State, before: &State, column: &Column, [was, ours]: [&str; 2]) -> bool {
    let text = |key: &str| column.config.get(key).and_then(Value::as_str);
    let table = text("linkedFeatureId").and_then(|id| Id::parse_str(id).ok());
    let Some((table, shown)) = table.zip(text("linkedValueColumn")) else {
        return false;
    };
    let values = |state: &State| -> BTreeMap<Id, Value> {
        let rows = state.rows.get(&table).into_iter().flatten();
        let values = rows.filter_map(|row| {
            let value = Value::parse(row.data.cell(shown)?).ok()?;
            Some((row.id, value))
        });
        values.collect()
    };
    let [old, new] = [base, before].map(values);
    let same = |was: &Value, ours: &Value| {
        let mut rows = old.iter().filter(|(_, value)| *value == was);
        was == ours || rows.any(|(id, _)| new.get(id) == Some(ours))
    };
    match [was, ours].map(|cell| Value::parse(cell).unwrap_or_default()) {
        [Value::List(was), Value::List(ours)] => {
            was.len() == ours.len() && was.iter().zip(&ours).all(|(was, ours)| same(was, ours))
        }
        [was, ours] => same(&was, &ours),
    }
}

fn cells(base: &State, before: &State, after: &State, decided: &Decided) -> Option<String> {
    for (feature, rows) in &before.rows {
        for row in rows {
            let find = |state: &State| {
                let mut rows = state.rows.get(feature)?.iter();
                rows.find(|one| one.id == row.id)
                    .map(|one| one.data.clone())
            };
            let Some(now) = find(after) else {
                return Some(format!("row {} of {feature} is gone", row.id));
            };
            let was = find(base);
            let columns = before.structure.feature(*feature)?.columns.iter();
            for column in columns {
                let cell = |data: &tplkit::workspace::RowData| {
                    data.cell(&column.name).unwrap_or("null").to_owned()
                };
                let (ours, now) = (cell(&row.data), cell(&now));
                let same = was.as_ref().is_some_and(|was| {
                    let was = cell(was);
                    was == ours || follows(base, before, column, [&was, &ours])
                });
                let path_holds = decided.paths.get(&row.id).is_some_and(|paths| {
                    let ends = format!(".{}", column.name);
                    paths
                        .iter()
                        .any(|path| path.replace('\\', "").ends_with(&ends))
                });
                if same || ours == now || path_holds {
                    continue;
                }
                return Some(format!(
                    "row {} of {feature}: {:?} was {:?}, people made it {ours}, and it is {now}",
                    row.id,
                    column.name,
                    was.as_ref().map(cell),
                ));
            }
        }
    }
    for (feature, rows) in &base.rows {
        for row in rows {
            let has = |state: &State| {
                let rows = state.rows.get(feature);
                rows.is_some_and(|rows| rows.iter().any(|one| one.id == row.id))
            };
            if !has(before) && has(after) {
                return Some(format!(
                    "row {} of {feature} was deleted and is back",
                    row.id
                ));
            }
        }
    }
    None
}
