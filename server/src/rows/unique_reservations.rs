//! Reserves and releases the unique values of written rows.
//!
//! The primary key of the store enforces uniqueness, in every mode and whoever sees the other row.

use std::collections::HashSet;

use uuid::Uuid;

use super::prepare::PreparedRow;
use super::table::Table;
use crate::store::{BulkInsert, PipelinedStatement, Row, RowValue, StoreError, Tx, Value};

/// A cell whose value is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Conflict {
    /// The position of the row among those that were to be written.
    pub(super) row: usize,
    /// The position of the column.
    pub(super) column: usize,
}

/// A value that a row no longer holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReleasedValue {
    pub(super) row: Uuid,
    /// The position of the column.
    pub(super) column: usize,
    /// What it is known by.
    pub(super) value: [u8; 32],
}

/// A value of a row: the position of its column, and what it is known by.
pub(super) type Known = (usize, [u8; 32]);

/// A claim on a value: the id of the column, the value, the column, the row.
type Claim = (Uuid, [u8; 32], usize, usize);

/// Reserves the values of rows. Gives what was taken already, by other rows or by earlier ones of the
/// same; then the transaction is to be left.
pub(super) async fn reserve(
    tx: &mut Tx,
    table: &Table,
    rows: &[PreparedRow],
) -> Result<Vec<Conflict>, StoreError> {
    let rows = rows.iter().map(|row| (row.id, &*row.uniques));
    reserve_all(tx, table, rows.collect()).await
}

/// The values that rows give up and take while they are replaced, part by part: what one of them gives up,
/// another may take.
#[derive(Debug, Default)]
pub struct ValueMoves {
    given_up: Vec<ReleasedValue>,
    /// What stood in another row as it was asked for: the position of the row, the row, the value.
    waiting: Vec<(usize, Uuid, Known)>,
}

/// The values of a row before and after.
pub(super) struct ReplacedValues<'r> {
    /// The position of the row among all that are replaced.
    pub(super) position: usize,
    pub(super) row: Uuid,
    pub(super) before: Vec<Known>,
    pub(super) after: &'r [Known],
}

impl ValueMoves {
    /// Reserves what rows take, and gives nothing up yet: who waits for a value of somebody else has let go of
    /// none, so nobody waits in a circle. Gives what several of them take.
    pub(super) async fn take(
        &mut self,
        tx: &mut Tx,
        table: &Table,
        rows: &[ReplacedValues<'_>],
    ) -> Result<Vec<Conflict>, StoreError> {
        let mut claimed = Vec::with_capacity(rows.len());
        for row in rows {
            let lost = row.before.iter().filter(|value| !row.after.contains(value));
            self.given_up
                .extend(lost.map(|(column, value)| ReleasedValue {
                    row: row.row,
                    column: *column,
                    value: *value,
                }));
            let taken = row.after.iter().copied();
            let taken = taken.filter(|value| !row.before.contains(value));
            claimed.push((row.row, taken.collect::<Vec<Known>>()));
        }
        let claims = claimed.iter().map(|(row, values)| (*row, &**values));
        let claims = match Reservations::of(table, &claims.collect::<Vec<_>>()) {
            Ok(claims) => claims,
            Err(twice) => return Ok(placed(twice, rows)),
        };
        let entered = many().insert(tx, &shared(table), claims.rows()).await?;
        for conflict in claims.conflicts(&entered)? {
            let (row, values) = &claimed[conflict.row];
            let values = values
                .iter()
                .filter(|(column, _)| *column == conflict.column);
            let position = rows[conflict.row].position;
            self.waiting
                .extend(values.map(|value| (position, *row, *value)));
        }
        Ok(Vec::new())
    }

    /// Gives up what rows hold no more, and hands it to those that wait for it. Gives what rows that stay hold; then
    /// the transaction is to be left.
    pub(super) async fn finish(
        self,
        tx: &mut Tx,
        table: &Table,
    ) -> Result<Vec<Conflict>, StoreError> {
        let free: HashSet<Known> = self
            .given_up
            .iter()
            .map(|released| (released.column, released.value))
            .collect();
        let stays = self
            .waiting
            .iter()
            .filter(|(.., value)| !free.contains(value));
        let mut taken: Vec<Conflict> = stays
            .map(|(row, _, (column, _))| Conflict {
                row: *row,
                column: *column,
            })
            .collect();
        if !taken.is_empty() {
            taken.sort_unstable();
            return Ok(taken);
        }
        // The rows that hold them are locked, so that nobody else waits for these or gets in between.
        release(tx, table, &self.given_up).await?;
        let waiting = self.waiting.iter();
        let waiting: Vec<ReplacedValues<'_>> = waiting
            .map(|(position, row, value)| ReplacedValues {
                position: *position,
                row: *row,
                before: Vec::new(),
                after: std::slice::from_ref(value),
            })
            .collect();
        let claims = waiting.iter().map(|waits| (waits.row, waits.after));
        let taken = reserve_all(tx, table, claims.collect()).await?;
        Ok(placed(taken, &waiting))
    }
}

/// Conflicts of rows by their positions among all that are replaced.
fn placed(conflicts: Vec<Conflict>, rows: &[ReplacedValues<'_>]) -> Vec<Conflict> {
    let conflicts = conflicts.into_iter();
    let mut placed: Vec<Conflict> = conflicts
        .map(|conflict| Conflict {
            row: rows[conflict.row].position,
            ..conflict
        })
        .collect();
    placed.sort_unstable();
    placed
}

async fn reserve_all(
    tx: &mut Tx,
    table: &Table,
    rows: Vec<(Uuid, &[Known])>,
) -> Result<Vec<Conflict>, StoreError> {
    let claims = match Reservations::of(table, &rows) {
        Ok(claims) => claims,
        Err(taken) => return Ok(taken),
    };
    let entered = many().insert(tx, &shared(table), claims.rows()).await?;
    claims.conflicts(&entered)
}

/// What rows claim, in one order everywhere, so that writers wait for each other and not in a circle.
pub(super) struct Reservations(Vec<(Claim, Uuid)>);

impl Reservations {
    /// The claims of rows that are new. Gives what more than one of them claims, if there is such.
    pub(super) fn new(table: &Table, rows: &[PreparedRow]) -> Result<Reservations, Vec<Conflict>> {
        let rows: Vec<_> = rows.iter().map(|row| (row.id, &*row.uniques)).collect();
        Reservations::of(table, &rows)
    }

    fn of(table: &Table, rows: &[(Uuid, &[Known])]) -> Result<Reservations, Vec<Conflict>> {
        let mut claims = Vec::new();
        for (at, (row, uniques)) in rows.iter().enumerate() {
            let id = |column: usize| table.columns[column].definition.id;
            let uniques = uniques.iter();
            claims
                .extend(uniques.map(|(column, value)| ((id(*column), *value, *column, at), *row)));
        }
        claims.sort_unstable();
        let pairs = claims.windows(2);
        let twice = pairs.filter(|pair| (pair[0].0.0, pair[0].0.1) == (pair[1].0.0, pair[1].0.1));
        let mut taken: Vec<Conflict> = twice.map(|pair| of(&pair[1].0)).collect();
        if taken.is_empty() {
            return Ok(Reservations(claims));
        }
        taken.sort_unstable();
        Err(taken)
    }

    fn rows(&self) -> Vec<Vec<Value>> {
        let claims = self.0.iter();
        claims
            .map(|((column, value, ..), row)| {
                vec![(*column).into(), (*value).into(), (*row).into()]
            })
            .collect()
    }

    /// The statement that enters them, if there are any, for a store that takes all of them at once.
    pub(super) fn statement(&self, table: &Table) -> Option<PipelinedStatement> {
        (!self.0.is_empty()).then(|| many().whole_row(&shared(table), self.rows()))
    }

    /// What of them was taken, by what the statement reports those that entered.
    pub(super) fn conflicts(&self, entered: &[Row]) -> Result<Vec<Conflict>, StoreError> {
        // Each is reported once: these are all.
        if entered.len() == self.0.len() {
            return Ok(Vec::new());
        }
        let entered = entered.iter().map(|row| Ok((row.get(0)?, row.get(1)?)));
        let entered: HashSet<(Uuid, Uuid)> = entered.collect::<Result<_, StoreError>>()?;
        let claims = self.0.iter();
        let refused = claims.filter(|((column, ..), row)| !entered.contains(&(*column, *row)));
        let mut taken: Vec<Conflict> = refused.map(|(claim, _)| of(claim)).collect();
        taken.sort_unstable();
        Ok(taken)
    }
}

/// Enters values. Reports of which columns and rows: what is missing stood there already.
fn many() -> BulkInsert {
    BulkInsert {
        head: "INSERT INTO main.row_values {into $1} (organization_id, workspace_id, feature_id, \
             column_id, value, row_id)"
            .to_owned(),
        row: "$1, $2, $3, @1, @2, @3".to_owned(),
        tail: " ON CONFLICT (organization_id, feature_id, column_id, value) DO NOTHING \
             RETURNING column_id, row_id"
            .to_owned(),
        own: vec![RowValue::Id, RowValue::Bytes, RowValue::Id],
    }
}

fn shared(table: &Table) -> [Value; 3] {
    [
        table.organization.into(),
        table.workspace.into(),
        table.id.into(),
    ]
}

fn of(claim: &Claim) -> Conflict {
    Conflict {
        row: claim.3,
        column: claim.2,
    }
}

/// Lets go of values that rows no longer hold.
pub(super) async fn release(
    tx: &mut Tx,
    table: &Table,
    values: &[ReleasedValue],
) -> Result<(), StoreError> {
    let sql = "DELETE FROM main.row_values WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND feature_id = $2 \
         AND column_id = $3 AND value = $4 AND row_id = $5";
    let mut sorted: Vec<_> = values
        .iter()
        .map(|released| {
            let column = table.columns[released.column].definition.id;
            (column, released.value, released.row)
        })
        .collect();
    sorted.sort_unstable();
    let all: Vec<Vec<Value>> = sorted
        .into_iter()
        .map(|(column, value, row)| {
            vec![
                table.organization.into(),
                table.id.into(),
                column.into(),
                value.into(),
                row.into(),
            ]
        })
        .collect();
    tx.each(sql, &all).await.map(drop)
}
