//! What rows of a package are known by later, whatever their positions: as one text, uid and key of each,
//! big end first, 24 bytes behind each other, in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RowDigest;

/// What a row is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowName {
    /// The number of its uid.
    pub uid: u128,
    /// The digest of its key: that of a row which holds nothing else. The default is none.
    pub key: RowDigest,
}

/// What the rows of an entry are known by.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowNames {
    /// The verified key column, as the package names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Row by row.
    #[serde(serialize_with = "serialize", deserialize_with = "deserialize")]
    pub rows: Vec<RowName>,
}

impl RowNames {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

const UID: usize = 16;
const KEY: usize = 8;
const NAME: usize = UID + KEY;

fn serialize<S: Serializer>(rows: &[RowName], to: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(rows.len() * NAME);
    for row in rows {
        bytes.extend_from_slice(&row.uid.to_be_bytes());
        bytes.extend_from_slice(&row.key.0.to_be_bytes());
    }
    to.serialize_str(&STANDARD_NO_PAD.encode(bytes))
}

fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<RowName>, D::Error> {
    let text = String::deserialize(from)?;
    let bytes = STANDARD_NO_PAD.decode(text).map_err(D::Error::custom)?;
    let (rows, rest) = bytes.as_chunks::<NAME>();
    if !rest.is_empty() {
        let message = format!("{} bytes are not a whole number of names", bytes.len());
        return Err(D::Error::custom(message));
    }
    Ok(rows.iter().map(name).collect())
}

fn name(bytes: &[u8; NAME]) -> RowName {
    let (mut uid, mut key) = ([0; UID], [0; KEY]);
    uid.copy_from_slice(&bytes[..UID]);
    key.copy_from_slice(&bytes[UID..]);
    RowName {
        uid: u128::from_be_bytes(uid),
        key: RowDigest(u64::from_be_bytes(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::RowNames;

    #[test]
    fn a_name_is_kept_in_a_form_that_never_changes() {
        let text = r#"{"key":"code","rows":"AAAAAAAAAAAAAAAAAAAABwAAAAAAAAAJ"}"#;
        let names: RowNames = serde_json::from_str(text).expect("reads");
        let name = names.rows[0];
        assert_eq!((name.uid, name.key.0), (7, 9));
        assert_eq!(serde_json::to_string(&names).expect("writes"), text);
        serde_json::from_str::<RowNames>(r#"{"rows":"AAAA"}"#).expect_err("no name");
    }
}
