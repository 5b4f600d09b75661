//! The values of parameters and results: one small set of types for both stores.

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use super::StoreError;
use super::wire_row::WireRow;

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// An id.
    Id(Uuid),
    /// Ids, for `= ANY`.
    Ids(Vec<Uuid>),
    /// Text.
    Text(String),
    /// Texts, for `= ANY`.
    Texts(Vec<String>),
    /// A count, or an instant in microseconds since 1970.
    Int(i64),
    /// Such numbers, for `= ANY`.
    Ints(Vec<i64>),
    /// A truth value.
    Bool(bool),
    /// A hash.
    Bytes(Vec<u8>),
    /// Values of one kind, some of which may be nothing.
    List(Vec<Value>),
}

impl From<Uuid> for Value {
    fn from(id: Uuid) -> Value {
        Value::Id(id)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<[u8; 32]> for Value {
    fn from(hash: [u8; 32]) -> Value {
        Value::Bytes(hash.to_vec())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Value {
        Value::Bytes(bytes.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl Value {
    /// The form in which SQLite takes it. A list becomes the argument of `rarray`.
    pub(super) fn bind(
        &self,
        statement: &mut rusqlite::Statement<'_>,
        index: usize,
    ) -> rusqlite::Result<()> {
        match self {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null),
            Value::Id(id) => statement.raw_bind_parameter(index, id.as_bytes().as_slice()),
            Value::Ids(ids) => bind_all(statement, index, ids, |id| id.as_bytes().to_vec().into()),
            Value::Texts(texts) => bind_all(statement, index, texts, |text| text.clone().into()),
            Value::Ints(numbers) => bind_all(statement, index, numbers, |number| (*number).into()),
            Value::Text(text) => statement.raw_bind_parameter(index, text),
            Value::Int(number) => statement.raw_bind_parameter(index, number),
            Value::Bool(value) => statement.raw_bind_parameter(index, value),
            Value::Bytes(bytes) => statement.raw_bind_parameter(index, bytes),
            Value::List(values) => bind_all(statement, index, values, Value::alone),
        }
    }

    /// The form in which SQLite keeps it.
    fn alone(&self) -> rusqlite::types::Value {
        match self {
            Value::Id(id) => id.as_bytes().to_vec().into(),
            Value::Text(text) => text.clone().into(),
            Value::Int(number) => (*number).into(),
            Value::Bool(value) => (*value).into(),
            Value::Bytes(bytes) => bytes.clone().into(),
            // Lists are not in lists.
            Value::Null | Value::Ids(_) | Value::Texts(_) | Value::Ints(_) | Value::List(_) => {
                rusqlite::types::Value::Null
            }
        }
    }
}

fn bind_all<T>(
    statement: &mut rusqlite::Statement<'_>,
    index: usize,
    values: &[T],
    form: impl Fn(&T) -> rusqlite::types::Value,
) -> rusqlite::Result<()> {
    let values: Vec<rusqlite::types::Value> = values.iter().map(form).collect();
    statement.raw_bind_parameter(index, std::rc::Rc::new(values))
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Id(id) => id.to_sql_checked(ty, out),
            Value::Ids(ids) => ids.to_sql_checked(ty, out),
            Value::Text(text) => text.to_sql_checked(ty, out),
            Value::Texts(texts) => texts.to_sql_checked(ty, out),
            Value::Int(number) => number.to_sql_checked(ty, out),
            Value::Ints(numbers) => numbers.to_sql_checked(ty, out),
            Value::Bool(value) => value.to_sql_checked(ty, out),
            Value::Bytes(bytes) => bytes.to_sql_checked(ty, out),
            Value::List(values) => values.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // Each arm checks for itself.
        true
    }

    to_sql_checked!();
}

/// A row of a response. Columns are taken by position, as the statement lists them.
#[derive(Debug)]
pub enum Row {
    /// From SQLite.
    Sqlite(Vec<rusqlite::types::Value>),
    /// From PostgreSQL.
    Postgres(tokio_postgres::Row),
    /// From PostgreSQL, of a read that took one message each way.
    Wire(WireRow),
}

/// A type that a column can be read as.
pub trait FromColumn: Sized {
    /// Reads SQLite's form.
    #[doc(hidden)]
    fn from_sqlite(value: &rusqlite::types::Value) -> Option<Self>;
    /// Reads PostgreSQL's form.
    #[doc(hidden)]
    fn from_postgres(
        row: &tokio_postgres::Row,
        index: usize,
    ) -> Result<Self, tokio_postgres::Error>;
    /// The same, of a row that the driver has not read.
    #[doc(hidden)]
    fn from_wire(row: &WireRow, index: usize) -> Result<Self, StoreError>;
}

impl Row {
    /// How many bytes its texts have, about.
    pub fn bytes(&self) -> usize {
        let of_value = |value: &rusqlite::types::Value| match value {
            rusqlite::types::Value::Text(text) => text.len(),
            rusqlite::types::Value::Blob(bytes) => bytes.len(),
            _ => size_of::<i64>(),
        };
        match self {
            Row::Sqlite(values) => values.iter().map(of_value).sum(),
            Row::Postgres(row) => row.raw_size_bytes(),
            Row::Wire(row) => row.bytes(),
        }
    }

    /// The column at that position.
    ///
    /// # Errors
    /// When the statement has no such column, or one of another type: a bug.
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, StoreError> {
        match self {
            Row::Sqlite(values) => values
                .get(index)
                .and_then(T::from_sqlite)
                .ok_or_else(|| StoreError::Internal(format!("column {index} has another type"))),
            Row::Postgres(row) => Ok(T::from_postgres(row, index)?),
            Row::Wire(row) => T::from_wire(row, index),
        }
    }
}

macro_rules! column {
    ($type:ty, $pattern:pat => $value:expr) => {
        impl FromColumn for $type {
            fn from_sqlite(value: &rusqlite::types::Value) -> Option<Self> {
                match value {
                    $pattern => $value,
                    _ => None,
                }
            }

            fn from_postgres(
                row: &tokio_postgres::Row,
                index: usize,
            ) -> Result<Self, tokio_postgres::Error> {
                row.try_get(index)
            }

            fn from_wire(row: &WireRow, index: usize) -> Result<Self, StoreError> {
                row.get(index)
            }
        }

        impl FromColumn for Option<$type> {
            fn from_sqlite(value: &rusqlite::types::Value) -> Option<Self> {
                match value {
                    rusqlite::types::Value::Null => Some(None),
                    other => <$type>::from_sqlite(other).map(Some),
                }
            }

            fn from_postgres(
                row: &tokio_postgres::Row,
                index: usize,
            ) -> Result<Self, tokio_postgres::Error> {
                row.try_get(index)
            }

            fn from_wire(row: &WireRow, index: usize) -> Result<Self, StoreError> {
                row.get(index)
            }
        }
    };
}

column!(Uuid, rusqlite::types::Value::Blob(bytes) => Uuid::from_slice(bytes).ok());
column!(String, rusqlite::types::Value::Text(text) => Some(text.clone()));
column!(i64, rusqlite::types::Value::Integer(number) => Some(*number));
column!(bool, rusqlite::types::Value::Integer(number) => Some(*number != 0));
column!(Vec<u8>, rusqlite::types::Value::Blob(bytes) => Some(bytes.clone()));
