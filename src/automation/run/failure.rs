//! Why a step could not be done, as people read it.

use std::borrow::Cow;

use super::reason::Reason;
use crate::definitions::Fields;
use crate::json::{Object, Value};

/// Why a step could not be done: where, which expression, which value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// The field of the step's config, dotted; empty when it is about none.
    pub field: String,
    /// What is there.
    pub expression: Option<String>,
    /// What that yields.
    pub value: Option<String>,
    /// What is wrong with it.
    pub reason: String,
    /// The kind of the failure as one stable word.
    pub code: Reason,
}

/// How much of a value a failure quotes.
const MAX_QUOTED_CHARS: usize = 200;

impl Failure {
    /// A failure that is about no field.
    pub fn new(reason: impl Into<String>) -> Failure {
        Failure {
            reason: reason.into(),
            ..Failure::default()
        }
    }

    /// A failure about a field.
    pub fn at(field: impl Into<String>, reason: impl Into<String>) -> Failure {
        Failure {
            field: field.into(),
            reason: reason.into(),
            ..Failure::default()
        }
    }

    /// A failure of a run that would become too large.
    pub fn too_large(field: impl Into<String>, reason: impl Into<String>) -> Failure {
        Failure {
            code: Reason::RunTooLarge,
            ..Failure::at(field, reason)
        }
    }

    /// The same failure for that reason.
    #[must_use]
    pub fn because(mut self, code: Reason) -> Failure {
        self.code = code;
        self
    }

    /// With what is in the field, where that is known and not said yet: a failure that comes from
    /// outside knows the value, and not from which expression it came. `declared` and `written` are the
    /// config of the step; secrets are never quoted.
    #[must_use]
    pub(super) fn of_written(mut self, declared: &Fields, written: &Object) -> Failure {
        let mut path = self.field.split('.').map(str::to_owned);
        let first = path.next().unwrap_or_default();
        let field = declared.get(&first);
        if self.expression.is_none() && field.is_some_and(|field| !field.secret) {
            let rest: Vec<String> = path.collect();
            let found = written.get(&first).and_then(|value| value.at_path(&rest));
            let single = |value: &&Value| !matches!(value, Value::List(_) | Value::Object(_));
            self.expression = found.filter(single).map(short_text);
        }
        self
    }

    /// With what is in the field, and what it yields.
    #[must_use]
    pub fn yields(mut self, expression: Option<&Value>, value: &Value) -> Failure {
        self.expression = expression.map(short_text);
        self.value = Some(short_text(value));
        self
    }
}

/// A value as failures quote it.
fn short_text(value: &Value) -> String {
    let text = match value {
        Value::String(text) => Cow::Borrowed(text.as_str()),
        // As many characters are never more than four times as many bytes.
        other => Cow::Owned(other.write_start(4 * MAX_QUOTED_CHARS + 1)),
    };
    let mut short: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.field.is_empty() {
            write!(f, "`{}`", self.field)?;
            if let Some(expression) = &self.expression {
                write!(f, " is {expression:?}")?;
            }
            if let Some(value) = self
                .value
                .as_ref()
                .filter(|v| Some(*v) != self.expression.as_ref())
            {
                write!(f, ", which yields {value:?}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.reason)
    }
}
