//! The tree: an arena of nodes that know their span, their key, their parent and their index.
//!
//! A value is directly followed by what it holds. Nodes are small, because every rule walks over them: texts stay where
//! they are in the file, and only those with escapes are kept decoded, next to the arena.

use std::borrow::Cow;
use std::ops::Range;

use super::pointer::push_pointer;
use super::scan::Scanner;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number; its digits are [`Node::raw`].
    Number,
    /// A string, decoded.
    String(&'a str),
    /// A list.
    Array,
    /// An object.
    Object,
    /// The `rows` list of a payload entry: known to be a list, not looked into.
    Rows,
}

/// What a node is, in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    True,
    False,
    Number,
    /// A string that is read from the file.
    Plain,
    /// A string that was decoded.
    Decoded,
    Array,
    Object,
    Rows,
}

/// Whether a node has a key, and where its text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// It is no member.
    None,
    /// In the file.
    Plain,
    /// It was decoded.
    Decoded,
}

/// One value.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) span: Range<usize>,
    /// Where the key begins, with its quote.
    pub(super) key_start: usize,
    /// Bytes of the key between the quotes; of a decoded one its place in [`Doc::decoded`].
    pub(super) key_len: u32,
    pub(super) parent: u32,
    pub(super) index: u32,
    pub(super) next: u32,
    /// Elements or members; of a decoded string its place in [`Doc::decoded`].
    pub(super) len: u32,
    pub(super) kind: Kind,
    pub(super) key: KeyKind,
    /// [`key_mark`] of the key.
    pub(super) key_mark: u8,
    /// A later member of the same object has the same key.
    pub(super) shadowed: bool,
}

// Every rule walks over them.
const _: () = assert!(size_of::<Data>() <= 48 || usize::BITS < 64);

/// A byte that is the same for the same key, and for few others of one object.
#[inline]
pub(super) fn key_mark(key: &str) -> u8 {
    let bytes = key.as_bytes();
    let [first, last] = [bytes.first(), bytes.last()].map(|byte| byte.copied().unwrap_or_default());
    let length = bytes.len().to_le_bytes()[0];
    first
        .wrapping_add(last.wrapping_mul(31))
        .wrapping_add(length.wrapping_mul(131))
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
    pub(super) nodes: Vec<Data>,
    /// Texts of keys and strings that are written with escapes.
    pub(super) decoded: Vec<String>,
    /// Nodes of the kind [`JsonKind::Rows`], in order of appearance.
    pub(super) unread: Vec<u32>,
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

    /// The lists that were not looked into ([`JsonKind::Rows`]), in order of appearance, shadowed ones included.
    pub fn unread_lists(&self) -> impl Iterator<Item = Node<'_>> + Clone {
        self.unread.iter().map(|id| self.node(*id))
    }
}

impl<'d> Node<'d> {
    pub(super) fn id(self) -> u32 {
        self.id
    }

    fn data(self) -> &'d Data {
        &self.doc.nodes[self.id as usize]
    }

    /// What it is.
    pub fn kind(self) -> JsonKind<'d> {
        match self.data().kind {
            Kind::Null => JsonKind::Null,
            Kind::True => JsonKind::Bool(true),
            Kind::False => JsonKind::Bool(false),
            Kind::Number => JsonKind::Number,
            Kind::Plain | Kind::Decoded => JsonKind::String(self.as_str().unwrap_or_default()),
            Kind::Array => JsonKind::Array,
            Kind::Object => JsonKind::Object,
            Kind::Rows => JsonKind::Rows,
        }
    }

    /// The value as it is written.
    pub fn raw(self) -> &'d str {
        &self.doc.text[self.data().span.clone()]
    }

    /// The whole text that the value is in.
    pub fn text(self) -> &'d str {
        self.doc.text
    }

    /// Every value of the text that it is in, in order of appearance, shadowed members included.
    pub(crate) fn all_nodes(self) -> impl Iterator<Item = Node<'d>> {
        self.doc.all_nodes()
    }

    /// Bytes of the text around the lists of it that were not looked into, in order.
    pub(crate) fn read_spans(self) -> impl Iterator<Item = Range<usize>> {
        let lists = self.doc.unread_lists().map(Node::span);
        let ends = lists.clone().chain(std::iter::once(self.text().len()..0));
        let starts = std::iter::once(0).chain(lists.map(|list| list.end));
        starts.zip(ends).map(|(start, end)| start..end.start)
    }

    /// Whether key or text are written with escapes.
    pub(crate) fn is_escaped(self) -> bool {
        self.data().key == KeyKind::Decoded || self.data().kind == Kind::Decoded
    }

    /// Bytes of the value in the text.
    pub fn span(self) -> Range<usize> {
        self.data().span.clone()
    }

    /// Bytes of the member's key (with quotes), or of the value when it is not a member.
    pub fn key_span(self) -> Range<usize> {
        let start = self.data().key_start;
        match self.data().key {
            KeyKind::None => self.span(),
            KeyKind::Plain => start..start + self.data().key_len as usize + 2,
            KeyKind::Decoded => {
                let token = Scanner::new(self.text(), start).string();
                start..token.map_or(start, |token| token.end)
            }
        }
    }

    /// The decoded key when the value is a member of an object.
    pub fn key(self) -> Option<&'d str> {
        let data = self.data();
        match data.key {
            KeyKind::None => None,
            KeyKind::Plain => {
                let start = data.key_start + 1;
                Some(&self.doc.text[start..start + data.key_len as usize])
            }
            KeyKind::Decoded => Some(&self.doc.decoded[data.key_len as usize]),
        }
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
        let data = self.data();
        match data.kind {
            Kind::Plain => Some(&self.doc.text[data.span.start + 1..data.span.end - 1]),
            Kind::Decoded => Some(&self.doc.decoded[data.len as usize]),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(self) -> Option<bool> {
        match self.data().kind {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// Whether it is a number that is written as an integer, of however many digits.
    pub fn is_integer(self) -> bool {
        self.data().kind == Kind::Number && !self.raw().contains(['.', 'e', 'E'])
    }

    /// The number, when it is written as an integer and fits.
    pub fn as_i64(self) -> Option<i64> {
        (self.data().kind == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.data().kind == Kind::Object
    }

    /// Whether it is a list, read or unread.
    pub fn is_array(self) -> bool {
        matches!(self.data().kind, Kind::Array | Kind::Rows)
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.data().kind == Kind::Null
    }

    /// Whether it counts as emptied: `""`, `null`, `[]` or `{}`.
    pub fn is_empty(self) -> bool {
        match self.kind() {
            JsonKind::Null => true,
            JsonKind::String(text) => text.is_empty(),
            JsonKind::Array | JsonKind::Object => self.len() == 0,
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
        match self.data().kind {
            Kind::Array | Kind::Object => self.data().len as usize,
            _ => 0,
        }
    }

    /// The id of the first element or member.
    fn first(self) -> u32 {
        match self.len() {
            0 => NONE,
            _ => self.id + 1,
        }
    }

    /// Elements or members in order, without the ones that a repeated key shadows.
    pub fn children(self) -> Children<'d> {
        Children {
            doc: self.doc,
            next: self.first(),
        }
    }

    /// The elements when it is a list that was read; else nothing.
    pub fn elements(self) -> Children<'d> {
        let next = if self.data().kind == Kind::Array {
            self.first()
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
        let next = if self.is_object() { self.first() } else { NONE };
        Children {
            doc: self.doc,
            next,
        }
    }

    /// The member of that key; of repeated ones the last.
    pub fn get(self, key: &str) -> Option<Node<'d>> {
        let mark = key_mark(key);
        self.members()
            .find(|member| member.data().key_mark == mark && member.key() == Some(key))
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
        Descendants {
            doc: self.doc,
            start: self.id,
            next: self.id,
            end: self.end(),
        }
    }

    /// The id after everything inside.
    fn end(self) -> u32 {
        if self.first() == NONE {
            return self.id + 1;
        }
        let mut outer = Some(self);
        while let Some(node) = outer {
            match node.data().next {
                NONE => outer = node.parent(),
                next => return next,
            }
        }
        u32::try_from(self.doc.nodes.len()).unwrap_or(NONE)
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
    doc: &'d Doc<'d>,
    start: u32,
    next: u32,
    end: u32,
}

impl<'d> Iterator for Descendants<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        while self.next < self.end {
            let node = self.doc.node(self.next);
            if node.data().shadowed && self.next != self.start {
                // The member that shadows it comes later.
                self.next = node.data().next;
            } else {
                self.next += 1;
                return Some(node);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Doc, Node};

    fn raws(node: Node<'_>) -> Vec<&str> {
        node.descendants().map(Node::raw).collect()
    }

    #[test]
    fn descendants_are_in_order_and_without_shadowed_members() {
        let doc = Doc::parse(r#"{"a":{"b":1},"c":[2,[]],"a":[3,{"d":4}],"e":5}"#).expect("JSON");
        let root = doc.root();
        let inside = raws(root);
        assert_eq!(
            inside[1..],
            [
                "[2,[]]",
                "2",
                "[]",
                r#"[3,{"d":4}]"#,
                "3",
                r#"{"d":4}"#,
                "4",
                "5"
            ]
        );
        assert_eq!(raws(root.get("c").expect("c")), ["[2,[]]", "2", "[]"]);
        assert_eq!(raws(root.get("a").expect("a")).len(), 4);
        let shadowed = doc.all_nodes().find(|node| node.raw() == r#"{"b":1}"#);
        assert_eq!(raws(shadowed.expect("it is there")), [r#"{"b":1}"#, "1"]);
    }

    #[test]
    fn keys_are_found_however_they_are_written() {
        let text = r#"{"\u0061b" : "x\n", "": [], "ab ": 2}"#;
        let doc = Doc::parse(text).expect("JSON");
        let member = doc.root().get("ab").expect("ab");
        assert_eq!((member.as_str(), member.len()), (Some("x\n"), 0));
        assert_eq!(&text[member.key_span()], r#""\u0061b""#);
        let empty = doc.root().get("").expect("the empty key");
        assert_eq!((&text[empty.key_span()], empty.is_empty()), (r#""""#, true));
        assert_eq!(doc.root().get("ab ").map(Node::raw), Some("2"));
        assert!(doc.root().get("a").is_none());
    }

    #[test]
    fn what_was_read_stands_around_unread_lists() {
        let text = r#"{"payloads":[{"rows":[1]},{"rows":[2],"a":3}]}"#;
        let doc = Doc::parse_package(text).expect("JSON");
        let read: Vec<&str> = doc.root().read_spans().map(|span| &text[span]).collect();
        assert_eq!(
            read,
            [r#"{"payloads":[{"rows":"#, r#"},{"rows":"#, r#","a":3}]}"#]
        );
    }
}
