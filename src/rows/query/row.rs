//! A row as queries see it.

use uuid::Uuid;

use crate::rows::{Cell, members};

/// A row in memory.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The id of the record.
    pub id: Uuid,
    /// When it was made, in microseconds since 1970.
    pub created_at: i64,
    /// When it was changed last, in microseconds since 1970.
    pub updated_at: i64,
    /// The well-formed object of its cells.
    pub data: &'a str,
}

impl<'a> Row<'a> {
    /// The cell as it is written; none when it is absent or null. Of repeated keys the last counts.
    pub fn cell(&self, key: &str) -> Option<&'a str> {
        let cells = members(self.data).filter(|(name, _)| name.is(key));
        let (_, raw) = cells.last()?;
        (!matches!(Cell::new(raw), Cell::Null)).then_some(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn absent_and_null_are_one() {
        let row = Row {
            id: uuid::Uuid::nil(),
            created_at: 0,
            updated_at: 0,
            data: r#"{"a":null,"b":"","c":[],"\u0064":1,"id":"own","e":1,"e":null}"#,
        };
        for (key, cell) in [
            ("a", None),
            ("b", Some("\"\"")),
            ("c", Some("[]")),
            ("d", Some("1")),
            ("e", None),
            ("f", None),
            ("A", None),
        ] {
            assert_eq!(row.cell(key), cell, "{key}");
        }
    }
}
