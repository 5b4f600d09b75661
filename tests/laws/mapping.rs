//! A dependency mapped to a table with identities: links to rows that are there stay, the others
//! are emptied and counted.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use tplkit::apply::{Report, Resolution};
use tplkit::check::Checked;
use tplkit::definitions::ReferenceKind;
use tplkit::export::Selection;
use tplkit::json::{Object, Value, path};
use tplkit::package::model::{Dependency, Reason, WireWord as _};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Feature, Id, RowData, StoredRow, Target as _, ready};

use crate::decide::{decided, dependencies};
use crate::job::Job;
use crate::seeds::{Dice, Verdict, each, hold};
use crate::world::{empty_counterpart, everything, exported, read, workspace};

/// What the rows of a mapped table hold in their identity column.
type Held = BTreeSet<String>;

#[test]
fn links_to_a_mapped_table_stay_where_its_rows_are() {
    each(|seed| links(seed).map(|_| ()));
}

/// Link cells by identity that were checked.
#[derive(Default)]
pub(crate) struct CheckedLinks {
    pub(crate) kept: u64,
    pub(crate) emptied: u64,
}

pub(crate) fn links(seed: u64) -> Result<CheckedLinks, String> {
    let mut checked = CheckedLinks::default();
    let source = workspace(seed);
    let mut dice = Dice::new(seed ^ 0x3A9);
    let Some(selection) = without_targets(&source, &mut dice) else {
        return Ok(checked);
    };
    let text = exported(&source, &selection)?;
    let package = read(&text)?;
    let mut destination = empty_counterpart(&source);
    let mut request = decided(&package, &destination, None);
    let mut mapped = Vec::new();
    for dependency in dependencies(&package) {
        if dependency.kind != ReferenceKind::Feature {
            continue;
        }
        // A button holds nothing, so no column takes its place.
        let mut columns = dependency.identity.columns.iter().flatten();
        if columns.any(|column| column.column_type == "button") {
            continue;
        }
        let features = source.structure.features.iter();
        let mut features = features.chain(&source.structure.shared);
        // Tables of other workspaces may have the same name.
        let fits = |one: &&Feature| {
            let mut columns = dependency.identity.columns.iter().flatten();
            one.name == dependency.identity.name
                && columns.all(|column| one.column_named(&column.name).is_some())
        };
        let Some(found) = features.find(fits) else {
            continue;
        };
        let number = mapped.len() as u128;
        let (resolution, held) = place_table(
            dependency,
            found,
            &source,
            &mut destination,
            number,
            &mut dice,
        );
        let reference = dependency.reference.clone();
        request.resolutions.insert(reference, resolution);
        mapped.push((dependency, held));
    }
    let job = Job::new(&package, request, seed);
    let mut target = Memory::new(destination);
    let report = job.run(&mut target, &[])?;
    let ledger = ready(target.ledger()).map_err(|error| error.to_string())?;
    let state = target.state();
    for (dependency, held) in &mapped {
        verdict_of(
            &package,
            dependency,
            held.as_ref(),
            &ledger,
            &state,
            &report,
            &mut checked,
        )?;
    }
    Ok(checked)
}

/// Everything but some tables that others link to.
fn without_targets(source: &State, dice: &mut Dice) -> Option<Selection> {
    let features = &source.structure.features;
    let targets: Vec<Id> = features
        .iter()
        .filter(|one| {
            let id = one.id.to_string();
            let others = features.iter().filter(|other| other.id != one.id);
            let mut columns = others.flat_map(|other| &other.columns);
            columns.any(|column| {
                let linked = column.config.get("linkedFeatureId");
                linked.and_then(Value::as_str) == Some(id.as_str())
            })
        })
        .map(|one| one.id)
        .collect();
    let out = *targets.get(dice.below(targets.len()))?;
    let kept = features.iter().map(|one| one.id).filter(|id| *id != out);
    Some(Selection {
        features: Some(kept.collect()),
        ..everything()
    })
}

/// Puts a table with other names and some of the rows there; gives the values of the identity
/// column by which it is linked, when there is one.
fn place_table(
    dependency: &Dependency,
    found: &Feature,
    source: &State,
    destination: &mut State,
    number: u128,
    dice: &mut Dice,
) -> (Resolution, Option<Held>) {
    let mut feature = found.clone();
    feature.id = Id::from_u128(0xAA00_0000 + number * 1000);
    feature.name = format!("mapped {number}");
    feature.views.clear();
    feature.config = Object::new();
    feature.is_shared = false;
    for (at, column) in feature.columns.iter_mut().enumerate() {
        column.id = Id::from_u128(0xAA00_0001 + number * 1000 + at as u128);
        column.name = format!("other {at}");
        column.config.swap_remove("linkedFeatureId");
        column.config.swap_remove("linkedValueColumn");
        column.config.swap_remove("workflowV2Id");
        column.config.swap_remove("workflowId");
    }
    let mut columns = IndexMap::new();
    let mut held = None;
    let mut rows = Vec::new();
    for (at, row) in source.rows.get(&found.id).into_iter().flatten().enumerate() {
        if dice.below(3) == 0 {
            continue;
        }
        let mut cells = Object::new();
        for (column, renamed) in found.columns.iter().zip(&feature.columns) {
            if let Some(cell) = row.data.cell(&column.name) {
                cells.insert(renamed.name.clone(), Value::parse(cell).unwrap());
            }
        }
        let id = Id::from_u128(0xAB00_0000 + number * 1_000_000 + at as u128);
        let data = RowData::of(&cells);
        rows.push(StoredRow { id, data });
    }
    for wanted in dependency.identity.columns.iter().flatten() {
        let mut pairs = found.columns.iter().zip(&feature.columns);
        let Some((_, renamed)) = pairs.find(|(column, _)| column.name == wanted.name) else {
            continue;
        };
        columns.insert(wanted.reference.clone(), renamed.id);
        if wanted.default_component == "id" {
            let cells = rows.iter().filter_map(|row| row.data.cell(&renamed.name));
            let cells = cells.map(str::to_owned).collect();
            held.get_or_insert_with(Vec::new)
                .push((wanted.reference.clone(), cells));
        }
    }
    // One identity column is enough to check by; tables with several are left alone.
    let held = held.filter(|held: &Vec<(String, Held)>| held.len() == 1);
    let held = held.and_then(|mut held| held.pop()).map(|(_, cells)| cells);
    if !rows.is_empty() {
        destination.rows.insert(feature.id, rows);
    }
    let id = feature.id.to_string();
    destination.structure.features.push(feature);
    (
        Resolution::Map {
            id,
            columns,
            leave_empty: Vec::new(),
        },
        held,
    )
}

fn verdict_of(
    package: &Checked<'_>,
    dependency: &Dependency,
    held: Option<&Held>,
    ledger: &[Entry],
    state: &State,
    report: &Report,
    checked: &mut CheckedLinks,
) -> Verdict {
    let identity: Vec<String> = (dependency.identity.columns.iter().flatten())
        .filter(|column| column.default_component == "id")
        .map(|column| format!("${}", column.reference))
        .collect();
    for step in &package.manifest.plan.steps {
        let Some(Value::Object(config)) = step.args.get("config") else {
            continue;
        };
        let text = |object: &Object, key: &str| {
            let text = object.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        if text(config, "linkedFeatureId") != format!("${}", dependency.reference) {
            continue;
        }
        let by_identity = identity.contains(&text(config, "linkedValueColumn"));
        let (table, name) = (text(&step.args, "featureId"), text(&step.args, "name"));
        let Some(entry) =
            (package.payloads.iter()).find(|entry| format!("${}", entry.feature_ref) == table)
        else {
            continue;
        };
        let failed = report
            .rows
            .get(&entry.feature_ref)
            .map_or(0, |one| one.failed);
        if failed > 0 || by_identity && held.is_none() {
            continue;
        }
        let mut emptied = 0;
        for (row, stored) in entry.rows().zip(written(&entry.item_uid, ledger, state)) {
            let cells = Value::parse(row.data).map_err(|error| error.to_string())?;
            let cell = cells.get(&name).filter(|cell| **cell != Value::Null);
            let now = stored.cell(&name).and_then(|cell| Value::parse(cell).ok());
            let now = now.filter(|cell| *cell != Value::Null);
            let stays = cell.is_none_or(|cell| {
                let parts = cell.as_list().unwrap_or(std::slice::from_ref(cell));
                let mut parts = parts.iter();
                !by_identity
                    || parts.all(|part| held.is_some_and(|held| held.contains(&part.write())))
            });
            let expected = cell.filter(|_| stays);
            hold(now.as_ref() == expected, || {
                format!("{name} of {table} holds {now:?}, and {cell:?} before, {held:?}")
            })?;
            emptied += u64::from(!stays);
            checked.kept += u64::from(stays && by_identity && cell.is_some());
        }
        checked.emptied += emptied;
        let mut path = "rows[].data".to_owned();
        path::push_dotted(&mut path, &name);
        let mut reported = report.unresolved.iter().filter(|one| {
            let dropped = one.reason == Reason::RowRefDropped.word();
            dropped && one.uid == entry.item_uid && one.path == path
        });
        let reported = reported
            .next()
            .and_then(|one| one.count)
            .unwrap_or_default();
        hold(reported == emptied, || {
            format!("{name} of {table}: {emptied} emptied, {reported} reported")
        })?;
    }
    Ok(())
}

/// The rows of an entry as they were written, in order.
fn written(uid: &str, ledger: &[Entry], state: &State) -> Vec<RowData> {
    let mut all = Vec::new();
    for entry in ledger {
        let Entry::Rows(written) = entry else {
            continue;
        };
        let Some(stored) = state.rows.get(&written.feature) else {
            continue;
        };
        for row in written.rows.iter().filter(|_| written.uid == uid) {
            let at = stored.binary_search_by_key(&row.id, |row| row.id);
            all.extend(at.ok().map(|at| stored[at].data.clone()));
        }
    }
    all
}
