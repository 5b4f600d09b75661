//! What people do, as changes of a workspace: the difference between two states of it.

use std::collections::{BTreeMap, BTreeSet};

use tplkit::json::Value;
use tplkit::workspace::memory::State;
use tplkit::workspace::{
    AnyRecord, Change, Column, Feature, Id, Module, New, RecordKind, Removal, RowData, RowWrite,
    StoredRow, Structure,
};

/// Everything of a workspace, by kind and id.
pub(super) fn things(structure: &Structure) -> BTreeMap<(RecordKind, Id), AnyRecord> {
    let mut all = vec![AnyRecord::of_workspace(&structure.workspace)];
    for kind in [
        RecordKind::Feature,
        RecordKind::Module,
        RecordKind::Workflow,
    ] {
        all.extend(AnyRecord::siblings(structure, kind, None));
    }
    for feature in &structure.features {
        for kind in [RecordKind::Column, RecordKind::View] {
            all.extend(AnyRecord::siblings(structure, kind, Some(feature.id)));
        }
    }
    for module in &structure.modules {
        all.extend(AnyRecord::siblings(
            structure,
            RecordKind::Rail,
            Some(module.id),
        ));
    }
    let keyed = all.into_iter().map(|thing| ((thing.kind, thing.id), thing));
    keyed.collect()
}

/// What leads from one state to the other.
pub(super) fn between(before: &State, after: &State) -> Vec<Change> {
    let (old, new) = (things(&before.structure), things(&after.structure));
    let mut changes = Vec::new();
    let mut gone = BTreeSet::new();
    for (key, thing) in &old {
        if !new.contains_key(key) {
            gone.insert(thing.id);
            // What is inside goes with it.
            if thing
                .parent
                .is_none_or(|parent| has(&after.structure, parent))
            {
                changes.push(Change::Remove {
                    kind: thing.kind,
                    id: thing.id,
                    force: true,
                });
            }
        }
    }
    changes.extend(created(&after.structure, &old));
    for (key, to) in &new {
        if let Some(from) = old.get(key)
            && from != to
        {
            changes.push(Change::Update {
                from: Box::new(from.clone()),
                to: Box::new(to.clone()),
            });
        }
    }
    for feature in &after.structure.features {
        let none = Vec::new();
        let rows = |state: &State| -> Vec<StoredRow> {
            state.rows.get(&feature.id).unwrap_or(&none).clone()
        };
        let went: Vec<&str> = before
            .structure
            .feature(feature.id)
            .into_iter()
            .flat_map(|feature| &feature.columns)
            .filter(|column| gone.contains(&column.id))
            .map(|column| column.name.as_str())
            .collect();
        changes.extend(row_changes(feature.id, &rows(before), &rows(after), &went));
    }
    changes
}

fn has(structure: &Structure, id: Id) -> bool {
    structure.features.iter().any(|one| one.id == id)
        || structure.modules.iter().any(|one| one.id == id)
}

/// New records, what they are in first.
fn created(after: &Structure, old: &BTreeMap<(RecordKind, Id), AnyRecord>) -> Vec<Change> {
    let fresh = |kind: RecordKind, id: Id| !old.contains_key(&(kind, id));
    let mut new = Vec::new();
    for feature in &after.features {
        if fresh(RecordKind::Feature, feature.id) {
            new.push(New::Feature(Feature {
                columns: Vec::new(),
                views: Vec::new(),
                ..feature.clone()
            }));
        }
        let columns = feature.columns.iter();
        let columns = columns.filter(|one| fresh(RecordKind::Column, one.id));
        new.extend(columns.map(|column: &Column| New::Column {
            feature: feature.id,
            column: column.clone(),
        }));
    }
    for feature in &after.features {
        let views = feature.views.iter();
        let views = views.filter(|one| fresh(RecordKind::View, one.id));
        new.extend(views.map(|view| New::View {
            feature: feature.id,
            view: view.clone(),
        }));
    }
    for module in &after.modules {
        if fresh(RecordKind::Module, module.id) {
            new.push(New::Module(Module {
                rails: Vec::new(),
                ..module.clone()
            }));
        }
        let rails = module.rails.iter();
        let rails = rails.filter(|one| fresh(RecordKind::Rail, one.id));
        new.extend(rails.map(|rail| New::Rail {
            module: module.id,
            rail: rail.clone(),
        }));
    }
    let automations = after.automations.iter();
    let automations = automations.filter(|one| fresh(RecordKind::Workflow, one.id));
    new.extend(automations.cloned().map(New::Workflow));
    new.into_iter().map(Change::Create).collect()
}

fn row_changes(
    feature: Id,
    before: &[StoredRow],
    after: &[StoredRow],
    went: &[&str],
) -> Vec<Change> {
    let of = |rows: &[StoredRow]| -> BTreeMap<Id, RowData> {
        let rows = rows.iter().map(|row| (row.id, row.data.clone()));
        rows.collect()
    };
    let (old, new) = (of(before), of(after));
    let gone = old.keys().filter(|id| !new.contains_key(id));
    let gone: Vec<Removal> = gone
        .map(|id| Removal {
            id: *id,
            digest: None,
        })
        .collect();
    let fresh = new.iter().filter(|(id, _)| !old.contains_key(id));
    let fresh: Vec<StoredRow> = fresh
        .map(|(id, data)| StoredRow {
            id: *id,
            data: data.clone(),
        })
        .collect();
    let changed = new.iter().filter_map(|(id, data)| {
        let cells = cells(old.get(id)?, data, went)?;
        Some(RowWrite {
            id: *id,
            cells,
            replace: false,
            digest: None,
        })
    });
    let changed: Vec<RowWrite> = changed.collect();
    let mut changes = Vec::new();
    if !gone.is_empty() {
        changes.push(Change::RemoveRows {
            feature,
            rows: gone,
        });
    }
    if !changed.is_empty() {
        changes.push(Change::UpdateRows {
            feature,
            rows: changed,
        });
    }
    if !fresh.is_empty() {
        changes.push(Change::InsertRows {
            feature,
            rows: fresh,
        });
    }
    changes
}

/// Cells that differ, null for those that went.
fn cells(before: &RowData, after: &RowData, went: &[&str]) -> Option<RowData> {
    let read = |data: &RowData| match Value::parse(data.as_str()) {
        Ok(Value::Object(cells)) => cells,
        _ => tplkit::json::Object::new(),
    };
    let (before, after) = (read(before), read(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs =
        |name: &&&String| before.get(**name) != after.get(**name) && !went.contains(&name.as_str());
    let changed = names.iter().filter(differs);
    let changed: tplkit::json::Object = changed
        .map(|name| {
            (
                (**name).clone(),
                after.get(*name).cloned().unwrap_or_default(),
            )
        })
        .collect();
    (!changed.is_empty()).then(|| RowData::of(&changed))
}
