//! Prepares the cells of a row for a table (`rest` 1.6, 3.5, 4.1).
//!
//! In: cells as JSON text. Out: the text to store, or an [`EntryFault`]. It says that an empty
//! identity cell needs a number or UUID; the caller chooses which.

use std::borrow::Cow;

use super::cell::{Cell, elements, members};
use super::{Decimal, FaultKind, Mask, Storable, file_id};
use crate::definitions::{Definitions, Storage};
use crate::json::{Object, Value, decode, write_string_to};

/// What an empty identity cell gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// A UUID.
    Uuid,
    /// The next number.
    Sequence,
}

/// What is declared of a column, as far as its cells depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Declaration<'c> {
    /// The technical name: the key in row data.
    pub name: &'c str,
    /// Its type in the definitions.
    pub column_type: &'c str,
    /// Its config.
    pub config: &'c Object,
    /// Whether the cell must not be empty.
    pub required: bool,
    /// What an empty cell gets, if the column holds identities.
    pub identity: Option<Identity>,
}

/// What one column asks of its cells.
#[derive(Debug, Clone)]
pub struct Rule<'c> {
    /// The technical name: the key in row data.
    pub name: Cow<'c, str>,
    /// Whether an empty cell is a fault. Never so for an identity: it is minted.
    pub required: bool,
    /// Whether an empty cell is filled on entry.
    pub identity: Option<Identity>,
    /// Whether a text in the form of a UUID is the id of a file.
    pub file: bool,
    /// What cells may hold: anything, where the definitions do not have the type.
    storable: Storable<'c>,
    /// Decimal places that are kept.
    decimals: Option<u64>,
}

/// What the columns of a table ask of a row.
#[derive(Debug, Clone)]
pub struct Rules<'c> {
    /// Column by column.
    pub columns: Vec<Rule<'c>>,
}

/// Why a row cannot enter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("data.{column}: {reason}")]
pub struct EntryFault {
    /// The column.
    pub column: String,
    /// Why.
    pub reason: EntryReason,
}

/// Why a cell cannot enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EntryReason {
    /// The column cannot store it.
    #[error(transparent)]
    NotStorable(FaultKind),
    /// The column is required and the cell is empty.
    #[error("the column is required")]
    Required,
}

impl<'c> Rules<'c> {
    /// The rules of these columns.
    pub fn of<C>(columns: &'c [C], definitions: &Definitions) -> Rules<'c>
    where
        &'c C: Into<Declaration<'c>>,
    {
        let columns = columns.iter();
        Rules {
            columns: columns
                .map(|column| Rule::of(column, definitions))
                .collect(),
        }
    }

    /// The rule of a column.
    pub fn column(&self, name: &str) -> Option<&Rule<'c>> {
        self.columns.iter().find(|rule| rule.name == name)
    }
}

impl<'c> Rule<'c> {
    /// The rule of a column.
    pub fn of(column: impl Into<Declaration<'c>>, definitions: &Definitions) -> Rule<'c> {
        let column = column.into();
        let kind = definitions.column_types.get(column.column_type);
        let config = |key: &str| column.config.get(key);
        let storable = Storable {
            storage: kind.map_or(Storage::Any, |kind| kind.storage),
            options: config("options").and_then(Value::as_list).map(|options| {
                let texts = options.iter().filter_map(Value::as_str);
                texts.map(Cow::Borrowed).collect()
            }),
            mask: config("mask").and_then(Value::as_str).and_then(Mask::parse),
        };
        // A currency is what the definitions give decimals.
        let decimals = kind.and_then(|kind| kind.config.get("decimals"));
        let decimals = decimals.and_then(|field| {
            let declared = match config("decimals") {
                Some(Value::Number(number)) => number.as_i64(),
                _ => None,
            };
            let default = || field.default.as_ref().and_then(serde_json::Value::as_i64);
            u64::try_from(declared.or_else(default)?).ok()
        });
        Rule {
            name: Cow::Borrowed(column.name),
            required: column.required && column.identity.is_none(),
            identity: column.identity,
            file: kind.is_some_and(|kind| kind.file),
            storable,
            decimals,
        }
    }

    /// The rule with owned texts, which outlives the column it was read from.
    pub fn into_owned(self) -> Rule<'static> {
        let owned = |text: Cow<'c, str>| Cow::Owned(text.into_owned());
        let options = self.storable.options;
        Rule {
            name: owned(self.name),
            required: self.required,
            identity: self.identity,
            file: self.file,
            storable: Storable {
                storage: self.storable.storage,
                options: options.map(|options| options.into_iter().map(owned).collect()),
                mask: self.storable.mask,
            },
            decimals: self.decimals,
        }
    }

    /// Appends a well-formed value of a package as it is stored: numbers in plain form and rounded,
    /// without white space, with the shortest escapes. Gives what was written.
    ///
    /// In packages the empty text stands for an empty cell of any column; where it is not a value of the
    /// column, null is written for it.
    #[inline]
    pub fn write<'a>(&self, raw: &'a str, out: &mut String) -> Result<Cell<'a>, FaultKind> {
        let cell = Cell::new(raw);
        if !self.storable.takes_empty_text() && cell.is_empty_text() {
            out.push_str("null");
            return Ok(Cell::Null);
        }
        let cell = self.check(raw)?;
        self.keep(cell, raw, out);
        Ok(cell)
    }

    /// Whether the column can store a well-formed value that somebody writes. Gives what `raw` is.
    #[inline]
    pub fn check<'a>(&self, raw: &'a str) -> Result<Cell<'a>, FaultKind> {
        let cell = Cell::new(raw);
        if !self.storable.takes_empty_text() && cell.is_empty_text() {
            return Err(FaultKind::EmptyText);
        }
        let checked = self.storable.check_cell(cell, raw);
        checked.map_err(|fault| fault.kind)?;
        Ok(cell)
    }

    /// Appends a value whose numbers are storable, in the form in which it is stored, whether or not
    /// the column takes such values.
    #[inline]
    pub fn keep(&self, cell: Cell<'_>, raw: &str, out: &mut String) {
        match (cell, self.decimals) {
            (Cell::Number(token), Some(places)) if !is_plain(token, places) => {
                Decimal::new(token).write_rounded_to(places, out);
            }
            _ => cell_to(out, cell, raw),
        }
    }

    /// A well-formed value as the column would store it, for whoever looks for it there: rounded, in plain form. What the
    /// column cannot store stays as it is.
    pub fn stored<'a>(&self, raw: &'a str) -> Cow<'a, str> {
        let Ok(cell) = self.check(raw) else {
            return Cow::Borrowed(raw);
        };
        let mut stored = String::with_capacity(raw.len());
        self.keep(cell, raw, &mut stored);
        Cow::Owned(stored)
    }

    /// The id of the file that a cell names.
    pub fn file_id(&self, raw: &str) -> Option<uuid::Uuid> {
        self.file.then(|| file_id(raw)).flatten()
    }

    /// A cell without the id of a file: files do not travel, so to packages it is empty.
    pub fn without_file<'a>(&self, raw: &'a str) -> &'a str {
        match self.file_id(raw) {
            Some(_) => "null",
            None => raw,
        }
    }

    /// The fault of an empty cell, where one is.
    pub fn missing(&self) -> Option<EntryFault> {
        self.required.then(|| self.fault(EntryReason::Required))
    }

    /// A fault of a cell of this column.
    pub fn fault(&self, reason: EntryReason) -> EntryFault {
        EntryFault {
            column: self.name.to_string(),
            reason,
        }
    }
}

/// Appends a well-formed value in the form in which values are stored.
#[inline]
pub fn canonical_to(out: &mut String, raw: &str) {
    cell_to(out, Cell::new(raw), raw);
}

fn cell_to(out: &mut String, cell: Cell<'_>, raw: &str) {
    match cell {
        Cell::String(text) if text.escaped => write_string_to(out, &text.decoded()),
        Cell::Null | Cell::Bool(_) | Cell::String(_) => out.push_str(raw),
        Cell::Number(token) if is_plain(token, u64::MAX) => out.push_str(token),
        Cell::Number(token) => {
            let number = Decimal::new(token);
            // What no store takes stays as it is, for whoever refuses it.
            if number.is_storable() {
                number.write_to(out);
            } else {
                out.push_str(token);
            }
        }
        Cell::List(list) => {
            let mut before = '[';
            for element in elements(list) {
                out.push(std::mem::replace(&mut before, ','));
                canonical_to(out, element);
            }
            out.push_str(if before == '[' { "[]" } else { "]" });
        }
        Cell::Object(object) => {
            let mut before = '{';
            for (key, value) in members(object) {
                out.push(std::mem::replace(&mut before, ','));
                if key.escaped {
                    write_string_to(out, &decode(key.inner));
                } else {
                    out.push('"');
                    out.push_str(key.inner);
                    out.push('"');
                }
                out.push(':');
                canonical_to(out, value);
            }
            out.push_str(if before == '{' { "{}" } else { "}" });
        }
    }
}

/// Whether a token is in plain form already, with at most so many decimals: most are.
#[inline]
fn is_plain(token: &str, places: u64) -> bool {
    let (mut decimals, mut point, mut last) = (0, false, b'1');
    for byte in token.bytes() {
        match byte {
            b'.' => point = true,
            b'e' | b'E' => return false,
            _ => {
                decimals += u64::from(point);
                last = byte;
            }
        }
    }
    token.len() <= 34 && decimals <= places && token != "-0" && !(point && last == b'0')
}

#[cfg(test)]
mod tests {
    use super::{Identity, Rules, canonical_to};
    use crate::definitions::Definitions;
    use crate::json::{Object, Value};
    use crate::workspace::Column;

    fn column(name: &str, column_type: &str, component: &str, config: &str) -> Column {
        Column {
            id: uuid::Uuid::nil(),
            name: name.to_owned(),
            label: name.to_owned(),
            column_type: column_type.to_owned(),
            default_component: component.to_owned(),
            order: 1,
            config: match Value::parse(config) {
                Ok(Value::Object(config)) => config,
                _ => Object::new(),
            },
        }
    }

    fn columns() -> Vec<Column> {
        vec![
            column("id", "text", "id", r#"{"required":true}"#),
            column("no", "number", "id", r#"{"idType":"sequence"}"#),
            column("price", "currency", "currencyfield", "{}"),
            column("rate", "currency", "currencyfield", r#"{"decimals":4}"#),
            column("amount", "number", "numberfield", r#"{"required":true}"#),
            column("any", "json", "jsoneditor", "{}"),
            column("kind", "select", "selectfield", r#"{"options":["a"]}"#),
            column("nif", "masked", "maskedfield", r#"{"mask":"nif"}"#),
            column("odd", "from_elsewhere", "wheel", "{}"),
        ]
    }

    fn write(name: &str, raw: &str) -> Result<String, String> {
        let columns = columns();
        let rules = Rules::of(&columns, Definitions::embedded());
        let rule = rules.column(name).expect("known");
        let mut out = String::new();
        match rule.write(raw, &mut out) {
            Ok(_) => Ok(out),
            Err(kind) => Err(rule
                .fault(super::EntryReason::NotStorable(kind))
                .to_string()),
        }
    }

    #[test]
    fn numbers_are_canonical_wherever_they_stand() {
        for (name, raw, stored) in [
            ("amount", "1.10", "1.1"),
            ("amount", "1e2", "100"),
            ("amount", "-0", "0"),
            (
                "any",
                r#"{ "a" : [1.50, {"b":-0.0}], "c":"1.50" }"#,
                r#"{"a":[1.5,{"b":0}],"c":"1.50"}"#,
            ),
            ("any", r#"["\u0041\n", { }, [ ]]"#, r#"["A\n",{},[]]"#),
            ("odd", "1.0", "1"),
        ] {
            assert_eq!(write(name, raw).as_deref(), Ok(stored), "{raw}");
        }
    }

    #[test]
    fn currency_rounds_half_away_from_zero_to_its_decimals() {
        assert_eq!(write("price", "1.005").as_deref(), Ok("1.01"));
        assert_eq!(write("price", "-1.005").as_deref(), Ok("-1.01"));
        assert_eq!(write("rate", "1.00005").as_deref(), Ok("1.0001"));
        assert_eq!(write("price", "null").as_deref(), Ok("null"));
        assert_eq!(write("amount", "1.005").as_deref(), Ok("1.005"));
    }

    #[test]
    fn what_is_looked_for_is_what_would_be_stored() {
        let columns = columns();
        let rules = Rules::of(&columns, Definitions::embedded());
        for (name, raw, stored) in [
            ("price", "1.005", "1.01"),
            ("price", "\"1.005\"", "\"1.005\""),
            ("price", "1e400", "1e400"),
            ("amount", "1.0050", "1.005"),
            ("any", "1.0", "1"),
        ] {
            let rule = rules.column(name).expect("known");
            assert_eq!(rule.stored(raw), stored, "{name} {raw}");
        }
    }

    #[test]
    fn the_empty_text_is_a_value_of_texts_and_documents_alone() {
        let mut columns = columns();
        let link = r#"{"linkedFeatureId":"x"}"#;
        columns.extend([
            column("text", "text", "textfield", "{}"),
            column("flag", "boolean", "checkbox", "{}"),
            column("day", "date", "datepicker", "{}"),
            column("moment", "datetime", "datetimepicker", "{}"),
            column(
                "kinds",
                "multi_select",
                "selectfield",
                r#"{"options":["","a"]}"#,
            ),
            column("some", "select", "selectfield", r#"{"options":["","a"]}"#),
            column("link", "linked_select", "linkfield", link),
            column("press", "button", "button", "{}"),
            column("file", "file", "filefield", "{}"),
        ]);
        let rules = Rules::of(&columns, Definitions::embedded());
        for rule in &rules.columns {
            let text = ["id", "any", "odd", "text", "file"].contains(&&*rule.name);
            let raw = r#""""#;
            assert_eq!(rule.check(raw).is_ok(), text, "{}", rule.name);
            // In a package it stands for an empty cell.
            let mut out = String::new();
            rule.write(raw, &mut out).expect("passes");
            assert_eq!(out, if text { raw } else { "null" }, "{}", rule.name);
            assert!(rule.check("null").is_ok(), "{}", rule.name);
        }
    }

    #[test]
    fn faults_say_the_column_and_why() {
        for (name, raw, message) in [
            ("amount", "\"1\"", "data.amount: the column stores numbers"),
            (
                "kind",
                "\"b\"",
                "data.kind: it is not one of the column's options",
            ),
            (
                "nif",
                "\"123456788\"",
                "data.nif: its check digits are wrong (nif)",
            ),
        ] {
            assert_eq!(write(name, raw), Err(message.to_owned()));
        }
        let columns = columns();
        let rules = Rules::of(&columns, Definitions::embedded());
        let missing = |name: &str| {
            let rule = rules.column(name).expect("known");
            rule.missing().map(|fault| fault.to_string())
        };
        assert_eq!(
            missing("amount").as_deref(),
            Some("data.amount: the column is required")
        );
        assert_eq!(missing("price"), None);
    }

    #[test]
    fn identities_are_minted_and_so_never_missing() {
        let columns = columns();
        let rules = Rules::of(&columns, Definitions::embedded());
        let identity = |name: &str| rules.column(name).and_then(|rule| rule.identity);
        assert_eq!(identity("id"), Some(Identity::Uuid));
        assert_eq!(identity("no"), Some(Identity::Sequence));
        assert_eq!(identity("amount"), None);
        assert_eq!(rules.column("id").and_then(super::Rule::missing), None);
    }

    #[test]
    fn a_dollar_in_a_cell_is_data() {
        let mut out = String::new();
        canonical_to(&mut out, "\"$f_x\"");
        assert_eq!(out, "\"$f_x\"");
    }
}
