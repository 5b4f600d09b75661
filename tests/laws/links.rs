//! Links: every cell that pointed at a row of the package holds what that row holds now.

use std::collections::BTreeMap;

use tplkit::apply::{Request, RowsMode};
use tplkit::check::Checked;
use tplkit::json::{Object, Value};
use tplkit::package::Tool;
use tplkit::package::model::{Reason, WireWord as _};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, RowData, Target as _, ready};

use crate::job::job;
use crate::seeds::{each, hold};
use crate::world::{exported, read, selection, workspace};

#[test]
fn links_hold_what_their_rows_hold() {
    each(|seed| {
        let source = workspace(seed);
        let text = exported(&source, &selection(seed, &source))?;
        let package = read(&text)?;
        let (job, destination) = job(seed, &package, &source);
        let mut target = Memory::new(destination);
        let report = job.run(&mut target, &[])?;
        let ledger = ready(target.ledger()).map_err(|error| error.to_string())?;
        let there = There::of(&package, &ledger, &target.state())?;
        let identities = identity_links(&package, &job.request);
        let mut lost: BTreeMap<(String, String), u64> = BTreeMap::new();
        for entry in &package.payloads {
            for row in entry.rows() {
                let uid = row.uid.decoded().into_owned();
                let Some(data) = there.rows.get(&(entry.feature_ref.clone(), uid)) else {
                    continue;
                };
                let refs = row.refs.and_then(|refs| Value::parse(refs).ok());
                let refs = refs.as_ref().and_then(Value::as_object);
                let source = Value::parse(row.data).map_err(|error| error.to_string())?;
                let source = source.as_object().ok_or("a row is no object")?;
                let held = |column: &str| {
                    let name = there.name(&entry.feature_ref, column);
                    data.cell(&name).and_then(|cell| Value::parse(cell).ok())
                };
                let mut loses = |column: &str| {
                    let key = (entry.item_uid.clone(), column.to_owned());
                    *lost.entry(key).or_default() += 1;
                };
                for (column, refs) in refs.into_iter().flatten() {
                    let failure = |error| format!("{column} of {}: {error}", entry.feature_ref);
                    let before = there.before(&entry.feature_ref);
                    let (source, cell) = (source.get(column), held(column));
                    if !verdict_of(&before, refs, source, cell.as_ref()).map_err(failure)? {
                        loses(column);
                    }
                }
                // An identity of the source would be that of another row.
                for column in identities.get(&entry.feature_ref).into_iter().flatten() {
                    let named = refs.is_some_and(|refs| refs.contains_key(column));
                    if named || source.get(column).is_none_or(is_empty) {
                        continue;
                    }
                    let cell = held(column).filter(|cell| *cell != Value::Null);
                    hold(cell.is_none(), || {
                        format!("{column} of {} holds {cell:?}", entry.feature_ref)
                    })?;
                    loses(column);
                }
            }
        }
        for ((uid, column), count) in lost {
            let mut path = "rows[].data".to_owned();
            tplkit::json::path::push_dotted(&mut path, &column);
            let mut reported = report.unresolved.iter().filter(|one| {
                one.uid == uid && one.path == path && one.reason == Reason::RowRefDropped.word()
            });
            let reported = reported
                .next()
                .and_then(|one| one.count)
                .unwrap_or_default();
            hold(reported == count, || {
                format!("{path}: {count} cells lost links, {reported} are reported")
            })?;
        }
        Ok(())
    });
}

/// By the refs of tables, columns that link by identities that rows do not keep: the automatic ones, and others of
/// tables whose rows stay behind.
fn identity_links(package: &Checked<'_>, request: &Request) -> BTreeMap<String, Vec<String>> {
    let text = |args: &Object, key: &str| {
        let text = args.get(key).and_then(Value::as_str).unwrap_or_default();
        text.trim_start_matches('$').to_owned()
    };
    let enters = |table: &str| {
        request.include_rows && request.rows_modes.get(table) != Some(&RowsMode::None)
    };
    let travels = |table: &str| {
        let mut entries = package.payloads.iter();
        entries.any(|entry| entry.feature_ref == table)
    };
    let mut identities: BTreeMap<String, String> = BTreeMap::new();
    let mut configs: BTreeMap<String, Object> = BTreeMap::new();
    let mut columns: BTreeMap<String, (String, String)> = BTreeMap::new();
    for step in &package.manifest.plan.steps {
        let args = &step.args;
        let column = match step.tool {
            Tool::CreateColumn => step.reference.clone().unwrap_or_default(),
            Tool::UpdateColumn => text(args, "columnId"),
            _ => continue,
        };
        if let Some(Value::Object(config)) = args.get("config") {
            configs.insert(column.clone(), config.clone());
        }
        if step.tool == Tool::CreateColumn {
            if text(args, "defaultComponent") == "id" {
                identities.insert(column.clone(), text(args, "name"));
            }
            columns.insert(column, (text(args, "featureId"), text(args, "name")));
        }
    }
    let mut links: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (column, (table, name)) in columns {
        let Some(config) = configs.get(&column) else {
            continue;
        };
        let linked = text(config, "linkedFeatureId");
        let shown = identities.get(&text(config, "linkedValueColumn"));
        let anew = shown.is_some_and(|shown| shown == "id" || !enters(&linked));
        if anew && travels(&linked) {
            links.entry(table).or_default().push(name);
        }
    }
    links
}

fn is_empty(cell: &Value) -> bool {
    match cell {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::List(elements) => elements.is_empty(),
        _ => false,
    }
}

/// Rows that a job wrote, by table and uid.
struct There {
    rows: BTreeMap<(String, String), RowData>,
    ids: BTreeMap<(String, String), Id>,
    names: BTreeMap<(String, String), String>,
    /// Tables as they entered.
    order: Vec<String>,
}

/// What a table can point at: what entered before it, and itself.
struct Before<'t> {
    there: &'t There,
    tables: &'t [String],
}

impl There {
    fn of(package: &Checked<'_>, ledger: &[Entry], state: &State) -> Result<There, String> {
        let mut there = There {
            rows: BTreeMap::new(),
            ids: BTreeMap::new(),
            names: BTreeMap::new(),
            order: Vec::new(),
        };
        for entry in ledger {
            let Entry::Rows(written) = entry else {
                continue;
            };
            let mut entries = package.payloads.iter();
            let Some(entry) = entries.find(|entry| entry.item_uid == written.uid) else {
                continue;
            };
            if !there.order.contains(&entry.feature_ref) {
                there.order.push(entry.feature_ref.clone());
            }
            let uids: Vec<String> = entry.rows().map(|row| row.uid.decoded().into()).collect();
            let stored = state.rows.get(&written.feature).ok_or("no rows")?;
            for row in &written.rows {
                let at = stored.binary_search_by_key(&row.id, |row| row.id);
                let at = at.map_err(|_| "a row of the ledger is not there")?;
                let uid = uids.get(row.position as usize).ok_or("no such row")?;
                let key = (entry.feature_ref.clone(), uid.clone());
                there.rows.insert(key.clone(), stored[at].data.clone());
                there.ids.insert(key, row.id);
            }
        }
        for entry in ledger {
            let Entry::Structure(structure) = entry else {
                continue;
            };
            there.rename(package, structure);
        }
        Ok(there)
    }

    /// Columns of tables that were made are called as the ledger says.
    fn rename(
        &mut self,
        package: &Checked<'_>,
        made: &tplkit::workspace::ledger::WrittenStructure,
    ) {
        for step in &package.manifest.plan.steps {
            let Some(own) = &step.reference else { continue };
            let mut created = made.created.iter();
            let Some(created) = created.find(|one| one.reference == *own) else {
                continue;
            };
            let text = |key: &str| {
                let text = step.args.get(key).and_then(Value::as_str);
                text.unwrap_or_default().to_owned()
            };
            let table = text("featureId").trim_start_matches('$').to_owned();
            let key = (table, text("name"));
            self.names.insert(key, created.name.clone());
        }
    }

    fn name(&self, table: &str, column: &str) -> String {
        let key = (table.to_owned(), column.to_owned());
        let name = self.names.get(&key);
        name.cloned().unwrap_or_else(|| column.to_owned())
    }

    fn before(&self, table: &str) -> Before<'_> {
        let at = self.order.iter().position(|one| one == table);
        let tables = &self.order[..at.map_or(0, |at| at + 1)];
        Before {
            there: self,
            tables,
        }
    }

    fn value(&self, triple: &Object) -> Option<Value> {
        let text = |key: &str| triple.get(key).and_then(Value::as_str);
        let table = text("featureRef")?.trim_start_matches('$').to_owned();
        let key = (table.clone(), text("rowUid")?.to_owned());
        match text("valueColumn") {
            None => self.ids.get(&key).map(|id| id.to_string().into()),
            Some(column) => {
                let cell = self.rows.get(&key)?.cell(&self.name(&table, column))?;
                Value::parse(cell).ok().filter(|cell| *cell != Value::Null)
            }
        }
    }
}

impl Before<'_> {
    /// What a cell that points there holds; nothing when the row is not there.
    fn value(&self, triple: &Object) -> Option<Value> {
        let table = triple.get("featureRef").and_then(Value::as_str)?;
        let table = table.trim_start_matches('$');
        let known = self.tables.iter().any(|one| one == table);
        self.there.value(triple).filter(|_| known)
    }
}

/// Checks one cell; says whether it holds everything that it held.
fn verdict_of(
    there: &Before<'_>,
    refs: &Value,
    source: Option<&Value>,
    cell: Option<&Value>,
) -> Result<bool, String> {
    let refs = refs.as_object().ok_or("refs are not an object")?;
    let Some(list) = refs.get("rows").and_then(Value::as_list) else {
        let expected = there.value(refs);
        // The target may have been there before the job: then the ledger does not know it.
        if expected.is_some() && expected.as_ref() != cell {
            return Err(format!("holds {cell:?} instead of {expected:?}"));
        }
        return Ok(cell.is_some());
    };
    let expected: Vec<Option<Value>> = list
        .iter()
        .filter_map(Value::as_object)
        .map(|triple| there.value(triple))
        .collect();
    let length = source.and_then(Value::as_list).map_or(0, <[Value]>::len);
    let Some(cell) = cell else {
        // Elements without a target keep their place only where it is known.
        let all = expected.iter().all(Option::is_some) && length == expected.len();
        return if all {
            Err(format!("is empty instead of {expected:?}"))
        } else {
            Ok(false)
        };
    };
    let held = cell.as_list().ok_or("holds no list")?;
    for expected in expected.iter().flatten() {
        if !held.contains(expected) {
            return Err(format!("holds {cell:?} without {expected:?}"));
        }
    }
    // Elements that are not links go where they cannot be distinguished from links.
    Ok(held.len() == length)
}
