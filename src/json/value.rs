//! Owned values that keep what [`serde_json::Value`] loses: the digits of a number.

use indexmap::IndexMap;

use super::scan::Scanner;
use super::{Doc, JsonKind, Node, SyntaxError, write_string_to};

/// The members of an object, in their order. Equality looks at keys and values, not at order.
pub type Object = IndexMap<String, Value>;

/// An owned JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, decoded.
    String(String),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Object(Object),
}

/// A number as it is written: `1.10`, `1e400` and thirty digits stay what they are. Equality is
/// that of the digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(String);

impl Number {
    /// The number with these digits, when JSON has such a number.
    pub fn parse(digits: &str) -> Option<Number> {
        let read = Scanner::new(digits, 0).number().ok()?;
        (read == (0..digits.len())).then(|| Number(digits.to_owned()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The integer, when it is written as one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }
}

impl Value {
    /// Reads a whole text. Of repeated keys the last counts.
    pub fn parse(text: &str) -> Result<Value, SyntaxError> {
        Value::read(Doc::parse(text)?.root())
    }

    /// Copies a node and everything in it; rows that were left unread are read now, which is the
    /// only way to fail.
    pub fn read(node: Node<'_>) -> Result<Value, SyntaxError> {
        Ok(match node.kind() {
            JsonKind::Null => Value::Null,
            JsonKind::Bool(value) => Value::Bool(value),
            JsonKind::Number => Value::Number(Number(node.raw().to_owned())),
            JsonKind::String(text) => Value::String(text.to_owned()),
            JsonKind::Array => {
                Value::List(node.elements().map(Value::read).collect::<Result<_, _>>()?)
            }
            JsonKind::Object => Value::Object(Value::read_object(node)?),
            JsonKind::Rows => Value::parse(node.raw()).map_err(|error| SyntaxError {
                offset: error.offset + node.span().start,
                ..error
            })?,
        })
    }

    /// Copies the members of an object; another value has none.
    pub fn read_object(node: Node<'_>) -> Result<Object, SyntaxError> {
        let members = node.members();
        members
            .map(|member| {
                Ok((
                    member.key().unwrap_or_default().to_owned(),
                    Value::read(member)?,
                ))
            })
            .collect()
    }

    /// The compact text: no white space, the shortest escapes, members in their order.
    pub fn write(&self) -> String {
        let mut out = String::new();
        self.write_to(&mut out);
        out
    }

    /// Appends the compact text.
    pub fn write_to(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => out.push_str(number.as_str()),
            Value::String(text) => write_string_to(out, text),
            Value::List(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write_to(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string_to(out, key);
                    out.push(':');
                    value.write_to(out);
                }
                out.push('}');
            }
        }
    }

    /// The value at a dotted path below this one, if there is one.
    pub fn at_path(&self, segments: &[String]) -> Option<&Value> {
        segments
            .iter()
            .try_fold(self, |value, segment| match value {
                Value::Object(members) => members.get(segment),
                Value::List(elements) => elements.get(segment.parse::<usize>().ok()?),
                _ => None,
            })
    }

    /// Whether a key or a text in it holds U+0000, which only an escape can bring.
    pub fn holds_nul(&self) -> bool {
        match self {
            Value::String(text) => text.contains('\0'),
            Value::List(elements) => elements.iter().any(Value::holds_nul),
            Value::Object(members) => members
                .iter()
                .any(|(key, value)| key.contains('\0') || value.holds_nul()),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The string's text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements of a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// The member of that key, when it is an object that has one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Number(Number(value.to_string()))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Value {
        Value::List(elements)
    }
}

impl From<Object> for Value {
    fn from(members: Object) -> Value {
        Value::Object(members)
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, Value};

    #[test]
    fn numbers_keep_their_digits() {
        let value = Value::parse(r#"{"a": [1.10, 1e400, -0, 123456789012345678901234567890]}"#);
        let value = value.expect("JSON");
        let digits: Vec<&str> = value
            .get("a")
            .and_then(Value::as_list)
            .expect("a list")
            .iter()
            .filter_map(|value| match value {
                Value::Number(number) => Some(number.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(
            digits,
            ["1.10", "1e400", "-0", "123456789012345678901234567890"]
        );
    }

    #[test]
    fn nul_is_found_wherever_it_stands() {
        for (text, holds) in [
            (r#""a\u0000b""#, true),
            (r#"[1,{"a":["\u0000"]}]"#, true),
            (r#"{"a":{"\u0000":null}}"#, true),
            (r#"{"payloads":[{"rows":["\u0000"]}]}"#, true),
            (r#"["\\u0000","\u0001",0,true,null,{"a":""}]"#, false),
        ] {
            let value = Value::parse(text).expect("JSON");
            assert_eq!(value.holds_nul(), holds, "{text}");
        }
    }

    #[test]
    fn only_numbers_are_numbers() {
        assert_eq!(
            Number::parse("-1.5e3")
                .map(|n| n.as_str().to_owned())
                .as_deref(),
            Some("-1.5e3")
        );
        for wrong in ["", "01", "1.", ".5", "+1", "1 ", "1e", "NaN"] {
            assert_eq!(Number::parse(wrong), None, "{wrong}");
        }
    }
}
