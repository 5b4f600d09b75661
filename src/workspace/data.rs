//! The cells of a row as they are stored: one compact JSON object.

use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::{Object, SyntaxError, Value};
use crate::rows::{Text, members};

/// A well-formed JSON object, compact, that is cheap to hand on.
#[derive(Clone, PartialEq, Eq)]
pub struct RowData(Arc<str>);

impl RowData {
    /// Takes text that is known to be a well-formed JSON object without white space around tokens.
    pub fn trusted(text: &str) -> RowData {
        RowData(Arc::from(text))
    }

    /// Reads an object and writes it compactly.
    pub fn parse(text: &str) -> Result<RowData, SyntaxError> {
        match Value::parse(text)? {
            value @ Value::Object(_) => Ok(RowData::trusted(&value.write())),
            _ => Ok(RowData::default()),
        }
    }

    /// The cells of an object.
    pub fn of(cells: &Object) -> RowData {
        RowData::trusted(&Value::Object(cells.clone()).write())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Key and value of each cell, as they are written.
    pub fn cells(&self) -> impl Iterator<Item = (Text<'_>, &str)> {
        members(&self.0)
    }

    /// The value of a cell, as it is written.
    pub fn cell(&self, column: &str) -> Option<&str> {
        self.cells()
            .find(|(key, _)| key.is(column))
            .map(|(_, value)| value)
    }
}

impl Default for RowData {
    fn default() -> RowData {
        RowData::trusted("{}")
    }
}

impl std::fmt::Debug for RowData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RowData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RowData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RowData, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if !raw.get().starts_with('{') {
            return Err(D::Error::custom("a row's data is an object"));
        }
        RowData::parse(raw.get()).map_err(D::Error::custom)
    }
}
