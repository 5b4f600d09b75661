//! Reads what a `{bounded}` statement found for a page.

use super::{BOUND, Row};
use crate::paging::BoundedRecords;

/// The records of the rows that a `{bounded}` statement found, as many as a response has room for: those within
/// [`BOUND`], and the first one in any case.
///
/// # Errors
/// Those of reading a row.
pub fn bounded_records<T, E>(
    mut rows: Vec<Row>,
    read: impl Fn(&Row) -> Result<T, E>,
) -> Result<BoundedRecords<T>, E> {
    let (mut bytes, mut room) = (0, 0);
    for row in &rows {
        bytes += row.bytes();
        if room > 0 && bytes > BOUND {
            break;
        }
        room += 1;
    }
    rows.truncate(room);
    // Each is let go once it is read: they may be large.
    let records = rows.into_iter().map(|row| read(&row));
    Ok(BoundedRecords {
        records: records.collect::<Result<_, E>>()?,
        // What stands behind was not read.
        ended_early: bytes > BOUND,
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::bounded_records;
    use crate::store::{BOUND, Row, StoreError};

    #[test]
    fn records_end_within_the_bound_and_behind_the_first() {
        for (sizes, expected) in [
            (&[][..], (0, false)),
            (&[10, 10][..], (2, false)),
            (&[BOUND / 2, BOUND / 2][..], (2, false)),
            (&[BOUND / 2, BOUND / 2, 1][..], (2, true)),
            (&[BOUND][..], (1, false)),
            (&[BOUND + 1][..], (1, true)),
            (&[10, BOUND][..], (1, true)),
        ] {
            let rows = sizes.iter().map(|size| {
                let text = Value::Text("x".repeat(*size));
                Row::Sqlite(vec![text])
            });
            let found = bounded_records(rows.collect(), |row| row.get::<String>(0));
            let found = found.expect("is a text");
            assert_eq!((found.records.len(), found.ended_early), expected);
        }
        let other = vec![Row::Sqlite(vec![Value::Integer(1)])];
        let refused: Result<_, StoreError> = bounded_records(other, |row| row.get::<String>(0));
        assert!(refused.is_err());
    }
}
