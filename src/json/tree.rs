//! The tree: an arena of nodes that know their span, their key, their parent and their index.

use std::borrow::Cow;
use std::ops::Range;

use super::path::push_pointer;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonKind<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number; its digits are [`Node::raw`].
    Number,
    /// A string, decoded.
    String(Cow<'a, str>),
    /// A list.
    Array,
    /// An object.
    Object,
    /// The `rows` list of a payload entry: known to be a list, not looked into.
    Rows,
}

#[derive(Debug)]
pub(super) struct Key<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) span: Range<usize>,
}

#[derive(Debug)]
pub(super) struct Data<'a> {
    pub(super) kind: JsonKind<'a>,
    pub(super) span: Range<usize>,
    pub(super) key: Option<Key<'a>>,
    pub(super) parent: u32,
    pub(super) index: u32,
    pub(super) first: u32,
    pub(super) next: u32,
    pub(super) len: u32,
    /// A later member of the same object has the same key.
    pub(super) shadowed: bool,
}

/// Something that is well-formed and yet no honest package holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anomaly {
    /// The member's key stood before in the same object. Holds the later member's index in the arena.
    DuplicateKey(u32),
    /// A key with U+0000.
    NulInKey(u32),
    /// A string with U+0000.
    NulInString(u32),
}

/// A parsed text. Nodes borrow from it.
#[derive(Debug)]
pub struct Doc<'a> {
    pub(super) text: &'a str,
    pub(super) nodes: Vec<Data<'a>>,
    pub(super) anomalies: Vec<Anomaly>,
}

/// One value of a [`Doc`]; a cheap handle.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    doc: &'d Doc<'d>,
    id: u32,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && std::ptr::eq(self.doc.text, other.doc.text)
    }
}

impl Eq for Node<'_> {}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Node({} {})",
            self.pointer(),
            self.raw().chars().take(60).collect::<String>()
        )
    }
}

impl<'a> Doc<'a> {
    /// The text that was parsed.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node { doc: self, id: 0 }
    }

    /// Duplicate keys and NUL characters, in order of appearance.
    pub fn anomalies(&self) -> &[Anomaly] {
        &self.anomalies
    }

    /// The node that an [`Anomaly`] names.
    pub fn node(&self, id: u32) -> Node<'_> {
        Node { doc: self, id }
    }

    /// Every value in order of appearance, shadowed members included.
    pub fn all_nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(NONE)).map(|id| self.node(id))
    }
}

impl<'d> Node<'d> {
    fn data(self) -> &'d Data<'d> {
        &self.doc.nodes[self.id as usize]
    }

    /// What it is.
    pub fn kind(self) -> &'d JsonKind<'d> {
        &self.data().kind
    }

    /// The value as it is written.
    pub fn raw(self) -> &'d str {
        &self.doc.text[self.data().span.clone()]
    }

    /// The whole text that the value is in.
    pub fn text(self) -> &'d str {
        self.doc.text
    }

    /// Bytes of the value in the text.
    pub fn span(self) -> Range<usize> {
        self.data().span.clone()
    }

    /// Bytes of the member's key (with quotes), or of the value when it is not a member.
    pub fn key_span(self) -> Range<usize> {
        self.data()
            .key
            .as_ref()
            .map_or_else(|| self.span(), |key| key.span.clone())
    }

    /// The decoded key when the value is a member of an object.
    pub fn key(self) -> Option<&'d str> {
        self.data().key.as_ref().map(|key| key.text.as_ref())
    }

    /// Position among the elements or members of its parent.
    pub fn index(self) -> usize {
        self.data().index as usize
    }

    /// The container it is in.
    pub fn parent(self) -> Option<Node<'d>> {
        let parent = self.data().parent;
        (parent != NONE).then_some(Node {
            doc: self.doc,
            id: parent,
        })
    }

    /// Key or decimal index: the last token of its pointer.
    pub fn token(self) -> Cow<'d, str> {
        match self.key() {
            Some(key) => Cow::Borrowed(key),
            None => Cow::Owned(self.index().to_string()),
        }
    }

    /// JSON Pointer from the root of the file.
    pub fn pointer(self) -> String {
        let mut chain = Vec::new();
        let mut current = Some(self);
        while let Some(node) = current {
            chain.push(node);
            current = node.parent();
        }
        let mut pointer = String::new();
        for node in chain.iter().rev().skip(1) {
            push_pointer(&mut pointer, &node.token());
        }
        pointer
    }

    /// The string's text.
    pub fn as_str(self) -> Option<&'d str> {
        match self.kind() {
            JsonKind::String(text) => Some(text.as_ref()),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            JsonKind::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, when it is written as an integer and fits.
    pub fn as_i64(self) -> Option<i64> {
        matches!(self.kind(), JsonKind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        matches!(self.kind(), JsonKind::Object)
    }

    /// Whether it is a list, read or unread.
    pub fn is_array(self) -> bool {
        matches!(self.kind(), JsonKind::Array | JsonKind::Rows)
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        matches!(self.kind(), JsonKind::Null)
    }

    /// Whether it counts as emptied: `""`, `null`, `[]` or `{}`.
    pub fn is_empty(self) -> bool {
        match self.kind() {
            JsonKind::Null => true,
            JsonKind::String(text) => text.is_empty(),
            JsonKind::Array | JsonKind::Object => self.data().len == 0,
            _ => false,
        }
    }

    /// The JSON type's name, for messages.
    pub fn type_name(self) -> &'static str {
        match self.kind() {
            JsonKind::Null => "null",
            JsonKind::Bool(_) => "a boolean",
            JsonKind::Number => "a number",
            JsonKind::String(_) => "a string",
            JsonKind::Array | JsonKind::Rows => "a list",
            JsonKind::Object => "an object",
        }
    }

    /// Number of elements or members (repeated keys counted).
    pub fn len(self) -> usize {
        self.data().len as usize
    }

    /// Elements or members in order, without the ones that a repeated key shadows.
    pub fn children(self) -> Children<'d> {
        Children {
            doc: self.doc,
            next: self.data().first,
        }
    }

    /// The elements when it is a list that was read; else nothing.
    pub fn elements(self) -> Children<'d> {
        let next = if matches!(self.kind(), JsonKind::Array) {
            self.data().first
        } else {
            NONE
        };
        Children {
            doc: self.doc,
            next,
        }
    }

    /// The members when it is an object; else nothing.
    pub fn members(self) -> Children<'d> {
        let next = if self.is_object() {
            self.data().first
        } else {
            NONE
        };
        Children {
            doc: self.doc,
            next,
        }
    }

    /// The member of that key; of repeated ones the last.
    pub fn get(self, key: &str) -> Option<Node<'d>> {
        self.members().find(|member| member.key() == Some(key))
    }

    /// The member of that key when it is a string.
    pub fn get_str(self, key: &str) -> Option<&'d str> {
        self.get(key)?.as_str()
    }

    /// The element at that index.
    pub fn at(self, index: usize) -> Option<Node<'d>> {
        self.elements().nth(index)
    }

    /// The value and everything inside it, depth first in order of appearance.
    pub fn descendants(self) -> Descendants<'d> {
        Descendants { stack: vec![self] }
    }
}

/// Iterator of [`Node::children`].
pub struct Children<'d> {
    doc: &'d Doc<'d>,
    next: u32,
}

impl<'d> Iterator for Children<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        while self.next != NONE {
            let node = Node {
                doc: self.doc,
                id: self.next,
            };
            self.next = node.data().next;
            if !node.data().shadowed {
                return Some(node);
            }
        }
        None
    }
}

/// Iterator of [`Node::descendants`].
pub struct Descendants<'d> {
    stack: Vec<Node<'d>>,
}

impl<'d> Iterator for Descendants<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        let node = self.stack.pop()?;
        let from = self.stack.len();
        self.stack.extend(node.children());
        self.stack[from..].reverse();
        Some(node)
    }
}
