//! The cells of a row as they are stored: one compact JSON object.

use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::{Object, SyntaxError, Value, write_string_to};
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

    /// Cells, by name and as well-formed JSON without white space around tokens, as one object.
    pub fn from_cells<'c>(cells: impl Iterator<Item = (&'c str, &'c str)>) -> RowData {
        let mut out = String::from("{");
        for (name, cell) in cells {
            if out.len() > 1 {
                out.push(',');
            }
            write_string_to(&mut out, name);
            out.push(':');
            out.push_str(cell);
        }
        out.push('}');
        RowData::trusted(&out)
    }

    /// These columns of it alone.
    #[must_use]
    pub fn only(&self, columns: &[&str]) -> RowData {
        let cells = columns.iter();
        RowData::from_cells(cells.filter_map(|column| Some((*column, self.cell(column)?))))
    }

    /// What the row holds after a write: `cells` alone, or merged over what is there; then null
    /// takes a cell away.
    #[must_use]
    pub fn written(&self, cells: &RowData, replace: bool) -> RowData {
        if replace {
            return cells.clone();
        }
        let mut out = String::with_capacity(self.0.len() + cells.0.len());
        let mut before = '{';
        let mut put = |key: Text<'_>, value: &str| {
            out.push(std::mem::replace(&mut before, ','));
            write_string_to(&mut out, &key.decoded());
            out.push(':');
            out.push_str(value);
        };
        let new: Vec<_> = cells.cells().collect();
        let mut placed = vec![false; new.len()];
        for (key, value) in self.cells() {
            let decoded = key.decoded();
            match new.iter().rposition(|(other, _)| other.is(&decoded)) {
                None => put(key, value),
                Some(at) => {
                    placed[at] = true;
                    if new[at].1 != "null" {
                        put(key, new[at].1);
                    }
                }
            }
        }
        for ((key, value), placed) in new.iter().zip(placed) {
            if !placed && *value != "null" {
                put(*key, value);
            }
        }
        out.push_str(if before == '{' { "{}" } else { "}" });
        RowData::trusted(&out)
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

#[cfg(test)]
mod tests {
    use super::RowData;

    #[test]
    fn a_write_merges_or_replaces() {
        let row = RowData::trusted(r#"{"a":1,"b":"x","c":[1]}"#);
        for (cells, replace, after) in [
            ("{}", false, r#"{"a":1,"b":"x","c":[1]}"#),
            (
                r#"{"b":null,"d":2,"a":3}"#,
                false,
                r#"{"a":3,"c":[1],"d":2}"#,
            ),
            (r#"{"d":2,"a":null}"#, true, r#"{"d":2,"a":null}"#),
            ("{}", true, "{}"),
            (r#"{"a":null,"b":null,"c":null}"#, false, "{}"),
        ] {
            let written = row.written(&RowData::trusted(cells), replace);
            assert_eq!(written.as_str(), after, "{cells} {replace}");
        }
    }
}
