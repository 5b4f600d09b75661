//! What can be written canonically: nodes of a file, cells of a streamed row, parts of the model.

use std::borrow::Cow;

use super::order::Columns;
use super::{CanonicalError, Writer, row};
use crate::json::{JsonKind, Node};

/// A value, seen without its inside.
pub(crate) enum View<'v> {
    /// A token that is copied: null, a truth value, a number.
    Token(&'v str),
    /// A string's text that needs no escape.
    Plain(&'v str),
    /// A string's text.
    Text(Cow<'v, str>),
    /// A list.
    List,
    /// An object.
    Object,
    /// The rows of a payload entry, which [`Value::rows`] writes.
    Rows,
}

impl<'v> View<'v> {
    /// The text of a string.
    pub(crate) fn text(self) -> Option<Cow<'v, str>> {
        match self {
            View::Plain(text) => Some(Cow::Borrowed(text)),
            View::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A handle on a value that can be written.
pub(crate) trait Value<'v>: Copy {
    /// What it is.
    fn view(self) -> View<'v>;
    /// The elements of a list.
    fn elements(self) -> impl Iterator<Item = Self>;
    /// The members of an object, in any order.
    fn members(self) -> impl Iterator<Item = (Cow<'v, str>, Self)>;
    /// Writes the rows of a [`View::Rows`], each with [`Writer::row`]; gives whether there
    /// were any.
    fn rows(self, writer: &mut Writer<'_>, columns: &Columns<'_>) -> Result<bool, CanonicalError>;
}

impl<'d> Value<'d> for Node<'d> {
    fn view(self) -> View<'d> {
        match self.kind() {
            JsonKind::Null | JsonKind::Bool(_) | JsonKind::Number => View::Token(self.raw()),
            JsonKind::String(text) => View::Text(Cow::Borrowed(text)),
            JsonKind::Array => View::List,
            JsonKind::Object => View::Object,
            JsonKind::Rows => View::Rows,
        }
    }

    fn elements(self) -> impl Iterator<Item = Node<'d>> {
        Node::elements(self)
    }

    fn members(self) -> impl Iterator<Item = (Cow<'d, str>, Node<'d>)> {
        Node::members(self).filter_map(|member| Some((Cow::Borrowed(member.key()?), member)))
    }

    fn rows(self, writer: &mut Writer<'_>, columns: &Columns<'_>) -> Result<bool, CanonicalError> {
        row::write_rows(self, writer, columns)
    }
}
