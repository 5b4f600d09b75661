//! Slots: copies of the cells of a column, as text whose bytes sort like the cells.

use std::cmp::Ordering;
use std::ops::Range;

use tplkit::rows::{members, order_key, text_form};
use uuid::Uuid;

use super::table::Table;
use crate::store::{StoreError, Tx};

/// How long a key may be, in bytes; an index takes no more.
const MAX_KEY_BYTES: usize = 512;

/// What is in the slot for a cell, and whether the key had to be cut.
pub(super) fn key(is_number: bool, canonical: &str) -> (Option<String>, bool) {
    let key = if is_number {
        order_key(canonical)
    } else {
        text_form(canonical).map(std::borrow::Cow::into_owned)
    };
    let Some(mut key) = key else {
        return (None, false);
    };
    let cut = key.len() > MAX_KEY_BYTES;
    if cut {
        let whole = (0..=MAX_KEY_BYTES)
            .rev()
            .find(|at| key.is_char_boundary(*at));
        key.truncate(whole.unwrap_or_default());
    }
    (Some(key), cut)
}

/// The slots that have to be written along with rows that hold one text and get another, by position: what
/// a statement sets enters its index anew, whether it changed or not. None, one or all, so that there are
/// few statements.
pub(super) fn changed<'r>(
    table: &Table,
    rows: impl Iterator<Item = (&'r str, &'r str)>,
) -> Range<usize> {
    let mut one = None;
    for (before, after) in rows {
        for column in differing(table, before, after) {
            let slot = table.slot_of[column];
            if slot.is_some() && one.is_some() && one != slot {
                return 0..table.slotted.len();
            }
            one = one.or(slot);
        }
    }
    one.map_or(0..0, |one| one..one + 1)
}

/// The columns whose cells differ between two objects, both in the order of keys.
pub(super) fn differing(table: &Table, one: &str, other: &str) -> Vec<usize> {
    let (mut one, mut other) = (members(one).peekable(), members(other).peekable());
    let mut columns = Vec::new();
    loop {
        let order = match (one.peek(), other.peek()) {
            (None, None) => return columns,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((one, _)), Some((other, _))) if one.inner == other.inner => Ordering::Equal,
            (Some((one, _)), Some((other, _))) => one.decoded().cmp(&other.decoded()),
        };
        let stored = one.next_if(|_| order.is_le());
        let sent = other.next_if(|_| order.is_ge());
        if stored.map(|(_, cell)| cell) != sent.map(|(_, cell)| cell) {
            let key = stored.or(sent).map(|(key, _)| key.decoded());
            columns.extend(key.and_then(|key| table.position(&key)));
        }
    }
}

/// Notes that columns have cells too long for their slots: queries go round those from now on.
pub(super) async fn mark_long(
    tx: &mut Tx,
    table: &Table,
    columns: impl Iterator<Item = usize>,
    now: i64,
) -> Result<(), StoreError> {
    let mut columns: Vec<Uuid> = columns
        .map(|at| &table.columns[at])
        .filter(|column| column.slot.is_some_and(|slot| !slot.long))
        .map(|column| column.definition.id)
        .collect();
    if columns.is_empty() {
        return Ok(());
    }
    columns.sort_unstable();
    columns.dedup();
    // The table first, as everybody does who changes columns.
    Table::changed(tx, table.organization, table.id, now).await?;
    for column in columns {
        let sql = "UPDATE main.columns SET slot_long = $3 WHERE {tenant organization_id} \
             AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
        tx.query(
            sql,
            &[table.organization.into(), column.into(), true.into()],
        )
        .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn a_key_is_cut_between_characters() {
        let long = format!("\"a{}\"", "é".repeat(300));
        let (cut, was_cut) = key(false, &long);
        assert!(was_cut);
        assert_eq!(cut.map(|key| key.len()), Some(511));
        assert_eq!(key(false, "\"a\""), (Some("a".to_owned()), false));
        assert_eq!(key(false, "null"), (None, false));
        assert_eq!(key(true, "null"), (None, false));
        assert_ne!(key(true, "5"), key(false, "5"));
    }
}
