//! Bulk `INSERT` and `UPDATE`: many rows in few statements.
//!
//! In: a text, shared parameters, and parameters per row. Out: the results. A statement costs more
//! than a row: on SQLite it needs a savepoint when the table has a trigger, so rows share one
//! `VALUES` list; on PostgreSQL it is a message and a plan, so each parameter is a list over rows.
//! Rows are written in the given order. It never puts values into the text.

use std::fmt::Write as _;

use super::{Dialect, PipelinedStatement, Row, StoreError, Tx, Value};

/// How many rows an `INSERT` has on SQLite; few sizes, so that their texts are known and planned. The
/// largest is what a batch of rows may have: each statement more copies the pages anew that it shares with
/// others.
const SIZES: [usize; 4] = [500, 100, 10, 1];

/// What a row's own parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowValue {
    /// An id.
    Id,
    /// Text, or nothing.
    Text,
    /// A count, or an instant.
    Int,
    /// A hash.
    Bytes,
}

impl RowValue {
    fn list(self) -> &'static str {
        match self {
            RowValue::Id => "uuid[]",
            RowValue::Text => "text[]",
            RowValue::Int => "bigint[]",
            RowValue::Bytes => "bytea[]",
        }
    }
}

/// An `INSERT` of rows, in three parts, in the words of [`translate`](super::translate).
#[derive(Debug, Clone)]
pub struct BulkInsert {
    /// Up to `VALUES`, without the word.
    pub head: String,
    /// One row: `$1`, `$2`… is what all share, `@1`, `@2`… its own.
    pub row: String,
    /// Behind the rows.
    pub tail: String,
    /// What its own parameters are.
    pub own: Vec<RowValue>,
}

/// An `UPDATE` for each of some rows, in the words of [`translate`](super::translate) and of [`BulkInsert`]; the word
/// `@rows` is before its `WHERE`.
#[derive(Debug, Clone)]
pub struct EachStatement {
    /// The statement.
    pub text: String,
    /// What a row's own parameters are.
    pub own: Vec<RowValue>,
}

impl BulkInsert {
    /// Inserts rows; gives what the statement returns of them, in no order.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn insert(
        &self,
        tx: &mut Tx,
        shared: &[Value],
        rows: Vec<Vec<Value>>,
    ) -> Result<Vec<Row>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        if tx.dialect()? == Dialect::Postgres {
            let PipelinedStatement { text, parameters } = self.whole_row(shared, rows);
            return tx.execute_whole(&text, parameters).await;
        }
        let mut returned = Vec::new();
        let mut rows = rows.into_iter();
        for size in SIZES {
            if rows.len() < size {
                continue;
            }
            let name = self.name(size, shared.len());
            while rows.len() >= size {
                let own = rows.by_ref().take(size).flatten();
                let parameters = shared.iter().cloned().chain(own).collect();
                let text = || self.text(size, shared.len());
                returned.extend(tx.execute_named(&name, text, parameters).await?);
            }
        }
        Ok(returned)
    }

    /// All rows as one statement, which only PostgreSQL understands.
    pub fn whole_row(&self, shared: &[Value], rows: Vec<Vec<Value>>) -> PipelinedStatement {
        let mut text = format!("{} SELECT ", self.head);
        named(&mut text, &self.row);
        text.push(' ');
        unnested(&mut text, shared.len(), &self.own);
        text.push_str(&self.tail);
        if !["RETURNING", "ON CONFLICT"]
            .iter()
            .any(|word| self.tail.contains(word))
        {
            // A database of several nodes would copy the rows into their tables, which row security refuses. Of no
            // column: nobody has to see the rows for it.
            text.push_str(" RETURNING true");
        }
        PipelinedStatement::new(text, lists(shared, rows, &self.own))
    }

    /// What [`text`](BulkInsert::text) depends on. To put together the text of a whole batch, and to look for it
    /// among others, would be a good part of what the batch takes.
    fn name(&self, size: usize, shared: usize) -> String {
        let (own, parts) = (self.own.len(), [&*self.head, &self.row, &self.tail]);
        format!(
            "{size} rows, {shared} shared, {own} own\n{}",
            parts.join("\n")
        )
    }

    fn text(&self, size: usize, shared: usize) -> String {
        let own = self.own.len();
        let room = self.head.len() + self.tail.len() + size * (self.row.len() + 4 * own + 4);
        let mut text = String::with_capacity(room);
        text.push_str(&self.head);
        text.push_str(" VALUES");
        for row in 0..size {
            text.push_str(if row == 0 { " (" } else { ", (" });
            numbered(&mut text, &self.row, shared + row * own);
            text.push(')');
        }
        text.push_str(&self.tail);
        text
    }
}

impl EachStatement {
    /// Runs the statement for each row.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn run(
        &self,
        tx: &mut Tx,
        shared: &[Value],
        rows: Vec<Vec<Value>>,
    ) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let (set, which) = self.text.split_once("@rows").unwrap_or((&self.text, ""));
        let mut text = String::with_capacity(self.text.len() + 64);
        if tx.dialect()? == Dialect::Postgres {
            named(&mut text, set);
            unnested(&mut text, shared.len(), &self.own);
            named(&mut text, which);
            let parameters = lists(shared, rows, &self.own);
            return tx.execute_whole(&text, parameters).await.map(drop);
        }
        numbered(&mut text, set, shared.len());
        numbered(&mut text, which, shared.len());
        for row in rows {
            let parameters = shared.iter().cloned().chain(row).collect();
            tx.execute_whole(&text, parameters).await?;
        }
        Ok(())
    }
}

/// Writes a text in which a row's own parameters follow `before` others.
fn numbered(out: &mut String, text: &str, before: usize) {
    // A batch has thousands of parameters: formatting would take several times as long.
    let mut digits = itoa::Buffer::new();
    each_own(out, text, |out, number| {
        out.push('$');
        out.push_str(digits.format(before + number));
    });
}

/// Writes a text in which a row's own parameters are columns of a list of rows.
fn named(out: &mut String, text: &str) {
    each_own(out, text, |out, number| {
        let _ = write!(out, "item.c{number}");
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

/// The list of rows on PostgreSQL.
fn unnested(out: &mut String, before: usize, own: &[RowValue]) {
    let (mut lists, mut names) = (String::new(), String::new());
    for (number, own) in (1..).zip(own) {
        let comma = if number == 1 { "" } else { ", " };
        let _ = write!(lists, "{comma}${}::{}", before + number, own.list());
        let _ = write!(names, "{comma}c{number}");
    }
    let _ = write!(out, "FROM unnest({lists}) AS item ({names})");
}

/// What is shared, then a list for each parameter of the rows.
fn lists(shared: &[Value], rows: Vec<Vec<Value>>, own: &[RowValue]) -> Vec<Value> {
    let mut lists: Vec<Vec<Value>> = vec![Vec::with_capacity(rows.len()); own.len()];
    for row in rows {
        for (list, value) in lists.iter_mut().zip(row) {
            list.push(value);
        }
    }
    let lists = lists.into_iter().map(Value::List);
    shared.iter().cloned().chain(lists).collect()
}

#[cfg(test)]
mod tests {
    use super::{BulkInsert, RowValue, named, unnested};

    fn many() -> BulkInsert {
        BulkInsert {
            head: "INSERT INTO main.t {into $1} (a, b, c)".to_owned(),
            row: "$1, @1, {json @2}".to_owned(),
            tail: " RETURNING b".to_owned(),
            own: vec![RowValue::Id, RowValue::Text],
        }
    }

    #[test]
    fn texts_that_differ_have_names_that_differ() {
        let mut all = vec![(many(), 2, 1), (many(), 3, 1), (many(), 2, 2)];
        for change in [
            |many: &mut BulkInsert| many.head.push_str(" --"),
            |many: &mut BulkInsert| many.row.push_str(", @2"),
            |many: &mut BulkInsert| many.tail.push_str(", a"),
            |many: &mut BulkInsert| many.own.push(RowValue::Id),
        ] {
            let mut other = many();
            change(&mut other);
            all.push((other, 2, 1));
        }
        let distinct = |text: fn(&BulkInsert, usize, usize) -> String| {
            let text = all
                .iter()
                .map(|(many, size, shared)| text(many, *size, *shared));
            text.collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(distinct(BulkInsert::text), all.len());
        assert_eq!(distinct(BulkInsert::name), all.len());
        assert_eq!(many().name(2, 1), many().name(2, 1));
    }

    #[test]
    fn rows_share_the_first_parameters() {
        assert_eq!(
            many().text(2, 1),
            "INSERT INTO main.t {into $1} (a, b, c) VALUES ($1, $2, {json $3}), \
             ($1, $4, {json $5}) RETURNING b"
        );
    }

    #[test]
    fn lists_stand_for_rows() {
        let mut text = String::new();
        named(&mut text, "$1, @1, {json @2} ");
        unnested(&mut text, 1, &[RowValue::Id, RowValue::Text]);
        assert_eq!(
            text,
            "$1, item.c1, {json item.c2} FROM unnest($2::uuid[], $3::text[]) AS item (c1, c2)"
        );
    }
}
