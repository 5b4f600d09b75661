//! Parses a text into the tree, in one pass over its tokens.

use std::borrow::Cow;

use super::decode;
use super::outline::Outline;
use super::scan::{MAX_DEPTH, Scanner, StrToken, SyntaxError, SyntaxKind};
use super::tree::{Anomaly, Data, Doc, KeyKind, Kind, NONE, key_mark};

impl<'a> Doc<'a> {
    /// Parses a whole text, every list included.
    pub fn parse(text: &'a str) -> Result<Doc<'a>, SyntaxError> {
        Parser::new(text, false, None).run()
    }

    /// Parses a package file: the `rows` of `payloads` entries stay unread as
    /// [`JsonKind::Rows`](super::JsonKind::Rows).
    ///
    /// A text whose rows are malformed can be refused later than a plain parse would, or be
    /// accepted; a reader that streams the rows finds the earlier error.
    pub fn parse_package(text: &'a str) -> Result<Doc<'a>, SyntaxError> {
        Parser::new(text, true, None).run()
    }

    /// The same of a text with its outline, which makes little of long lists of rows.
    pub(crate) fn parse_outlined(
        text: &'a str,
        outline: Option<&Outline>,
    ) -> Result<Doc<'a>, SyntaxError> {
        Parser::new(text, true, outline).run()
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

/// A key in front of its value.
struct Key<'a> {
    text: Cow<'a, str>,
    start: usize,
    mark: u8,
}

struct Parser<'a, 'o> {
    scanner: Scanner<'a>,
    package: bool,
    outline: Option<&'o Outline>,
    doc: Doc<'a>,
}

impl<'a, 'o> Parser<'a, 'o> {
    fn new(text: &'a str, package: bool, outline: Option<&'o Outline>) -> Self {
        let doc = Doc {
            text,
            nodes: Vec::new(),
            decoded: Vec::new(),
            unread: Vec::new(),
            anomalies: Vec::new(),
        };
        Parser {
            scanner: Scanner::new(text, 0),
            package,
            outline,
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
        let mut data = Data {
            span: start..start,
            key_start: 0,
            key_len: 0,
            parent,
            index,
            next: NONE,
            len: 0,
            kind: Kind::Null,
            key: KeyKind::None,
            key_mark: 0,
            shadowed: false,
        };
        if let Some(key) = key {
            data.key_start = key.start;
            data.key_mark = key.mark;
            let length = u32::try_from(key.text.len());
            (data.key, data.key_len) = match (key.text, length) {
                (Cow::Borrowed(_), Ok(length)) => (KeyKind::Plain, length),
                (text, _) => (KeyKind::Decoded, self.keep(text.into_owned())),
            };
        }
        self.doc.nodes.push(data);
        id
    }

    /// Keeps a decoded text, and gives its place.
    fn keep(&mut self, text: String) -> u32 {
        self.doc.decoded.push(text);
        u32::try_from(self.doc.decoded.len() - 1).unwrap_or(NONE)
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
                Kind::Object
            }
            Some(b'[') if level == Level::Rows => {
                self.scanner.skip_outlined(self.outline);
                self.doc.unread.push(id);
                Kind::Rows
            }
            Some(b'[') => {
                self.array(id, level, depth)?;
                Kind::Array
            }
            Some(b'"') => {
                let token = self.scanner.string()?;
                if token.escaped {
                    let text = decode(&self.doc.text[token.inner()]);
                    if holds_nul(&text) {
                        self.doc.anomalies.push(Anomaly::NulInString(id));
                    }
                    self.doc.nodes[id as usize].len = self.keep(text.into_owned());
                    Kind::Decoded
                } else {
                    Kind::Plain
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                self.scanner.number()?;
                Kind::Number
            }
            Some(b't') => self.scanner.literal("true").map(|_| Kind::True)?,
            Some(b'f') => self.scanner.literal("false").map(|_| Kind::False)?,
            Some(b'n') => self.scanner.literal("null").map(|_| Kind::Null)?,
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
            self.link(&mut last, child);
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
        let (mut seen, mut may_repeat) = (0, false);
        while more {
            let token = self.scanner.string()?;
            let text = self.decoded(token);
            // Keys of which no two have the same bit all differ.
            let mark = key_mark(&text);
            let bit = 1u128 << (mark % 128);
            may_repeat |= seen & bit != 0;
            seen |= bit;
            self.scanner.colon()?;
            let inner = match (level, text.as_ref()) {
                (Level::Root, "payloads") => Level::Payloads,
                (Level::Entry, "rows") => Level::Rows,
                _ => Level::Other,
            };
            let nul = holds_nul(&text);
            let key = Key {
                text,
                start: token.start,
                mark,
            };
            let child = self.value(inner, id, index, Some(key), depth + 1)?;
            if nul {
                self.doc.anomalies.push(Anomaly::NulInKey(child));
            }
            self.link(&mut last, child);
            index += 1;
            more = self.scanner.next_member()?;
        }
        let data = &mut self.doc.nodes[id as usize];
        (data.kind, data.len) = (Kind::Object, index);
        if may_repeat {
            self.find_duplicates(id);
        }
        Ok(())
    }

    fn link(&mut self, last: &mut u32, child: u32) {
        if *last != NONE {
            self.doc.nodes[*last as usize].next = child;
        }
        *last = child;
    }

    /// Marks all but the last of the members that share a key.
    fn find_duplicates(&mut self, id: u32) {
        let members = self.doc.node(id).children();
        let mut keyed: Vec<(&str, u32)> = members
            .filter_map(|member| Some((member.key()?, member.id())))
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

/// Whether a decoded text holds U+0000, which only an escape can bring.
#[expect(clippy::ptr_arg, reason = "whether it is borrowed is what counts")]
fn holds_nul(text: &Cow<'_, str>) -> bool {
    matches!(text, Cow::Owned(decoded) if decoded.contains('\0'))
}
