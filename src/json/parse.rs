//! Parses a text into the tree, in one pass over its tokens.

use std::borrow::Cow;

use super::decode;
use super::scan::{MAX_DEPTH, Scanner, StrToken, SyntaxError, SyntaxKind};
use super::tree::{Anomaly, Data, Doc, JsonKind, Key, NONE};

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
