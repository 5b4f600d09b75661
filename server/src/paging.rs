//! Pages of a list.
//!
//! Goes in: how many records, and where the page before ended. Comes out: where to begin, and the cursor of
//! the page behind.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::refusal::{Code, Refusal};

const DEFAULT: i64 = 25;
/// How many records a page may hold.
pub const MAX_LIMIT: i64 = 200;
const CHECK: usize = 8;

/// Which page is asked for.
#[derive(Debug, Clone)]
pub struct PageRequest {
    /// How many records it may hold.
    pub limit: i64,
    /// The record after which it begins.
    pub after: Option<Uuid>,
    /// What the cursor says of that record next to its id, for lists in another order.
    pub rest: Vec<u8>,
    query: String,
}

/// One page of records.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct Page<T> {
    /// The records.
    pub items: Vec<T>,
    /// Pass it back as `cursor` for the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// Records that were found for a page, and one more if another page follows.
#[derive(Debug)]
pub struct BoundedRecords<T> {
    /// The records.
    pub records: Vec<T>,
    /// Whether they end before all that were asked for, because they are large: then others may follow.
    pub ended_early: bool,
}

impl PageRequest {
    /// A page of so many records behind that cursor; of the usual number, from the first one on, where they are
    /// missing. A cursor belongs to one query (route, filters, sort, caller) only.
    ///
    /// # Errors
    /// A cursor of another query.
    pub fn new(
        limit: Option<i64>,
        cursor: Option<&str>,
        query: String,
    ) -> Result<PageRequest, Refusal> {
        let limit = limit.unwrap_or(DEFAULT);
        let (after, rest) = match cursor {
            None => (None, Vec::new()),
            Some(cursor) => {
                let (id, rest) = open(cursor, &query).ok_or_else(PageRequest::unknown)?;
                (Some(id), rest)
            }
        };
        Ok(PageRequest {
            limit,
            after,
            rest,
            query,
        })
    }

    /// The first so many records, for internal callers that need no cursor.
    pub fn first(limit: i64) -> PageRequest {
        PageRequest {
            limit,
            after: None,
            rest: Vec::new(),
            query: String::new(),
        }
    }

    /// The refusal of a cursor that belongs elsewhere.
    pub fn unknown() -> Refusal {
        PageRequest::refused("The cursor does not belong to this list.")
    }

    /// The refusal of a cursor that cannot be used, and why.
    pub fn refused(why: &str) -> Refusal {
        Refusal::new(Code::InvalidCursor, why)
    }

    /// The id after which the page begins; the least one when it is the first.
    pub fn from(&self) -> Uuid {
        self.after.unwrap_or(Uuid::nil())
    }

    /// How many records to look for: one more than the page holds says whether another follows.
    pub fn lookahead(&self) -> i64 {
        self.limit + 1
    }

    /// Makes the page of what was found.
    pub fn page<T>(&self, found: Vec<T>, id: impl Fn(&T) -> Uuid) -> Page<T> {
        let found = BoundedRecords {
            records: found,
            ended_early: false,
        };
        self.bounded_page(found, id)
    }

    /// Makes the page of large records: it ends where they do.
    pub fn bounded_page<T>(&self, found: BoundedRecords<T>, id: impl Fn(&T) -> Uuid) -> Page<T> {
        let (items, more) = self.cut(found.records);
        let last = items.last().filter(|_| more || found.ended_early);
        let next_cursor = last.map(|last| self.cursor(id(last), &[]));
        Page { items, next_cursor }
    }

    /// Of what was found, what the page holds, and whether another follows.
    pub fn cut<T>(&self, mut found: Vec<T>) -> (Vec<T>, bool) {
        let limit = usize::try_from(self.limit).unwrap_or(0);
        let more = found.len() > limit;
        found.truncate(limit);
        (found, more)
    }

    /// The cursor of the page behind that record.
    pub fn cursor(&self, id: Uuid, rest: &[u8]) -> String {
        close(id, rest, &self.query)
    }
}

/// Not a secret: whoever forges one begins elsewhere in what is visible to them anyway. The check
/// keeps mistakes from giving a wrong page.
fn check(position: &[u8], query: &str) -> [u8; CHECK] {
    let mut hash = Sha256::new();
    hash.update(position);
    hash.update(query);
    let mut check = [0; CHECK];
    check.copy_from_slice(&hash.finalize()[..CHECK]);
    check
}

fn close(id: Uuid, rest: &[u8], query: &str) -> String {
    let position = [id.as_bytes(), rest].concat();
    let check = check(&position, query);
    URL_SAFE_NO_PAD.encode([&position[..], &check].concat())
}

fn open(cursor: &str, query: &str) -> Option<(Uuid, Vec<u8>)> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (position, found) = bytes.split_at_checked(bytes.len().checked_sub(CHECK)?)?;
    if found != check(position, query) {
        return None;
    }
    let (id, rest) = position.split_at_checked(16)?;
    Some((Uuid::from_slice(id).ok()?, rest.to_vec()))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{close, open};

    #[test]
    fn a_cursor_belongs_to_its_own_query_only() {
        let id = Uuid::from_u128(7);
        for rest in [&b""[..], b"x", &[0; 400]] {
            let cursor = close(id, rest, "members of a");
            assert_eq!(open(&cursor, "members of a"), Some((id, rest.to_vec())));
            assert_eq!(open(&cursor, "members of b"), None);
            for wrong in ["", "x", "AAAA", &cursor[1..], &format!("{cursor}A")] {
                assert_eq!(open(wrong, "members of a"), None, "{wrong}");
            }
        }
    }
}
