//! The model as something that the canonical writer can walk, borrowing what it can.

use std::borrow::Cow;

use super::{Row, WireWord};
use crate::json::{Object, Value as Json};
use crate::package::canonical::{CanonicalError, Columns, Value, View, Writer};

/// A value to be written.
pub(super) enum Tree<'m> {
    /// null, a truth value, a number.
    Token(Cow<'static, str>),
    /// A string.
    Text(&'m str),
    /// A list.
    List(Vec<Tree<'m>>),
    /// An object, in any order.
    Object(Vec<(&'m str, Tree<'m>)>),
    /// An object of the model that is one already.
    Map(&'m Object),
    /// A value of the model that is one already.
    Value(&'m Json),
    /// The rows of a payload entry, which become trees one at a time.
    Rows(&'m [Row]),
    /// A gap for rows that somebody else writes, and whether there are any.
    Gap(bool),
}

impl<'m> Tree<'m> {
    /// A list of strings.
    pub(super) fn texts(texts: &'m [String]) -> Tree<'m> {
        Tree::List(texts.iter().map(|text| Tree::Text(text)).collect())
    }

    /// A list.
    pub(super) fn list<T>(elements: &'m [T], tree: impl Fn(&'m T) -> Tree<'m>) -> Tree<'m> {
        Tree::List(elements.iter().map(tree).collect())
    }

    /// A number.
    pub(super) fn count(count: u64) -> Tree<'m> {
        Tree::Token(Cow::Owned(count.to_string()))
    }

    /// A truth value.
    pub(super) fn flag(value: bool) -> Tree<'m> {
        Tree::Token(Cow::Borrowed(if value { "true" } else { "false" }))
    }

    /// A string, or null.
    pub(super) fn text_or_null(text: Option<&'m String>) -> Tree<'m> {
        text.map_or(Tree::Token(Cow::Borrowed("null")), |text| Tree::Text(text))
    }

    /// A word.
    pub(super) fn word(word: impl WireWord) -> Tree<'m> {
        Tree::Text(word.word())
    }
}

/// Members being gathered.
pub(super) struct Members<'m>(Vec<(&'m str, Tree<'m>)>);

impl<'m> Members<'m> {
    /// Begins with the members that the model does not know.
    pub(super) fn with(unknown: &'m Object) -> Members<'m> {
        Members(
            unknown
                .iter()
                .map(|(key, value)| (key.as_str(), Tree::Value(value)))
                .collect(),
        )
    }

    /// Adds a member.
    pub(super) fn field(mut self, key: &'static str, tree: Tree<'m>) -> Members<'m> {
        self.0.push((key, tree));
        self
    }

    /// Adds a string.
    pub(super) fn text(self, key: &'static str, text: &'m str) -> Members<'m> {
        self.field(key, Tree::Text(text))
    }

    /// Adds a member, when there is one.
    pub(super) fn optional<T>(
        self,
        key: &'static str,
        value: Option<T>,
        tree: impl FnOnce(T) -> Tree<'m>,
    ) -> Members<'m> {
        match value {
            Some(value) => self.field(key, tree(value)),
            None => self,
        }
    }

    /// Adds a string, when there is one.
    pub(super) fn optional_text(self, key: &'static str, text: Option<&'m String>) -> Members<'m> {
        self.optional(key, text, |text| Tree::Text(text))
    }

    /// The object.
    pub(super) fn object(self) -> Tree<'m> {
        Tree::Object(self.0)
    }
}

/// A handle on a part of a tree, or on a value inside it.
#[derive(Clone, Copy)]
pub(super) enum Part<'t> {
    Tree(&'t Tree<'t>),
    Map(&'t Object),
    Value(&'t Json),
}

impl<'t> Part<'t> {
    /// The handle on a tree, past the values that it only wraps.
    pub(super) fn of(tree: &'t Tree<'t>) -> Part<'t> {
        match tree {
            Tree::Map(members) => Part::Map(members),
            Tree::Value(value) => Part::of_value(value),
            tree => Part::Tree(tree),
        }
    }

    fn of_value(value: &'t Json) -> Part<'t> {
        match value {
            Json::Object(members) => Part::Map(members),
            value => Part::Value(value),
        }
    }
}

impl<'t> Value<'t> for Part<'t> {
    fn view(self) -> View<'t> {
        match self {
            Part::Tree(Tree::Token(token)) => View::Token(token),
            Part::Tree(Tree::Text(text)) => View::Text(Cow::Borrowed(text)),
            Part::Tree(Tree::Rows(_) | Tree::Gap(_)) => View::Rows,
            Part::Tree(Tree::List(_)) | Part::Value(Json::List(_)) => View::List,
            Part::Tree(_) | Part::Map(_) | Part::Value(Json::Object(_)) => View::Object,
            Part::Value(Json::Null) => View::Token("null"),
            Part::Value(Json::Bool(true)) => View::Token("true"),
            Part::Value(Json::Bool(false)) => View::Token("false"),
            Part::Value(Json::Number(number)) => View::Token(number.as_str()),
            Part::Value(Json::String(text)) => View::Text(Cow::Borrowed(text)),
        }
    }

    fn elements(self) -> impl Iterator<Item = Part<'t>> {
        let elements: Vec<Part<'t>> = match self {
            Part::Tree(Tree::List(elements)) => elements.iter().map(Part::of).collect(),
            Part::Value(Json::List(elements)) => elements.iter().map(Part::of_value).collect(),
            _ => Vec::new(),
        };
        elements.into_iter()
    }

    fn members(self) -> impl Iterator<Item = (Cow<'t, str>, Part<'t>)> {
        let members: Vec<(&str, Part<'t>)> = match self {
            Part::Tree(Tree::Object(members)) => members
                .iter()
                .map(|(key, tree)| (*key, Part::of(tree)))
                .collect(),
            Part::Map(members) => members
                .iter()
                .map(|(key, value)| (key.as_str(), Part::of_value(value)))
                .collect(),
            _ => Vec::new(),
        };
        members
            .into_iter()
            .map(|(key, part)| (Cow::Borrowed(key), part))
    }

    fn rows(self, writer: &mut Writer<'_>, columns: &Columns<'_>) -> Result<bool, CanonicalError> {
        let rows = match self {
            Part::Tree(Tree::Rows(rows)) => rows,
            Part::Tree(Tree::Gap(any)) => {
                writer.leave_gap();
                return Ok(*any);
            }
            _ => return Ok(false),
        };
        for (index, row) in rows.iter().enumerate() {
            writer.begin_row(index == 0);
            writer.row(Part::of(&row.tree()), columns)?;
        }
        Ok(!rows.is_empty())
    }
}
