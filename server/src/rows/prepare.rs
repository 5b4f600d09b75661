//! Prepares a row for a table: checks, rounds and mints cells, writes one canonical object, and
//! derives what the store needs.
//!
//! In: cells by key, in key order. Out: a [`PreparedRow`], or faults. It uses no store, so it runs
//! before the transaction with the cached table; a transaction that finds another version repeats
//! it.

use std::borrow::Cow;

use tplkit::json::write_string_to;
use tplkit::rows::{
    Cell, Decimal, EntryReason, FaultKind, Identity, Text, elements, members, sorted_to,
};
use uuid::Uuid;

use super::faults::Faults;
use super::row_values::{HashedValue, known_as};
use super::sequence_floor::floor;
use super::slots;
use super::table::{Column, Table};
use crate::context::Context;

/// How strictly the rows of a request are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validate {
    /// Required cells are filled, and columns can store their cells.
    On,
    /// And every key is one of a column.
    Strict,
    /// Anything goes that can be kept.
    Off,
}

impl Validate {
    /// The words in requests.
    pub const WORDS: [&str; 3] = ["on", "strict", "off"];

    /// The mode of that word.
    pub fn of(word: Option<&str>) -> Validate {
        match word {
            Some("strict") => Validate::Strict,
            Some("off") => Validate::Off,
            _ => Validate::On,
        }
    }
}

/// One cell that the row is to hold.
#[derive(Debug, Clone)]
pub struct SourceCell<'s> {
    /// Its key.
    pub key: Cow<'s, str>,
    /// Its value.
    pub raw: &'s str,
    /// Whether it stood there before: then it is not checked again, nor written in another form.
    pub kept: bool,
}

impl<'s> SourceCell<'s> {
    /// A cell that somebody sent.
    pub fn sent(key: &'s str, raw: &'s str) -> SourceCell<'s> {
        SourceCell {
            key: Cow::Borrowed(key),
            raw,
            kept: false,
        }
    }
}

/// A row that may enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRow {
    /// Of the record.
    pub id: Uuid,
    /// Its cells: one canonical JSON object, but for the numbers of `holes`.
    pub data: String,
    /// Where numbers of sequences are still to be put in; ascending.
    pub(super) holes: Vec<SequenceHole>,
    /// What no other row may hold.
    pub(super) uniques: Vec<HashedValue>,
    /// What goes into the slots of the table.
    pub(super) slots: Vec<Option<String>>,
    /// Columns whose cells are too long for their slots.
    pub(super) long: Vec<usize>,
    /// How low sequences go on at the least.
    pub(super) floors: Vec<SequenceFloor>,
    /// The files that cells name that were checked.
    pub(super) files: Vec<NamedFile>,
}

/// A place in the data of a row where the number of a sequence is still to be put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SequenceHole {
    /// The byte at which it begins.
    pub(super) place: usize,
    /// The position of the column.
    pub(super) column: usize,
}

/// The lowest number with which a sequence goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SequenceFloor {
    /// The position of the column.
    pub(super) column: usize,
    /// The number.
    pub(super) floor: i64,
}

/// A file that a cell names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NamedFile {
    /// The position of the column.
    pub(super) column: usize,
    /// The file.
    pub(super) file: Uuid,
}

/// Lets rows into a table.
#[derive(Debug, Clone, Copy)]
pub struct RowPreparer<'e> {
    /// The table.
    pub table: &'e Table,
    /// How strictly.
    pub validate: Validate,
    /// Where identities come from.
    pub context: &'e Context,
}

const UNKNOWN: &str = "is not a column of the table";
const NUL: &str = "holds U+0000, which no cell can hold";

/// How many bytes a row takes of which nothing is known.
const EXPECTED_ROW_BYTES: usize = 128;

impl RowPreparer<'_> {
    /// Lets a row in. `cells` come in the order of their keys. What is wrong is reported under `at`, the
    /// row's position in its request; then the row is not to be used.
    pub fn row<'s>(
        &self,
        id: Uuid,
        cells: impl Iterator<Item = SourceCell<'s>>,
        at: usize,
        faults: &mut Faults,
    ) -> PreparedRow {
        self.row_of(id, cells, EXPECTED_ROW_BYTES, at, faults)
    }

    /// As [`row`](RowPreparer::row), for one that takes about so many bytes.
    pub fn row_of<'s>(
        &self,
        id: Uuid,
        cells: impl Iterator<Item = SourceCell<'s>>,
        bytes: usize,
        at: usize,
        faults: &mut Faults,
    ) -> PreparedRow {
        let mut row = RowBuilder {
            with: *self,
            entered: PreparedRow {
                id,
                data: String::with_capacity(bytes),
                holes: Vec::new(),
                uniques: Vec::new(),
                slots: vec![None; self.table.slotted.len()],
                long: Vec::new(),
                floors: Vec::new(),
                files: Vec::new(),
            },
            at,
            faults,
        };
        row.entered.data.push('{');
        let mut columns = self.table.by_name.iter().copied().peekable();
        for cell in cells {
            // Both come in the order of names, so what was passed over is absent.
            let before = |column: &usize| self.table.columns[*column].name() < cell.key.as_ref();
            while let Some(absent) = columns.next_if(before) {
                row.absent(absent);
            }
            let here = |column: &usize| self.table.columns[*column].name() == cell.key;
            match columns.next_if(here) {
                Some(column) => row.cell(column, &cell),
                None => row.unknown(&cell),
            }
        }
        for absent in columns {
            row.absent(absent);
        }
        if row.entered.data.ends_with(',') {
            row.entered.data.pop();
        }
        row.entered.data.push('}');
        row.entered
    }

    /// Checks a key that a request takes out of its row.
    pub fn without(&self, key: &str, at: usize, faults: &mut Faults) {
        if self.validate == Validate::Strict && self.table.column(key).is_none() {
            faults.push(at, &format!("data.{key}"), UNKNOWN);
        }
    }
}

struct RowBuilder<'e, 'f> {
    with: RowPreparer<'e>,
    entered: PreparedRow,
    at: usize,
    faults: &'f mut Faults,
}

impl RowBuilder<'_, '_> {
    fn fault(&mut self, key: &str, message: &str) {
        self.faults.push(self.at, &format!("data.{key}"), message);
    }

    fn key(&mut self, key: &str) {
        write_string_to(&mut self.entered.data, key);
        self.entered.data.push(':');
    }

    /// A column that the row has no cell of.
    fn absent(&mut self, at: usize) {
        let column = &self.with.table.columns[at];
        if column.rule.identity.is_some() {
            self.mint(at);
        } else if column.rule.required && self.with.validate != Validate::Off {
            self.fault(column.name(), &EntryReason::Required.to_string());
        }
    }

    fn mint(&mut self, at: usize) {
        let column = &self.with.table.columns[at];
        self.key(column.name());
        if column.rule.identity == Some(Identity::Sequence) {
            self.entered.holes.push(SequenceHole {
                place: self.entered.data.len(),
                column: at,
            });
        } else {
            let start = self.entered.data.len();
            let id = self.with.context.id();
            write_string_to(&mut self.entered.data, &id.to_string());
            self.stands(at, start);
        }
        self.entered.data.push(',');
    }

    fn cell(&mut self, at: usize, source: &SourceCell<'_>) {
        let column = &self.with.table.columns[at];
        let cell = Cell::new(source.raw);
        if column.rule.identity.is_some() && cell.is_empty() {
            return self.mint(at);
        }
        if !source.kept && !self.fits(column, cell, source.raw) {
            return;
        }
        if column.rule.required && cell.is_empty() && self.with.validate != Validate::Off {
            return self.fault(column.name(), &EntryReason::Required.to_string());
        }
        self.key(column.name());
        let start = self.entered.data.len();
        match cell {
            _ if source.kept => self.entered.data.push_str(source.raw),
            Cell::List(_) | Cell::Object(_) => sorted_to(&mut self.entered.data, source.raw),
            _ => column.rule.keep(cell, source.raw, &mut self.entered.data),
        }
        if !source.kept && column.is_sequence() && matches!(cell, Cell::Number(_)) {
            let floor = floor(&self.entered.data[start..]);
            let floor = floor.map(|floor| SequenceFloor { column: at, floor });
            self.entered.floors.extend(floor);
        }
        self.stands(at, start);
        if !source.kept && self.with.validate != Validate::Off {
            let file = column.rule.file_id(source.raw);
            let file = file.map(|file| NamedFile { column: at, file });
            self.entered.files.extend(file);
        }
        self.entered.data.push(',');
    }

    /// Whether a cell that was sent can be kept; if not, why is noted.
    fn fits(&mut self, column: &Column, cell: Cell<'_>, raw: &str) -> bool {
        if holds_nul(cell) {
            self.fault(column.name(), NUL);
            return false;
        }
        let checked = match self.with.validate {
            Validate::Off if is_kept(cell) => Ok(cell),
            Validate::Off => {
                self.fault(column.name(), &FaultKind::Digits.to_string());
                return false;
            }
            Validate::On | Validate::Strict => column.rule.check(raw),
        };
        if let Err(kind) = checked {
            self.fault(column.name(), &kind.to_string());
        }
        checked.is_ok()
    }

    /// A cell of no column.
    fn unknown(&mut self, source: &SourceCell<'_>) {
        if source.kept {
            self.key(&source.key);
            self.entered.data.push_str(source.raw);
        } else {
            if self.with.validate == Validate::Strict {
                return self.fault(&source.key, UNKNOWN);
            }
            let cell = Cell::new(source.raw);
            if source.key.contains('\0') || holds_nul(cell) {
                return self.fault(&source.key, NUL);
            }
            if !is_kept(cell) {
                return self.fault(&source.key, &FaultKind::Digits.to_string());
            }
            self.key(&source.key);
            sorted_to(&mut self.entered.data, source.raw);
        }
        self.entered.data.push(',');
    }

    /// Notes a cell that was written from `start` on, for uniqueness and for the slot.
    fn stands(&mut self, at: usize, start: usize) {
        let PreparedRow {
            data,
            uniques,
            slots,
            long,
            ..
        } = &mut self.entered;
        let mut indexes = RowIndexes {
            uniques,
            slots,
            long,
        };
        noted(self.with.table, at, &data[start..], &mut indexes);
    }
}

/// What a row keeps next to its data: what no other row may hold, the slots, what is too long for them.
struct RowIndexes<'b> {
    uniques: &'b mut Vec<HashedValue>,
    slots: &'b mut [Option<String>],
    long: &'b mut Vec<usize>,
}

fn noted(table: &Table, at: usize, value: &str, indexes: &mut RowIndexes<'_>) {
    let column = &table.columns[at];
    if column.is_unique {
        let digest = known_as(value, column.rule.file);
        let value = digest.map(|digest| HashedValue { column: at, digest });
        indexes.uniques.extend(value);
    }
    if let Some(slot) = table.slot_of[at] {
        let (key, cut) = slots::key(column.is_number, value);
        indexes.slots[slot] = key;
        if cut {
            indexes.long.push(at);
        }
    }
}

impl PreparedRow {
    /// Whether nothing is to be put into its data any more.
    pub fn is_complete(&self) -> bool {
        self.holes.is_empty()
    }

    /// Its numbers do not advance sequences, because the caller does.
    pub fn numbered_elsewhere(&mut self) {
        self.floors.clear();
    }

    /// Puts the numbers of sequences in, as `next` gives them for a column.
    pub(super) fn number(&mut self, table: &Table, mut next: impl FnMut(usize) -> i64) {
        let holes = std::mem::take(&mut self.holes);
        let numbers = holes.iter().map(|hole| next(hole.column).to_string());
        let numbers: Vec<String> = numbers.collect();
        // From the end, so that the places before stay where they are.
        for (hole, number) in holes.iter().zip(&numbers).rev() {
            self.data.insert_str(hole.place, number);
            let mut indexes = RowIndexes {
                uniques: &mut self.uniques,
                slots: &mut self.slots,
                long: &mut self.long,
            };
            noted(table, hole.column, number, &mut indexes);
        }
    }
}

/// Whether all numbers in a value can be kept.
fn is_kept(cell: Cell<'_>) -> bool {
    match cell {
        Cell::Number(token) => Decimal::new(token).is_storable(),
        Cell::List(list) => elements(list).all(|element| is_kept(Cell::new(element))),
        Cell::Object(object) => members(object).all(|(_, value)| is_kept(Cell::new(value))),
        _ => true,
    }
}

/// Whether a text or a key in a value holds U+0000, whose only form in JSON is this escape. PostgreSQL takes it into no
/// text, so one such cell would make whole queries of its table fail there.
fn holds_nul(cell: Cell<'_>) -> bool {
    let nul = |text: Text<'_>| text.escaped && text.decoded().contains('\0');
    match cell {
        Cell::String(text) => nul(text),
        // What has none of these characters, as nearly all have, is not walked through.
        Cell::List(raw) | Cell::Object(raw) if !raw.contains("\\u0000") => false,
        Cell::List(list) => elements(list).any(|element| holds_nul(Cell::new(element))),
        Cell::Object(object) => {
            members(object).any(|(key, value)| nul(key) || holds_nul(Cell::new(value)))
        }
        Cell::Null | Cell::Bool(_) | Cell::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use uuid::Uuid;

    use super::{RowPreparer, SourceCell, Validate};
    use crate::context::{Context, SystemClock};
    use crate::rows::{Faults, Table};

    #[test]
    fn no_cell_that_somebody_writes_holds_nul() {
        let table = Table::sample(&[("any", "json", None), ("t", "text", None)]);
        let context = Context::new(Arc::new(SystemClock));
        let enters = |validate, cell: SourceCell<'_>| {
            let preparer = RowPreparer {
                table: &table,
                validate,
                context: &context,
            };
            let mut faults = Faults::new(false);
            preparer.row(Uuid::nil(), std::iter::once(cell), 0, &mut faults);
            faults.is_empty()
        };
        for validate in [Validate::On, Validate::Off] {
            for (key, raw, fits) in [
                ("t", r#""a\u0000b""#, false),
                ("any", r#"[1,{"k":["\u0000"]}]"#, false),
                ("any", r#"{"k\u0000":1}"#, false),
                ("other", r#""\u0000""#, false),
                ("other\0", "1", false),
                ("t", r#""\\u0000""#, true),
                ("any", r#"["\\u0000","\u0001"]"#, true),
                ("other", r#"{"\\u0000":0}"#, true),
            ] {
                let fitted = enters(validate, SourceCell::sent(key, raw));
                assert_eq!(fitted, fits, "{validate:?} {key} {raw}");
            }
            // What stands there already may stay while another cell changes.
            let kept = SourceCell {
                kept: true,
                ..SourceCell::sent("t", r#""\u0000""#)
            };
            assert!(enters(validate, kept), "{validate:?}");
        }
    }
}
