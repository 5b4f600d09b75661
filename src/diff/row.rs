//! One row for comparison: its cells, and for links the target table and column.
//!
//! Row uids differ between packages, so the cell value identifies the target row. Most rows need
//! only a key and a digest of their text; cells are read only for reported rows.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::quality::RandomState;

use super::flat::{Fields, below, compact};
use super::names::Names;
use crate::json::Doc;
use crate::rows::{Cell, Text, elements, members};

/// Reads the rows of one package.
pub(super) struct Reader<'r, 'd> {
    pub(super) names: &'r Names<'d>,
    /// Two of them, the same for both packages: no two rows of real files meet by chance.
    pub(super) states: &'r [RandomState; 2],
}

/// A number that equal rows share.
pub(super) type Digest = [u64; 2];

/// A part of a row: equal rows have the same ones, in any order.
enum Part<'t> {
    Data(Text<'t>, Cow<'t, str>),
    Link(Text<'t>, String),
    Other(Text<'t>, Cow<'t, str>),
}

impl Reader<'_, '_> {
    /// The key cell as it is compared (empty without one), and the digest of the whole row.
    pub(super) fn digest_row<'t>(&self, row: &'t str, key: Option<&str>) -> (Cow<'t, str>, Digest) {
        let mut found = Cow::Borrowed("");
        let mut digest = [0u64; 2];
        self.parts(row, |part| {
            let (tag, name, value) = match &part {
                Part::Data(name, value) => (0, name, value.as_ref()),
                Part::Link(name, value) => (1, name, value.as_str()),
                Part::Other(name, value) => (2, name, value.as_ref()),
            };
            for (state, sum) in self.states.iter().zip(&mut digest) {
                let mut hasher = state.build_hasher();
                hasher.write_u8(tag);
                hasher.write(name.decoded().as_bytes());
                hasher.write_u8(0xFF);
                hasher.write(value.as_bytes());
                *sum = sum.wrapping_add(hasher.finish());
            }
            if let (Part::Data(name, value), Some(key)) = (part, key)
                && name.is(key)
            {
                found = value;
            }
        });
        (found, digest)
    }

    /// Everything of the row.
    pub(super) fn cells(&self, row: &str) -> Fields {
        let mut fields = Fields::new();
        self.parts(row, |part| {
            let (path, value) = match part {
                Part::Data(name, value) => (name.decoded().into_owned(), value.into_owned()),
                Part::Link(name, value) => (below("refs", &name.decoded()), value),
                Part::Other(name, value) => (below("row", &name.decoded()), value.into_owned()),
            };
            fields.insert(path, value);
        });
        fields
    }

    fn parts<'t>(&self, row: &'t str, mut see: impl FnMut(Part<'t>)) {
        if !matches!(Cell::new(row), Cell::Object(_)) {
            let name = Text {
                inner: "",
                escaped: false,
            };
            see(Part::Other(name, canonical(row)));
            return;
        }
        for (name, value) in members(row) {
            let is_object = matches!(Cell::new(value), Cell::Object(_));
            match name.decoded().as_ref() {
                "uid" => {}
                // Row data is data: `"$f_x"` in a cell names nothing.
                "data" if is_object => {
                    for (column, cell) in members(value) {
                        see(Part::Data(column, canonical(cell)));
                    }
                }
                "refs" if is_object => {
                    for (column, link) in members(value) {
                        see(Part::Link(column, self.link(link)));
                    }
                }
                _ => see(Part::Other(name, canonical(value))),
            }
        }
    }

    /// Where a link leads, without the uids of rows.
    fn link(&self, link: &str) -> String {
        let mut out = String::from("[");
        match (Cell::new(link), member(link, "rows")) {
            (Cell::Object(_), Some(rows)) => {
                for (index, row) in elements(rows).enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    self.one_link(row, &mut out);
                }
            }
            _ => self.one_link(link, &mut out),
        }
        out.push(']');
        out
    }

    fn one_link(&self, link: &str, out: &mut String) {
        let text = |key: &str| match Cell::new(member(link, key)?) {
            Cell::String(text) => Some(text.decoded()),
            _ => None,
        };
        let table = text("featureRef").unwrap_or_default();
        let table = table.strip_prefix('$').unwrap_or(&table);
        let table = self.names.name(table).unwrap_or(table);
        let column = text("valueColumn");
        let column = column.as_deref().unwrap_or("(row)");
        crate::json::write_string_to(out, &format!("{table}.{column}"));
    }
}

/// The last member of that key.
fn member<'t>(object: &'t str, key: &str) -> Option<&'t str> {
    match Cell::new(object) {
        Cell::Object(_) => {
            let found = members(object).filter(|(name, _)| name.is(key));
            found.last().map(|(_, value)| value)
        }
        _ => None,
    }
}

/// A value on one line, keys in order, the shortest escapes: itself when it is written so.
fn canonical(value: &str) -> Cow<'_, str> {
    match Cell::new(value) {
        Cell::List(_) | Cell::Object(_) => {}
        Cell::String(text) if text.escaped => {}
        _ => return Cow::Borrowed(value),
    }
    match Doc::parse(value) {
        Ok(doc) => Cow::Owned(compact(doc.root(), &Names::default())),
        Err(_) => Cow::Borrowed(value),
    }
}
