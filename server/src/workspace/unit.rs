//! Writes the changes of one unit, in order, within one transaction.

use std::collections::HashMap;
use std::sync::Arc;

use tplkit::problem::Code;
use tplkit::rows::{FaultKind, members};
use tplkit::workspace::{Change, Id, RecordKind, Refused, RowData, StoredRow};

use super::automations::{self, DraftId};
use super::error::{missing, refused};
use super::sequences::Sequence;
use super::unit_transaction::{UnitContext, UnitTransaction};
use super::{UnitError, sequences};
use crate::context::Context;
use crate::rows::{Faults, PreparedRow, RowPreparer, SourceCell, Table, Tables, Validate};
use crate::store::Tx;

/// The rows of a unit's inserts, let into their tables as those were last seen, by the position of the
/// change. It spares the transaction the work; where a table has changed, it is done again.
#[derive(Debug, Default)]
pub(crate) struct PreparedUnit(HashMap<usize, PreparedInsert>);

/// The rows of one insert, and the table for which they were prepared.
#[derive(Debug)]
struct PreparedInsert {
    table: Arc<Table>,
    rows: Vec<PreparedRow>,
}

impl PreparedUnit {
    /// Does what can be done without asking the store.
    pub(crate) fn of(changes: &[Change], tables: &Tables, context: &Context) -> PreparedUnit {
        let mut prepared = PreparedUnit::default();
        for (at, change) in changes.iter().enumerate() {
            if let Change::InsertRows { feature, rows } = change
                && let Some(table) = tables.peek(*feature)
            {
                let rows = rows.iter();
                let rows = rows.map(|row| enter(&table, context, row.id, &row.data));
                if let Some(rows) = rows.collect() {
                    prepared.0.insert(at, PreparedInsert { table, rows });
                }
            }
        }
        prepared
    }
}

/// Does the changes of a unit.
///
/// # Errors
/// When one of them cannot be done; then none is to be kept.
pub(crate) async fn write(
    tx: &mut Tx,
    here: &UnitContext,
    changes: &[Change],
    prepared: &PreparedUnit,
) -> Result<(), UnitError> {
    let rows_alone = changes.iter().all(|change| {
        matches!(
            change,
            Change::InsertRows { .. }
                | Change::UpdateRows { .. }
                | Change::RemoveRows { .. }
                | Change::PutRows { .. }
                | Change::MoveSequence { .. }
                | Change::RewindSequence { .. }
        )
    });
    let mut writing = UnitTransaction {
        tx,
        here,
        rows_alone,
        held: false,
        fresh: HashMap::new(),
        opened: HashMap::new(),
    };
    // Numbers before rows, as everybody takes them: who waits for one holds no values yet.
    if rows_alone {
        for change in changes.iter().filter(|change| moves_on(change)) {
            writing.change(change, None).await?;
        }
    }
    for (at, change) in changes.iter().enumerate() {
        if !(rows_alone && moves_on(change)) {
            writing.change(change, prepared.0.get(&at)).await?;
        }
    }
    Ok(())
}

fn moves_on(change: &Change) -> bool {
    matches!(change, Change::MoveSequence { .. })
}

impl UnitTransaction<'_> {
    fn sequence(&self, feature: Id, column: Id) -> Sequence {
        Sequence {
            organization: self.here.organization,
            feature,
            column,
        }
    }

    async fn change(
        &mut self,
        change: &Change,
        prepared: Option<&PreparedInsert>,
    ) -> Result<(), UnitError> {
        match change {
            Change::InsertRows { feature, rows } => {
                return self.insert_rows(*feature, rows, prepared).await;
            }
            Change::UpdateRows { feature, rows } => return self.update_rows(*feature, rows).await,
            Change::RemoveRows { feature, rows } => return self.remove_rows(*feature, rows).await,
            Change::PutRows { feature, rows } => return self.put_rows(*feature, rows).await,
            Change::MoveSequence {
                feature,
                column,
                from,
                to,
            } => {
                let sequence = self.sequence(*feature, *column);
                return sequences::move_on(self.tx, sequence, *from, *to).await;
            }
            Change::RewindSequence {
                feature,
                column,
                from,
                to,
            } => {
                let sequence = self.sequence(*feature, *column);
                return sequences::rewind(self.tx, sequence, *from, *to).await;
            }
            _ => {}
        }
        // What was seen of tables may be otherwise now.
        self.opened.clear();
        match change {
            Change::Create(new) => self.create(new).await,
            Change::Configure { kind, id, config } => self.configure(*kind, *id, config).await,
            Change::Update { from, to } => self.amend(from, to).await,
            Change::CheckOrder {
                kind,
                parent,
                order,
            } => self.check_order(*kind, *parent, order).await,
            Change::CheckRecord { stands } => self.check_record(stands).await,
            Change::Draft { version, from, to } => {
                automations::begin_draft(self.tx, self.here, *version, from, to).await
            }
            Change::PublishDraft { workflow, version } => {
                let draft = DraftId {
                    workflow: *workflow,
                    version: *version,
                };
                automations::publish_draft(self.tx, self.here, draft).await
            }
            Change::RemoveDraft {
                workflow,
                version,
                published,
            } => {
                let draft = DraftId {
                    workflow: *workflow,
                    version: *version,
                };
                automations::remove_draft(self.tx, self.here, draft, published.as_deref()).await
            }
            Change::Restore {
                kind,
                id,
                current,
                config,
            } => self.restore(*kind, *id, current, config).await,
            Change::Publish { workflow } => {
                automations::publish(self.tx, self.here, *workflow).await
            }
            Change::Remove { kind, id, force } => self.remove(*kind, *id, *force).await,
            _ => Ok(()),
        }
    }

    async fn insert_rows(
        &mut self,
        feature: Id,
        rows: &[StoredRow],
        prepared: Option<&PreparedInsert>,
    ) -> Result<(), UnitError> {
        // It has rows from now on.
        self.fresh.remove(&feature);
        let opened = self.open(feature).await?;
        let opened = opened.ok_or_else(|| missing(RecordKind::Feature, feature))?;
        let (creator, now) = (self.here.creator, self.here.now);
        let entered;
        let rows = match prepared {
            Some(insert) if Arc::ptr_eq(&insert.table, &opened.table) => &insert.rows,
            _ => {
                let (table, context) = (&opened.table, &self.here.context);
                let rows = rows.iter().enumerate().map(|(at, row)| {
                    enter(table, context, row.id, &row.data).ok_or_else(|| not_storable(at))
                });
                entered = rows.collect::<Result<Vec<_>, Refused>>()?;
                &entered
            }
        };
        if rows.iter().all(PreparedRow::is_complete) {
            return Ok(crate::rows::insert_complete(self.tx, &opened, creator, now, rows).await?);
        }
        let mut rows = rows.clone();
        Ok(crate::rows::insert(self.tx, &opened, creator, now, &mut rows).await?)
    }
}

/// How much longer a row may get: by an identity.
const IDENTITY_BYTES: usize = 64;

/// Lets a row in that was checked already. Its numbers do not move sequences: the job does that itself.
/// Nothing, when a number in it is too long for any store.
pub(super) fn enter(
    table: &Table,
    context: &Context,
    id: Id,
    data: &RowData,
) -> Option<PreparedRow> {
    let entering = RowPreparer {
        table,
        validate: Validate::Off,
        context,
    };
    let mut cells = Vec::with_capacity(table.columns.len());
    cells.extend(members(data.as_str()).map(|(key, raw)| SourceCell {
        key: key.decoded(),
        raw,
        kept: false,
    }));
    cells.sort_by(|one, other| one.key.cmp(&other.key));
    let mut faults = Faults::default();
    let bytes = data.as_str().len() + IDENTITY_BYTES;
    let mut entered = entering.row_of(id, cells.into_iter(), bytes, 0, &mut faults);
    entered.numbered_elsewhere();
    faults.is_empty().then_some(entered)
}

/// The refusal of a row that cannot be kept.
pub(super) fn not_storable(row: usize) -> Refused {
    Refused {
        row: Some(row),
        ..refused(Code::ValidationFailed, FaultKind::Digits.to_string())
    }
}
