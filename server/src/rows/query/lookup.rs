//! Looks up rows by the text form of one cell, some hundreds of values at once.

use tplkit::rows::query::{CellTest, Condition, Filter, Match};

use super::composer::Composer;
use crate::rows::Table;
use crate::store::{Row, StoreError, Tx};

/// `id` and `data` of the rows that the scope sees and whose cell has one of these text forms, by
/// ascending id. The table was read in the same transaction.
///
/// # Errors
/// Those of the store.
pub(crate) async fn holding(
    tx: &mut Tx,
    table: &Table,
    key: &str,
    forms: Vec<String>,
) -> Result<Vec<Row>, StoreError> {
    let mut composer = Composer::new(table, tx.dialect()?);
    let filter = Filter {
        negated: false,
        condition: Condition::Cell {
            key: key.to_owned(),
            test: CellTest::In(forms),
        },
    };
    let found = composer.where_clause(&[filter], Match::All);
    let text = format!("SELECT id, {{text data}} FROM rows WHERE {found} ORDER BY id");
    let (text, values) = composer.words(text);
    tx.execute(&text, &values).await
}
