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
    /// What speaks for it: less is better. A column without a rank cannot be a key of this package, but
    /// was one of an earlier package.
    pub(super) rank: Option<u8>,
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
            1
        } else if unique == Some(true) {
            2
        } else if known {
            3
        } else {
            4
        };
        Some(Candidate {
            rank: Some(rank),
            hashes: Some(Vec::new()),
        })
    }

    /// The key of an earlier package, which goes before all others where it still can be one.
    pub(super) fn earlier(candidate: Option<Candidate>) -> Candidate {
        Candidate {
            rank: candidate.map(|_| 0),
            hashes: Some(Vec::new()),
        }
    }

    /// Looks at the cell of the next row.
    pub(super) fn add(&mut self, state: &RandomState, cell: Option<&str>) {
        let filled = cell.map(Cell::new).filter(|cell| !cell.is_empty());
        match (filled, &mut self.hashes) {
            (Some(cell), Some(hashes)) => hashes.push(hash(state, cell)),
            _ => self.hashes = None,
        }
    }

    /// The hashes of the values by row, when all are filled and distinct.
    pub(super) fn distinct(&self) -> Option<&[u64]> {
        let hashes = self.hashes.as_deref()?;
        // Two values with one hash count as one: a key is then refused that would have done.
        let mut sorted = hashes.to_vec();
        sorted.sort_unstable();
        let distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        (!hashes.is_empty() && distinct).then_some(hashes)
    }
}
