//! Columns that an upgrade makes stricter, measured against what every cell would hold after it
//! (`upgrade` 3.4.6).
//!
//! What would not fit is asked, although nobody but the package changed the leaf. Rows are written by the real
//! executor on a target that stores nothing; what it writes counts in place of what is there.

use std::collections::{HashMap, HashSet};

use super::dry_run::{DryRun, WrittenCells};
use crate::apply::resolve::resolve_measured;
use crate::apply::run::{self, cell_fits};
use crate::apply::{ApplyError, Approved, Minter, Refusal, ResolveInput};
use crate::definitions::Definitions;
use crate::rows::{Cell, Rule, sorted_to};
use crate::upgrade::{ConflictCode, Measured, MeasuredLeaf, takes_theirs};
use crate::workspace::{Change, Column, Id, Lookup, New, RecordKind, UnfilteredRow};

/// Rows that are read at once.
const ROWS_PER_READ: usize = 1000;

/// Rows that are named at most.
const MAX_NAMED_ROWS: usize = 10;

/// As [`resolve`](fn@crate::apply::resolve), with the cells that are there: an upgrade leaves a leaf as it
/// is that they would not fit, unless somebody decided otherwise.
///
/// # Errors
/// Those of the target.
pub async fn decide_from<T: Lookup + Sync>(
    target: &T,
    input: ResolveInput<'_, '_>,
    minter: Minter,
) -> Result<Result<Approved, Vec<Refusal>>, T::Error> {
    Ok(decide(target, input, minter).await?.0)
}

/// The same, and what was measured.
pub(super) async fn decide<T: Lookup + Sync>(
    target: &T,
    input: ResolveInput<'_, '_>,
    minter: Minter,
) -> Result<(Result<Approved, Vec<Refusal>>, Measured), T::Error> {
    let resolved = |measured: &Measured| resolve_measured(input, minter, measured);
    let nothing = Measured::default();
    let approved = match resolved(&nothing) {
        Ok(approved) => approved,
        Err(refusals) => return Ok((Err(refusals), nothing)),
    };
    let columns = stricter(&approved);
    if columns.is_empty() {
        return Ok((Ok(approved), nothing));
    }
    let written = foreseen(target, input, &approved, &columns).await?;
    let mut measured = Measured::default();
    for column in columns {
        measure_column(target, column, &written, input.definitions, &mut measured).await?;
    }
    if measured.is_empty() {
        return Ok((Ok(approved), measured));
    }
    Ok((resolved(&measured), measured))
}

/// A column that becomes stricter.
struct StricterLeaf {
    reference: String,
    feature: Id,
    /// As it would be.
    column: Column,
    becomes: StricterRule,
    /// Whether cells that do not fit its type become null.
    empties: bool,
    may_empty: bool,
}

/// In what a column becomes stricter.
#[derive(Clone, Copy)]
struct StricterRule {
    retyped: bool,
    required: bool,
    unique: bool,
}

/// What an upgrade makes stricter.
fn stricter(approved: &Approved) -> Vec<StricterLeaf> {
    let Some(upgrade) = approved.upgrade.as_deref() else {
        return Vec::new();
    };
    let may_empty = upgrade.terms.allow_destructive;
    let empties =
        |reference: &str| may_empty && takes_theirs(&upgrade.terms.decisions, reference, "type");
    let entry = &approved.structure.entry;
    let changed = entry.changed.iter().filter_map(|changed| {
        let (before, column) = (changed.before.as_column()?, changed.after.as_column()?);
        Some(StricterLeaf {
            reference: changed.reference.clone(),
            feature: changed.after.parent?,
            becomes: StricterRule {
                retyped: before.column_type != column.column_type,
                required: column.is_required() && !before.is_required(),
                unique: column.is_unique() && !before.is_unique(),
            },
            empties: empties(&changed.reference),
            may_empty,
            column,
        })
    });
    let created = entry.created.iter().filter_map(|created| {
        let (feature, column) = new_column(approved, created.id)?;
        let fresh = upgrade.fresh_columns.contains(&created.id);
        let identity = column.is_identity();
        fresh.then_some(StricterLeaf {
            reference: created.reference.clone(),
            feature,
            becomes: StricterRule {
                retyped: false,
                required: column.is_required() && !identity,
                unique: column.is_unique() && !identity,
            },
            empties: false,
            may_empty,
            column,
        })
    });
    let all = changed.chain(created);
    all.filter(|one| {
        let becomes = one.becomes;
        becomes.retyped || becomes.required || becomes.unique
    })
    .collect()
}

/// A column that is created, as it is when all steps are done.
fn new_column(approved: &Approved, id: Id) -> Option<(Id, Column)> {
    let mut found = None;
    for change in &approved.structure.changes {
        match (change, &mut found) {
            (Change::Create(New::Column { feature, column }), _) if column.id == id => {
                found = Some((*feature, column.clone()));
            }
            (
                Change::Configure {
                    kind: RecordKind::Column,
                    id: of,
                    config,
                },
                Some((_, column)),
            ) if *of == id => column.config = config.as_object().cloned().unwrap_or_default(),
            _ => {}
        }
    }
    found
}

/// What the upgrade would write into these columns of rows that are there.
async fn foreseen<T: Lookup + Sync>(
    target: &T,
    input: ResolveInput<'_, '_>,
    approved: &Approved,
    columns: &[StricterLeaf],
) -> Result<WrittenCells, T::Error> {
    let ResolveInput {
        package,
        destination,
        past,
        definitions,
        ..
    } = input;
    let read = run::columns_read(approved, &package.payloads);
    let mut dry = DryRun::new(target, destination, approved, read).await?;
    let mut watched: HashMap<Id, Vec<String>> = HashMap::new();
    for column in columns {
        let of_table = watched.entry(column.feature).or_default();
        of_table.push(column.column.name.clone());
    }
    dry.watch(watched);
    match run::count(&mut dry, approved, &package.payloads, past, definitions).await {
        Err(ApplyError::Store { source, .. }) => Err(source),
        // Whoever plans or applies finds the same.
        Ok(_) | Err(_) => Ok(dry.into_written()),
    }
}

/// Cells that do not fit.
#[derive(Default)]
struct Misfits {
    count: u64,
    places: Vec<Id>,
}

impl Misfits {
    /// Counts a cell. Its row is named where whoever asks sees it.
    fn note(&mut self, row: Id, hidden: bool) {
        self.count += 1;
        if !hidden && self.places.len() < MAX_NAMED_ROWS {
            self.places.push(row);
        }
    }
}

/// Counts the cells of a column that do not fit what it becomes.
async fn measure_column<T: Lookup + Sync>(
    target: &T,
    stricter: StricterLeaf,
    written: &WrittenCells,
    definitions: &Definitions,
    measured: &mut Measured,
) -> Result<(), T::Error> {
    let rule = Rule::of(&stricter.column, definitions);
    let name = stricter.column.name.as_str();
    let becomes = stricter.becomes;
    let mut values: HashSet<String> = HashSet::new();
    let [mut retyped, mut required, mut unique] = [(); 3].map(|()| Misfits::default());
    let mut last = None;
    loop {
        let rows = target
            .with_hidden(stricter.feature, last, ROWS_PER_READ)
            .await?;
        let Some(end) = rows.last() else { break };
        last = Some(end.row.id);
        for UnfilteredRow { row, hidden } in &rows {
            let after = written.get(&row.id).and_then(|row| row.get(name));
            let after = after.map(String::as_str);
            let mut cell = after.or_else(|| row.data.cell(name)).unwrap_or("null");
            if becomes.retyped && !cell_fits(&rule, cell) {
                retyped.note(row.id, *hidden);
                if stricter.empties {
                    cell = "null";
                }
            }
            // A job asks for no file.
            if becomes.required && !rule.file && Cell::new(cell).is_empty() {
                required.note(row.id, *hidden);
            }
            if becomes.unique && cell != "null" {
                let mut sorted = String::new();
                sorted_to(&mut sorted, cell);
                if !values.insert(sorted) {
                    unique.note(row.id, *hidden);
                }
            }
        }
    }
    let all = [
        (
            "type",
            ConflictCode::TypeChangeLoses,
            retyped,
            stricter.may_empty,
        ),
        (
            "config.required",
            ConflictCode::RequiredEmpty,
            required,
            true,
        ),
        ("config.unique", ConflictCode::UniqueRepeated, unique, false),
    ];
    for (path, code, misfits, may_be_taken) in all {
        if misfits.count > 0 {
            let leaf = MeasuredLeaf {
                code,
                count: misfits.count,
                places: misfits.places,
                may_be_taken,
            };
            measured.add(&stricter.reference, path, leaf);
        }
    }
    Ok(())
}
