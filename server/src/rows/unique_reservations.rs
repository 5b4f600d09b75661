//! Reserves and releases the unique values of written rows.
//!
//! The primary key of the store enforces uniqueness, in every mode and whoever sees the other row.

use std::collections::HashSet;

use uuid::Uuid;

use super::prepare::PreparedRow;
use super::row_values::HashedValue;
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
    /// The row.
    pub(super) row: Uuid,
    /// The value.
    pub(super) value: HashedValue,
}

/// The values that a row takes.
#[derive(Debug, Clone, Copy)]
struct TakenValues<'r> {
    /// The row.
    row: Uuid,
    /// Its values.
    values: &'r [HashedValue],
}

/// A claim on a value. Claims sort by column, value and row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ValueClaim {
    /// The id of the column.
    column_id: Uuid,
    /// What the value is known by.
    digest: [u8; 32],
    /// The position of the column.
    column: usize,
    /// The position of the row.
    row: usize,
    /// The id of the row.
    row_id: Uuid,
}

/// A value that is already in another row, and a row that waits for it.
#[derive(Debug, Clone, Copy)]
struct WaitingValue {
    /// The position of the row that waits, among all that are replaced.
    position: usize,
    /// The row that waits.
    row: Uuid,
    /// The value.
    value: HashedValue,
}

/// Reserves the values of rows. Gives what was taken already, by other rows or by earlier ones of the
/// same; then the transaction is to be left.
pub(super) async fn reserve(
    tx: &mut Tx,
    table: &Table,
    rows: &[PreparedRow],
) -> Result<Vec<Conflict>, StoreError> {
    let rows: Vec<TakenValues<'_>> = rows.iter().map(TakenValues::of).collect();
    reserve_all(tx, table, &rows).await
}

/// The values that rows give up and take while they are replaced, part by part: what one of them gives up,
/// another may take.
#[derive(Debug, Default)]
pub struct ValueMoves {
    given_up: Vec<ReleasedValue>,
    /// What stood in another row as it was asked for.
    waiting: Vec<WaitingValue>,
}

/// The values of a row before and after.
pub(super) struct ReplacedValues<'r> {
    /// The position of the row among all that are replaced.
    pub(super) position: usize,
    /// The row.
    pub(super) row: Uuid,
    /// What it held.
    pub(super) before: Vec<HashedValue>,
    /// What it is to hold.
    pub(super) after: &'r [HashedValue],
}

impl<'r> TakenValues<'r> {
    /// Those of a row that is new.
    fn of(row: &'r PreparedRow) -> TakenValues<'r> {
        TakenValues {
            row: row.id,
            values: &row.uniques,
        }
    }
}

impl ValueClaim {
    /// Whether two claims are on one value.
    fn is_of_same_value(&self, other: &ValueClaim) -> bool {
        (self.column_id, self.digest) == (other.column_id, other.digest)
    }

    /// The cell whose value is claimed.
    fn conflict(&self) -> Conflict {
        Conflict {
            row: self.row,
            column: self.column,
        }
    }
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
            self.given_up.extend(lost.map(|value| ReleasedValue {
                row: row.row,
                value: *value,
            }));
            let taken = row.after.iter().copied();
            let taken = taken.filter(|value| !row.before.contains(value));
            claimed.push(taken.collect::<Vec<HashedValue>>());
        }
        let claims = rows.iter().zip(&claimed).map(|(row, values)| TakenValues {
            row: row.row,
            values,
        });
        let claims = Reservations::of(table, &claims.collect::<Vec<_>>());
        if !claims.repeated.is_empty() {
            return Ok(placed(claims.repeated, rows));
        }
        let entered = many().insert(tx, &shared(table), claims.rows()).await?;
        for conflict in claims.conflicts(&entered)? {
            let values = claimed[conflict.row].iter();
            let values = values.filter(|value| value.column == conflict.column);
            let ReplacedValues { position, row, .. } = rows[conflict.row];
            self.waiting.extend(values.map(|value| WaitingValue {
                position,
                row,
                value: *value,
            }));
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
        let given_up = self.given_up.iter();
        let free: HashSet<HashedValue> = given_up.map(|released| released.value).collect();
        let stays = self.waiting.iter();
        let stays = stays.filter(|waiting| !free.contains(&waiting.value));
        let mut taken: Vec<Conflict> = stays
            .map(|waiting| Conflict {
                row: waiting.position,
                column: waiting.value.column,
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
            .map(|waiting| ReplacedValues {
                position: waiting.position,
                row: waiting.row,
                before: Vec::new(),
                after: std::slice::from_ref(&waiting.value),
            })
            .collect();
        let claims = waiting.iter().map(|waits| TakenValues {
            row: waits.row,
            values: waits.after,
        });
        let taken = reserve_all(tx, table, &claims.collect::<Vec<_>>()).await?;
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
    rows: &[TakenValues<'_>],
) -> Result<Vec<Conflict>, StoreError> {
    let claims = Reservations::of(table, rows);
    let entered = many().insert(tx, &shared(table), claims.rows()).await?;
    claims.conflicts(&entered)
}

/// What rows claim.
pub(super) struct Reservations {
    /// One claim on each value, in one order everywhere, so that writers wait for each other and not in a circle.
    claims: Vec<ValueClaim>,
    /// Cells whose value a row before theirs claims. The claims are entered all the same, so that values that are taken
    /// in the store are reported along with these.
    repeated: Vec<Conflict>,
}

impl Reservations {
    /// The claims of rows that are new.
    pub(super) fn new(table: &Table, rows: &[PreparedRow]) -> Reservations {
        let rows: Vec<TakenValues<'_>> = rows.iter().map(TakenValues::of).collect();
        Reservations::of(table, &rows)
    }

    fn of(table: &Table, rows: &[TakenValues<'_>]) -> Reservations {
        let mut claims = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            claims.extend(row.values.iter().map(|value| ValueClaim {
                column_id: table.columns[value.column].definition.id,
                digest: value.digest,
                column: value.column,
                row: at,
                row_id: row.row,
            }));
        }
        claims.sort_unstable();
        let mut repeated = Vec::new();
        claims.dedup_by(|claim, first| {
            let is_repeated = claim.is_of_same_value(first);
            repeated.extend(is_repeated.then(|| claim.conflict()));
            is_repeated
        });
        Reservations { claims, repeated }
    }

    fn rows(&self) -> Vec<Vec<Value>> {
        let claims = self.claims.iter();
        claims
            .map(|claim| {
                vec![
                    claim.column_id.into(),
                    claim.digest.into(),
                    claim.row_id.into(),
                ]
            })
            .collect()
    }

    /// The statement that enters them, if there are any, for a store that takes all of them at once.
    pub(super) fn statement(&self, table: &Table) -> Option<PipelinedStatement> {
        (!self.claims.is_empty()).then(|| many().whole_row(&shared(table), self.rows()))
    }

    /// What of them was taken, by other rows or by those before them, by what the statement reports those that entered.
    pub(super) fn conflicts(&self, entered: &[Row]) -> Result<Vec<Conflict>, StoreError> {
        // Each is reported once: these are all.
        if entered.len() == self.claims.len() && self.repeated.is_empty() {
            return Ok(Vec::new());
        }
        let entered = entered.iter().map(|row| Ok((row.get(0)?, row.get(1)?)));
        let entered: HashSet<(Uuid, Uuid)> = entered.collect::<Result<_, StoreError>>()?;
        let claims = self.claims.iter();
        let refused = claims.filter(|claim| !entered.contains(&(claim.column_id, claim.row_id)));
        let refused = refused.map(ValueClaim::conflict);
        let mut taken: Vec<Conflict> = refused.chain(self.repeated.iter().copied()).collect();
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
            let value = released.value;
            let column = table.columns[value.column].definition.id;
            (column, value.digest, released.row)
        })
        .collect();
    sorted.sort_unstable();
    let all: Vec<Vec<Value>> = sorted
        .into_iter()
        .map(|(column, digest, row)| {
            vec![
                table.organization.into(),
                table.id.into(),
                column.into(),
                digest.into(),
                row.into(),
            ]
        })
        .collect();
    tx.each(sql, &all).await.map(drop)
}
