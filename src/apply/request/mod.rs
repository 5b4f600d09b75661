//! What somebody decided: the body of an apply, or a resolutions file.

mod read;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;

use crate::workspace::Id;

/// How a package is to be applied. Refs stand without the dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Whether rows are written at all; false wins over every rows mode.
    pub include_rows: bool,
    /// What becomes of dependencies; the exporter's proposal where one is absent.
    pub resolutions: IndexMap<String, Resolution>,
    /// Which rows of a table are written; all of them where a table is absent.
    pub rows_modes: IndexMap<String, RowsMode>,
    /// Whether a second, separate copy is made although the template was applied before.
    pub copy: bool,
    /// The digest of the plan that was looked at.
    pub plan: Option<String>,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            include_rows: true,
            resolutions: IndexMap::new(),
            rows_modes: IndexMap::new(),
            copy: false,
            plan: None,
        }
    }
}

/// What becomes of a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It is created from its blueprint.
    Import,
    /// It is one that the destination has.
    Map {
        /// Its id; its name when the dependency is one by name.
        id: String,
        /// Of a table: destination columns by the refs of identity columns.
        columns: IndexMap<String, Id>,
    },
    /// Everything that it held becomes empty.
    Skip,
}

/// Which rows of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowsMode {
    /// All of them.
    #[default]
    All,
    /// Those whose key the destination does not have.
    MissingByKey,
    /// None.
    None,
}

impl RowsMode {
    /// The word in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            RowsMode::All => "all",
            RowsMode::MissingByKey => "missingByKey",
            RowsMode::None => "none",
        }
    }

    /// The mode of that word.
    pub fn parse(word: &str) -> Option<RowsMode> {
        let all = [RowsMode::All, RowsMode::MissingByKey, RowsMode::None];
        all.into_iter().find(|mode| mode.as_str() == word)
    }
}
