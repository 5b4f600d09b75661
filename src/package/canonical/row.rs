//! Rows, streamed: one is read into a tape of tokens, written, and forgotten.

use std::borrow::Cow;

use super::copy::copy_value;
use super::order::Columns;
use super::{CanonicalError, Value, View, Writer};
use crate::json::path::push_pointer;
use crate::json::scan::{MAX_DEPTH, Scanner, StrToken};
use crate::json::{Doc, Node, SyntaxError, SyntaxKind, decode, scalar};
use crate::package::format::{ROW, Type};

/// Writes the unread `rows` of a payload entry; gives whether there were any.
pub(super) fn write_rows(
    rows: Node<'_>,
    writer: &mut Writer<'_>,
    columns: &Columns<'_>,
) -> Result<bool, CanonicalError> {
    let text = rows.text();
    let depth = std::iter::successors(rows.parent(), |node| node.parent()).count() + 1;
    let mut scanner = Scanner::new(text, rows.span().start + 1);
    let ty = Type::Object(&ROW);
    let mut tape = Tape::default();
    let mut index = 0;
    let mut more = scanner.first_element()?;
    while more {
        let start = scanner.pos;
        let out = writer.begin_row(index == 0);
        let length = out.len();
        if copy_value(&mut scanner, text, out, ty, columns, depth)? {
            writer.drain()?;
        } else {
            out.truncate(length);
            scanner.pos = start;
            tape.read(&mut scanner, text, depth)?;
            let row = Cell {
                tape: &tape,
                text,
                at: 0,
            };
            writer
                .row(row, columns)
                .map_err(|error| located(error, rows, index, row.raw(), start))?;
        }
        index += 1;
        more = scanner.next_element()?;
    }
    Ok(index > 0)
}

/// Completes a repeated key with its place, which the writer does not know.
#[cold]
fn located(
    error: CanonicalError,
    rows: Node<'_>,
    index: usize,
    row: &str,
    start: usize,
) -> CanonicalError {
    if !matches!(error, CanonicalError::DuplicateKey { .. }) {
        return error;
    }
    let Some(CanonicalError::DuplicateKey {
        key,
        pointer: inside,
        span,
    }) = Doc::parse(row).ok().as_ref().and_then(super::duplicate_key)
    else {
        return error;
    };
    let mut pointer = rows.pointer();
    push_pointer(&mut pointer, &index.to_string());
    pointer.push_str(&inside);
    CanonicalError::DuplicateKey {
        key,
        pointer,
        span: span.start + start..span.end + start,
    }
}

/// The tokens of one row in order of appearance.
#[derive(Default)]
struct Tape {
    tokens: Vec<Token>,
}

#[derive(Clone, Copy)]
enum TokenKind {
    Scalar,
    String { escaped: bool },
    List,
    Object,
}

#[derive(Clone, Copy)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
    key: Option<StrToken>,
    /// Index of the token after everything inside this one.
    next: usize,
}

impl Tape {
    /// Replaces the tape by the next value, `depth` containers being open around it.
    fn read(
        &mut self,
        scanner: &mut Scanner<'_>,
        text: &str,
        depth: usize,
    ) -> Result<(), SyntaxError> {
        self.tokens.clear();
        self.value(scanner, text, depth, None)
    }

    fn value(
        &mut self,
        scanner: &mut Scanner<'_>,
        text: &str,
        depth: usize,
        key: Option<StrToken>,
    ) -> Result<(), SyntaxError> {
        let first = scanner.next_token();
        let at = self.tokens.len();
        let kind = match first {
            Some(b'{') => TokenKind::Object,
            Some(b'[') => TokenKind::List,
            Some(b'"') => TokenKind::String { escaped: false },
            _ => TokenKind::Scalar,
        };
        self.tokens.push(Token {
            kind,
            start: scanner.pos,
            end: scanner.pos,
            key,
            next: at + 1,
        });
        match kind {
            TokenKind::Object => {
                open(scanner, depth)?;
                let mut more = scanner.first_member()?;
                while more {
                    let key = scanner.string()?;
                    scanner.colon()?;
                    self.value(scanner, text, depth + 1, Some(key))?;
                    more = scanner.next_member()?;
                }
            }
            TokenKind::List => {
                open(scanner, depth)?;
                let mut more = scanner.first_element()?;
                while more {
                    self.value(scanner, text, depth + 1, None)?;
                    more = scanner.next_element()?;
                }
            }
            TokenKind::String { .. } => {
                let escaped = scanner.string()?.escaped;
                self.tokens[at].kind = TokenKind::String { escaped };
            }
            TokenKind::Scalar => scalar(scanner, text)?,
        }
        let next = self.tokens.len();
        let token = &mut self.tokens[at];
        token.end = scanner.pos;
        token.next = next;
        Ok(())
    }
}

pub(super) fn open(scanner: &mut Scanner<'_>, depth: usize) -> Result<(), SyntaxError> {
    if depth >= MAX_DEPTH {
        return Err(Scanner::error(scanner.pos, SyntaxKind::TooDeep));
    }
    scanner.pos += 1;
    Ok(())
}

/// A value on a tape.
#[derive(Clone, Copy)]
struct Cell<'t> {
    tape: &'t Tape,
    text: &'t str,
    at: usize,
}

impl<'t> Cell<'t> {
    fn token(self) -> &'t Token {
        &self.tape.tokens[self.at]
    }

    fn raw(self) -> &'t str {
        let token = self.token();
        &self.text[token.start..token.end]
    }

    /// The values directly inside a container.
    fn children(self) -> impl Iterator<Item = Cell<'t>> {
        let end = self.token().next;
        let at = move |at: usize| (at < end).then_some(Cell { at, ..self });
        std::iter::successors(at(self.at + 1), move |cell| at(cell.token().next))
    }

    fn string(self, token: StrToken) -> Cow<'t, str> {
        let inner = &self.text[token.inner()];
        if token.escaped {
            decode(inner)
        } else {
            Cow::Borrowed(inner)
        }
    }
}

impl<'t> Value<'t> for Cell<'t> {
    fn view(self) -> View<'t> {
        let raw = self.raw();
        match self.token().kind {
            TokenKind::Scalar => View::Token(raw),
            TokenKind::String { escaped: false } => View::Plain(&raw[1..raw.len() - 1]),
            TokenKind::String { escaped: true } => View::Text(decode(&raw[1..raw.len() - 1])),
            TokenKind::List => View::List,
            TokenKind::Object => View::Object,
        }
    }

    fn elements(self) -> impl Iterator<Item = Cell<'t>> {
        self.children()
    }

    fn members(self) -> impl Iterator<Item = (Cow<'t, str>, Cell<'t>)> {
        self.children()
            .filter_map(|cell| Some((cell.string(cell.token().key?), cell)))
    }

    fn rows(self, _: &mut Writer<'_>, _: &Columns<'_>) -> Result<bool, CanonicalError> {
        // A row holds no rows of a payload.
        Ok(false)
    }
}
