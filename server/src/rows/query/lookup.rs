//! Looks up rows by the text form of one cell, some hundreds of values at once.

use tplkit::rows::query::{CellTest, Condition, Filter, Match};
use uuid::Uuid;

use super::composer::Composer;
use crate::rows::Table;
use crate::store::{Dialect, PipelinedStatement, Row, StoreError, Tx};

/// `id` and `data` of the rows that the scope sees and whose cell has one of these text forms, by
/// ascending id, behind a row or from the first on; bounded in bytes. The table was read in the same transaction.
///
/// # Errors
/// Those of the store.
pub(crate) async fn holding(
    tx: &mut Tx,
    table: &Table,
    key: &str,
    forms: Vec<String>,
    behind: Option<Uuid>,
) -> Result<Vec<Row>, StoreError> {
    let statement = compose(table, tx.dialect()?, key, forms, behind);
    tx.execute(&statement.text, &statement.parameters).await
}

/// The statement that finds them.
pub(super) fn compose(
    table: &Table,
    dialect: Dialect,
    key: &str,
    forms: Vec<String>,
    behind: Option<Uuid>,
) -> PipelinedStatement {
    let mut composer = Composer::new(table, dialect);
    let filter = Filter {
        negated: false,
        condition: Condition::Cell {
            key: key.to_owned(),
            test: CellTest::In(forms),
        },
    };
    let found = composer.where_clause(&[filter], Match::All);
    let behind = behind.map(|id| format!(" AND id > {}", composer.value(id)));
    let behind = behind.unwrap_or_default();
    let text =
        format!("SELECT id, {{text data}} FROM rows WHERE {found}{behind} ORDER BY id {{bounded}}");
    let (text, values) = composer.words(text);
    PipelinedStatement::new(text, values)
}
