//! The one writer: a value and what the format says it is go in, canonical text comes out.

use std::borrow::Cow;
use std::io;

use super::order::{Columns, Order};
use super::{CanonicalError, Value, View};
use crate::json::write_string_to;
use crate::package::Tool;
use crate::package::format::{ENTRY, ROW, Shape, Type};
use crate::package::reference;

/// How much text is gathered before it is handed to a sink.
const CHUNK_BYTES: usize = 64 * 1024;

/// Where the text goes, and how far it is.
pub(crate) struct Writer<'s> {
    out: String,
    sink: Option<&'s mut dyn io::Write>,
    /// What is before the first row of an entry, and before each other.
    before_row: (&'static str, &'static str),
    /// Where rows belong that somebody else writes.
    gaps: Vec<usize>,
}

/// What is before the first row of an entry, and before each other: envelope, payloads, entry,
/// rows are always four levels down.
pub(crate) const ROWS_IN_ENTRY: (&str, &str) = ("\n        ", ",\n        ");

/// How containers are laid out.
#[derive(Clone, Copy)]
enum Layout {
    /// One member or element per line, at that indentation.
    Lines(usize),
    /// All on one line.
    Line,
}

impl Layout {
    fn inside(self) -> Layout {
        match self {
            Layout::Lines(indent) => Layout::Lines(indent + 2),
            Layout::Line => Layout::Line,
        }
    }
}

type Written = Result<(), CanonicalError>;

impl<'s> Writer<'s> {
    /// Gathers everything.
    pub(crate) fn gathering(capacity: usize) -> Writer<'s> {
        Writer {
            out: String::with_capacity(capacity),
            sink: None,
            before_row: ROWS_IN_ENTRY,
            gaps: Vec::new(),
        }
    }

    /// Hands pieces on.
    pub(crate) fn streaming(sink: &'s mut dyn io::Write) -> Writer<'s> {
        Writer {
            out: String::with_capacity(2 * CHUNK_BYTES),
            sink: Some(sink),
            before_row: ROWS_IN_ENTRY,
            gaps: Vec::new(),
        }
    }

    /// Hands on rows, one per line and nothing around them.
    pub(crate) fn streaming_lines(sink: &'s mut dyn io::Write) -> Writer<'s> {
        Writer {
            before_row: ("", "\n"),
            ..Writer::streaming(sink)
        }
    }

    /// The text that was gathered (nothing when there is a sink, which has it all).
    pub(crate) fn finish(mut self) -> io::Result<String> {
        if let Some(sink) = &mut self.sink {
            sink.write_all(self.out.as_bytes())?;
            self.out.clear();
        }
        Ok(self.out)
    }

    /// Writes a whole file.
    pub(crate) fn root<'v, V: Value<'v>>(&mut self, value: V, shape: &'static Shape) -> Written {
        self.value(
            value,
            Type::Object(shape),
            Layout::Lines(0),
            &Columns::default(),
        )?;
        self.out.push('\n');
        Ok(())
    }

    /// Writes one payload entry, as it is in an envelope.
    pub(super) fn entry<'v, V: Value<'v>>(&mut self, entry: V) -> Written {
        let (shape, layout) = (Type::Object(&ENTRY), Layout::Lines(4));
        self.value(entry, shape, layout, &Columns::default())
    }

    /// Writes one row, after [`Writer::begin_row`].
    pub(crate) fn row<'v, V: Value<'v>>(&mut self, row: V, columns: &Columns<'_>) -> Written {
        self.value(row, Type::Object(&ROW), Layout::Line, columns)?;
        self.drain()
    }

    /// Writes one value on one line.
    pub(super) fn line<'v, V: Value<'v>>(&mut self, value: V, columns: &Columns<'_>) -> Written {
        self.value(value, Type::Any, Layout::Line, columns)
    }

    /// Leaves a place for rows that somebody else writes.
    pub(crate) fn leave_gap(&mut self) {
        self.gaps.push(self.out.len());
    }

    /// The text that was gathered, cut at the gaps that were left in it.
    pub(crate) fn finish_pieces(self) -> Vec<String> {
        let ends = self.gaps.iter().copied().chain([self.out.len()]);
        let starts = [0].into_iter().chain(self.gaps.iter().copied());
        let pieces = starts
            .zip(ends)
            .filter_map(|(start, end)| self.out.get(start..end));
        pieces.map(str::to_owned).collect()
    }

    /// Begins a row.
    pub(crate) fn begin_row(&mut self, first: bool) {
        let (before_first, before_next) = self.before_row;
        self.out
            .push_str(if first { before_first } else { before_next });
    }

    /// The text that was not handed on yet, for whoever knows a faster way to write a row.
    pub(super) fn text(&mut self) -> &mut String {
        &mut self.out
    }

    /// Ends the last line of a file of rows.
    pub(crate) fn end_line(&mut self) {
        self.out.push('\n');
    }

    /// Hands on what was gathered when it is enough to be worth it.
    pub(super) fn drain(&mut self) -> Written {
        if self.out.len() >= CHUNK_BYTES
            && let Some(sink) = &mut self.sink
        {
            sink.write_all(self.out.as_bytes())?;
            self.out.clear();
        }
        Ok(())
    }

    fn indent(&mut self, mut width: usize) {
        const SPACES: &str = "                                ";
        while width > 0 {
            let part = width.min(SPACES.len());
            self.out.push_str(&SPACES[..part]);
            width -= part;
        }
    }

    fn value<'v, V: Value<'v>>(
        &mut self,
        value: V,
        ty: Type,
        layout: Layout,
        columns: &Columns<'_>,
    ) -> Written {
        match (value.view(), ty) {
            (View::Token(token), _) => self.out.push_str(token),
            (View::Plain(text), Type::Declaration) => self.plain(declared(text)),
            (View::Plain(text), _) => self.plain(text),
            (View::Text(text), Type::Declaration) => {
                write_string_to(&mut self.out, declared(&text));
            }
            (View::Text(text), _) => write_string_to(&mut self.out, &text),
            (View::List, Type::List(of)) => self.list(value, *of, layout, columns)?,
            (View::List, _) => self.list(value, Type::Any, layout, columns)?,
            (View::Object, _) => self.object(value, ty, layout, columns)?,
            (View::Rows, _) => {
                self.out.push('[');
                if value.rows(self, columns)? {
                    self.close(layout);
                }
                self.out.push(']');
            }
        }
        Ok(())
    }

    fn plain(&mut self, text: &str) {
        self.out.push('"');
        self.out.push_str(text);
        self.out.push('"');
    }

    fn list<'v, V: Value<'v>>(
        &mut self,
        list: V,
        of: Type,
        layout: Layout,
        columns: &Columns<'_>,
    ) -> Written {
        self.out.push('[');
        let mut first = true;
        for element in list.elements() {
            self.separate(layout, first);
            self.value(element, of, layout.inside(), columns)?;
            first = false;
        }
        if !first {
            self.close(layout);
            self.drain()?;
        }
        self.out.push(']');
        Ok(())
    }

    fn object<'v, V: Value<'v>>(
        &mut self,
        object: V,
        ty: Type,
        layout: Layout,
        columns: &Columns<'_>,
    ) -> Written {
        let own = own_columns(object, ty);
        let columns = own.as_ref().unwrap_or(columns);
        let order = Order::of(ty, columns);
        let members = in_order(object, order)?;
        self.out.push('{');
        let mut first = true;
        for &(rank, ref key, value) in &members {
            self.separate(layout, first);
            write_string_to(&mut self.out, key);
            self.out.push_str(": ");
            let inside = match order.inside(rank) {
                Type::Args => args_type(&members),
                other => other,
            };
            self.value(value, inside, layout.inside(), columns)?;
            first = false;
        }
        if !first {
            self.close(layout);
        }
        self.out.push('}');
        Ok(())
    }

    fn separate(&mut self, layout: Layout, first: bool) {
        match layout {
            Layout::Lines(indent) => {
                self.out.push_str(if first { "\n" } else { ",\n" });
                self.indent(indent + 2);
            }
            Layout::Line if !first => self.out.push_str(", "),
            Layout::Line => {}
        }
    }

    fn close(&mut self, layout: Layout) {
        if let Layout::Lines(indent) = layout {
            self.out.push('\n');
            self.indent(indent);
        }
    }
}

type Member<'v, V> = (usize, Cow<'v, str>, V);

/// The members of an object as they are written, with their ranks.
fn in_order<'v, V: Value<'v>>(
    object: V,
    order: Order<'_>,
) -> Result<Vec<Member<'v, V>>, CanonicalError> {
    let mut members: Vec<Member<'v, V>> = Vec::new();
    let mut sorted = true;
    for (key, value) in object.members() {
        let rank = order.rank(&key, members.last().map_or(0, |last| last.0 + 1));
        sorted &= members
            .last()
            .is_none_or(|last| (last.0, &last.1) < (rank, &key));
        members.push((rank, key, value));
    }
    if !sorted {
        members.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        if let Some(pair) = members.windows(2).find(|pair| pair[0].1 == pair[1].1) {
            return Err(CanonicalError::DuplicateKey {
                key: pair[0].1.to_string(),
                pointer: String::new(),
                span: 0..0,
            });
        }
    }
    Ok(members)
}

/// The columns that an object brings for the rows in it: only a payload entry does.
fn own_columns<'v, V: Value<'v>>(object: V, ty: Type) -> Option<Columns<'v>> {
    let Type::Object(shape) = ty else { return None };
    if !std::ptr::eq(shape, &raw const ENTRY) {
        return None;
    }
    let list = object.members().find(|(key, _)| key == "columns");
    list.map(|(_, list)| Columns::of(list))
}

/// What the args of a step are: its tool says so.
fn args_type<'v, V: Value<'v>>(step: &[Member<'v, V>]) -> Type {
    let word = step.iter().find(|(_, key, _)| key == "tool");
    let tool = word.and_then(|(_, _, word)| Tool::parse(&word.view().text()?));
    tool.map_or(Type::Map, |tool| Type::Object(tool.args()))
}

/// A declaration without its dollar. A text outside the grammar stays: it is a mistake to be
/// seen, and `$$f_a` must not need two passes.
pub(crate) fn declared(text: &str) -> &str {
    let name = reference::undollared(text);
    if reference::is_declaration(name) {
        name
    } else {
        text
    }
}
