//! Reading an object field by field; what nobody asked for is kept as unknown.

use super::{ModelError, WireWord};
use crate::json::{JsonKind, Node, Object, Value};
use crate::package::canonical::declared;

/// What reading a value gives.
pub(super) type Read<T> = Result<T, ModelError>;

/// An object that is being read.
pub(super) struct Fields<'d> {
    object: Node<'d>,
    read: Vec<&'static str>,
}

impl<'d> Fields<'d> {
    /// Begins; the value must be an object.
    pub(super) fn of(node: Node<'d>) -> Read<Fields<'d>> {
        if !node.is_object() {
            return Err(ModelError::wrong(node, "an object"));
        }
        Ok(Fields {
            object: node,
            read: Vec::new(),
        })
    }

    /// A field that must be there.
    pub(super) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Node<'d>) -> Read<T>,
    ) -> Read<T> {
        match self.optional(key, read)? {
            Some(value) => Ok(value),
            None => Err(ModelError::at(self.object, format!("`{key}` is missing"))),
        }
    }

    /// A field that may be absent.
    pub(super) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Node<'d>) -> Read<T>,
    ) -> Read<Option<T>> {
        self.read.push(key);
        self.object.get(key).map(read).transpose()
    }

    /// A field whose wrong values are only warned about: they stay among the unknown members.
    pub(super) fn tolerated<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Node<'d>) -> Read<T>,
    ) -> Option<T> {
        let value = read(self.object.get(key)?).ok()?;
        self.read.push(key);
        Some(value)
    }

    /// Ends with the members that were not read.
    pub(super) fn unknown(self) -> Read<Object> {
        let mut unknown = Object::new();
        for member in self.object.members() {
            let key = member.key().unwrap_or_default();
            if !self.read.contains(&key) {
                unknown.insert(key.to_owned(), value(member)?);
            }
        }
        Ok(unknown)
    }
}

/// Any value.
pub(super) fn value(node: Node<'_>) -> Read<Value> {
    Value::read(node).map_err(|error| ModelError::at(node, error.to_string()))
}

/// A string.
pub(super) fn text(node: Node<'_>) -> Read<String> {
    let text = node
        .as_str()
        .ok_or_else(|| ModelError::wrong(node, "a string"))?;
    Ok(text.to_owned())
}

/// A string or null.
pub(super) fn text_or_null(node: Node<'_>) -> Read<Option<String>> {
    if node.is_null() {
        Ok(None)
    } else {
        text(node).map(Some)
    }
}

/// A declared ref, without the dollar that readers tolerate.
pub(super) fn declaration(node: Node<'_>) -> Read<String> {
    let text = node
        .as_str()
        .ok_or_else(|| ModelError::wrong(node, "a ref"))?;
    Ok(declared(text).to_owned())
}

/// A truth value.
pub(super) fn flag(node: Node<'_>) -> Read<bool> {
    node.as_bool()
        .ok_or_else(|| ModelError::wrong(node, "true or false"))
}

/// An integer from 0, in its one spelling: `-0` would not be written back.
pub(super) fn count(node: Node<'_>) -> Read<u64> {
    let spelled = |count: &u64| count.to_string() == node.raw();
    let count = matches!(node.kind(), JsonKind::Number)
        .then(|| node.raw().parse().ok())
        .flatten();
    count
        .filter(spelled)
        .ok_or_else(|| ModelError::wrong(node, "a count"))
}

/// Exactly that integer.
pub(super) fn version(node: Node<'_>, expected: &str) -> Read<()> {
    if matches!(node.kind(), JsonKind::Number) && node.raw() == expected {
        return Ok(());
    }
    Err(ModelError::wrong(node, expected))
}

/// One of the words of a field.
pub(super) fn word<W: WireWord>(node: Node<'_>) -> Read<W> {
    let word = node.as_str().and_then(W::parse);
    word.ok_or_else(|| {
        let words: Vec<&str> = W::ALL.iter().map(|word| word.word()).collect();
        ModelError::wrong(node, &format!("one of {}", words.join(", ")))
    })
}

/// A list.
pub(super) fn list<'d, T>(node: Node<'d>, read: impl Fn(Node<'d>) -> Read<T>) -> Read<Vec<T>> {
    if !matches!(node.kind(), JsonKind::Array) {
        return Err(ModelError::wrong(node, "a list"));
    }
    node.elements().map(read).collect()
}

/// A list of strings.
pub(super) fn texts(node: Node<'_>) -> Read<Vec<String>> {
    list(node, text)
}

/// A list of declared refs.
pub(super) fn declarations(node: Node<'_>) -> Read<Vec<String>> {
    list(node, declaration)
}

/// An object with free keys.
pub(super) fn map(node: Node<'_>) -> Read<Object> {
    Fields::of(node)?.unknown()
}
