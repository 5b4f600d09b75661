//! The bounds on the size of a run (`rest` 7.5). A value beyond a bound is refused before it is
//! built: one that doubles with every step never takes more than twice the allowed memory.
//!
//! Sizes are bytes of compact JSON. Nesting is bounded as well: values are copied, written and
//! dropped by functions that call themselves for each list and object inside.

use super::envelope::Envelope;
use super::failure::Failure;
use crate::json::{Object, Value, string_len};
use crate::rows::CELL_DEPTH;

/// How large a value may be after substitution.
pub const VALUE: usize = 1 << 20;
/// How many lists and objects may be open at once in a value: as many as in a cell, so that a run reads every
/// cell and writes every value.
pub const DEPTH: usize = CELL_DEPTH;
/// How large the variables and the current records of a run may be together.
pub const ENVELOPE: usize = 8 << 20;
/// How much one run may store: inputs, outputs and envelopes of its steps.
pub const STORED: usize = 16 << 20;
/// How many steps one run may carry out.
pub const STEPS: usize = 10_000;
/// How large an envelope is shown and stored whole.
const SHOWN_ENVELOPE: usize = 64 << 10;

/// What a run has used of its bounds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    steps: usize,
    stored: usize,
}

impl Usage {
    /// Counts a step that is to be carried out.
    ///
    /// # Errors
    /// A failure when the run has carried out as many as it may.
    pub fn begin_step(&mut self) -> Result<(), Failure> {
        if self.steps >= STEPS {
            return Err(Failure::too_large(
                "",
                format!(
                    "a run carries out {STEPS} steps at most, and this would be one more: split the automation"
                ),
            ));
        }
        self.steps += 1;
        Ok(())
    }

    /// Counts what is stored of a step.
    ///
    /// # Errors
    /// A failure when the run would store more than it may.
    pub fn store(&mut self, bytes: usize) -> Result<(), Failure> {
        if bytes > self.remaining() {
            return Err(Failure::too_large(
                "",
                format!(
                    "with this step the run would store more than {}: read fewer rows, or carry less from step to step",
                    mebibytes(STORED)
                ),
            ));
        }
        self.stored += bytes;
        Ok(())
    }

    /// How many bytes may still be stored.
    pub fn remaining(&self) -> usize {
        STORED - self.stored.min(STORED)
    }
}

/// A bound as people read it.
pub(super) fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes >> 20)
}

/// Reads a row as the API writes it; nothing when a cell of it nests deeper than a value may.
pub fn row(text: &str) -> Option<Value> {
    // The row and its `data` are around its cells.
    let fits = |row: &Value| row.nests_within(DEPTH + 2);
    Value::parse(text).ok().filter(fits)
}

/// The length of a resolved config, or of an output.
pub fn size_of(members: &Object) -> usize {
    let members = members.iter();
    let each = members.map(|(key, value)| member_len(key, value) + 1);
    // The last has no comma behind it.
    2 + each.sum::<usize>().saturating_sub(1)
}

/// The length of a member with its key.
fn member_len(key: &str, value: &Value) -> usize {
    let value = value.written_len_within(usize::MAX).unwrap_or(usize::MAX);
    value.saturating_add(string_len(key) + 1)
}

/// The size of an envelope, known without writing it.
#[derive(Debug, Clone, Default)]
pub(super) struct Weight {
    /// Of all variables, with their keys.
    variables: usize,
    /// Of all current records.
    records: usize,
}

/// What is around variables and records: `{"vars":{},"records":[]}`.
const FRAME: usize = 24;

impl Weight {
    pub(super) fn of(variables: &Object, records: &[Value]) -> Weight {
        let variables = variables.iter();
        Weight {
            variables: variables
                .map(|(key, value)| member_len(key, value) + 1)
                .sum(),
            records: records_len(records),
        }
    }

    /// After a variable was set.
    pub(super) fn with_variable(&self, name: &str, old: Option<&Value>, new: &Value) -> Weight {
        let old = old.map_or(0, |old| member_len(name, old) + 1);
        Weight {
            variables: (self.variables - old.min(self.variables))
                .saturating_add(member_len(name, new) + 1),
            records: self.records,
        }
    }

    /// After records were read: behind those that are there, or in their place.
    pub(super) fn with_records(&self, records: &[Value], appends: bool) -> Weight {
        let before = if appends { self.records } else { 0 };
        Weight {
            variables: self.variables,
            records: before.saturating_add(records_len(records)),
        }
    }

    /// How many bytes of records a read may bring.
    pub(super) fn room_for_records(&self, appends: bool) -> usize {
        let before = if appends { self.records } else { 0 };
        ENVELOPE.saturating_sub(FRAME + self.variables + before)
    }

    /// The size of the whole. The last of each has no comma behind it.
    fn total(&self) -> usize {
        let records = self.records.saturating_sub(1);
        records.saturating_add(FRAME + self.variables.saturating_sub(1))
    }

    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.total() <= ENVELOPE {
            return Ok(());
        }
        Err(Failure::too_large(
            "",
            format!(
                "variables and current records would be larger than {} together",
                mebibytes(ENVELOPE)
            ),
        ))
    }
}

/// Each with the comma behind it.
fn records_len(records: &[Value]) -> usize {
    let each = records.iter().map(|record| {
        let length = record.written_len_within(usize::MAX).unwrap_or(usize::MAX);
        // A row that is written as its cells alone is shown with `data` around them.
        length.saturating_add(if record.get("data").is_some() { 1 } else { 10 })
    });
    each.fold(0, usize::saturating_add)
}

/// An envelope as it is stored and shown: whole, or its beginning as a text.
pub(super) fn shortened(envelope: &Envelope, weight: &Weight) -> Object {
    if weight.total() <= SHOWN_ENVELOPE {
        return envelope.document();
    }
    // No more is copied than the beginning can be made of.
    let mut length = 0;
    let mut missing = |bytes: usize| {
        let more = length <= SHOWN_ENVELOPE;
        length += bytes;
        more
    };
    let variables = envelope.variables.iter();
    let variables = variables.take_while(|(key, value)| missing(member_len(key, value)));
    let variables = variables.map(|(key, value)| (key.clone(), value.clone()));
    let variables = Value::Object(variables.collect());
    let records = envelope.records.iter().map(|record| record.document());
    let records = records.take_while(|record| missing(records_len(std::slice::from_ref(record))));
    let records = Value::List(records.collect());
    let members = [
        ("vars".to_owned(), variables),
        ("records".to_owned(), records),
    ];
    let text = beginning(&Value::Object(Object::from_iter(members)));
    Object::from_iter([
        ("cut".to_owned(), true.into()),
        ("text".to_owned(), text.into()),
    ])
}

/// As much of the beginning as is shown: what it becomes as JSON counts, and what is around it.
fn beginning(document: &Value) -> String {
    let mut left = SHOWN_ENVELOPE - r#"{"cut":true,"text":""}"#.len();
    let mut text = document.write_start(left);
    let mut end = 0;
    for character in text.chars() {
        let mut bytes = [0; 4];
        let length = string_len(character.encode_utf8(&mut bytes)) - 2;
        let Some(rest) = left.checked_sub(length) else {
            break;
        };
        left = rest;
        end += character.len_utf8();
    }
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::envelope::Record;
    use super::{Envelope, SHOWN_ENVELOPE, STEPS, STORED, Usage, Value, Weight, shortened};

    #[test]
    fn a_run_stores_and_does_as_much_as_it_may_and_no_more() {
        let mut usage = Usage::default();
        assert_eq!(usage.remaining(), STORED);
        assert_eq!(usage.store(STORED - 1), Ok(()));
        assert_eq!(usage.store(1), Ok(()));
        let failure = usage.store(1).expect_err("too large");
        assert_eq!(failure.code.as_str(), "run_too_large");
        for _ in 0..STEPS {
            assert_eq!(usage.begin_step(), Ok(()));
        }
        let failure = usage.begin_step().expect_err("too many");
        assert_eq!(failure.code.as_str(), "run_too_large");
    }

    #[test]
    fn a_large_envelope_is_shown_by_its_beginning() {
        let of = |text: &str| {
            let mut envelope = Envelope::default();
            envelope.variables.insert("v".to_owned(), text.into());
            let weight = Weight::of(&envelope.variables, &[]);
            assert_eq!(
                weight.total(),
                Value::Object(envelope.document()).write().len()
            );
            (shortened(&envelope, &weight), envelope.document())
        };
        // The frame and `"v":""` are around it.
        let (kept, whole) = of(&"x".repeat(SHOWN_ENVELOPE - 24 - 6));
        assert_eq!(kept, whole);
        for character in ["x", "\"", "\u{1}", "é", "😀"] {
            let (cut, whole) = of(&character.repeat(SHOWN_ENVELOPE));
            assert_eq!(cut.get("cut"), Some(&Value::Bool(true)));
            let text = cut.get("text").and_then(Value::as_str).expect("a text");
            assert!(
                Value::Object(whole).write().starts_with(text),
                "{character:?}"
            );
            let short = SHOWN_ENVELOPE - Value::Object(cut).write().len();
            assert!(short < 16, "{character:?}: {short}");
        }
    }

    #[test]
    fn the_size_of_an_envelope_is_that_of_what_it_is_written_as() {
        let mut envelope = Envelope::default();
        let mut weight = Weight::of(&envelope.variables, &[]);
        let is = |weight: &Weight, envelope: &Envelope| {
            assert_eq!(
                weight.total(),
                Value::Object(envelope.document()).write().len()
            );
        };
        is(&weight, &envelope);
        for (name, value) in [("a", "é\n"), ("b\"", ""), ("a", "other")] {
            weight = weight.with_variable(name, envelope.variables.get(name), &value.into());
            envelope.variables.insert(name.to_owned(), value.into());
            is(&weight, &envelope);
        }
        let rows = [r#"{"id":"1","data":{"x":1}}"#, r#"{"x":[1,2]}"#];
        let rows = rows.map(|row| Value::parse(row).expect("JSON"));
        for appends in [false, true, false] {
            weight = weight.with_records(&rows, appends);
            if !appends {
                envelope.records.clear();
            }
            let records = rows.iter().map(|row| Arc::new(Record::of(row)));
            envelope.records.extend(records);
            is(&weight, &envelope);
        }
    }
}
