//! The options of the calls, as JavaScript hands them over: one JSON object, whose unknown keys are
//! ignored as JavaScript does.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tplkit::definitions::Definitions;
use tplkit::finding::selection::{Selection, Selector};

use crate::Failure;

/// The path of a package without a name: that of standard input.
const UNNAMED: &str = "-";

/// Reads the options of a call; no text stands for none.
pub(crate) fn read<T: DeserializeOwned + Default>(text: &str) -> Result<T, Failure> {
    if text.is_empty() {
        return Ok(T::default());
    }
    serde_json::from_str(text).map_err(|error| Failure::of_call(format!("the options: {error}")))
}

/// What most calls take.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Common {
    path: Option<String>,
    /// A registry, as an object or as its text.
    definitions: Option<Value>,
}

impl Common {
    /// The name of the package in documents.
    pub(crate) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(UNNAMED)
    }

    /// The file name alone, for what people read.
    pub(crate) fn file(&self) -> Option<&str> {
        let name = self.path.as_deref()?.rsplit(['/', '\\']).next();
        name.filter(|name| !name.is_empty() && *name != UNNAMED)
    }

    /// The registry, when the caller brings one.
    pub(crate) fn definitions(&self) -> Result<Option<Definitions>, Failure> {
        let Some(value) = &self.definitions else {
            return Ok(None);
        };
        Definitions::parse(&text_of(value))
            .map(Some)
            .map_err(|error| Failure::of_call(format!("`definitions`: {error}")))
    }
}

/// A text as it is, any other value as JSON.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Which rules speak, and how loud.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Rules {
    select: Vec<String>,
    ignore: Vec<String>,
    warn: Vec<String>,
    deny: Vec<String>,
}

impl Rules {
    /// The selection that they come to.
    pub(crate) fn selection(&self) -> Result<Selection, Failure> {
        Ok(Selection {
            select: selectors(&self.select)?,
            ignore: selectors(&self.ignore)?,
            warn: selectors(&self.warn)?,
            deny: selectors(&self.deny)?,
            beneath: None,
        })
    }
}

fn selectors(words: &[String]) -> Result<Vec<Selector>, Failure> {
    let parsed = words.iter().map(|word| word.parse::<Selector>());
    parsed
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::of_call(error.to_string()))
}

/// Whether promotion is measured too: a truth value, or the visibility as the command line names it.
pub(crate) fn is_promotion(value: &Value) -> Result<bool, Failure> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(truth) => Ok(*truth),
        Value::String(word) if word == "system" => Ok(true),
        other => Err(Failure::of_call(format!(
            "`promotion` is true, false or \"system\", not {other}"
        ))),
    }
}
