//! Values of a TOML file with their places.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tplkit::finding::position::Positions;
use tplkit::finding::suggest;
use tplkit::json::Object;
use tplkit::toml_text;

use super::error::CliError;

/// A value and where it stands.
pub(crate) type SpannedValue<'t> = &'t Spanned<DeValue<'t>>;

/// A place in a TOML file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TomlPlace {
    path: PathBuf,
    line: usize,
    column: usize,
}

impl TomlPlace {
    /// Something is wrong there.
    pub(crate) fn wrong(&self, message: impl Into<String>, help: &'static str) -> CliError {
        CliError::Toml {
            path: self.path.clone(),
            line: self.line,
            column: self.column,
            message: message.into(),
            help,
        }
    }

    /// The file.
    pub(crate) fn file(&self) -> &Path {
        &self.path
    }
}

/// A file, for places in it.
pub(crate) struct TomlFile<'t> {
    pub(crate) path: PathBuf,
    pub(crate) text: &'t str,
    /// What to do about a mistake in it.
    pub(crate) help: &'static str,
}

impl<'t> TomlFile<'t> {
    /// The table at its root.
    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'t>>, CliError> {
        DeTable::parse(self.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            self.wrong(start, error.message().to_owned())
        })
    }

    /// The place of a byte.
    pub(crate) fn place(&self, offset: usize) -> TomlPlace {
        let places = Positions::find(self.text.as_bytes(), vec![offset]);
        let place = places.get(offset);
        TomlPlace {
            path: self.path.clone(),
            line: place.line,
            column: place.column,
        }
    }

    /// Something is wrong at a place.
    pub(crate) fn wrong(&self, offset: usize, message: impl Into<String>) -> CliError {
        self.place(offset).wrong(message, self.help)
    }

    /// Refuses the first unknown key.
    pub(crate) fn refuse_unknown_keys(
        &self,
        table: &DeTable<'t>,
        known: &[&str],
    ) -> Result<(), CliError> {
        let unknown = table
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => {
                let name = key.get_ref();
                let message = match suggest::nearest(name, known.iter().copied()) {
                    Some(near) => format!("unknown key `{name}`; did you mean `{near}`?"),
                    None => format!("unknown key `{name}`: known are {}", known.join(", ")),
                };
                Err(self.wrong(key.span().start, message))
            }
        }
    }

    /// A table.
    pub(crate) fn table<'v>(
        &self,
        value: &'v Spanned<DeValue<'t>>,
    ) -> Result<&'v DeTable<'t>, CliError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong(value.span().start, "a table is expected here")),
        }
    }

    /// A list.
    pub(crate) fn list<'v>(
        &self,
        value: &'v Spanned<DeValue<'t>>,
    ) -> Result<Vec<&'v Spanned<DeValue<'t>>>, CliError> {
        match value.get_ref() {
            DeValue::Array(elements) => Ok(elements.iter().collect()),
            _ => Err(self.wrong(value.span().start, "a list is expected here")),
        }
    }

    /// A text.
    pub(crate) fn string(&self, value: &Spanned<DeValue<'t>>) -> Result<String, CliError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong(value.span().start, "a text is expected here")),
        }
    }

    /// A path, relative to the file.
    pub(crate) fn file(&self, value: &Spanned<DeValue<'t>>) -> Result<PathBuf, CliError> {
        let name = self.string(value)?;
        Ok(self.path.parent().unwrap_or(Path::new("")).join(name))
    }

    /// The path under a key, relative to the file.
    pub(crate) fn file_at(
        &self,
        table: &DeTable<'t>,
        key: &str,
    ) -> Result<Option<PathBuf>, CliError> {
        table.get(key).map(|value| self.file(value)).transpose()
    }

    /// A number of things.
    pub(crate) fn count(&self, value: &Spanned<DeValue<'t>>) -> Result<u64, CliError> {
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(value.span().start, "a number is expected here, 0 or more"))
    }

    /// An instant: a date-time with an offset, or its text.
    pub(crate) fn instant(&self, value: &Spanned<DeValue<'t>>) -> Result<Timestamp, CliError> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Datetime(instant) => instant.to_string(),
            _ => String::new(),
        };
        let parsed = text.parse::<Timestamp>();
        parsed.map_err(|_| {
            let message = "an instant is expected here, such as 2026-01-31T12:00:00Z";
            self.wrong(value.span().start, message)
        })
    }

    /// A table as a JSON object.
    pub(crate) fn object(&self, table: &DeTable<'t>) -> Result<Object, CliError> {
        toml_text::object(table).map_err(|error| self.wrong(error.offset, error.to_string()))
    }

    /// A list of tables as JSON objects.
    pub(crate) fn objects(&self, value: &Spanned<DeValue<'t>>) -> Result<Vec<Object>, CliError> {
        let elements = self.list(value)?.into_iter();
        elements.map(|one| self.object(self.table(one)?)).collect()
    }
}
