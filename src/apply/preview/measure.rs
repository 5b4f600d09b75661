//! Columns that an upgrade makes stricter, measured against the cells that are there (`upgrade` 3.4.6).
//!
//! What would not fit is asked, although nobody but the package changed the leaf.

use std::collections::HashSet;

use crate::apply::Approved;
use crate::definitions::Definitions;
use crate::json::Value;
use crate::rows::{Cell, Rule, equal, sorted_to};
use crate::upgrade::{Conflict, ConflictCode, Decision, EVERYTHING, Side, Take};
use crate::workspace::ledger::Changed;
use crate::workspace::{Column, Id, Lookup, Thing, is_last_batch};

/// Rows that are read at once.
const PAGE: usize = 1000;

/// Rows that are named at most.
const PLACES: usize = 10;

/// Which leaf it is.
#[derive(Clone, Copy)]
enum StrictLeaf {
    Type,
    Required,
    Unique,
}

impl StrictLeaf {
    fn path(self) -> &'static str {
        match self {
            StrictLeaf::Type => "type",
            StrictLeaf::Required => "config.required",
            StrictLeaf::Unique => "config.unique",
        }
    }

    fn of(self, thing: &Thing) -> Value {
        let config = |key: &str| thing.config.get(key).cloned().unwrap_or_default();
        match self {
            StrictLeaf::Type => thing.own_type.as_deref().map_or(Value::Null, Value::from),
            StrictLeaf::Required => config("required"),
            StrictLeaf::Unique => config("unique"),
        }
    }
}

/// A leaf that makes a column stricter.
struct Stricter<'a> {
    changed: &'a Changed,
    code: ConflictCode,
    leaf: StrictLeaf,
    count: u64,
    places: Vec<Id>,
}

impl Stricter<'_> {
    fn note(&mut self, row: Id) {
        self.count += 1;
        if self.places.len() < PLACES {
            self.places.push(row);
        }
    }
}

/// What would not fit, unless somebody decided that it may.
pub(super) async fn measured<T: Lookup + Sync>(
    target: &T,
    approved: &Approved,
    definitions: &Definitions,
) -> Result<Vec<Conflict>, T::Error> {
    let Some(upgrade) = approved.upgrade.as_deref() else {
        return Ok(Vec::new());
    };
    let decided = |reference: &str, path: &str| {
        let of = upgrade.terms.decisions.get(reference)?;
        of.get(path).or_else(|| of.get(EVERYTHING))
    };
    let takes = |decision: Option<&Decision>| {
        decision.is_some_and(|decision| decision.take == Take::Side(Side::Theirs))
    };
    let mut conflicts = Vec::new();
    for changed in &approved.structure.entry.changed {
        let mut stricter = stricter(changed);
        // Cells may stay empty where somebody decided so.
        stricter.retain(|one| {
            one.code != ConflictCode::RequiredEmpty
                || !takes(decided(&changed.reference, one.leaf.path()))
        });
        let (false, Some(feature)) = (stricter.is_empty(), changed.after.parent) else {
            continue;
        };
        look(target, feature, &mut stricter, definitions).await?;
        let found = stricter.into_iter().filter(|one| one.count > 0);
        conflicts.extend(found.map(conflict));
    }
    Ok(conflicts)
}

/// What a change makes stricter.
fn stricter(changed: &Changed) -> Vec<Stricter<'_>> {
    let (before, after) = (column(&changed.before), column(&changed.after));
    let (Some(before), Some(after)) = (before, after) else {
        return Vec::new();
    };
    let one = |code, leaf| Stricter {
        changed,
        code,
        leaf,
        count: 0,
        places: Vec::new(),
    };
    let mut stricter = Vec::new();
    if before.column_type != after.column_type {
        stricter.push(one(ConflictCode::TypeChangeLoses, StrictLeaf::Type));
    }
    if after.is_required() && !before.is_required() {
        stricter.push(one(ConflictCode::RequiredEmpty, StrictLeaf::Required));
    }
    if after.is_unique() && !before.is_unique() {
        stricter.push(one(ConflictCode::UniqueRepeated, StrictLeaf::Unique));
    }
    stricter
}

fn column(thing: &Thing) -> Option<Column> {
    Some(Column {
        id: thing.id,
        name: thing.name.clone(),
        label: String::new(),
        column_type: thing.own_type.clone()?,
        default_component: thing.component.clone()?,
        order: 0,
        config: thing.config.as_object()?.clone(),
    })
}

/// Looks at every cell of a column.
async fn look<T: Lookup + Sync>(
    target: &T,
    feature: Id,
    stricter: &mut [Stricter<'_>],
    definitions: &Definitions,
) -> Result<(), T::Error> {
    let Some(after) = stricter.first().and_then(|one| column(&one.changed.after)) else {
        return Ok(());
    };
    let rule = Rule::of(&after, definitions);
    let mut values: HashSet<String> = HashSet::new();
    let mut last = None;
    loop {
        let rows = target.rows(feature, last, PAGE).await?;
        for row in &rows {
            let cell = row.data.cell(&after.name).unwrap_or("null");
            let empty = Cell::new(cell).is_empty();
            for one in stricter.iter_mut() {
                let bad = match one.code {
                    ConflictCode::RequiredEmpty => empty,
                    ConflictCode::UniqueRepeated => {
                        let mut sorted = String::new();
                        sorted_to(&mut sorted, cell);
                        cell != "null" && !values.insert(sorted)
                    }
                    _ => {
                        let mut out = String::new();
                        let fits = rule.write(cell, &mut out).is_ok();
                        !(empty || fits && equal(&out, cell))
                    }
                };
                if bad {
                    one.note(row.id);
                }
            }
        }
        last = rows.last().map(|row| row.id);
        if is_last_batch(&rows, PAGE) {
            return Ok(());
        }
    }
}

fn conflict(one: Stricter<'_>) -> Conflict {
    let Changed {
        reference,
        before,
        after,
        ..
    } = one.changed;
    let value = |thing: &Thing| -> Value { one.leaf.of(thing) };
    // The base is what stands: only the package changed it.
    let values = [value(before), value(after), value(before)];
    let of = (after.kind.as_str(), reference.as_str(), Some(after.id));
    Conflict {
        count: Some(one.count),
        places: one.places,
        ..Conflict::of(one.code, of, Some(one.leaf.path()), values)
    }
}
