//! Which rows would enter, and which link cells would find no row.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::digest::Digest;
use super::lookup::{fetch, matching};
use super::{Question, RowsPreview};
use crate::apply::row_refs::{RowRef, refs_of, row_refs};
use crate::apply::{Approved, LinkWork, Mode, RowStepWork, TableWork};
use crate::package::payload::RawRow;
use crate::rows::{Cell, elements, equal, members};
use crate::workspace::ledger::Entry;
use crate::workspace::{Id, RowData, StoredRow, Target};

/// What becomes of one row of the package.
enum Fate {
    /// It is written: its own cells are what links read.
    Inserted,
    /// It is left out, because an earlier row of the package has its key: links find that one.
    Twin,
    /// It is there: written by an earlier job, or by others with the same key.
    There(RowData),
    /// It is neither there nor written.
    Absent,
}

/// A table whose rows have been decided on.
struct Decided<'t> {
    rows: Vec<RawRow<'t>>,
    fates: Vec<Fate>,
    /// Positions by uid.
    by_uid: HashMap<String, usize>,
    /// Names of columns at the destination by their names in the package.
    names: HashMap<String, String>,
    /// Columns whose empty cells are minted.
    minted: HashSet<String>,
}

/// Counts the rows of all tables.
pub(super) async fn count<T: Target>(
    target: &T,
    question: Question<'_, '_>,
    approved: &Approved,
    digest: &mut Digest,
) -> Result<IndexMap<String, RowsPreview>, T::Error> {
    let earlier = if approved.copy { &[] } else { question.earlier };
    let mut decided: HashMap<&str, Decided<'_>> = HashMap::new();
    let mut previews = IndexMap::new();
    // A table that does not exist yet can be asked for nothing.
    let fresh: HashSet<Id> = {
        let created = approved.structure.entry.created.iter();
        created.map(|made| made.id).collect()
    };
    for table in &approved.tables {
        let Some(entry) = question.package.payloads.get(table.entry) else {
            continue;
        };
        let rows: Vec<RawRow<'_>> = entry.rows().collect();
        let known = known(earlier, table);
        let mut preview = RowsPreview::default();
        let own = decide(target, table, rows, &known, &fresh, digest, &mut preview).await?;
        decided.insert(&table.feature_ref, own);
        let dropped = dropped(target, table, &decided, digest).await?;
        preview.dropped_links = dropped;
        previews.insert(table.feature_ref.clone(), preview);
    }
    for step in &approved.row_steps {
        let RowStepWork::Insert {
            feature_ref, rows, ..
        } = &step.work
        else {
            continue;
        };
        let written = written_by(earlier, &step.uid);
        let preview: &mut RowsPreview = previews.entry(feature_ref.clone()).or_default();
        preview.skipped += written;
        preview.insert += (rows.len() as u64).saturating_sub(written);
    }
    Ok(previews)
}

/// How many rows of a step earlier jobs wrote.
fn written_by(earlier: &[Entry], uid: &str) -> u64 {
    earlier.iter().fold(0, |written, entry| match entry {
        Entry::Rows(rows) if rows.uid == uid => written + rows.rows.len() as u64,
        Entry::Undoing { .. } | Entry::Undone => 0,
        _ => written,
    })
}

/// The rows of a table that earlier jobs wrote, by position.
fn known(earlier: &[Entry], table: &TableWork) -> HashMap<usize, Id> {
    let mut known = HashMap::new();
    for entry in earlier {
        match entry {
            Entry::Rows(rows) if rows.uid == table.uid && Some(rows.feature) == table.feature => {
                let written = rows.rows.iter();
                known.extend(written.map(|row| (row.position as usize, row.id)));
            }
            Entry::Undoing { .. } | Entry::Undone => known.clear(),
            _ => {}
        }
    }
    known
}

async fn decide<'t, T: Target>(
    target: &T,
    table: &TableWork,
    rows: Vec<RawRow<'t>>,
    known: &HashMap<usize, Id>,
    fresh: &HashSet<Id>,
    digest: &mut Digest,
    preview: &mut RowsPreview,
) -> Result<Decided<'t>, T::Error> {
    let mut fates: Vec<Fate> = rows.iter().map(|_| Fate::Absent).collect();
    let enters = table.mode != Mode::None && table.feature.is_some();
    if let Some(feature) = table.feature {
        let mut positions: Vec<(usize, Id)> = known.iter().map(|(at, id)| (*at, *id)).collect();
        positions.sort_unstable();
        let ids: Vec<Id> = positions.iter().map(|(_, id)| *id).collect();
        let found = fetch(target, feature, &ids).await?;
        digest.found(&found);
        for ((at, _), row) in positions.iter().zip(found) {
            if let (Some(fate), Some(row)) = (fates.get_mut(*at), row) {
                *fate = Fate::There(row.data);
            }
        }
    }
    let open = (0..rows.len()).filter(|at| !known.contains_key(at));
    let open: Vec<usize> = open.collect();
    // Whatever the mode: nobody writes them again.
    preview.skipped = (rows.len() - open.len()) as u64;
    let existing = existing(target, table, &rows, &open, fresh, digest).await?;
    for (at, there) in open.iter().zip(existing).filter(|_| enters) {
        match there {
            Existing::No => {
                preview.insert += 1;
                fates[*at] = Fate::Inserted;
            }
            Existing::Row(row) => {
                preview.existing += 1;
                fates[*at] = Fate::There(row.data);
            }
            Existing::Twin => {
                preview.existing += 1;
                fates[*at] = Fate::Twin;
            }
        }
    }
    let by_uid = rows.iter().enumerate();
    let by_uid = by_uid
        .map(|(at, row)| (row.uid.decoded().into_owned(), at))
        .collect();
    let columns = table.columns.iter();
    Ok(Decided {
        by_uid,
        rows,
        fates,
        names: columns
            .clone()
            .map(|work| (work.package_name.clone(), work.column.name.clone()))
            .collect(),
        minted: columns
            .filter(|work| work.column.is_identity())
            .map(|work| work.package_name.clone())
            .collect(),
    })
}

/// Whether a row is there already, by its key.
enum Existing {
    No,
    Row(StoredRow),
    /// An earlier row of the package has the same key.
    Twin,
}

async fn existing<T: Target>(
    target: &T,
    table: &TableWork,
    rows: &[RawRow<'_>],
    open: &[usize],
    fresh: &HashSet<Id>,
    digest: &mut Digest,
) -> Result<Vec<Existing>, T::Error> {
    let (Mode::MissingByKey { column }, Some(feature)) = (&table.mode, table.feature) else {
        return Ok(open.iter().map(|_| Existing::No).collect());
    };
    let keys: Vec<Option<&str>> = open
        .iter()
        .map(|at| rows.get(*at).and_then(|row| cell(row.data, column)))
        .collect();
    let named = table
        .columns
        .iter()
        .find(|work| work.package_name == *column);
    let values: Vec<String> = keys.iter().flatten().map(|key| (*key).to_owned()).collect();
    let found = match named {
        Some(work) if !fresh.contains(&feature) => {
            matching(target, feature, &work.column.name, &values).await?
        }
        _ => values.iter().map(|_| None).collect(),
    };
    digest.found(&found);
    let mut found = found.into_iter();
    let state = foldhash::quality::FixedState::default();
    let mut seen: HashMap<u64, Vec<&str>> = HashMap::new();
    Ok(keys
        .into_iter()
        .map(|key| {
            let Some(key) = key else { return Existing::No };
            if let Some(row) = found.next().flatten() {
                return Existing::Row(row);
            }
            let twins = seen
                .entry(crate::rows::hash(&state, Cell::new(key)))
                .or_default();
            if twins.iter().any(|twin| equal(twin, key)) {
                return Existing::Twin;
            }
            twins.push(key);
            Existing::No
        })
        .collect())
}

/// How many link cells of the rows that are written find no row.
async fn dropped<T: Target>(
    target: &T,
    table: &TableWork,
    decided: &HashMap<&str, Decided<'_>>,
    digest: &mut Digest,
) -> Result<u64, T::Error> {
    let Some(own) = decided.get(table.feature_ref.as_str()) else {
        return Ok(0);
    };
    let written = |at: &usize| matches!(own.fates.get(*at), Some(Fate::Inserted));
    let mut count = 0;
    let mut twice = HashSet::new();
    for work in &table.columns {
        if matches!(work.link, LinkWork::Data | LinkWork::Skipped { .. }) {
            continue;
        }
        let mut asked: Vec<(usize, String)> = Vec::new();
        for at in (0..own.rows.len()).filter(written) {
            let row = own.rows[at];
            let Some(value) = cell(row.data, &work.package_name) else {
                continue;
            };
            let refs = row.refs.and_then(|refs| refs_of(refs, &work.package_name));
            match (&work.link, refs) {
                (LinkWork::Absent, _) => count += u64::from(!Cell::new(value).is_empty()),
                (LinkWork::Refs | LinkWork::Identity { .. }, Some(refs)) => {
                    count += u64::from(!holds(value, refs, decided, digest));
                }
                (LinkWork::Identity { .. }, None) => {
                    let parts = Cell::new(value).parts(value);
                    asked.extend(parts.map(|part| (at, part.to_owned())));
                }
                _ => {}
            }
        }
        if let LinkWork::Identity { feature, column } = &work.link {
            let values: Vec<String> = asked.iter().map(|(_, value)| value.clone()).collect();
            let found = matching(target, *feature, column, &values).await?;
            digest.present(&found);
            twice.clear();
            for ((at, _), row) in asked.iter().zip(&found) {
                // A cell is emptied once, however many of its elements are missing.
                count += u64::from(row.is_none() && twice.insert(*at));
            }
        }
    }
    Ok(count)
}

/// Whether a cell keeps all that it points at.
fn holds(
    value: &str,
    refs: &str,
    decided: &HashMap<&str, Decided<'_>>,
    digest: &mut Digest,
) -> bool {
    let Cell::List(list) = Cell::new(value) else {
        // The shape of the value decides: one value points at one row.
        let row = row_refs(refs).next();
        return row.is_some_and(|row| resolves(row, decided, digest));
    };
    let rows: Vec<RowRef<'_>> = row_refs(refs).collect();
    let resolved = rows.iter().all(|row| resolves(*row, decided, digest));
    let elements: Vec<&str> = elements(list).collect();
    // Elements without a target keep their place only where the others can be told apart.
    resolved && (elements.len() == rows.len() || aligned(&elements, &rows, decided))
}

fn target_of<'d, 't>(
    row: RowRef<'_>,
    decided: &'d HashMap<&str, Decided<'t>>,
) -> Option<(&'d Decided<'t>, usize)> {
    let table = decided.get(row.table().as_ref())?;
    let at = table.by_uid.get(row.row.decoded().as_ref())?;
    Some((table, *at))
}

/// Whether the destination has the row, and in it the value that the cell would hold.
fn resolves(row: RowRef<'_>, decided: &HashMap<&str, Decided<'_>>, digest: &mut Digest) -> bool {
    let Some((table, at)) = target_of(row, decided) else {
        return false;
    };
    let column = row.column.map(crate::rows::Text::decoded);
    match (table.fates.get(at), column) {
        (None | Some(Fate::Absent), _) => false,
        // Without a column the id of the row is meant.
        (Some(_), None) => true,
        (Some(Fate::Inserted | Fate::Twin), Some(column)) => {
            table.minted.contains(column.as_ref())
                || table
                    .rows
                    .get(at)
                    .is_some_and(|row| cell(row.data, &column).is_some())
        }
        (Some(Fate::There(data)), Some(column)) => {
            let name = table.names.get(column.as_ref());
            let name = name.map_or(column.as_ref(), String::as_str);
            let value = data
                .cell(name)
                .filter(|value| !matches!(Cell::new(value), Cell::Null));
            digest.value(value);
            value.is_some()
        }
    }
}

/// Whether the source values of the targets stand in the cell, in order.
fn aligned(elements: &[&str], rows: &[RowRef<'_>], decided: &HashMap<&str, Decided<'_>>) -> bool {
    let mut rest = elements.iter();
    rows.iter().all(|row| {
        let row = *row;
        let column = row.column.map(crate::rows::Text::decoded);
        let value = target_of(row, decided)
            .zip(column)
            .and_then(|((table, at), column)| cell(table.rows.get(at)?.data, &column));
        value.is_some_and(|value| rest.any(|element| equal(element, value)))
    })
}

/// The value of a cell; null is none.
fn cell<'t>(data: &'t str, column: &str) -> Option<&'t str> {
    let found = members(data).filter(|(key, _)| key.is(column)).last();
    let (_, value) = found?;
    (!matches!(Cell::new(value), Cell::Null)).then_some(value)
}
