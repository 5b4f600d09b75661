//! The column by which a destination may match rows (`service`: row payload entry, rule 8).

use foldhash::quality::RandomState;

use crate::definitions::Definitions;
use crate::rows::{Cell, hash};
use crate::workspace::Column;

/// Names that keys have, in any case.
const KNOWN: [&str; 8] = [
    "code",
    "codigo",
    "ref",
    "referencia",
    "sku",
    "nif",
    "email",
    "slug",
];

/// A column that may turn out to be a key.
#[derive(Debug)]
pub(super) struct Candidate {
    /// What speaks for it: less is better.
    pub(super) rank: u8,
    /// Hashes of its values, as long as every row has one.
    hashes: Option<Vec<u64>>,
}

impl Candidate {
    /// A column of a type that is a text key, and no link; the automatic identity is none.
    pub(super) fn of(definitions: &Definitions, column: &Column) -> Option<Candidate> {
        let declared = definitions.column_types.get(&column.column_type)?;
        if !declared.text_key || declared.link {
            return None;
        }
        let unique = column
            .config
            .get("unique")
            .and_then(crate::json::Value::as_bool);
        let known = KNOWN
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&column.name));
        let rank = if column.is_required() {
            0
        } else if unique == Some(true) {
            1
        } else if known {
            2
        } else {
            3
        };
        Some(Candidate {
            rank,
            hashes: Some(Vec::new()),
        })
    }

    /// Looks at the cell of the next row.
    pub(super) fn add(&mut self, state: &RandomState, cell: Option<&str>) {
        let filled = cell.map(Cell::new).filter(|cell| !cell.is_empty());
        match (filled, &mut self.hashes) {
            (Some(cell), Some(hashes)) => hashes.push(hash(state, cell)),
            _ => self.hashes = None,
        }
    }

    /// Whether all values were filled and distinct; the values are forgotten.
    pub(super) fn holds(&mut self) -> bool {
        let Some(mut hashes) = self.hashes.take() else {
            return false;
        };
        // Two values with one hash count as one: a key is then refused that would have done.
        hashes.sort_unstable();
        !hashes.is_empty() && hashes.windows(2).all(|pair| pair[0] != pair[1])
    }
}
