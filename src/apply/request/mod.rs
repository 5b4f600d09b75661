//! The request of an apply: its body, or a resolutions file.

mod decisions;
mod read;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;

use crate::json::{Object, Value};
use crate::workspace::Id;

pub use decisions::UpgradeTerms;

/// How a package is to be applied. Refs stand without the dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(default, rename_all = "camelCase")
)]
pub struct Request {
    /// Whether rows are written at all; false wins over every rows mode.
    pub include_rows: bool,
    /// What becomes of dependencies, by their refs; the exporter's proposal where one is absent.
    #[cfg_attr(
        feature = "schemas",
        schemars(with = "IndexMap<String, read::ResolutionBody>")
    )]
    pub resolutions: IndexMap<String, Resolution>,
    /// Which rows of a table are written, by its ref; all of them where a table is absent.
    pub rows_modes: IndexMap<String, RowsMode>,
    /// Whether a second, separate copy is made although the template was applied before.
    pub copy: bool,
    /// The digest of the plan that was looked at.
    pub plan: Option<String>,
    /// Whether what was applied before is brought to what the package says.
    pub upgrade: bool,
    /// How, then.
    #[cfg_attr(feature = "schemas", schemars(flatten))]
    pub terms: UpgradeTerms,
}

impl Request {
    /// Whether rows that are there are compared with the package: an upgrade with rows.
    pub fn compares_rows(&self) -> bool {
        self.upgrade && self.include_rows
    }

    /// The JSON of the request, without what is as it would be anyway.
    pub fn to_value(&self) -> Value {
        let mut members = Object::new();
        if !self.include_rows {
            members.insert("includeRows".to_owned(), false.into());
        }
        let resolutions = self.resolutions.iter();
        let resolutions: Object = resolutions
            .map(|(reference, resolution)| (reference.clone(), resolution.to_value()))
            .collect();
        let modes = self.rows_modes.iter();
        let modes: Object = modes
            .map(|(reference, mode)| (reference.clone(), mode.as_str().into()))
            .collect();
        for (key, object) in [("resolutions", resolutions), ("rowsModes", modes)] {
            if !object.is_empty() {
                members.insert(key.to_owned(), object.into());
            }
        }
        if self.copy {
            members.insert("copy".to_owned(), true.into());
        }
        if self.upgrade {
            members.insert("upgrade".to_owned(), true.into());
        }
        let terms = self.terms.members().into_iter();
        members.extend(terms.map(|(key, value)| (key.to_owned(), value)));
        if let Some(plan) = &self.plan {
            members.insert("plan".to_owned(), plan.as_str().into());
        }
        members.into()
    }
}

impl Resolution {
    fn to_value(&self) -> Value {
        let (action, id, columns) = match self {
            Resolution::Import => ("import", None, None),
            Resolution::Map { id, columns, .. } => ("map", Some(id), Some(columns)),
            Resolution::Skip => ("skip", None, None),
        };
        let empty = match self {
            Resolution::Map { leave_empty, .. } => leave_empty.as_slice(),
            Resolution::Import | Resolution::Skip => &[],
        };
        let mut members = Object::from_iter([("action".to_owned(), action.into())]);
        if let Some(id) = id {
            members.insert("id".to_owned(), id.as_str().into());
        }
        if let Some(columns) = columns.filter(|columns| !columns.is_empty()) {
            let columns = columns.iter();
            let columns: Object = columns
                .map(|(reference, id)| (reference.clone(), id.to_string().into()))
                .collect();
            members.insert("columns".to_owned(), columns.into());
        }
        if !empty.is_empty() {
            let names = empty.iter().map(|name| Value::from(name.as_str()));
            members.insert("leaveEmpty".to_owned(), Value::List(names.collect()));
        }
        members.into()
    }
}

impl Default for Request {
    fn default() -> Request {
        Request {
            include_rows: true,
            resolutions: IndexMap::new(),
            rows_modes: IndexMap::new(),
            copy: false,
            plan: None,
            upgrade: false,
            terms: UpgradeTerms::default(),
        }
    }
}

/// What becomes of dependencies, by their refs.
pub type Resolutions = IndexMap<String, Resolution>;

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
        /// Of a table: names of required destination columns that rows may leave empty.
        leave_empty: Vec<String>,
    },
    /// Everything that it held becomes empty.
    Skip,
}

/// Which rows of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(inline, rename_all = "camelCase")
)]
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
