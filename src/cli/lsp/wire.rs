//! The few shapes of the protocol that are read and written here.

use std::ops::Range;

use serde_json::{Value, json};
use tplkit::language::{Document, Encoding, Position};

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: i32,
    pub(super) message: String,
}

impl Refusal {
    /// The request is understood and cannot be done.
    pub(super) fn failed(message: impl Into<String>) -> Refusal {
        Refusal {
            code: -32803,
            message: message.into(),
        }
    }

    /// The parameters are not those of the method.
    pub(super) fn params(message: impl Into<String>) -> Refusal {
        Refusal {
            code: lsp_server::ErrorCode::InvalidParams as i32,
            message: message.into(),
        }
    }
}

/// A text at a JSON Pointer.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Result<&'v str, Refusal> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.ok_or_else(|| Refusal::params(format!("a text is missing at {pointer}")))
}

/// A position of the protocol.
pub(super) fn position(value: Option<&Value>) -> Result<Position, Refusal> {
    let number = |key: &str| {
        let number = value?.get(key)?.as_u64()?;
        usize::try_from(number).ok()
    };
    match (number("line"), number("character")) {
        (Some(line), Some(column)) => Ok(Position { line, column }),
        _ => Err(Refusal::params(
            "a position with line and character is missing",
        )),
    }
}

/// A range of the protocol.
pub(super) fn range(value: Option<&Value>) -> Result<Range<Position>, Refusal> {
    let end = |key: &str| position(value.and_then(|range| range.get(key)));
    Ok(end("start")?..end("end")?)
}

/// A position as JSON.
pub(super) fn position_json(at: Position) -> Value {
    json!({"line": at.line, "character": at.column})
}

/// Bytes of a document as a range.
pub(super) fn range_json(document: &Document, span: &Range<usize>, encoding: Encoding) -> Value {
    let at = |offset| position_json(document.position(offset, encoding));
    json!({"start": at(span.start), "end": at(span.end.max(span.start))})
}
