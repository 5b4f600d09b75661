//! Composes a statement for one table and one store: expressions for cells, and parameters.

use super::chosen_index::IndexChoice;
use super::composed::Composed;
use crate::rows::Table;
use crate::store::{Dialect, Value};

/// The limits that are written into statements: pages as they are usually asked for, and one more.
pub(super) const SIZES: [i64; 7] = [2, 6, 11, 26, 51, 101, 201];

/// What is put together. $1 is the organization, $2 the table.
#[derive(Debug)]
pub(super) struct Composer<'t> {
    pub(super) table: &'t Table,
    pub(super) dialect: Dialect,
    values: Vec<Value>,
    keys: Vec<(String, String)>,
    reads_data: bool,
    /// Along which index the statements go.
    pub(super) index_choice: IndexChoice,
    /// Whether the searches of its filters may compare so much that long cells need another form of them.
    pub(super) compares_much: bool,
}

/// Where the cells of a column are to be had.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// In a slot that holds their text form.
    Texts(String),
    /// In a slot that holds their order keys.
    Keys(String),
    /// In the data, under the key that is this parameter.
    Data(String),
}

impl<'t> Composer<'t> {
    pub(super) fn new(table: &'t Table, dialect: Dialect) -> Composer<'t> {
        Composer {
            table,
            dialect,
            values: vec![table.organization.into(), table.id.into()],
            keys: Vec::new(),
            reads_data: false,
            index_choice: IndexChoice::Either,
            compares_much: false,
        }
    }

    /// One more parameter; gives the words for it.
    pub(super) fn value(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// A composed statement, with its parameters.
    pub(super) fn words(self, text: String) -> (String, Vec<Value>) {
        (text, self.values)
    }

    /// The limit of a statement that has to find so many rows. PostgreSQL plans a limit that is a
    /// parameter for a tenth of the table, so there it is a number of a few: a little more is found.
    pub(super) fn limit(&mut self, lookahead: i64) -> String {
        match self.dialect {
            Dialect::Sqlite => self.value(lookahead),
            Dialect::Postgres => {
                let size = SIZES.iter().find(|size| **size >= lookahead);
                size.copied().unwrap_or(lookahead).to_string()
            }
        }
    }

    /// The one statement.
    pub(super) fn finish(self, text: String) -> Composed {
        self.finish_all(vec![text], 1)
    }

    /// The statements that find so many rows.
    pub(super) fn finish_all(self, texts: Vec<String>, lookahead: usize) -> Composed {
        Composed {
            texts,
            values: self.values,
            lookahead,
            first: None,
            search: None,
        }
    }

    /// Where the cells of that key are to be had.
    pub(super) fn source(&mut self, key: &str) -> Source {
        if let Some(column) = self.table.column(key)
            && let Some(slot) = column.slot.filter(|slot| slot.is_usable())
        {
            let name = format!("s{}", slot.number);
            return if column.is_number {
                Source::Keys(name)
            } else {
                Source::Texts(name)
            };
        }
        if let Some((_, known)) = self.keys.iter().find(|(known, _)| known == key) {
            return Source::Data(known.clone());
        }
        let parameter = self.data_key(key);
        self.keys.push((key.to_owned(), parameter.clone()));
        Source::Data(parameter)
    }

    /// The parameter that is a key of the data.
    pub(super) fn data_key(&mut self, key: &str) -> String {
        self.reads_data = true;
        let parameter = self.value(key);
        match self.dialect {
            Dialect::Sqlite => parameter,
            Dialect::Postgres => format!("{parameter}::text"),
        }
    }

    /// Whether some condition so far has to read the data of a row.
    pub(super) fn reads_data(&self) -> bool {
        self.reads_data
    }

    /// The text form of the cell in the data; nothing when it is absent or null.
    pub(super) fn text(&self, key: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("cell_text(data, {key})"),
            Dialect::Postgres => format!("(data ->> {key}) COLLATE \"C\""),
        }
    }

    /// The number in the data, in a form that the store compares; nothing when it is none. Goes with
    /// [`number_value`](Composer::number_value).
    pub(super) fn number(&self, key: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("cell_number(data, {key})"),
            Dialect::Postgres => format!(
                "CASE WHEN json_typeof(data -> {key}) = 'number' THEN (data ->> {key})::numeric END"
            ),
        }
    }

    /// The number in the data as it is written; nothing when it is none.
    pub(super) fn digits(&self, key: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("cell_digits(data, {key})"),
            Dialect::Postgres => {
                format!("CASE WHEN json_typeof(data -> {key}) = 'number' THEN data ->> {key} END")
            }
        }
    }

    /// A number to compare with.
    pub(super) fn number_value(&mut self, token: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => self.value(key_of(token)),
            Dialect::Postgres => format!("{}::text::numeric", self.value(token)),
        }
    }

    /// The condition that the cell is that boolean, or that it is anything else or nothing.
    pub(super) fn boolean(&self, key: &str, value: bool, is: bool) -> String {
        match self.dialect {
            Dialect::Sqlite => {
                let is = if is { "IS" } else { "IS NOT" };
                format!("cell_boolean(data, {key}) {is} {}", i32::from(value))
            }
            Dialect::Postgres => {
                let is = if is { "IS NOT" } else { "IS" };
                format!("(data -> {key})::text {is} DISTINCT FROM '{value}'")
            }
        }
    }

    /// The condition that an expression is one of the values of a list, or that it is none of them.
    pub(super) fn one_of(&mut self, expression: &str, values: Value, is: bool) -> String {
        let values = self.value(values);
        match (self.dialect, is) {
            (Dialect::Sqlite, true) => format!("{expression} IN rarray({values})"),
            (Dialect::Sqlite, false) => format!("{expression} NOT IN rarray({values})"),
            (Dialect::Postgres, true) => format!("{expression} = ANY ({values})"),
            (Dialect::Postgres, false) => format!("{expression} <> ALL ({values})"),
        }
    }
}

/// The order key of a number that a store can hold.
pub(super) fn key_of(token: &str) -> String {
    tplkit::rows::order_key(token).unwrap_or_default()
}
