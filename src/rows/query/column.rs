//! The column of a filter or sort: a key of the row data, or a member of every record.

/// A column of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Column {
    /// The id of the record. Never a data key, whatever the table calls its columns.
    Id,
    /// When the record was made.
    CreatedAt,
    /// When it was changed last.
    UpdatedAt,
    /// A key of the row data, declared as a column or not.
    Key(String),
}

impl Column {
    /// The column of that name.
    pub fn of(name: &str) -> Column {
        match name {
            "id" => Column::Id,
            "created_at" => Column::CreatedAt,
            "updated_at" => Column::UpdatedAt,
            key => Column::Key(key.to_owned()),
        }
    }

    /// The key of the row data, unless it is what every record has.
    pub fn key(&self) -> Option<&str> {
        match self {
            Column::Key(key) => Some(key),
            _ => None,
        }
    }
}
