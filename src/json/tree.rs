//! The tree: an arena of nodes that know their span, their key, their parent and their index.

use std::borrow::Cow;
use std::ops::Range;

use super::decode;
use super::path::push_pointer;
use super::scan::{MAX_DEPTH, Scanner, StrToken, SyntaxError, SyntaxKind};

const NONE: u32 = u32::MAX;

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
struct Key<'a> {
    text: Cow<'a, str>,
    span: Range<usize>,
}

#[derive(Debug)]
struct Data<'a> {
    kind: JsonKind<'a>,
    span: Range<usize>,
    key: Option<Key<'a>>,
    parent: u32,
    index: u32,
    first: u32,
    next: u32,
    len: u32,
    /// A later member of the same object has the same key.
    shadowed: bool,
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
    text: &'a str,
    nodes: Vec<Data<'a>>,
    anomalies: Vec<Anomaly>,
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
    /// Parses a whole text, every list included.
    pub fn parse(text: &'a str) -> Result<Doc<'a>, SyntaxError> {
        Parser::new(text, false).run()
    }

    /// Parses a package file: the `rows` of `payloads` entries stay unread as [`JsonKind::Rows`].
    ///
    /// A text whose rows are malformed can be refused later than a plain parse would, or be
    /// accepted; whoever streams the rows finds the earlier error.
    pub fn parse_package(text: &'a str) -> Result<Doc<'a>, SyntaxError> {
        Parser::new(text, true).run()
    }

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

    /// Bytes of the member's key (with quotes), or of the value when it is no member.
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

/// Where the parser is in a package, as far as that decides what stays unread.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Payloads,
    Entry,
    Rows,
    Other,
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    package: bool,
    doc: Doc<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, package: bool) -> Self {
        let doc = Doc {
            text,
            nodes: Vec::new(),
            anomalies: Vec::new(),
        };
        Parser {
            scanner: Scanner::new(text, 0),
            package,
            doc,
        }
    }

    fn run(mut self) -> Result<Doc<'a>, SyntaxError> {
        if self.scanner.next_token().is_none() {
            return Err(Scanner::error(0, SyntaxKind::Empty));
        }
        let level = if self.package {
            Level::Root
        } else {
            Level::Other
        };
        self.value(level, NONE, 0, None, 0)?;
        match self.scanner.next_token() {
            Some(_) => Err(Scanner::error(self.scanner.pos, SyntaxKind::TrailingText)),
            None => Ok(self.doc),
        }
    }

    fn push(&mut self, parent: u32, index: u32, key: Option<Key<'a>>) -> u32 {
        let id = u32::try_from(self.doc.nodes.len()).unwrap_or(NONE);
        let start = self.scanner.pos;
        self.doc.nodes.push(Data {
            kind: JsonKind::Null,
            span: start..start,
            key,
            parent,
            index,
            first: NONE,
            next: NONE,
            len: 0,
            shadowed: false,
        });
        id
    }

    fn value(
        &mut self,
        level: Level,
        parent: u32,
        index: u32,
        key: Option<Key<'a>>,
        depth: usize,
    ) -> Result<u32, SyntaxError> {
        let byte = self.scanner.next_token();
        let id = self.push(parent, index, key);
        let kind = match byte {
            Some(b'{') => {
                self.object(id, level, depth)?;
                JsonKind::Object
            }
            Some(b'[') if level == Level::Rows => {
                self.scanner.skip_list_unchecked();
                JsonKind::Rows
            }
            Some(b'[') => {
                self.array(id, level, depth)?;
                JsonKind::Array
            }
            Some(b'"') => {
                let token = self.scanner.string()?;
                let text = self.decoded(token);
                if text.contains('\0') {
                    self.doc.anomalies.push(Anomaly::NulInString(id));
                }
                JsonKind::String(text)
            }
            Some(b'-' | b'0'..=b'9') => {
                self.scanner.number()?;
                JsonKind::Number
            }
            Some(b't') => self.scanner.literal("true").map(|_| JsonKind::Bool(true))?,
            Some(b'f') => self
                .scanner
                .literal("false")
                .map(|_| JsonKind::Bool(false))?,
            Some(b'n') => self.scanner.literal("null").map(|_| JsonKind::Null)?,
            Some(0xEF) if self.doc.text[self.scanner.pos..].starts_with('\u{feff}') => {
                return Err(Scanner::error(
                    self.scanner.pos,
                    SyntaxKind::SecondByteOrderMark,
                ));
            }
            Some(_) => return Err(Scanner::error(self.scanner.pos, SyntaxKind::ExpectedValue)),
            None => return Err(self.scanner.end()),
        };
        let data = &mut self.doc.nodes[id as usize];
        data.kind = kind;
        data.span.end = self.scanner.pos;
        Ok(id)
    }

    fn decoded(&self, token: StrToken) -> Cow<'a, str> {
        let inner = &self.doc.text[token.inner()];
        if token.escaped {
            decode(inner)
        } else {
            Cow::Borrowed(inner)
        }
    }

    fn open(&mut self, depth: usize) -> Result<(), SyntaxError> {
        if depth >= MAX_DEPTH {
            return Err(Scanner::error(self.scanner.pos, SyntaxKind::TooDeep));
        }
        self.scanner.pos += 1;
        Ok(())
    }

    fn array(&mut self, id: u32, level: Level, depth: usize) -> Result<(), SyntaxError> {
        self.open(depth)?;
        let inner = if level == Level::Payloads {
            Level::Entry
        } else {
            Level::Other
        };
        let mut last = NONE;
        let mut more = self.scanner.first_element()?;
        let mut index = 0;
        while more {
            let child = self.value(inner, id, index, None, depth + 1)?;
            self.link(id, &mut last, child);
            index += 1;
            more = self.scanner.next_element()?;
        }
        self.doc.nodes[id as usize].len = index;
        Ok(())
    }

    fn object(&mut self, id: u32, level: Level, depth: usize) -> Result<(), SyntaxError> {
        self.open(depth)?;
        let mut last = NONE;
        let mut more = self.scanner.first_member()?;
        let mut index = 0;
        while more {
            let token = self.scanner.string()?;
            let text = self.decoded(token);
            self.scanner.colon()?;
            let inner = match (level, text.as_ref()) {
                (Level::Root, "payloads") => Level::Payloads,
                (Level::Entry, "rows") => Level::Rows,
                _ => Level::Other,
            };
            let nul = text.contains('\0');
            let key = Key {
                text,
                span: token.start..token.end,
            };
            let child = self.value(inner, id, index, Some(key), depth + 1)?;
            if nul {
                self.doc.anomalies.push(Anomaly::NulInKey(child));
            }
            self.link(id, &mut last, child);
            index += 1;
            more = self.scanner.next_member()?;
        }
        self.doc.nodes[id as usize].len = index;
        self.find_duplicates(id, index);
        Ok(())
    }

    fn link(&mut self, parent: u32, last: &mut u32, child: u32) {
        match *last {
            NONE => self.doc.nodes[parent as usize].first = child,
            previous => self.doc.nodes[previous as usize].next = child,
        }
        *last = child;
    }

    /// Marks all but the last of the members that share a key.
    fn find_duplicates(&mut self, id: u32, len: u32) {
        if len < 2 {
            return;
        }
        let doc = &self.doc;
        let data = |id: u32| doc.nodes.get(id as usize);
        let first = data(id).map(|object| object.first);
        let ids = std::iter::successors(first, |id| data(*id).map(|member| member.next));
        let mut keyed: Vec<(&str, u32)> = ids
            .filter_map(|id| Some((data(id)?.key.as_ref()?.text.as_ref(), id)))
            .collect();
        // Stable: members of one key stay in order of appearance.
        keyed.sort_by(|a, b| a.0.cmp(b.0));
        let pairs: Vec<(u32, u32)> = keyed
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| (pair[0].1, pair[1].1))
            .collect();
        for (earlier, later) in pairs {
            self.doc.nodes[earlier as usize].shadowed = true;
            self.doc.anomalies.push(Anomaly::DuplicateKey(later));
        }
    }
}
