//! Many lines in few statements: an `INSERT` whose `VALUES` are repeated.
//!
//! Goes in: the text of one line, what all lines share, and what is each line's own. Comes out: the
//! statements' answers. A statement costs more than a line: on SQLite it takes a savepoint of its own
//! wherever a trigger stands at the table, on PostgreSQL a message. Lines enter in the order in which
//! they are given. It must not put values into a text.

use std::fmt::Write as _;

use super::{Row, StoreError, Tx, Value};

/// How many lines a statement has; few sizes, so that their texts are known and planned. The largest is
/// what a batch of rows may have: each statement more copies the pages anew that it shares with others.
const SIZES: [usize; 4] = [500, 100, 10, 1];

/// An `INSERT` of lines, in three parts, in the words of [`dialect`](super::dialect).
#[derive(Debug, Clone)]
pub struct Many {
    /// Up to `VALUES`.
    pub head: String,
    /// One line: `$1`, `$2`… is what all share, `@1`, `@2`… its own.
    pub line: String,
    /// Behind the lines.
    pub tail: String,
}

impl Many {
    /// Inserts lines; gives what the statement returns of them, in no order.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn insert(
        &self,
        tx: &mut Tx,
        shared: &[Value],
        lines: &[Vec<Value>],
    ) -> Result<Vec<Row>, StoreError> {
        let mut returned = Vec::new();
        let mut rest = lines;
        for size in SIZES {
            let (now, later) = rest.split_at(rest.len() - rest.len() % size);
            rest = later;
            let Some(own) = now.first().map(Vec::len) else {
                continue;
            };
            let text = self.text(size, shared.len(), own);
            let parameters: Vec<Vec<Value>> = now
                .chunks(size)
                .map(|lines| [shared, &lines.concat()].concat())
                .collect();
            for answer in tx.each(&text, &parameters).await? {
                returned.extend(answer);
            }
        }
        Ok(returned)
    }

    fn text(&self, size: usize, shared: usize, own: usize) -> String {
        let room = self.head.len() + self.tail.len() + size * (self.line.len() + 4 * own + 4);
        let mut text = String::with_capacity(room);
        text.push_str(&self.head);
        for line in 0..size {
            text.push_str(if line == 0 { " (" } else { ", (" });
            let mut parts = self.line.split('@');
            text.push_str(parts.next().unwrap_or_default());
            for part in parts {
                let end = part.find(|c: char| !c.is_ascii_digit());
                let (number, after) = part.split_at(end.unwrap_or(part.len()));
                let number = number.parse::<usize>().unwrap_or_default();
                // Writing to a String cannot fail.
                let _ = write!(text, "${}{after}", shared + line * own + number);
            }
            text.push(')');
        }
        text.push_str(&self.tail);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Many;

    #[test]
    fn lines_share_the_first_parameters() {
        let many = Many {
            head: "INSERT INTO main.t {into $1} (a, b, c) VALUES".to_owned(),
            line: "$1, @1, {json @2}".to_owned(),
            tail: " RETURNING b".to_owned(),
        };
        assert_eq!(
            many.text(2, 1, 2),
            "INSERT INTO main.t {into $1} (a, b, c) VALUES ($1, $2, {json $3}), \
             ($1, $4, {json $5}) RETURNING b"
        );
    }
}
