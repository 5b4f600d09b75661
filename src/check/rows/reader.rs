//! Reads rows: strict JSON, records the positions of cells, checks nothing.
//!
//! One pass over the bytes. It allocates nothing per row, and what it cannot say by itself (which
//! key is repeated, which text is suspect, what is odd about a row's shape) it leaves to
//! [`reparse`](super::reparse), which reads the one row again as a tree.

use super::form;
use super::layout::Layout;
use super::row::{ByteRange, RefSpot, Row};
use super::secret_scan::{self, SecretScan};
use crate::json::scan::{Scanner, StrToken};
use crate::json::{MAX_DEPTH, Node, SyntaxError, SyntaxKind, decode, decode_to};

/// The reader of one list of rows.
pub(super) struct Reader<'s, 'c> {
    text: &'s str,
    scanner: Scanner<'s>,
    layout: &'s Layout<'c>,
    watch: SecretScan<'s>,
    /// Keys of the objects that are open inside a cell.
    keys: Vec<StrToken>,
    scratch: String,
    /// The column expected next: exporters write keys in one order.
    expected: usize,
    /// Containers that are open around a row.
    depth: usize,
    row_end: usize,
    more: bool,
}

impl<'s, 'c> Reader<'s, 'c> {
    /// Opens the list.
    pub(super) fn new(
        text: &'s str,
        layout: &'s Layout<'c>,
        list: Node<'c>,
    ) -> Result<Self, SyntaxError> {
        let span = list.span();
        let mut depth = 1;
        let mut parent = list.parent();
        while let Some(node) = parent {
            depth += 1;
            parent = node.parent();
        }
        let mut scanner = Scanner::new(text, span.start + 1);
        let more = scanner.first_element()?;
        let watch = SecretScan::new(text, span.start, span.end);
        Ok(Reader {
            text,
            scanner,
            layout,
            watch,
            keys: Vec::new(),
            scratch: String::new(),
            expected: 0,
            depth,
            row_end: span.start,
            more,
        })
    }

    /// Reads the next element into `row`; false at the end of the list.
    pub(super) fn next(&mut self, row: &mut Row) -> Result<bool, SyntaxError> {
        if !self.more {
            return Ok(false);
        }
        row.cells
            .resize(self.layout.columns.len(), ByteRange::default());
        row.refs
            .resize(self.layout.columns.len(), RefSpot::default());
        row.mark = row.mark.wrapping_add(1);
        if row.mark == 0 {
            // After four billion rows old marks could be taken for new ones.
            row.cells.fill(ByteRange::default());
            row.refs.fill(RefSpot::default());
            row.mark = 1;
        }
        row.start = self.scanner.pos;
        row.uid = None;
        row.has_data = false;
        row.needs_reparse = false;
        row.referring.clear();
        row.targets.clear();
        if self.scanner.peek() == Some(b'{') && self.layout.entry.is_some() {
            self.row(row)?;
        } else {
            row.needs_reparse |= self.layout.entry.is_some();
            self.value(self.depth, row)?;
        }
        self.row_end = self.scanner.pos;
        row.needs_reparse |= self.watch.is_suspect(row.start, self.row_end);
        self.more = self.scanner.next_element()?;
        Ok(true)
    }

    /// Byte after the row read last.
    pub(super) fn row_end(&self) -> usize {
        self.row_end
    }

    fn row(&mut self, row: &mut Row) -> Result<(), SyntaxError> {
        self.open(self.depth)?;
        let mut seen = [false; 3];
        let mut more = self.scanner.first_member()?;
        while more {
            let field = self.row_field(row)?;
            self.scanner.colon()?;
            if let Some(field) = field.filter(|field| std::mem::replace(&mut seen[*field], true)) {
                row.forget(field);
            }
            match (field, self.scanner.peek()) {
                (Some(0), Some(b'"')) => row.uid = Some(self.string(row)?),
                (Some(1), Some(b'{')) => {
                    row.has_data = true;
                    row.data.start = self.scanner.pos;
                    self.data(row)?;
                    row.data.end = self.scanner.pos;
                }
                (Some(2), Some(b'{')) => self.refs(row)?,
                _ => {
                    row.needs_reparse = true;
                    self.value(self.depth + 1, row)?;
                }
            }
            more = self.scanner.next_member()?;
        }
        row.needs_reparse |= !seen[0] || !seen[1];
        Ok(())
    }

    fn data(&mut self, row: &mut Row) -> Result<(), SyntaxError> {
        self.open(self.depth + 1)?;
        let mut more = self.scanner.first_member()?;
        self.expected = 0;
        while more {
            let slot = self.column(row)?;
            self.scanner.colon()?;
            let start = self.scanner.pos;
            let form = self.value(self.depth + 2, row)?;
            match slot {
                Some(slot) => {
                    let cell = &mut row.cells[slot];
                    row.needs_reparse |= cell.mark == row.mark;
                    *cell = ByteRange {
                        mark: row.mark,
                        form,
                        start,
                        end: self.scanner.pos,
                    };
                }
                None => row.needs_reparse = true,
            }
            more = self.scanner.next_member()?;
        }
        Ok(())
    }

    fn refs(&mut self, row: &mut Row) -> Result<(), SyntaxError> {
        self.open(self.depth + 1)?;
        let mut more = self.scanner.first_member()?;
        self.expected = self.layout.first_link;
        while more {
            let slot = self.column(row)?;
            self.scanner.colon()?;
            if let Some(slot) = slot {
                let spot = self.reference(slot, row)?;
                let known = &mut row.refs[slot];
                row.needs_reparse |= known.mark == row.mark;
                *known = spot;
                row.referring.push(u32::try_from(slot).unwrap_or(u32::MAX));
            } else {
                row.needs_reparse = true;
                self.value(self.depth + 2, row)?;
            }
            more = self.scanner.next_member()?;
        }
        Ok(())
    }

    /// One triple, or `rows` with triples.
    fn reference(&mut self, slot: usize, row: &mut Row) -> Result<RefSpot, SyntaxError> {
        let first = u32::try_from(row.targets.len()).unwrap_or(u32::MAX);
        let mut spot = RefSpot {
            mark: row.mark,
            many: false,
            plain: true,
            first,
            count: 1,
        };
        if self.scanner.peek() != Some(b'{') {
            row.needs_reparse = true;
            spot.plain = false;
            self.value(self.depth + 2, row)?;
        } else if self.at_rows() {
            spot.many = true;
            spot.plain = self.many(slot, row)?;
            spot.count = u32::try_from(row.targets.len()).unwrap_or(u32::MAX) - first;
        } else {
            spot.plain = self.triple(slot, self.depth + 2, row)?;
        }
        Ok(spot)
    }

    /// Whether the object that begins here has `rows` as its first key, as an exporter writes it.
    fn at_rows(&self) -> bool {
        let mut ahead = self.scanner.clone();
        ahead.pos += 1;
        ahead.next_token();
        self.text.as_bytes()[ahead.pos..].starts_with(b"\"rows\"")
    }

    /// `{"rows": [triple…]}`; whether all is plain.
    fn many(&mut self, slot: usize, row: &mut Row) -> Result<bool, SyntaxError> {
        self.open(self.depth + 2)?;
        let mut plain = true;
        let mut first = true;
        let mut more = self.scanner.first_member()?;
        while more {
            let field = self.rows_field(row)?;
            self.scanner.colon()?;
            if field.is_none() || !first || self.scanner.peek() != Some(b'[') {
                row.needs_reparse = true;
                plain = false;
                self.value(self.depth + 3, row)?;
            } else {
                self.open(self.depth + 3)?;
                let mut element = self.scanner.first_element()?;
                while element {
                    if self.scanner.peek() == Some(b'{') {
                        plain &= self.triple(slot, self.depth + 4, row)?;
                    } else {
                        row.needs_reparse = true;
                        plain = false;
                        self.value(self.depth + 4, row)?;
                    }
                    element = self.scanner.next_element()?;
                }
            }
            first = false;
            more = self.scanner.next_member()?;
        }
        Ok(plain)
    }

    /// A triple; whether it is plain. Its `rowUid` is noted when it is.
    fn triple(&mut self, slot: usize, depth: usize, row: &mut Row) -> Result<bool, SyntaxError> {
        self.open(depth)?;
        let mut texts: [Option<StrToken>; 3] = [None; 3];
        let mut shaped = true;
        let mut more = self.scanner.first_member()?;
        while more {
            let field = self.triple_field(row)?;
            self.scanner.colon()?;
            if let (Some(field), Some(b'"')) = (field, self.scanner.peek()) {
                shaped &= texts[field].is_none();
                texts[field] = Some(self.string(row)?);
            } else {
                shaped = false;
                self.value(depth + 1, row)?;
            }
            more = self.scanner.next_member()?;
        }
        let [Some(uid), Some(table), value] = texts else {
            row.needs_reparse = true;
            return Ok(false);
        };
        row.needs_reparse |= !shaped;
        let Some(link) = &self.layout.columns[slot].link else {
            return Ok(false);
        };
        let is = |token: StrToken, expected: Option<&str>| {
            !token.escaped && expected == Some(&self.text[token.inner()])
        };
        let names_table = is(table, link.table)
            || self.text[table.inner()]
                .strip_prefix('$')
                .is_some_and(|name| !table.escaped && link.table == Some(name));
        let plain = shaped
            && !uid.escaped
            && names_table
            && value.is_some_and(|value| is(value, link.value));
        row.targets.push(uid);
        Ok(plain)
    }

    /// Whether the next bytes are these; if so, they are read.
    #[inline]
    fn eat<const N: usize>(&mut self, bytes: &[u8; N]) -> bool {
        let next = self.text.as_bytes()[self.scanner.pos..].first_chunk::<N>();
        let eaten = next == Some(bytes);
        if eaten {
            self.scanner.pos += N;
        }
        eaten
    }

    /// Reads a key of a row: 0 `uid`, 1 `data`, 2 `refs`.
    #[inline]
    fn row_field(&mut self, row: &mut Row) -> Result<Option<usize>, SyntaxError> {
        if self.eat(b"\"uid\"") {
            return Ok(Some(0));
        }
        if self.eat(b"\"data\"") {
            return Ok(Some(1));
        }
        if self.eat(b"\"refs\"") {
            return Ok(Some(2));
        }
        self.odd_field(&["uid", "data", "refs"], row)
    }

    /// Reads a key of a triple: 0 `rowUid`, 1 `featureRef`, 2 `valueColumn`.
    #[inline]
    fn triple_field(&mut self, row: &mut Row) -> Result<Option<usize>, SyntaxError> {
        if self.eat(b"\"rowUid\"") {
            return Ok(Some(0));
        }
        if self.eat(b"\"featureRef\"") {
            return Ok(Some(1));
        }
        if self.eat(b"\"valueColumn\"") {
            return Ok(Some(2));
        }
        self.odd_field(&["rowUid", "featureRef", "valueColumn"], row)
    }

    /// Reads a key next to triples: 0 `rows`.
    fn rows_field(&mut self, row: &mut Row) -> Result<Option<usize>, SyntaxError> {
        if self.eat(b"\"rows\"") {
            return Ok(Some(0));
        }
        self.odd_field(&["rows"], row)
    }

    /// Reads a key that is not written as one of `fields`; escapes may still make it one.
    #[cold]
    fn odd_field(&mut self, fields: &[&str], row: &mut Row) -> Result<Option<usize>, SyntaxError> {
        let token = self.string(row)?;
        Ok(if token.escaped {
            let key = decode(&self.text[token.inner()]);
            fields.iter().position(|field| *field == key)
        } else {
            None
        })
    }

    /// Reads a key and finds its column.
    #[inline]
    fn column(&mut self, row: &mut Row) -> Result<Option<usize>, SyntaxError> {
        let rest = &self.text.as_bytes()[self.scanner.pos..];
        let tokens = self.layout.tokens.get(self.expected..).unwrap_or_default();
        // Absent cells are skipped in the order of the columns: look a little ahead.
        if let Some(word) = rest.first_chunk().copied().map(u64::from_le_bytes) {
            for (ahead, token) in tokens.iter().take(4).enumerate() {
                if token.begins(word) && token.ends(rest) {
                    self.scanner.pos += token.len();
                    let index = self.expected + ahead;
                    self.expected = index + 1;
                    return Ok(Some(index));
                }
            }
        }
        self.any_column(row)
    }

    /// The same for a key that is not among the next ones.
    #[inline(never)]
    fn any_column(&mut self, row: &mut Row) -> Result<Option<usize>, SyntaxError> {
        let token = self.string(row)?;
        let found = self.layout.slot(&decode(&self.text[token.inner()]));
        self.expected = found.map_or(self.expected, |index| index + 1);
        Ok(found)
    }

    /// Reads any value at `depth` open containers and gives its form.
    #[expect(
        clippy::inline_always,
        reason = "every cell goes through here, and a call apiece shows"
    )]
    #[inline(always)]
    fn value(&mut self, depth: usize, row: &mut Row) -> Result<u16, SyntaxError> {
        match self.scanner.peek() {
            Some(b'"') => {
                let token = self.string(row)?;
                let escaped = if token.escaped { form::ESCAPED } else { 0 };
                let empty = token.end - token.start == 2;
                Ok(escaped
                    | if empty {
                        form::EMPTY_STRING
                    } else {
                        form::STRING
                    })
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.other(depth, row),
        }
    }

    #[inline(never)]
    fn other(&mut self, depth: usize, row: &mut Row) -> Result<u16, SyntaxError> {
        match self.scanner.peek() {
            Some(b'[') => self.list(depth, row),
            Some(b'{') => self.object(depth, row),
            Some(b't') => self.scanner.literal("true").map(|_| form::BOOL),
            Some(b'f') => self.scanner.literal("false").map(|_| form::BOOL),
            Some(b'n') => self.scanner.literal("null").map(|_| form::NULL),
            Some(0xEF) if self.text[self.scanner.pos..].starts_with('\u{feff}') => Err(
                Scanner::error(self.scanner.pos, SyntaxKind::SecondByteOrderMark),
            ),
            Some(_) => Err(Scanner::error(self.scanner.pos, SyntaxKind::ExpectedValue)),
            None => Err(self.scanner.end()),
        }
    }

    #[inline]
    fn number(&mut self) -> Result<u16, SyntaxError> {
        let span = self.scanner.number()?;
        let token = &self.text.as_bytes()[span];
        let short = token.len() <= 34 && !token.iter().any(|byte| matches!(byte, b'e' | b'E'));
        Ok(if short {
            form::NUMBER
        } else {
            form::ODD_NUMBER
        })
    }

    fn list(&mut self, depth: usize, row: &mut Row) -> Result<u16, SyntaxError> {
        self.open(depth)?;
        let mut more = self.scanner.first_element()?;
        let mut all = if more { form::LIST } else { form::EMPTY_LIST };
        while more {
            all |= odd(self.value(depth + 1, row)?);
            more = self.scanner.next_element()?;
        }
        Ok(all)
    }

    fn object(&mut self, depth: usize, row: &mut Row) -> Result<u16, SyntaxError> {
        self.open(depth)?;
        let mut all = form::OBJECT;
        let from = self.keys.len();
        let mut more = self.scanner.first_member()?;
        while more {
            let key = self.string(row)?;
            self.keys.push(key);
            self.scanner.colon()?;
            all |= odd(self.value(depth + 1, row)?);
            more = self.scanner.next_member()?;
        }
        row.needs_reparse |= repeats(self.text, &mut self.keys[from..]);
        self.keys.truncate(from);
        Ok(all)
    }

    fn open(&mut self, depth: usize) -> Result<(), SyntaxError> {
        if depth >= MAX_DEPTH {
            return Err(Scanner::error(self.scanner.pos, SyntaxKind::TooDeep));
        }
        self.scanner.pos += 1;
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "as for `value`")]
    #[inline(always)]
    fn string(&mut self, row: &mut Row) -> Result<StrToken, SyntaxError> {
        let token = self.scanner.string()?;
        if token.escaped {
            row.needs_reparse |= self.is_suspect(token);
        }
        Ok(token)
    }

    /// Whether the row is read again because of an escaped text. Only `\u` can hide characters that the raw search
    /// would have found, or bring a NUL.
    #[cold]
    fn is_suspect(&mut self, token: StrToken) -> bool {
        let inner = &self.text[token.inner()];
        let raw = inner.as_bytes();
        if !memchr::memchr_iter(b'\\', raw).any(|at| raw.get(at + 1) == Some(&b'u')) {
            return false;
        }
        self.scratch.clear();
        decode_to(&mut self.scratch, inner);
        self.scratch.contains('\0') || secret_scan::is_suspect(&self.scratch)
    }
}

/// What the number inside a container says about the container.
#[inline]
fn odd(form: u16) -> u16 {
    if form & (form::ODD | form::ODD_NUMBER) != 0 {
        form::ODD
    } else {
        0
    }
}

/// Whether two of the keys are the same, decoded.
fn repeats(text: &str, keys: &mut [StrToken]) -> bool {
    let same = |one: &StrToken, other: &StrToken| {
        if one.escaped || other.escaped {
            crate::json::decode(&text[one.inner()]) == crate::json::decode(&text[other.inner()])
        } else {
            text[one.inner()] == text[other.inner()]
        }
    };
    if keys.len() <= 16 {
        let mut rest = &*keys;
        while let [first, others @ ..] = rest {
            if others.iter().any(|other| same(first, other)) {
                return true;
            }
            rest = others;
        }
        return false;
    }
    keys.sort_by_cached_key(|key| crate::json::decode(&text[key.inner()]));
    keys.windows(2).any(|pair| same(&pair[0], &pair[1]))
}
