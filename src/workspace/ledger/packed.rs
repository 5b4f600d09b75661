//! Rows of an entry as one text. There are as many of these as rows were written, so they are kept small:
//! position, id and digest of each, big end first, 28 bytes behind each other, in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

use super::{RowDigest, WrittenRow};
use crate::workspace::Id;

const POSITION: usize = 4;
const ID: usize = 16;
const DIGEST: usize = 8;
const ROW: usize = POSITION + ID + DIGEST;

pub(super) fn serialize<S: Serializer>(rows: &[WrittenRow], to: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(rows.len() * ROW);
    for row in rows {
        bytes.extend_from_slice(&row.position.to_be_bytes());
        bytes.extend_from_slice(row.id.as_bytes());
        bytes.extend_from_slice(&row.digest.0.to_be_bytes());
    }
    to.serialize_str(&STANDARD_NO_PAD.encode(bytes))
}

pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<WrittenRow>, D::Error> {
    let text = String::deserialize(from)?;
    let bytes = STANDARD_NO_PAD.decode(text).map_err(D::Error::custom)?;
    let (rows, rest) = bytes.as_chunks::<ROW>();
    if !rest.is_empty() {
        let message = format!("{} bytes are not a whole number of rows", bytes.len());
        return Err(D::Error::custom(message));
    }
    Ok(rows.iter().map(row).collect())
}

fn row(bytes: &[u8; ROW]) -> WrittenRow {
    let mut position = [0; POSITION];
    let mut id = [0; ID];
    let mut digest = [0; DIGEST];
    position.copy_from_slice(&bytes[..POSITION]);
    id.copy_from_slice(&bytes[POSITION..POSITION + ID]);
    digest.copy_from_slice(&bytes[POSITION + ID..]);
    WrittenRow {
        position: u32::from_be_bytes(position),
        id: Id::from_bytes(id),
        digest: RowDigest(u64::from_be_bytes(digest)),
    }
}

#[cfg(test)]
mod tests {
    use crate::workspace::ledger::Entry;

    fn read(rows: &str) -> Result<Entry, serde_json::Error> {
        serde_json::from_str(&format!(
            r#"{{"rows":{{"uid":"u","feature":"00000000-0000-0000-0000-000000000007","rows":"{rows}"}}}}"#
        ))
    }

    #[test]
    fn a_row_is_kept_in_a_form_that_never_changes() {
        let text = "AAAAAwAAAAAAAAAAAAAAAAAAAAcAAAAAAAAACQ";
        let Entry::Rows(rows) = read(text).expect("reads") else {
            panic!("rows");
        };
        let [row] = rows.rows.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!((row.position, row.id.as_u128(), row.digest.0), (3, 7, 9));
        let written = serde_json::to_string(&Entry::Rows(rows)).expect("writes");
        assert!(
            written.contains(&format!(r#""rows":"{text}""#)),
            "{written}"
        );
        assert!(matches!(read(""), Ok(Entry::Rows(rows)) if rows.rows.is_empty()));
    }

    #[test]
    fn what_is_not_list_of_rows_is_an_error() {
        for wrong in ["AAAA", "?", "AAAAAwAAAAAAAAAAAAAAAAAAAAcAAAAAAAAACQ=="] {
            read(wrong).expect_err(wrong);
        }
    }
}
