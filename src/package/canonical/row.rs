//! Rows, streamed: one is read into a tape of tokens, written, and forgotten.
//!
//! They come from the `rows` list of a payload entry, or one per line from a file of rows.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::copy::copy_value;
use super::order::Columns;
use super::{CanonicalError, Value, View, Writer};
use crate::json::path::push_pointer;
use crate::json::scan::{MAX_DEPTH, Scanner, StrToken};
use crate::json::{Doc, Node, SyntaxError, SyntaxKind, decode, scalar, skip_value};
use crate::package::format::{ROW, Type};
use crate::rows::CELL_DEPTH;

/// Writes the unread `rows` of a payload entry; gives whether there were any.
pub(super) fn write_rows(
    rows: Node<'_>,
    writer: &mut Writer<'_>,
    columns: &Columns<'_>,
) -> Result<bool, CanonicalError> {
    let text = rows.text();
    let depth = std::iter::successors(rows.parent(), |node| node.parent()).count() + 1;
    let mut scanner = Scanner::new(text, rows.span().start + 1);
    let mut tape = Tape::default();
    let mut index = 0;
    let mut more = scanner.first_element()?;
    while more {
        let row = scanner.clone();
        writer.begin_row(index == 0);
        write_row(&mut scanner, &mut tape, text, writer, columns, depth).map_err(|error| {
            let mut pointer = rows.pointer();
            push_pointer(&mut pointer, &index.to_string());
            located(error, &pointer, row, text)
        })?;
        index += 1;
        more = scanner.next_element()?;
    }
    Ok(index > 0)
}

/// How many containers are around a row: envelope, payloads, entry, rows.
const ROW_DEPTH_IN_PACKAGE: usize = 4;

/// How many containers are around a cell: those around a row, the row, its data.
const CELL_DEPTH_IN_PACKAGE: usize = ROW_DEPTH_IN_PACKAGE + 2;

// Exports and runs are held to what a package has room for.
const _: () = assert!(CELL_DEPTH + CELL_DEPTH_IN_PACKAGE == MAX_DEPTH);

/// Appends a cell's value, well-formed and without white space around it, as a row holds it.
pub(crate) fn write_cell(raw: &str, out: &mut String) -> Result<(), CanonicalError> {
    let nested = matches!(raw.as_bytes().first(), Some(b'{' | b'['));
    if !nested && memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        out.push_str(raw);
        return Ok(());
    }
    let length = out.len();
    let columns = Columns::default();
    let mut scanner = Scanner::new(raw, 0);
    if copy_value(
        &mut scanner,
        raw,
        out,
        Type::Any,
        &columns,
        CELL_DEPTH_IN_PACKAGE,
    )? {
        return Ok(());
    }
    out.truncate(length);
    let mut tape = Tape::default();
    tape.read(&mut Scanner::new(raw, 0), raw, CELL_DEPTH_IN_PACKAGE)?;
    let mut writer = Writer::gathering(raw.len());
    let cell = Cell {
        tape: &tape,
        text: raw,
        at: 0,
    };
    writer.line(cell, &columns)?;
    out.push_str(&writer.finish()?);
    Ok(())
}

/// Writes rows that stand one per line; gives whether there were any. Empty lines are passed over.
pub(crate) fn write_lines(
    text: &str,
    writer: &mut Writer<'_>,
    columns: &Columns<'_>,
) -> Result<bool, CanonicalError> {
    let mut tape = Tape::default();
    let mut any = false;
    for line in lines(text) {
        writer.begin_row(!any);
        write_line(line, &mut tape, text, writer, columns)?;
        any = true;
    }
    Ok(any)
}

/// Writes the row of one line of `text`. Offsets of errors are those of the text.
fn write_line(
    line: Range<usize>,
    tape: &mut Tape,
    text: &str,
    writer: &mut Writer<'_>,
    columns: &Columns<'_>,
) -> Result<(), CanonicalError> {
    let text = &text[..line.end];
    let mut scanner = Scanner::new(text, line.start);
    let row = scanner.clone();
    write_row(
        &mut scanner,
        tape,
        text,
        writer,
        columns,
        ROW_DEPTH_IN_PACKAGE,
    )
    .map_err(|error| located(error, "", row, text))?;
    match scanner.next_token() {
        Some(_) => Err(Scanner::error(scanner.pos, SyntaxKind::TrailingText).into()),
        None => Ok(()),
    }
}

/// Everything that is wrong with the lines of a file of rows, at most one error per line, with the
/// bytes of the line.
pub(crate) fn check_lines(text: &str) -> Vec<(Range<usize>, CanonicalError)> {
    let mut tape = Tape::default();
    let columns = Columns::default();
    let mut nowhere = io::sink();
    let mut writer = Writer::streaming(&mut nowhere);
    lines(text)
        .filter_map(|line| {
            let written = write_line(line.clone(), &mut tape, text, &mut writer, &columns);
            Some((line, written.err()?))
        })
        .collect()
}

/// The lines with something on them.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let all = text.split_inclusive('\n').map(move |line| {
        let range = start..start + line.trim_end_matches([' ', '\t', '\r', '\n']).len();
        start += line.len();
        range
    });
    all.filter(|line| !line.is_empty())
}

/// Writes the next value as a row.
fn write_row(
    scanner: &mut Scanner<'_>,
    tape: &mut Tape,
    text: &str,
    writer: &mut Writer<'_>,
    columns: &Columns<'_>,
    depth: usize,
) -> Result<(), CanonicalError> {
    let start = scanner.pos;
    let out = writer.text();
    let length = out.len();
    if copy_value(scanner, text, out, Type::Object(&ROW), columns, depth)? {
        return writer.drain();
    }
    out.truncate(length);
    scanner.pos = start;
    tape.read(scanner, text, depth)?;
    writer.row(Cell { tape, text, at: 0 }, columns)
}

/// Completes a repeated key with its place, which the writer does not know.
#[cold]
fn located(
    error: CanonicalError,
    pointer: &str,
    mut row: Scanner<'_>,
    text: &str,
) -> CanonicalError {
    if !matches!(error, CanonicalError::DuplicateKey { .. }) {
        return error;
    }
    row.next_token();
    let start = row.pos;
    if let Err(error) = skip_value(&mut row, text) {
        return error.into();
    }
    let row = &text[start..row.pos];
    let Some(CanonicalError::DuplicateKey {
        key,
        pointer: inside,
        span,
    }) = Doc::parse(row).ok().as_ref().and_then(super::duplicate_key)
    else {
        return error;
    };
    CanonicalError::DuplicateKey {
        key,
        pointer: format!("{pointer}{inside}"),
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
