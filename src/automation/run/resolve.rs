//! Expressions into values.
//!
//! Tokens are paths without operators. The value of a token replaces it and is never parsed again,
//! whatever braces it contains.

use std::borrow::Cow;

use jiff::Timestamp;

use super::bounds::{DEPTH, STORED, VALUE, mebibytes, size_of};
use super::envelope::Envelope;
use super::failure::Failure;
use super::request_path::Unresolved;
use super::value_text::text_of;
use super::{recipients, request_path};
use crate::automation::{Path, Piece, lone_token, pieces};
use crate::definitions::{Field, FieldType, Fields};
use crate::json::{Object, Value, string_len};

/// What a text is for, which says what values must not bring into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Anything may be in it.
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

/// How long a path, or the addressees of a mail, may be.
const MAX_DESTINATION_BYTES: usize = 1 << 20;

/// How many characters a line of a mail's head has at most: wherever it is folded, and with the name of the field
/// before it, no line is longer than the 998 bytes that mail servers take (RFC 5322, 2.1.1).
const MAX_HEAD_LINE_CHARS: usize = 900;

/// Resolves expressions against one moment of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolver<'e> {
    pub(super) envelope: &'e Envelope,
    pub(super) now: Timestamp,
}

/// There is no room for what an expression yields.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutOfRoom;

/// Which bound is in the way of what an expression yields.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exceeded {
    /// There is no room for it.
    Room,
    /// It nests too deep.
    Depth,
}

impl From<OutOfRoom> for Exceeded {
    fn from(_: OutOfRoom) -> Exceeded {
        Exceeded::Room
    }
}

impl Exceeded {
    /// How that is reported, where there was room for so many bytes.
    pub(super) fn reason(self, most: usize) -> String {
        match self {
            Exceeded::Room => full(most),
            Exceeded::Depth => {
                format!("yields a value of more than {DEPTH} lists and objects in one another")
            }
        }
    }
}

/// Takes so many bytes from the room that is left.
fn take(room: &mut usize, bytes: usize) -> Result<(), OutOfRoom> {
    *room = room.checked_sub(bytes).ok_or(OutOfRoom)?;
    Ok(())
}

/// Takes the length of a value from the room that is left, before the value is copied.
fn take_value(room: &mut usize, value: &Value) -> Result<(), OutOfRoom> {
    let length = value.written_len_within(*room).ok_or(OutOfRoom)?;
    take(room, length)
}

/// How a value that is too large is reported.
fn full(most: usize) -> String {
    if most < VALUE {
        return format!(
            "with this value the run would store more than {}",
            mebibytes(STORED)
        );
    }
    format!(
        "yields a value of more than {}, and none may be larger",
        mebibytes(VALUE)
    )
}

impl Resolver<'_> {
    /// The config of a step with its expressions resolved, of `room` bytes at most. Branches and secrets
    /// stay out of it.
    pub(super) fn config(
        &self,
        key: &str,
        declared: &Fields,
        config: &Object,
        mut room: usize,
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
            let most = room;
            let value = match purpose {
                Purpose::RequestPath | Purpose::Recipients => {
                    let sent = self.sent(name, value, purpose)?;
                    take_value(&mut room, &sent)
                        .map_err(|OutOfRoom| Failure::too_large(name, full(most)))?;
                    sent
                }
                _ => self
                    .field(field, value, purpose, &mut room)
                    .map_err(|exceeded| Failure::too_large(name, exceeded.reason(most)))?,
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
        let value_of = |path: &Path<'_>| {
            self.resolved(path, MAX_DESTINATION_BYTES)
                .unwrap_or_else(|OutOfRoom| Cow::Owned(Value::Null))
        };
        let made = match purpose {
            Purpose::RequestPath => request_path::resolve(&text, MAX_DESTINATION_BYTES, &value_of),
            _ => recipients::resolve(&text, MAX_DESTINATION_BYTES, &value_of),
        };
        made.map(Value::from).map_err(|error| match error {
            Unresolved::TooLong => Failure::too_large(name, full(VALUE)),
            Unresolved::Failed(failure) => failure,
        })
    }

    fn field(
        &self,
        field: &Field,
        value: &Value,
        purpose: Purpose,
        room: &mut usize,
    ) -> Result<Value, Exceeded> {
        if field.expression {
            return self.bounded(value, purpose, room);
        }
        Ok(match (value, &field.items, &field.fields) {
            (Value::List(elements), Some(item), _) => {
                take(room, 2 + elements.len())?;
                let elements = elements.iter();
                let elements = elements.map(|one| self.field(item, one, purpose, room));
                Value::List(elements.collect::<Result<_, _>>()?)
            }
            (Value::Object(members), _, Some(fields)) => {
                let literal = members.get("type").and_then(Value::as_str) == Some("literal");
                let mut resolved = Object::new();
                for (name, value) in members {
                    take(room, string_len(name) + 2)?;
                    let value = match fields.get(name) {
                        Some(field) if !literal => self.field(field, value, purpose, room)?,
                        _ => copied(value, room)?,
                    };
                    resolved.insert(name.clone(), value);
                }
                Value::Object(resolved)
            }
            _ => copied(value, room)?,
        })
    }

    /// What an expression yields, as large and as deep as a value may be and as there is room.
    pub(super) fn bounded(
        &self,
        value: &Value,
        purpose: Purpose,
        room: &mut usize,
    ) -> Result<Value, Exceeded> {
        let most = VALUE.min(*room);
        let mut left = most;
        let value = self.value(value, purpose, &mut left)?;
        // As deep as what is written and what is put into it together.
        if !value.nests_within(DEPTH) {
            return Err(Exceeded::Depth);
        }
        *room -= most - left;
        Ok(value)
    }

    /// A value with every text in it resolved, not larger than there is room.
    fn value(&self, value: &Value, purpose: Purpose, room: &mut usize) -> Result<Value, OutOfRoom> {
        Ok(match value {
            Value::String(text) => self.text(text, purpose, room)?,
            Value::List(elements) => {
                take(room, 2 + elements.len().saturating_sub(1))?;
                let elements = elements.iter();
                let elements = elements.map(|element| self.value(element, purpose, room));
                Value::List(elements.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                take(room, 2 + members.len().saturating_sub(1))?;
                let mut resolved = Object::new();
                for (key, member) in members {
                    take(room, string_len(key) + 1)?;
                    resolved.insert(key.clone(), self.value(member, purpose, room)?);
                }
                Value::Object(resolved)
            }
            other => copied(other, room)?,
        })
    }

    /// What a path yields; records of a read are put together only where there is room for them.
    fn resolved(&self, path: &Path<'_>, room: usize) -> Result<Cow<'_, Value>, OutOfRoom> {
        let records = self.envelope.records_of(path).unwrap_or_default();
        let mut left = room;
        for record in records {
            take(&mut left, size_of(&record.data))?;
        }
        Ok(self.envelope.find(path, self.now))
    }

    /// What a path yields, not larger than a value may be.
    pub(super) fn path(&self, field: &str, path: &Path<'_>) -> Result<Value, Failure> {
        let found = self.resolved(path, VALUE);
        let found = found.and_then(|found| copied(&found, &mut VALUE.clone()));
        found.map_err(|OutOfRoom| Failure::too_large(field, full(VALUE)))
    }

    /// A text: a token alone keeps the type of its value, inside a text it becomes part of it.
    fn text(&self, text: &str, purpose: Purpose, room: &mut usize) -> Result<Value, OutOfRoom> {
        if let Some(path) = lone_token(text) {
            let value = self.resolved(&path, *room)?;
            let value: Value = match purpose {
                Purpose::Html => html(&text_within(&value, *room)?).into(),
                Purpose::Line => text_within(&value, *room)?.into_owned().into(),
                Purpose::Plain | Purpose::Recipients | Purpose::RequestPath => {
                    return copied(&value, room);
                }
            };
            take_value(room, &value)?;
            return Ok(value);
        }
        let mut resolved = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Token(token) => {
                    let value = self.resolved(&token.path, *room)?;
                    let value = text_within(&value, *room)?;
                    match purpose {
                        Purpose::Html => resolved.push_str(&html(&value)),
                        _ => resolved.push_str(&value),
                    }
                }
                Piece::Text(span) | Piece::Broken(span, _) => resolved.push_str(&text[span]),
            }
            // What follows could only make it longer.
            if resolved.len() > *room {
                return Err(OutOfRoom);
            }
        }
        let resolved = resolved.into();
        take_value(room, &resolved)?;
        Ok(resolved)
    }
}

/// A copy of a value for which there is room.
fn copied(value: &Value, room: &mut usize) -> Result<Value, OutOfRoom> {
    take_value(room, value)?;
    Ok(value.clone())
}

/// A value inside a text, when it is not longer than `most`.
fn text_within(value: &Value, most: usize) -> Result<Cow<'_, str>, OutOfRoom> {
    match value {
        Value::String(text) if text.len() > most => Err(OutOfRoom),
        Value::String(text) => Ok(Cow::Borrowed(text)),
        other => {
            other.written_len_within(most).ok_or(OutOfRoom)?;
            Ok(Cow::Owned(text_of(other)))
        }
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
    let reason = if text.contains(|character: char| character.is_control()) {
        "a line of a mail's head holds no line break and no control character".to_owned()
    } else if text.chars().nth(MAX_HEAD_LINE_CHARS).is_some() {
        format!("a line of a mail's head has at most {MAX_HEAD_LINE_CHARS} characters")
    } else {
        return Ok(());
    };
    Err(Failure::at(field, reason).yields(expression, value))
}

fn holds_steps(field: &Field) -> bool {
    field.kind == FieldType::Steps
        || field.items.as_deref().is_some_and(holds_steps)
        || field
            .fields
            .as_ref()
            .is_some_and(|fields| fields.values().any(holds_steps))
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
