//! Expressions into values.
//!
//! There is nothing to compute in an expression: tokens are paths. What a token yields is put where it
//! stands and never looked at again, whatever braces it holds.

use std::borrow::Cow;

use jiff::Timestamp;

use super::envelope::Envelope;
use super::request_path::Unresolved;
use super::{recipients, request_path};
use crate::automation::{Path, Piece, lone_token, pieces};
use crate::definitions::{Field, FieldType, Fields};
use crate::json::{Object, Value};
use crate::rows::text_form;

/// What a text is for, which says what values must not bring into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Anything may stand in it.
    Plain,
    /// HTML: values are text in it, never markup.
    Html,
    /// A line of a head: values bring no line break into it.
    Line,
    /// Addressees: a value is one of them.
    Recipients,
    /// The path of a request: a value is a segment of it, or a value of its query.
    RequestPath,
}

/// Why a step could not be done: where, which expression, which value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// The field of the step's config, dotted; empty when it is about none.
    pub field: String,
    /// What stands there.
    pub expression: Option<String>,
    /// What that yields.
    pub value: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// How long a path, or the addressees of a mail, may be.
const LONGEST: usize = 1 << 20;

/// How much of a value a failure quotes.
const QUOTED: usize = 200;

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

    /// With what stands in the field, where that is known and not said yet: a failure that comes from
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
            self.expression = found.filter(single).map(shown);
        }
        self
    }

    /// With what stands in the field, and what it yields.
    #[must_use]
    pub fn yields(mut self, expression: Option<&Value>, value: &Value) -> Failure {
        self.expression = expression.map(shown);
        self.value = Some(shown(value));
        self
    }
}

/// A value as failures quote it.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.write(),
    };
    let mut short: String = text.chars().take(QUOTED).collect();
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

/// Resolves expressions against one moment of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolver<'e> {
    pub(super) envelope: &'e Envelope,
    pub(super) now: Timestamp,
}

impl Resolver<'_> {
    /// The config of a step with its expressions resolved. Branches and secrets stay out of it.
    pub(super) fn config(
        &self,
        key: &str,
        declared: &Fields,
        config: &Object,
    ) -> Result<Object, Failure> {
        let mut resolved = Object::new();
        for (name, value) in config {
            let Some(field) = declared.get(name) else {
                continue;
            };
            if holds_steps(field) || field.secret {
                continue;
            }
            let purpose = purpose(key, name);
            let value = match purpose {
                Purpose::RequestPath | Purpose::Recipients => self.sent(name, value, purpose)?,
                _ => self.field(field, value, purpose)?,
            };
            if purpose == Purpose::Line {
                one_line(name, config.get(name), &value)?;
            }
            resolved.insert(name.clone(), value);
        }
        Ok(resolved)
    }

    /// A text that says where something is sent to.
    fn sent(&self, name: &str, written: &Value, purpose: Purpose) -> Result<Value, Failure> {
        let text = text_of(written);
        let value_of = |path: &Path<'_>| Cow::Owned(self.envelope.value(path, self.now));
        let made = match purpose {
            Purpose::RequestPath => request_path::resolve(&text, LONGEST, &value_of),
            _ => recipients::resolve(&text, LONGEST, &value_of),
        };
        made.map(Value::from).map_err(|error| match error {
            Unresolved::TooLong => Failure::at(name, "is longer than anything that is sent"),
            Unresolved::Failed(failure) => failure,
        })
    }

    fn field(&self, field: &Field, value: &Value, purpose: Purpose) -> Result<Value, Failure> {
        if field.expression {
            return Ok(self.value(value, purpose));
        }
        Ok(match (value, &field.items, &field.fields) {
            (Value::List(elements), Some(item), _) => {
                let elements = elements.iter().map(|one| self.field(item, one, purpose));
                Value::List(elements.collect::<Result<_, _>>()?)
            }
            (Value::Object(members), _, Some(fields)) => {
                let literal = members.get("type").and_then(Value::as_str) == Some("literal");
                let mut resolved = Object::new();
                for (name, value) in members {
                    let value = match fields.get(name) {
                        Some(field) if !literal => self.field(field, value, purpose)?,
                        _ => value.clone(),
                    };
                    resolved.insert(name.clone(), value);
                }
                Value::Object(resolved)
            }
            _ => value.clone(),
        })
    }

    /// A value with every text in it resolved.
    pub(super) fn value(&self, value: &Value, purpose: Purpose) -> Value {
        match value {
            Value::String(text) => self.text(text, purpose),
            Value::List(elements) => Value::List(
                elements
                    .iter()
                    .map(|element| self.value(element, purpose))
                    .collect(),
            ),
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, member)| (key.clone(), self.value(member, purpose)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    /// A text: a token alone keeps the type of its value, inside a text it becomes part of it.
    fn text(&self, text: &str, purpose: Purpose) -> Value {
        if let Some(path) = lone_token(text) {
            let value = self.envelope.value(&path, self.now);
            return match purpose {
                Purpose::Html => html(&text_of(&value)).into(),
                Purpose::Line => text_of(&value).into(),
                Purpose::Plain | Purpose::Recipients | Purpose::RequestPath => value,
            };
        }
        let mut resolved = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Token(token) => {
                    let value = text_of(&self.envelope.value(&token.path, self.now));
                    match purpose {
                        Purpose::Html => resolved.push_str(&html(&value)),
                        _ => resolved.push_str(&value),
                    }
                }
                Piece::Text(span) | Piece::Broken(span, _) => resolved.push_str(&text[span]),
            }
        }
        resolved.into()
    }
}

fn purpose(key: &str, field: &str) -> Purpose {
    match (key, field) {
        ("email.send", "body") => Purpose::Html,
        ("email.send", "subject") => Purpose::Line,
        ("email.send", "to") => Purpose::Recipients,
        ("http.request", "path") => Purpose::RequestPath,
        _ => Purpose::Plain,
    }
}

fn one_line(field: &str, expression: Option<&Value>, value: &Value) -> Result<(), Failure> {
    let text = value.as_str().unwrap_or_default();
    if text.contains(|character: char| character.is_control()) {
        let reason = "a line of a mail's head holds no line break and no control character";
        return Err(Failure::at(field, reason).yields(expression, value));
    }
    Ok(())
}

fn holds_steps(field: &Field) -> bool {
    field.kind == FieldType::Steps
        || field.items.as_deref().is_some_and(holds_steps)
        || field
            .fields
            .as_ref()
            .is_some_and(|fields| fields.values().any(holds_steps))
}

/// A value inside a text: nothing for what is empty.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => text_form(&other.write()).unwrap_or_default().into_owned(),
    }
}

fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
