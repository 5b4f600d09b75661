//! Many lines in few statements: an `INSERT` or an `UPDATE` that is done for each of them.
//!
//! Goes in: a text, what all lines share, and what is each line's own. Comes out: the statements' answers.
//! A statement costs more than a line: on SQLite it takes a savepoint of its own wherever a trigger stands
//! at the table, so lines are put behind each other in `VALUES`; on PostgreSQL it is a message and a plan
//! with as many parts as parameters, so lines travel as a list for each parameter. Lines enter in the order
//! in which they are given. It must not put values into a text.

use std::fmt::Write as _;

use super::{Asked, Dialect, Row, StoreError, Tx, Value};

/// How many lines an `INSERT` has on SQLite; few sizes, so that their texts are known and planned. The
/// largest is what a batch of rows may have: each statement more copies the pages anew that it shares with
/// others.
const SIZES: [usize; 4] = [500, 100, 10, 1];

/// What a line's own parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// An id.
    Id,
    /// Text, or nothing.
    Text,
    /// A hash.
    Bytes,
}

impl Own {
    fn list(self) -> &'static str {
        match self {
            Own::Id => "uuid[]",
            Own::Text => "text[]",
            Own::Bytes => "bytea[]",
        }
    }
}

/// An `INSERT` of lines, in three parts, in the words of [`dialect`](super::dialect).
#[derive(Debug, Clone)]
pub struct Many {
    /// Up to `VALUES`, without the word.
    pub head: String,
    /// One line: `$1`, `$2`… is what all share, `@1`, `@2`… its own.
    pub line: String,
    /// Behind the lines.
    pub tail: String,
    /// What its own parameters are.
    pub own: Vec<Own>,
}

/// An `UPDATE` for each of some lines, in the words of [`dialect`](super::dialect) and of [`Many`]; the word
/// `@lines` stands before its `WHERE`.
#[derive(Debug, Clone)]
pub struct Each {
    /// The statement.
    pub text: String,
    /// What a line's own parameters are.
    pub own: Vec<Own>,
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
        lines: Vec<Vec<Value>>,
    ) -> Result<Vec<Row>, StoreError> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        if tx.dialect()? == Dialect::Postgres {
            let (text, parameters) = self.whole(shared, lines);
            return tx.ask_whole(&text, parameters).await;
        }
        let mut returned = Vec::new();
        let mut lines = lines.into_iter();
        for size in SIZES {
            if lines.len() < size {
                continue;
            }
            let name = self.name(size, shared.len());
            while lines.len() >= size {
                let own = lines.by_ref().take(size).flatten();
                let parameters = shared.iter().cloned().chain(own).collect();
                let text = || self.text(size, shared.len());
                returned.extend(tx.ask_named(&name, text, parameters).await?);
            }
        }
        Ok(returned)
    }

    /// All lines as one statement, which only PostgreSQL understands.
    pub fn whole(&self, shared: &[Value], lines: Vec<Vec<Value>>) -> Asked {
        let mut text = format!("{} SELECT ", self.head);
        named(&mut text, &self.line);
        text.push(' ');
        unnested(&mut text, shared.len(), &self.own);
        text.push_str(&self.tail);
        (text.into(), lists(shared, lines, &self.own))
    }

    /// What [`text`](Many::text) depends on. To put together the text of a whole batch, and to look for it
    /// among others, would be a good part of what the batch takes.
    fn name(&self, size: usize, shared: usize) -> String {
        let (own, parts) = (self.own.len(), [&*self.head, &self.line, &self.tail]);
        format!(
            "{size} lines, {shared} shared, {own} own\n{}",
            parts.join("\n")
        )
    }

    fn text(&self, size: usize, shared: usize) -> String {
        let own = self.own.len();
        let room = self.head.len() + self.tail.len() + size * (self.line.len() + 4 * own + 4);
        let mut text = String::with_capacity(room);
        text.push_str(&self.head);
        text.push_str(" VALUES");
        for line in 0..size {
            text.push_str(if line == 0 { " (" } else { ", (" });
            numbered(&mut text, &self.line, shared + line * own);
            text.push(')');
        }
        text.push_str(&self.tail);
        text
    }
}

impl Each {
    /// Runs the statement for each line.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn run(
        &self,
        tx: &mut Tx,
        shared: &[Value],
        lines: Vec<Vec<Value>>,
    ) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let (set, which) = self.text.split_once("@lines").unwrap_or((&self.text, ""));
        let mut text = String::with_capacity(self.text.len() + 64);
        if tx.dialect()? == Dialect::Postgres {
            named(&mut text, set);
            unnested(&mut text, shared.len(), &self.own);
            named(&mut text, which);
            let parameters = lists(shared, lines, &self.own);
            return tx.ask_whole(&text, parameters).await.map(drop);
        }
        numbered(&mut text, set, shared.len());
        numbered(&mut text, which, shared.len());
        for line in lines {
            let parameters = shared.iter().cloned().chain(line).collect();
            tx.ask_whole(&text, parameters).await?;
        }
        Ok(())
    }
}

/// Writes a text in which a line's own parameters follow `before` others.
fn numbered(out: &mut String, text: &str, before: usize) {
    // A batch has thousands of parameters: formatting would take several times as long.
    let mut digits = itoa::Buffer::new();
    each_own(out, text, |out, number| {
        out.push('$');
        out.push_str(digits.format(before + number));
    });
}

/// Writes a text in which a line's own parameters are columns of a list of lines.
fn named(out: &mut String, text: &str) {
    each_own(out, text, |out, number| {
        let _ = write!(out, "line.c{number}");
    });
}

fn each_own(out: &mut String, text: &str, mut own: impl FnMut(&mut String, usize)) {
    let mut parts = text.split('@');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit());
        let (number, after) = part.split_at(end.unwrap_or(part.len()));
        own(out, number.parse().unwrap_or_default());
        out.push_str(after);
    }
}

/// The list of lines on PostgreSQL.
fn unnested(out: &mut String, before: usize, own: &[Own]) {
    let (mut lists, mut names) = (String::new(), String::new());
    for (number, own) in (1..).zip(own) {
        let comma = if number == 1 { "" } else { ", " };
        let _ = write!(lists, "{comma}${}::{}", before + number, own.list());
        let _ = write!(names, "{comma}c{number}");
    }
    let _ = write!(out, "FROM unnest({lists}) AS line ({names})");
}

/// What is shared, then a list for each parameter of the lines.
fn lists(shared: &[Value], lines: Vec<Vec<Value>>, own: &[Own]) -> Vec<Value> {
    let mut lists: Vec<Vec<Value>> = vec![Vec::with_capacity(lines.len()); own.len()];
    for line in lines {
        for (list, value) in lists.iter_mut().zip(line) {
            list.push(value);
        }
    }
    let lists = lists.into_iter().map(Value::List);
    shared.iter().cloned().chain(lists).collect()
}

#[cfg(test)]
mod tests {
    use super::{Many, Own, named, unnested};

    fn many() -> Many {
        Many {
            head: "INSERT INTO main.t {into $1} (a, b, c)".to_owned(),
            line: "$1, @1, {json @2}".to_owned(),
            tail: " RETURNING b".to_owned(),
            own: vec![Own::Id, Own::Text],
        }
    }

    #[test]
    fn texts_that_differ_have_names_that_differ() {
        let mut all = vec![(many(), 2, 1), (many(), 3, 1), (many(), 2, 2)];
        for change in [
            |many: &mut Many| many.head.push_str(" --"),
            |many: &mut Many| many.line.push_str(", @2"),
            |many: &mut Many| many.tail.push_str(", a"),
            |many: &mut Many| many.own.push(Own::Id),
        ] {
            let mut other = many();
            change(&mut other);
            all.push((other, 2, 1));
        }
        let distinct = |told: fn(&Many, usize, usize) -> String| {
            let told = all
                .iter()
                .map(|(many, size, shared)| told(many, *size, *shared));
            told.collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(distinct(Many::text), all.len());
        assert_eq!(distinct(Many::name), all.len());
        assert_eq!(many().name(2, 1), many().name(2, 1));
    }

    #[test]
    fn lines_share_the_first_parameters() {
        assert_eq!(
            many().text(2, 1),
            "INSERT INTO main.t {into $1} (a, b, c) VALUES ($1, $2, {json $3}), \
             ($1, $4, {json $5}) RETURNING b"
        );
    }

    #[test]
    fn lists_stand_for_lines() {
        let mut text = String::new();
        named(&mut text, "$1, @1, {json @2} ");
        unnested(&mut text, 1, &[Own::Id, Own::Text]);
        assert_eq!(
            text,
            "$1, line.c1, {json line.c2} FROM unnest($2::uuid[], $3::text[]) AS line (c1, c2)"
        );
    }
}
