//! Uses of files: which cells of a table use which file, kept in the transaction that writes the cells.
//!
//! In: rows as they are written, and as they were. Out: records of uses. A use begins with a cell that was
//! checked and names a file that the writer sees, and ends with the text of its cell, its row, its column or its
//! table. What people see of files, what may be deleted and what is swept goes by these records, never by text.

use std::collections::{BTreeMap, BTreeSet};

use tplkit::rows::{member, same_file_cell};
use uuid::Uuid;

use super::prepare::PreparedRow;
use super::table::Table;
use crate::files::release::{release, unused_since};
use crate::store::{BulkInsert, RowValue, StoreError, Tx, Value, sees_file};

/// A cell that is to use a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileCell {
    /// The position of the row among those that are written.
    pub(super) at: usize,
    /// The row.
    row: Uuid,
    /// The position of the column.
    pub(super) column: usize,
    file: Uuid,
}

/// What a write changes about uses.
#[derive(Debug, Default)]
pub(super) struct ChangedUses {
    /// Cells that hold another text from now on: by column, the rows. All writers go through columns in one order.
    ended: BTreeMap<Uuid, Vec<Uuid>>,
    /// Cells that use a file from now on, if the writer sees it.
    begun: Vec<FileCell>,
}

impl ChangedUses {
    /// Those of rows that are new.
    pub(super) fn of_new(rows: &[PreparedRow]) -> ChangedUses {
        let rows = rows.iter().enumerate();
        let begun = rows.flat_map(|(at, row)| {
            let files = row.files.iter();
            files.map(move |named| FileCell {
                at,
                row: row.id,
                column: named.column,
                file: named.file,
            })
        });
        ChangedUses {
            ended: BTreeMap::new(),
            begun: begun.collect(),
        }
    }

    /// Those of rows that take the place of what stood there. What stays, in whatever letters, keeps its use if it
    /// has one, and gets none if it has none.
    pub(super) fn of_replaced(
        table: &Table,
        before: &[&str],
        after: &[PreparedRow],
    ) -> ChangedUses {
        let mut uses = ChangedUses::of_new(after);
        let files: Vec<usize> = (0..table.columns.len())
            .filter(|at| table.columns[*at].rule.file)
            .collect();
        for column in files {
            let cell = |data| member(data, table.columns[column].name()).unwrap_or("null");
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                let rule = &table.columns[column].rule;
                let (before, now) = (cell(before), cell(&after.data));
                if same_file_cell(before, now) {
                    uses.begun
                        .retain(|begun| (begun.at, begun.column) != (at, column));
                } else if rule.file_id(before).is_some() {
                    let column = table.columns[column].definition.id;
                    uses.ended.entry(column).or_default().push(after.id);
                }
            }
        }
        uses
    }

    /// Cells that name no file that the writer sees. What there is keeps its files from deletion until the transaction
    /// ends.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn unseen(
        &self,
        tx: &mut Tx,
        table: &Table,
    ) -> Result<Vec<FileCell>, StoreError> {
        if self.begun.is_empty() {
            return Ok(Vec::new());
        }
        let mut files: Vec<Uuid> = self.begun.iter().map(|cell| cell.file).collect();
        files.sort_unstable();
        files.dedup();
        macro_rules! seen {
            ($these:literal) => {
                concat!(
                    "SELECT files.id FROM files WHERE ",
                    sees_file!(in "$1"),
                    " AND files.organization_id = $1 AND files.workspace_id = $2 AND ",
                    $these,
                    " ORDER BY files.id {share files}"
                )
            };
        }
        // One is found by its id; for a list PostgreSQL goes through all files until it has counted them.
        let (sql, these) = match files.as_slice() {
            [file] => (seen!("files.id = $3"), (*file).into()),
            _ => (seen!("{any files.id $3}"), Value::Ids(files)),
        };
        let parameters = [table.organization.into(), table.workspace.into(), these];
        let rows = tx.query(sql, &parameters).await?;
        let seen = rows.iter().map(|row| row.get(0));
        let seen: Vec<Uuid> = seen.collect::<Result<_, StoreError>>()?;
        let begun = self.begun.iter().copied();
        Ok(begun.filter(|cell| !seen.contains(&cell.file)).collect())
    }

    /// Writes the records, once the rows are written.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn write(
        self,
        tx: &mut Tx,
        table: &Table,
        now: i64,
    ) -> Result<(), StoreError> {
        for (column, rows) in self.ended {
            end_cells(tx, table, column, rows, now).await?;
        }
        let begun = self.begun.iter();
        let cells = begun.map(|cell| {
            let column = table.columns[cell.column].definition.id;
            [cell.row, column, cell.file]
        });
        begin(tx, table, &cells.collect::<Vec<_>>(), now).await
    }
}

/// Cells that hold another text from now on: by column, the rows.
pub(crate) fn ended(
    table: &Table,
    before: &[&str],
    after: &[PreparedRow],
) -> BTreeMap<Uuid, Vec<Uuid>> {
    ChangedUses::of_replaced(table, before, after).ended
}

/// Begins uses: row, column and file of each.
///
/// # Errors
/// Those of the store.
pub(crate) async fn begin(
    tx: &mut Tx,
    table: &Table,
    cells: &[[Uuid; 3]],
    now: i64,
) -> Result<(), StoreError> {
    if cells.is_empty() {
        return Ok(());
    }
    // Whose a row is stands in its uses, too.
    let sql = "SELECT id, created_by FROM rows WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} AND organization_id = $1 AND feature_id = $2 AND {any id $3}";
    let rows: Vec<Uuid> = cells.iter().map(|[row, ..]| *row).collect();
    let parameters = [table.organization.into(), table.id.into(), Value::Ids(rows)];
    let mut by_creator: BTreeMap<Option<Uuid>, Vec<Vec<Value>>> = BTreeMap::new();
    for row in &tx.query(sql, &parameters).await? {
        let id: Uuid = row.get(0)?;
        let own = cells.iter().filter(|[row, ..]| *row == id);
        let uses = own.map(|cell| cell.map(Value::from).to_vec());
        by_creator.entry(row.get(1)?).or_default().extend(uses);
    }
    for (creator, uses) in by_creator {
        let shared = [
            table.organization.into(),
            table.workspace.into(),
            table.id.into(),
            creator.into(),
            now.into(),
        ];
        beginning().insert(tx, &shared, uses).await?;
    }
    Ok(())
}

fn beginning() -> BulkInsert {
    BulkInsert {
        head: "INSERT INTO main.file_uses {into $1} (organization_id, workspace_id, feature_id, \
             row_created_by, created_at, row_id, column_id, file_id)"
            .to_owned(),
        row: "$1, $2, $3, $4, $5, @1, @2, @3".to_owned(),
        tail: String::new(),
        own: vec![RowValue::Id; 3],
    }
}

/// Notes since when files have a use less: that of the organization `$1`, and of which more is said.
macro_rules! since {
    ($now:literal, $which:literal) => {
        unused_since!(
            $now,
            concat!(
                "id IN (",
                "SELECT uses.file_id FROM file_uses AS uses WHERE uses.organization_id = $1 AND ",
                $which,
                ")"
            )
        )
    };
}

/// Ends the uses of cells of a column.
async fn end_cells(
    tx: &mut Tx,
    table: &Table,
    column: Uuid,
    rows: Vec<Uuid>,
    now: i64,
) -> Result<(), StoreError> {
    let uses = "SELECT file_id FROM file_uses WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id row_created_by} AND organization_id = $1 AND feature_id = $2 AND row_id = $3 \
         AND column_id = $4";
    let each = rows.iter().map(|row| {
        let of = [table.organization, table.id, *row, column];
        of.map(Value::from).to_vec()
    });
    if !lose_uses(tx, table.organization, uses, each.collect(), now).await? {
        return Ok(());
    }
    let of: [Value; 4] = [
        table.organization.into(),
        table.id.into(),
        column.into(),
        Value::Ids(rows),
    ];
    let sql = release!(
        "file_uses",
        "{row feature_id row_created_by} AND feature_id = $2 AND column_id = $3 AND {any row_id $4}"
    );
    tx.query(sql, &of).await?;
    Ok(())
}

/// Ends the uses of rows that are about to go; the records go with the rows.
///
/// # Errors
/// Those of the store.
pub(super) async fn end_rows(
    tx: &mut Tx,
    table: &Table,
    rows: &[Uuid],
    now: i64,
) -> Result<(), StoreError> {
    if !table.columns.iter().any(|column| column.rule.file) {
        return Ok(());
    }
    let uses = "SELECT file_id FROM file_uses WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id row_created_by} AND organization_id = $1 AND feature_id = $2 AND row_id = $3";
    let each = rows.iter().map(|row| {
        let of = [table.organization, table.id, *row];
        of.map(Value::from).to_vec()
    });
    lose_uses(tx, table.organization, uses, each.collect(), now).await?;
    Ok(())
}

/// Notes that the files of some uses have one less; false when there is none. Rows and files are named one by one: while
/// PostgreSQL has no numbers of its own, it goes through all files of the organization for a list of them.
async fn lose_uses(
    tx: &mut Tx,
    organization: Uuid,
    uses: &'static str,
    of_rows: Vec<Vec<Value>>,
    now: i64,
) -> Result<bool, StoreError> {
    let found = tx.each(uses, &of_rows).await?;
    let files = found.iter().flatten().map(|row| row.get(0));
    let files: BTreeSet<Uuid> = files.collect::<Result<_, StoreError>>()?;
    if files.is_empty() {
        return Ok(false);
    }
    let since = unused_since!("$3", "id = $2");
    let each = files
        .into_iter()
        .map(|file| vec![organization.into(), file.into(), now.into()]);
    tx.each(since, &each.collect::<Vec<Vec<Value>>>()).await?;
    Ok(true)
}

/// Ends all uses by a column that is no `file` column any more, or is about to go, whoever sees their rows.
///
/// # Errors
/// Those of the store.
pub(crate) async fn end_column(
    tx: &mut Tx,
    organization: Uuid,
    column: Uuid,
    now: i64,
) -> Result<(), StoreError> {
    let since = since!("$3", "uses.column_id = $2");
    let end = release!("file_uses", "column_id = $2");
    end_all(tx, [since, end], [organization, column], now).await
}

/// Ends all uses by a table that is about to go, whoever sees its rows.
///
/// # Errors
/// Those of the store.
pub(crate) async fn end_table(
    tx: &mut Tx,
    organization: Uuid,
    table: Uuid,
    now: i64,
) -> Result<(), StoreError> {
    let since = since!("$3", "uses.feature_id = $2");
    let end = release!("file_uses", "feature_id = $2");
    end_all(tx, [since, end], [organization, table], now).await
}

async fn end_all(
    tx: &mut Tx,
    [since, end]: [&'static str; 2],
    [organization, of]: [Uuid; 2],
    now: i64,
) -> Result<(), StoreError> {
    let before = tx.set_guarded(Vec::new()).await?;
    let parameters = [organization.into(), of.into(), now.into()];
    tx.query(since, &parameters).await?;
    tx.query(end, &parameters[..2]).await?;
    tx.set_guarded(before).await?;
    Ok(())
}
