//! One JSON value as text; its first byte shows its type.

use std::borrow::Cow;

use crate::json::decode;
use crate::json::scan::Scanner;

/// A value of JSON that has been found well-formed, borrowed from its text.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, digit by digit.
    Number(&'a str),
    /// A string.
    String(Text<'a>),
    /// A list, brackets included.
    List(&'a str),
    /// An object, braces included.
    Object(&'a str),
}

/// A string as it is written, decoded only when somebody asks.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// What is between the quotes.
    pub inner: &'a str,
    /// Whether there is a backslash in it.
    pub escaped: bool,
}

impl<'a> Text<'a> {
    /// The characters it stands for.
    pub fn decoded(self) -> Cow<'a, str> {
        if self.escaped {
            decode(self.inner)
        } else {
            Cow::Borrowed(self.inner)
        }
    }

    /// Whether it stands for `other`.
    pub fn is(self, other: &str) -> bool {
        if self.escaped {
            decode(self.inner) == other
        } else {
            self.inner == other
        }
    }
}

impl<'a> Cell<'a> {
    /// Reads a value; `raw` is well-formed and has no white space around it.
    pub fn new(raw: &'a str) -> Cell<'a> {
        match raw.as_bytes().first() {
            Some(b'n') => Cell::Null,
            Some(b't') => Cell::Bool(true),
            Some(b'f') => Cell::Bool(false),
            Some(b'"') => {
                let inner = raw.get(1..raw.len() - 1).unwrap_or_default();
                let escaped = memchr::memchr(b'\\', inner.as_bytes()).is_some();
                Cell::String(Text { inner, escaped })
            }
            Some(b'[') => Cell::List(raw),
            Some(b'{') => Cell::Object(raw),
            _ => Cell::Number(raw),
        }
    }

    /// Whether it is `""`.
    #[inline]
    pub fn is_empty_text(self) -> bool {
        matches!(self, Cell::String(text) if text.inner.is_empty())
    }

    /// Whether `required` is not met by it: `null`, `""` and `[]`.
    pub fn is_empty(self) -> bool {
        match self {
            Cell::Null => true,
            Cell::String(text) => text.inner.is_empty(),
            Cell::List(raw) => elements(raw).next().is_none(),
            _ => false,
        }
    }

    /// The elements when it is a list, itself when it is not.
    pub fn parts(self, raw: &'a str) -> impl Iterator<Item = &'a str> {
        let (alone, list) = match self {
            Cell::List(list) => (None, Some(list)),
            _ => (Some(raw), None),
        };
        alone.into_iter().chain(list.into_iter().flat_map(elements))
    }
}

/// The elements of a well-formed list, as they are written.
pub fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut scanner = Scanner::new(list, 1);
    let mut more = scanner.first_element().unwrap_or_default();
    std::iter::from_fn(move || {
        if !more {
            return None;
        }
        let element = value(list, &mut scanner)?;
        more = scanner.next_element().unwrap_or_default();
        Some(element)
    })
}

/// The members of a well-formed object: key and value as they are written.
pub fn members(object: &str) -> impl Iterator<Item = (Text<'_>, &str)> {
    let mut scanner = Scanner::new(object, 1);
    let mut more = scanner.first_member().unwrap_or_default();
    std::iter::from_fn(move || {
        if !more {
            return None;
        }
        let key = scanner.string().ok()?;
        scanner.colon().ok()?;
        let value = value(object, &mut scanner)?;
        more = scanner.next_member().unwrap_or_default();
        Some((
            Text {
                inner: &object[key.inner()],
                escaped: key.escaped,
            },
            value,
        ))
    })
}

/// The value of a member of a well-formed object that holds every key once.
pub fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let mut members = members(object);
    members.find_map(|(name, value)| name.is(key).then_some(value))
}

/// The well-formed value that the scanner is before; it is behind it then.
#[inline]
pub(crate) fn value<'a>(text: &'a str, scanner: &mut Scanner<'a>) -> Option<&'a str> {
    let start = scanner.pos;
    match scanner.peek()? {
        b'"' => scanner.string().map(drop).ok()?,
        b'[' | b'{' => drop(scanner.skip_list_unchecked()),
        b't' | b'n' => scanner.pos += 4,
        b'f' => scanner.pos += 5,
        _ => scanner.number().map(drop).ok()?,
    }
    text.get(start..scanner.pos)
}
