//! Which values a column can store (`rest`: storable values, numbers).

use std::borrow::Cow;
use std::ops::Range;

use super::cell::{Cell, Text, elements, members};
use super::{Decimal, Mask, equal, is_date, is_instant};
use crate::definitions::Storage;
use crate::json::MAX_DEPTH;

/// How many lists and objects may be open at once in a cell that travels: a package holds it inside of six more
/// (envelope, payloads, entry, rows, row, data).
pub const CELL_DEPTH: usize = MAX_DEPTH - 6;

/// Choices that are compared with each other.
const MOST_CHOICES: usize = 1000;

/// What a column lets its cells hold, without coercion. `null` and `""` always pass: in packages both
/// mean empty. Whether `""` is a value of its own says [`takes_empty_text`](Storable::takes_empty_text).
#[derive(Debug, Clone)]
pub struct Storable<'c> {
    /// The form of the values.
    pub storage: Storage,
    /// The allowed values of a choice; `None` when they are not known.
    pub options: Option<Vec<Cow<'c, str>>>,
    /// The check of a masked number; `None` when it is not known.
    pub mask: Option<Mask>,
}

/// A value that a column cannot store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault<'a> {
    /// What is wrong.
    pub kind: FaultKind,
    /// The narrowest value at fault, inside the cell.
    pub value: &'a str,
}

/// In which way a value does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Another JSON type is needed.
    #[error("the column stores {0}")]
    Type(&'static str),
    /// No day of the calendar as `YYYY-MM-DD`.
    #[error("the column stores days of the calendar as YYYY-MM-DD")]
    Date,
    /// No RFC 3339 date-time.
    #[error("the column stores RFC 3339 date-times with a zone")]
    Datetime,
    /// Not among the options.
    #[error("it is not one of the column's options")]
    Option,
    /// An option appears twice.
    #[error("an option is chosen twice")]
    Repeated,
    /// Wrong check digits.
    #[error("its check digits are wrong ({})", .0.as_str())]
    CheckDigits(Mask),
    /// More digits than are kept.
    #[error("numbers have at most 34 significant digits and 64 in plain notation")]
    Digits,
    /// A button stores nothing.
    #[error("a button's cell stores nothing")]
    Nothing,
    /// The empty text, where it is not a value.
    #[error("the column stores no empty text; leave the cell out, or write null")]
    EmptyText,
}

/// Reports `kind` about `value`.
fn fault(kind: FaultKind, value: &str) -> Result<(), Fault<'_>> {
    Err(Fault { kind, value })
}

impl<'c> Storable<'c> {
    /// Any value of that form, of any options and any mask.
    pub fn new(storage: Storage) -> Storable<'c> {
        Storable {
            storage,
            options: None,
            mask: None,
        }
    }

    /// Whether `""` is a value, and not just an empty cell.
    #[inline]
    pub fn takes_empty_text(&self) -> bool {
        matches!(self.storage, Storage::String | Storage::Any)
    }

    /// Checks a well-formed value.
    pub fn check<'a>(&self, raw: &'a str) -> Result<(), Fault<'a>> {
        self.check_cell(Cell::new(raw), raw)
    }

    /// Checks a value that has been distinguished already; `raw` is how it is written.
    #[expect(
        clippy::match_same_arms,
        reason = "a table: what a storage takes stands together"
    )]
    pub fn check_cell<'a>(&self, cell: Cell<'a>, raw: &'a str) -> Result<(), Fault<'a>> {
        match cell {
            Cell::Null => return Ok(()),
            Cell::String(text) if text.inner.is_empty() => return Ok(()),
            _ => {}
        }
        match (self.storage, cell) {
            (Storage::String, Cell::String(_)) | (Storage::Boolean, Cell::Bool(_)) => Ok(()),
            (Storage::Number, Cell::Number(token)) => number(token),
            (Storage::Date, Cell::String(text)) => {
                holds(is_date(&text.decoded()), FaultKind::Date, raw)
            }
            (Storage::Datetime, Cell::String(text)) => {
                holds(is_instant(&text.decoded()), FaultKind::Datetime, raw)
            }
            (Storage::Masked, Cell::String(text)) => match self.mask {
                Some(mask) => holds(
                    mask.holds(&text.decoded()),
                    FaultKind::CheckDigits(mask),
                    raw,
                ),
                None => Ok(()),
            },
            (Storage::Option, Cell::String(text)) => {
                holds(self.offers(text), FaultKind::Option, raw)
            }
            (Storage::Options, Cell::List(list)) => self.choices(list),
            (Storage::Link, Cell::String(_)) => Ok(()),
            (Storage::Link, Cell::Number(token)) => number(token),
            (Storage::Link, Cell::List(list)) => elements(list).try_for_each(link),
            (Storage::Any, _) => numbers(raw),
            (Storage::None, _) => fault(FaultKind::Nothing, raw),
            _ => fault(FaultKind::Type(wanted(self.storage)), raw),
        }
    }

    fn offers(&self, text: Text<'_>) -> bool {
        let options = self.options.as_deref();
        options.is_none_or(|options| options.iter().any(|option| text.is(option)))
    }

    fn choices<'a>(&self, list: &'a str) -> Result<(), Fault<'a>> {
        for (position, element) in elements(list).enumerate() {
            let Cell::String(text) = Cell::new(element) else {
                return fault(FaultKind::Type("lists of options"), element);
            };
            if !self.offers(text) {
                return fault(FaultKind::Option, element);
            }
            // Looking back stays cheap: no list of distinct options is longer than the options.
            // Where they are not known, nothing is said about what comes after many.
            if position < MOST_CHOICES
                && elements(list)
                    .take(position)
                    .any(|earlier| equal(earlier, element))
            {
                return fault(FaultKind::Repeated, element);
            }
        }
        Ok(())
    }
}

impl Fault<'_> {
    /// Where the value is inside `cell`, the text that was checked.
    pub fn range(&self, cell: &str) -> Range<usize> {
        let start = (self.value.as_ptr() as usize).saturating_sub(cell.as_ptr() as usize);
        start..start + self.value.len()
    }
}

fn holds(fits: bool, kind: FaultKind, value: &str) -> Result<(), Fault<'_>> {
    if fits { Ok(()) } else { fault(kind, value) }
}

fn wanted(storage: Storage) -> &'static str {
    match storage {
        Storage::Number => "numbers",
        Storage::Boolean => "true or false",
        Storage::Date => "days as text (YYYY-MM-DD)",
        Storage::Datetime => "date-times as text (RFC 3339)",
        Storage::Options => "lists of options",
        Storage::Link => "texts or numbers, or lists of them",
        Storage::String | Storage::Option | Storage::Masked | Storage::Any | Storage::None => {
            "text"
        }
    }
}

fn number(token: &str) -> Result<(), Fault<'_>> {
    // So few characters without an exponent cannot exceed any limit.
    let short = token.len() <= 34 && !token.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    holds(
        short || Decimal::new(token).is_storable(),
        FaultKind::Digits,
        token,
    )
}

fn link(element: &str) -> Result<(), Fault<'_>> {
    match Cell::new(element) {
        Cell::String(_) => Ok(()),
        Cell::Number(token) => number(token),
        _ => fault(FaultKind::Type(wanted(Storage::Link)), element),
    }
}

/// Every number inside a value.
fn numbers(raw: &str) -> Result<(), Fault<'_>> {
    match Cell::new(raw) {
        Cell::Number(token) => number(token),
        Cell::List(list) => elements(list).try_for_each(numbers),
        Cell::Object(object) => members(object).try_for_each(|(_, value)| numbers(value)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{Fault, FaultKind, Mask, Storable};
    use crate::definitions::Storage;

    const ALL: [Storage; 11] = [
        Storage::String,
        Storage::Number,
        Storage::Boolean,
        Storage::Date,
        Storage::Datetime,
        Storage::Option,
        Storage::Options,
        Storage::Masked,
        Storage::Any,
        Storage::Link,
        Storage::None,
    ];

    fn storable(storage: Storage) -> Storable<'static> {
        Storable {
            storage,
            options: Some(vec![Cow::Borrowed("a"), Cow::Borrowed("é")]),
            mask: Some(Mask::Nif),
        }
    }

    #[test]
    fn empty_is_storable_everywhere() {
        for storage in ALL {
            assert_eq!(storable(storage).check("null"), Ok(()), "{storage:?}");
            assert_eq!(storable(storage).check("\"\""), Ok(()), "{storage:?}");
        }
    }

    #[test]
    fn each_storage_takes_its_own() {
        let long = "1".repeat(35);
        let deep = format!("{{\"a\":[{{\"b\":{long}}}]}}");
        let cases: [(Storage, &[&str], &[&str]); 11] = [
            (
                Storage::String,
                &["\"x\"", "\" \"", "\"\\n\""],
                &["1", "true", "[]", "{}"],
            ),
            (
                Storage::Number,
                &["1", "-0.5", "1e3", "0"],
                &["\"1\"", "true", "[]", "{}", "1e400", &long],
            ),
            (
                Storage::Boolean,
                &["true", "false"],
                &["0", "\"true\"", "[]"],
            ),
            (
                Storage::Date,
                &["\"2024-02-29\"", "\"2024\\u002d02-29\""],
                &[
                    "\"2025-02-29\"",
                    "\"2025-02-28T10:00:00Z\"",
                    "20250228",
                    "[]",
                ],
            ),
            (
                Storage::Datetime,
                &["\"2024-02-29T00:00:00Z\""],
                &["\"2024-02-29\"", "1700000000"],
            ),
            (
                Storage::Option,
                &["\"a\"", "\"\\u00e9\""],
                &["\"A\"", "\"b\"", "1", "[\"a\"]"],
            ),
            (
                Storage::Options,
                &["[]", "[\"a\"]", "[\"é\", \"a\"]"],
                &[
                    "[\"a\",\"\\u0061\"]",
                    "[\"b\"]",
                    "[1]",
                    "[null]",
                    "\"a\"",
                    "[[\"a\"]]",
                ],
            ),
            (
                Storage::Masked,
                &["\"123456789\"", "\"123 456 789\""],
                &["\"123456788\"", "123456789"],
            ),
            (
                Storage::Any,
                &["1", "{}", "[1,[2]]", "true", "\"x\""],
                &[&deep, &long],
            ),
            (
                Storage::Link,
                &["\"x\"", "1", "[]", "[\"x\",1]", "[\"\"]"],
                &["true", "{}", "[null]", "[[1]]", "[true]", &long],
            ),
            (Storage::None, &[], &["1", "\"x\"", "[]", "{}", "false"]),
        ];
        for (storage, good, bad) in cases {
            for raw in good {
                assert_eq!(storable(storage).check(raw), Ok(()), "{storage:?} {raw}");
            }
            for raw in bad {
                assert!(storable(storage).check(raw).is_err(), "{storage:?} {raw}");
            }
        }
    }

    #[test]
    fn the_narrowest_value_is_at_fault() {
        let raw = "{\"a\": [1, 1e400]}";
        let found = Storable::new(Storage::Any)
            .check(raw)
            .expect_err("too long");
        assert_eq!(
            found,
            Fault {
                kind: FaultKind::Digits,
                value: "1e400"
            }
        );
        assert_eq!(found.range(raw), 10..15);
        let raw = "[\"a\",\"x\"]";
        assert_eq!(
            storable(Storage::Options)
                .check(raw)
                .expect_err("no option")
                .range(raw),
            5..8
        );
    }

    #[test]
    fn unknown_options_and_masks_forbid_nothing() {
        assert_eq!(Storable::new(Storage::Option).check("\"x\""), Ok(()));
        assert_eq!(Storable::new(Storage::Masked).check("\"x\""), Ok(()));
        assert!(Storable::new(Storage::Option).check("1").is_err());
    }
}
