//! The rows of a body: their cells as text, in order of their keys.
//!
//! A body is parsed once, strictly, without copying cells. Cells are validated later, with the
//! table.

use std::ops::Range;

use tplkit::json::Node;

use super::faults::Faults;
use crate::json_body::{self, NOT_AN_OBJECT, UNKNOWN_FIELD};
use crate::refusal::Refusal;

/// How many rows a batch may have.
pub const MOST_ROWS: usize = 500;

/// Rows as they were sent.
#[derive(Debug)]
pub struct Submission {
    text: String,
    cells: Vec<CellSpan>,
    /// Of each row its cells, if it has a shape that can be read.
    rows: Vec<Option<Range<usize>>>,
    batch: bool,
    faults: Faults,
}

#[derive(Debug)]
struct CellSpan {
    key: Key,
    value: Range<usize>,
}

#[derive(Debug)]
enum Key {
    Plain(Range<usize>),
    Decoded(Box<str>),
}

impl Key {
    fn text<'t>(&'t self, text: &'t str) -> &'t str {
        match self {
            Key::Plain(range) => &text[range.clone()],
            Key::Decoded(key) => key,
        }
    }
}

/// Members that no PATCH changes.
const FROZEN: [&str; 7] = [
    "id",
    "feature_id",
    "workspace_id",
    "organization_id",
    "created_at",
    "updated_at",
    "created_by",
];

const OBJECT: &str = "has to be an object";

impl Submission {
    /// Reads `{"data": {…}}`.
    ///
    /// # Errors
    /// 422 for what is not JSON, or of another shape.
    pub fn one(bytes: Vec<u8>) -> Result<Submission, Refusal> {
        let read = Submission::patch(bytes, false)?;
        match read {
            Some(read) => Ok(read),
            None => Err(Refusal::fault("data", "is required")),
        }
    }

    /// Reads `{"data": {…}}` or `{}`.
    ///
    /// # Errors
    /// 403 for members that never change, 422 for what is not JSON, or of another shape.
    pub fn change(bytes: Vec<u8>) -> Result<Option<Submission>, Refusal> {
        Submission::patch(bytes, true)
    }

    fn patch(bytes: Vec<u8>, change: bool) -> Result<Option<Submission>, Refusal> {
        Submission::read(bytes, false, |reading, root| {
            if !root.is_object() {
                reading.faults.outside("", NOT_AN_OBJECT);
                return Ok(());
            }
            let frozen = |member: &Node<'_>| member.key().is_some_and(|key| FROZEN.contains(&key));
            if let Some(frozen) = root.members().find(|member| change && frozen(member)) {
                let name = frozen.key().unwrap_or_default();
                return Err(json_body::frozen(name));
            }
            reading.row(root);
            Ok(())
        })
        .map(|read| (!read.rows.is_empty()).then_some(read))
    }

    /// Reads `{"rows": [{"data": {…}}, …]}`.
    ///
    /// # Errors
    /// 422 for what is not JSON, for no row and for more than a batch may have.
    pub fn batch(bytes: Vec<u8>) -> Result<Submission, Refusal> {
        Submission::read(bytes, true, |reading, root| {
            if !root.is_object() {
                reading.faults.outside("", NOT_AN_OBJECT);
                return Ok(());
            }
            for member in root.members().filter(|member| member.key() != Some("rows")) {
                reading
                    .faults
                    .outside(member.key().unwrap_or_default(), UNKNOWN_FIELD);
            }
            let Some(rows) = root.get("rows") else {
                reading.faults.outside("rows", "is required");
                return Ok(());
            };
            if !rows.is_array() {
                reading.faults.outside("rows", "has to be a list");
            } else if !(1..=MOST_ROWS).contains(&rows.len()) {
                let message = format!("a batch has 1 to {MOST_ROWS} rows, not {}", rows.len());
                reading.faults.outside("rows", &message);
            } else {
                for row in rows.elements() {
                    if !row.is_object() {
                        reading.faults.push(row.index(), "", OBJECT);
                        reading.rows.push(None);
                    } else if !reading.row(row) {
                        reading.faults.push(row.index(), "data", "is required");
                        reading.rows.push(None);
                    }
                }
            }
            Ok(())
        })
    }

    fn read(
        bytes: Vec<u8>,
        batch: bool,
        shape: impl FnOnce(&mut SubmissionReader, Node<'_>) -> Result<(), Refusal>,
    ) -> Result<Submission, Refusal> {
        let text = json_body::text(bytes)?;
        let mut reading = SubmissionReader {
            cells: Vec::new(),
            rows: Vec::new(),
            faults: Faults::new(batch),
        };
        shape(&mut reading, json_body::read(&text)?.root())?;
        let SubmissionReader {
            mut cells,
            rows,
            faults,
        } = reading;
        for row in rows.iter().flatten() {
            cells[row.clone()]
                .sort_unstable_by(|one, other| one.key.text(&text).cmp(other.key.text(&text)));
        }
        let read = Submission {
            text,
            cells,
            rows,
            batch,
            faults,
        };
        // Without rows nothing more can be said about it.
        if read.rows.is_empty() {
            read.faults().finish()?;
        }
        Ok(read)
    }

    /// Whether it came as a batch.
    pub fn is_batch(&self) -> bool {
        self.batch
    }

    /// What is wrong with its shape.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cells of a row, by key, in the order of keys; none when the row has no such shape.
    pub fn cells(&self, row: usize) -> Option<impl Iterator<Item = (&str, &str)>> {
        let cells = &self.cells[self.rows.get(row)?.clone()?];
        let text = &self.text;
        Some(
            cells
                .iter()
                .map(|cell| (cell.key.text(text), &text[cell.value.clone()])),
        )
    }
}

struct SubmissionReader {
    cells: Vec<CellSpan>,
    rows: Vec<Option<Range<usize>>>,
    faults: Faults,
}

impl SubmissionReader {
    /// Reads `{"data": {…}}`; false when there is no data.
    fn row(&mut self, node: Node<'_>) -> bool {
        let mut there = false;
        for member in node.members() {
            match member.key() {
                Some("data") if member.is_object() => {
                    there = true;
                    let start = self.cells.len();
                    self.cells.extend(member.members().map(cell_span));
                    self.rows.push(Some(start..self.cells.len()));
                }
                Some("data") => {
                    there = true;
                    self.faults.push(node.index(), "data", OBJECT);
                    self.rows.push(None);
                }
                key => {
                    let key = key.unwrap_or_default();
                    self.faults.push(node.index(), key, UNKNOWN_FIELD);
                }
            }
        }
        there
    }
}

fn cell_span(cell: Node<'_>) -> CellSpan {
    let span = cell.key_span();
    let inside = span.start + 1..span.end - 1;
    let key = cell.key().unwrap_or_default();
    let plain = cell.text().get(inside.clone()) == Some(key);
    CellSpan {
        key: if plain {
            Key::Plain(inside)
        } else {
            Key::Decoded(key.into())
        },
        value: cell.span(),
    }
}

#[cfg(test)]
mod tests {
    use super::Submission;

    #[test]
    fn cells_come_in_the_order_of_their_keys() {
        let body = r#"{"data": {"b": 1.0, "\u0061": [ 1 ], "": null}}"#;
        let read = Submission::one(body.into()).expect("fine");
        let cells: Vec<_> = read.cells(0).expect("cells").collect();
        assert_eq!(cells, [("", "null"), ("a", "[ 1 ]"), ("b", "1.0")]);
    }

    #[test]
    fn every_fault_of_the_shape_is_reported_by_its_place() {
        let message = |body: &str| {
            let read = Submission::batch(body.into());
            let refusal = read.and_then(|read| read.faults().finish());
            refusal.expect_err(body).detail().to_owned()
        };
        for (body, detail) in [
            ("[]", "the body has to be an object"),
            ("{}", "rows: is required"),
            (r#"{"rows":{}}"#, "rows: has to be a list"),
            (r#"{"rows":[]}"#, "rows: a batch has 1 to 500 rows, not 0"),
            (
                r#"{"rows":[{"data":{}},1,{"data":[],"id":1},{}]}"#,
                "rows[1]: has to be an object; rows[2]: data: has to be an object; \
                 rows[2]: id: is not a field of this body; and 1 more",
            ),
            (
                r#"{"rows":[{"data":{}}],"x":1}"#,
                "x: is not a field of this body",
            ),
        ] {
            assert!(message(body).contains(detail), "{body} {}", message(body));
        }
    }

    #[test]
    fn a_change_may_be_empty_and_changes_nothing_else() {
        let change = |body: &str| Submission::change(body.into());
        assert!(change("{}").expect("fine").is_none());
        assert!(change(r#"{"data":{}}"#).expect("fine").is_some());
        for (body, code) in [
            (r#"{"id":1}"#, "forbidden"),
            (r#"{"data":null}"#, "validation_failed"),
            (r#"{"x":1}"#, "validation_failed"),
            (r#"{"data":{"a":1,"a":1}}"#, "invalid_json"),
        ] {
            let refused = change(body).map(|read| read.map(|read| read.faults().finish()));
            let refusal = match refused {
                Err(refusal) | Ok(Some(Err(refusal))) => refusal,
                other => panic!("{body} {other:?}"),
            };
            assert_eq!(refusal.code.as_str(), code, "{body}");
        }
    }
}
