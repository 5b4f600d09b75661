//! The first reading: counts, carried columns, keys, values that others link to.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;
use foldhash::quality::RandomState;

use super::reading::Reading;
use super::split::Splitter;
use super::table::{Link, Table};
use crate::context::Ids;
use crate::export::{ExportError, ExportResult, Fault};
use crate::rows::Cell;
use crate::workspace::{Id, Source, StoredRow};

/// Reads the rows of one table.
pub(in crate::export) async fn scan<S: Source + Sync>(
    source: &S,
    tables: &mut [Table],
    index: usize,
    ids: &mut (dyn Ids + Send),
) -> ExportResult<(), S> {
    let Some(table) = tables.get_mut(index) else {
        return Ok(());
    };
    let mut reading = Reading::new(table.feature);
    let mut splitter = Splitter::default();
    let state = RandomState::default();
    while let Some(page) = reading.next(source).await? {
        scan_page(table, &page, &mut splitter, &state, ids).map_err(ExportError::Fault)?;
    }
    table.key = choose_key(table);
    Ok(())
}

fn scan_page(
    table: &mut Table,
    page: &[StoredRow],
    splitter: &mut Splitter,
    state: &RandomState,
    ids: &mut dyn Ids,
) -> Result<(), Fault> {
    let mut cells = Vec::new();
    for row in page {
        let number = u32::try_from(table.uids.len());
        let number =
            number.map_err(|_| Fault::Broken("more rows than can be counted".to_owned()))?;
        let uid = Id::try_parse(&ids.uuid());
        let uid = uid.map_err(|_| Fault::Broken("a minted id is no UUID".to_owned()))?;
        table.uids.push(uid.as_u128());
        table.stamp = stamped(table.stamp, row);
        splitter.split(&table.names, &row.data, &mut cells);
        for (slot, cell) in table.columns.iter_mut().zip(&cells) {
            slot.carried |= cell.is_some();
            if let Some(candidate) = &mut slot.candidate {
                candidate.add(state, *cell);
            }
            if let Some(values) = &mut slot.values {
                match cell {
                    Some(value) if *value != "null" => values.insert(value, number),
                    // A row that was never given an identity is known by its id.
                    _ if slot.automatic => values.insert(&format!("\"{}\"", row.id), number),
                    _ => {}
                }
            }
            if let Some(Link::Lost { count, .. }) = &mut slot.link
                && cell.is_some_and(|cell| !Cell::new(cell).is_empty())
            {
                *count += 1;
            }
        }
    }
    Ok(())
}

/// The best candidate that holds; the values of all are forgotten.
fn choose_key(table: &mut Table) -> Option<usize> {
    let mut ranked: Vec<(u8, usize)> = table
        .columns
        .iter()
        .zip(0..)
        .filter_map(|(slot, at)| Some((slot.candidate.as_ref()?.rank, at)))
        .collect();
    ranked.sort_unstable();
    let key = ranked.into_iter().map(|(_, at)| at).find(|at| {
        let slot = table.columns.get_mut(*at);
        slot.and_then(|slot| slot.candidate.as_mut())
            .is_some_and(super::key::Candidate::holds)
    });
    table
        .columns
        .iter_mut()
        .for_each(|slot| slot.candidate = None);
    key
}

/// What has been seen of the rows, one more included.
pub(super) fn stamped(stamp: u64, row: &StoredRow) -> u64 {
    let mut hasher = FixedState::with_seed(stamp).build_hasher();
    hasher.write_u128(row.id.as_u128());
    hasher.write(row.data.as_str().as_bytes());
    hasher.finish()
}
