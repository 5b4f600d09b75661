//! A tree of nodes from several files, for the canonical writer.

use std::borrow::Cow;

use crate::json::{JsonKind, Node};
use crate::package::canonical::{CanonicalError, Columns, Value, View, Writer, write_lines};

/// A part of a file that is being put together.
pub(super) enum Piece<'p> {
    /// A value as it was read.
    Node(Node<'p>),
    /// An object, in any order.
    Object(Vec<(&'p str, Piece<'p>)>),
    /// A list.
    List(Vec<Piece<'p>>),
    /// The rows of a payload entry: a text with one per line.
    Lines(&'p str),
}

impl<'p> Piece<'p> {
    /// The members of an object, but for some.
    pub(super) fn without(object: Node<'p>, keys: &[&str]) -> Vec<(&'p str, Piece<'p>)> {
        let members = object.members();
        members
            .filter_map(|member| Some((member.key()?, Piece::Node(member))))
            .filter(|(key, _)| !keys.contains(key))
            .collect()
    }

    /// A list of values as they were read.
    pub(super) fn list(nodes: &[Node<'p>]) -> Piece<'p> {
        Piece::List(nodes.iter().copied().map(Piece::Node).collect())
    }
}

/// A handle on a piece, or on a value inside it.
#[derive(Clone, Copy)]
pub(super) enum Handle<'p> {
    Piece(&'p Piece<'p>),
    Node(Node<'p>),
}

impl<'p> Handle<'p> {
    /// The handle on a piece, past a node that it only wraps.
    pub(super) fn of(piece: &'p Piece<'p>) -> Handle<'p> {
        match piece {
            Piece::Node(node) => Handle::Node(*node),
            piece => Handle::Piece(piece),
        }
    }
}

impl<'p> Value<'p> for Handle<'p> {
    fn view(self) -> View<'p> {
        match self {
            Handle::Node(node) => node.view(),
            Handle::Piece(Piece::Node(node)) => node.view(),
            Handle::Piece(Piece::Object(_)) => View::Object,
            Handle::Piece(Piece::List(_)) => View::List,
            Handle::Piece(Piece::Lines(_)) => View::Rows,
        }
    }

    fn elements(self) -> impl Iterator<Item = Handle<'p>> {
        let elements: Vec<Handle<'p>> = match self {
            Handle::Node(node) => node.elements().map(Handle::Node).collect(),
            Handle::Piece(Piece::List(list)) => list.iter().map(Handle::of).collect(),
            Handle::Piece(_) => Vec::new(),
        };
        elements.into_iter()
    }

    fn members(self) -> impl Iterator<Item = (Cow<'p, str>, Handle<'p>)> {
        let members: Vec<(Cow<'p, str>, Handle<'p>)> = match self {
            Handle::Node(node) => Value::members(node)
                .map(|(key, member)| (key, Handle::Node(member)))
                .collect(),
            Handle::Piece(Piece::Object(members)) => members
                .iter()
                .map(|(key, piece)| (Cow::Borrowed(*key), Handle::of(piece)))
                .collect(),
            Handle::Piece(_) => Vec::new(),
        };
        members.into_iter()
    }

    fn rows(self, writer: &mut Writer<'_>, columns: &Columns<'_>) -> Result<bool, CanonicalError> {
        match self {
            Handle::Node(node) if matches!(node.kind(), JsonKind::Rows) => {
                node.rows(writer, columns)
            }
            Handle::Piece(Piece::Lines(text)) => write_lines(text, writer, columns),
            _ => Ok(false),
        }
    }
}
