//! The scanner: bytes of a UTF-8 text to tokens, strictly as RFC 8259 has it.
//!
//! It allocates nothing and is used twice: by the tree for manifests, and directly by the row
//! checker, which looks at every cell of files of hundreds of megabytes.

use std::ops::Range;

use super::lanes::{STRING_LANES, string_stops};
use super::outline::Outline;
use super::skip::end_of_container;

/// How many containers may be open at once; one more is a [`SyntaxKind::TooDeep`].
pub const MAX_DEPTH: usize = 128;

/// Where and why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SyntaxError {
    /// Byte offset of the first byte that cannot be accepted.
    pub offset: usize,
    /// What was wrong there.
    pub kind: SyntaxKind,
}

/// The ways in which a text can fail to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxKind {
    /// Nothing but white space.
    #[error("the file is empty")]
    Empty,
    /// The text stops inside a value.
    #[error("the file ends in the middle of a value")]
    UnexpectedEnd,
    /// A value was expected.
    #[error("a JSON value is expected here")]
    ExpectedValue,
    /// A quoted key was expected.
    #[error("a key in double quotes is expected here")]
    ExpectedKey,
    /// `:` was expected.
    #[error("a colon is expected after the key")]
    ExpectedColon,
    /// `,` or `}` was expected.
    #[error("a comma or a closing brace is expected here")]
    ExpectedCommaOrBrace,
    /// `,` or `]` was expected.
    #[error("a comma or a closing bracket is expected here")]
    ExpectedCommaOrBracket,
    /// `,` directly before a closing bracket or brace.
    #[error("a comma before the closing bracket is not allowed in JSON")]
    TrailingComma,
    /// `true`, `false` or `null` misspelt.
    #[error("this is not a JSON literal (only true, false and null are)")]
    BadLiteral,
    /// A number outside the JSON grammar.
    #[error("this is not a JSON number")]
    BadNumber,
    /// An escape JSON does not have.
    #[error("this escape does not exist in JSON")]
    BadEscape,
    /// Half of a surrogate pair.
    #[error("a lone surrogate is not a character")]
    LoneSurrogate,
    /// A raw control character in a string.
    #[error("a control character must be escaped in a string")]
    ControlCharacter,
    /// A string without an end.
    #[error("this string is never closed")]
    UnclosedString,
    /// More than [`MAX_DEPTH`] open containers.
    #[error("more than 128 lists and objects are open here")]
    TooDeep,
    /// Something is after the value.
    #[error("text after the end of the JSON value")]
    TrailingText,
    /// A byte-order mark that is not the one at the beginning of a file.
    #[error("a byte-order mark where a JSON value is expected")]
    SecondByteOrderMark,
    /// UTF-16 text.
    #[error("the file is UTF-16; JSON files are UTF-8")]
    Utf16,
    /// Bytes that are not UTF-8.
    #[error("these bytes are not UTF-8")]
    InvalidUtf8,
}

/// A string token: the span includes both quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StrToken {
    /// Offset of the opening quote.
    pub start: usize,
    /// Offset after the closing quote.
    pub end: usize,
    /// Whether any backslash occurs.
    pub escaped: bool,
}

impl StrToken {
    /// The bytes between the quotes.
    pub(crate) fn inner(self) -> Range<usize> {
        self.start + 1..self.end - 1
    }
}

/// A cursor over the bytes of a UTF-8 text. Offsets are those of the whole text.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    /// Offset of the next byte to be read.
    pub pos: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at `pos` of `text`.
    pub(crate) fn new(text: &'a str, pos: usize) -> Self {
        Scanner {
            bytes: text.as_bytes(),
            pos,
        }
    }

    /// An error at `offset`.
    #[cold]
    pub(crate) fn error(offset: usize, kind: SyntaxKind) -> SyntaxError {
        SyntaxError { offset, kind }
    }

    /// The next byte, not consumed.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    /// The next two bytes, not consumed.
    #[inline]
    fn pair(&self) -> Option<[u8; 2]> {
        self.bytes
            .get(self.pos..)
            .and_then(<[u8]>::first_chunk)
            .copied()
    }

    /// Skips white space and gives the byte after it.
    #[inline]
    pub(crate) fn next_token(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.pos) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.pos += 1,
                other => return other.copied(),
            }
        }
    }

    /// Reads a string whose opening quote is the next byte.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<StrToken, SyntaxError> {
        let start = self.pos;
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            // Sixteen bytes at a time: most text has none of the three that matter.
            while let Some(lanes) = self.bytes.get(at..).and_then(<[u8]>::first_chunk) {
                let stops = string_stops(lanes);
                if stops != 0 {
                    at += stops.trailing_zeros() as usize;
                    break;
                }
                at += STRING_LANES;
            }
            match self.bytes.get(at) {
                Some(b'"') => {
                    self.pos = at + 1;
                    return Ok(StrToken {
                        start,
                        end: at + 1,
                        escaped,
                    });
                }
                Some(b'\\') => {
                    escaped = true;
                    at = self.escape(at)?;
                }
                Some(0..0x20) => return Err(Self::error(at, SyntaxKind::ControlCharacter)),
                Some(_) => at += 1,
                None => return Err(Self::error(start, SyntaxKind::UnclosedString)),
            }
        }
    }

    /// Checks the escape at `at` and gives the offset after it.
    #[cold]
    fn escape(&self, at: usize) -> Result<usize, SyntaxError> {
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => {
                let unit = self.hex4(at)?;
                match unit {
                    0xD800..=0xDBFF => {
                        let low = at + 6;
                        let paired = self.bytes.get(low..low + 2) == Some(b"\\u");
                        match if paired { self.hex4(low)? } else { 0 } {
                            0xDC00..=0xDFFF => Ok(at + 12),
                            _ => Err(Self::error(at, SyntaxKind::LoneSurrogate)),
                        }
                    }
                    0xDC00..=0xDFFF => Err(Self::error(at, SyntaxKind::LoneSurrogate)),
                    _ => Ok(at + 6),
                }
            }
            Some(_) => Err(Self::error(at, SyntaxKind::BadEscape)),
            None => Err(Self::error(at, SyntaxKind::UnexpectedEnd)),
        }
    }

    fn hex4(&self, at: usize) -> Result<u32, SyntaxError> {
        let digits = self.bytes.get(at + 2..at + 6).unwrap_or_default();
        if digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit) {
            let hex = |value: u32, digit: &u8| {
                value * 16 + char::from(*digit).to_digit(16).unwrap_or_default()
            };
            return Ok(digits.iter().fold(0, hex));
        }
        Err(Self::error(at, SyntaxKind::BadEscape))
    }

    /// Reads a number that begins at the next byte (`-` or a digit).
    #[inline]
    pub(crate) fn number(&mut self) -> Result<Range<usize>, SyntaxError> {
        let start = self.pos;
        let bad = || Self::error(start, SyntaxKind::BadNumber);
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        match self.peek() {
            Some(b'0') => {
                self.pos += 1;
                if matches!(self.peek(), Some(b'0'..=b'9')) {
                    return Err(bad());
                }
            }
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(bad()),
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(bad());
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.pos += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.pos += 1;
            }
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(bad());
            }
            self.digits();
        }
        Ok(start..self.pos)
    }

    #[inline]
    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.pos += 1;
        }
    }

    /// Reads exactly `word` (`true`, `false`, `null`).
    #[inline]
    pub(crate) fn literal(&mut self, word: &'static str) -> Result<Range<usize>, SyntaxError> {
        let start = self.pos;
        let end = start + word.len();
        if self.bytes.get(start..end) == Some(word.as_bytes()) {
            self.pos = end;
            return Ok(start..end);
        }
        Err(Self::error(start, SyntaxKind::BadLiteral))
    }

    /// After a value in an object: `,` leads to the next key (true), `}` ends it (false).
    #[inline]
    pub(crate) fn next_member(&mut self) -> Result<bool, SyntaxError> {
        // As compact files have it; everything else goes the long way.
        match self.pair() {
            Some([b',', b'"']) => {
                self.pos += 1;
                Ok(true)
            }
            Some([b'}', _]) => {
                self.pos += 1;
                Ok(false)
            }
            // As packages are written.
            Some([b',', b' ']) if self.bytes.get(self.pos + 2) == Some(&b'"') => {
                self.pos += 2;
                Ok(true)
            }
            _ => self.next_member_anyhow(),
        }
    }

    #[inline(never)]
    fn next_member_anyhow(&mut self) -> Result<bool, SyntaxError> {
        match self.next_token() {
            Some(b',') => {
                let comma = self.pos;
                self.pos += 1;
                match self.next_token() {
                    Some(b'"') => Ok(true),
                    Some(b'}') => Err(Self::error(comma, SyntaxKind::TrailingComma)),
                    Some(_) => Err(Self::error(self.pos, SyntaxKind::ExpectedKey)),
                    None => Err(self.end()),
                }
            }
            Some(b'}') => {
                self.pos += 1;
                Ok(false)
            }
            Some(_) => Err(Self::error(self.pos, SyntaxKind::ExpectedCommaOrBrace)),
            None => Err(self.end()),
        }
    }

    /// After a value in a list: `,` leads to the next value (true), `]` ends it (false).
    #[inline]
    pub(crate) fn next_element(&mut self) -> Result<bool, SyntaxError> {
        match self.pair() {
            Some([b',', next]) if next > b' ' && next != b']' => {
                self.pos += 1;
                Ok(true)
            }
            Some([b']', _]) => {
                self.pos += 1;
                Ok(false)
            }
            Some([b',', b' ']) if matches!(self.bytes.get(self.pos + 2), Some(b'"' | b'{')) => {
                self.pos += 2;
                Ok(true)
            }
            _ => self.next_element_anyhow(),
        }
    }

    #[inline(never)]
    fn next_element_anyhow(&mut self) -> Result<bool, SyntaxError> {
        match self.next_token() {
            Some(b',') => {
                let comma = self.pos;
                self.pos += 1;
                match self.next_token() {
                    Some(b']') => Err(Self::error(comma, SyntaxKind::TrailingComma)),
                    Some(_) => Ok(true),
                    None => Err(self.end()),
                }
            }
            Some(b']') => {
                self.pos += 1;
                Ok(false)
            }
            Some(_) => Err(Self::error(self.pos, SyntaxKind::ExpectedCommaOrBracket)),
            None => Err(self.end()),
        }
    }

    /// After `{`: whether a first key follows (then the next byte is its quote).
    #[inline]
    pub(crate) fn first_member(&mut self) -> Result<bool, SyntaxError> {
        match self.next_token() {
            Some(b'"') => Ok(true),
            Some(b'}') => {
                self.pos += 1;
                Ok(false)
            }
            Some(_) => Err(Self::error(self.pos, SyntaxKind::ExpectedKey)),
            None => Err(self.end()),
        }
    }

    /// After `[`: whether a first value follows.
    #[inline]
    pub(crate) fn first_element(&mut self) -> Result<bool, SyntaxError> {
        match self.next_token() {
            Some(b']') => {
                self.pos += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.end()),
        }
    }

    /// Reads the colon after a key and stands on the value's first byte.
    #[inline]
    pub(crate) fn colon(&mut self) -> Result<(), SyntaxError> {
        match self.pair() {
            Some([b':', next]) if next > b' ' => {
                self.pos += 1;
                Ok(())
            }
            Some([b':', b' ']) if self.bytes.get(self.pos + 2) > Some(&b' ') => {
                self.pos += 2;
                Ok(())
            }
            _ => self.colon_anyhow(),
        }
    }

    #[inline(never)]
    fn colon_anyhow(&mut self) -> Result<(), SyntaxError> {
        match self.next_token() {
            Some(b':') => {
                self.pos += 1;
                self.next_token();
                Ok(())
            }
            Some(_) => Err(Self::error(self.pos, SyntaxKind::ExpectedColon)),
            None => Err(self.end()),
        }
    }

    /// The error of a text that stops too early.
    #[cold]
    pub(crate) fn end(&self) -> SyntaxError {
        Self::error(self.bytes.len(), SyntaxKind::UnexpectedEnd)
    }

    /// Jumps over a list or object without checking what is inside. Gives the span, up to the end
    /// of the text when nothing closes it.
    pub(crate) fn skip_list_unchecked(&mut self) -> Range<usize> {
        self.skip_outlined(None)
    }

    /// The same, with an outline of the text.
    pub(super) fn skip_outlined(&mut self, outline: Option<&Outline>) -> Range<usize> {
        let start = self.pos;
        self.pos = end_of_container(self.bytes, start, outline);
        start..self.pos
    }
}
