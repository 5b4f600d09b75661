//! Brings schedules back that a clock has moved on too far.
//!
//! While the clock of a process is ahead, it finds schedules due that are not, and notes as their next instant the first
//! one after its own time. Once the clock is right again, nothing is due until that instant, which may be years away. Here
//! such a schedule goes on from now. An instant that had its run early has no other: the key of runs sees to that.

use jiff::Timestamp;
use uuid::Uuid;

use super::schedules::schedule;
use crate::context::Context;
use crate::store::{Scope, Store, StoreError, Tx};

/// How far ahead an instant is before its schedule is looked at, in microseconds: what comes sooner passes by itself.
const FAR: i64 = 3600 * 1_000_000;

/// How many schedules are looked at in one transaction.
const BATCH: usize = 100;

/// The schedules behind one, in their order.
#[derive(Debug, Clone, Copy)]
struct Position {
    due_at: i64,
    workflow: Uuid,
    now: i64,
}

/// Schedules that were looked at.
struct Page {
    /// Where the next one begins, if there may be more.
    next: Option<Position>,
    late: Vec<LateSchedule>,
}

/// A schedule whose active version is due before what was noted of it.
#[derive(Debug, Clone, Copy)]
struct LateSchedule {
    organization: Uuid,
    workflow: Uuid,
    /// As they were found.
    version: i64,
    since: i64,
    due_at: i64,
    /// As they should be.
    active: i64,
    due: i64,
    now: i64,
}

/// Brings back what was moved on too far, and gives how many schedules it was.
///
/// # Errors
/// Those of the store.
pub async fn bring_back_schedules(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let scope = &Scope::Operator;
    let now = context.now();
    let mut moved = 0;
    let mut position = Some(Position {
        due_at: now + FAR,
        workflow: Uuid::max(),
        now,
    });
    while let Some(from) = position {
        let page: Page = store
            .read(scope, from, |tx, from| Box::pin(look(tx, *from)))
            .await?;
        for late in page.late {
            let brought: bool = store
                .write(scope, late, |tx, late| Box::pin(bring_back(tx, *late)))
                .await?;
            moved += u64::from(brought);
        }
        position = page.next;
    }
    Ok(moved)
}

/// Looks at the schedules behind that position.
async fn look(tx: &mut Tx, from: Position) -> Result<Page, StoreError> {
    let sql = "SELECT s.organization_id, s.workflow_id, s.version, s.since, s.due_at, v.version, v.trigger_config \
         FROM workflow_schedules s JOIN workflow_versions v ON v.organization_id = s.organization_id \
         AND v.workflow_id = s.workflow_id WHERE v.is_active AND s.due_at >= $1 \
         AND (s.due_at > $1 OR s.workflow_id > $2) ORDER BY s.due_at, s.workflow_id LIMIT $3 {across queue}";
    let most = i64::try_from(BATCH).unwrap_or(i64::MAX);
    let parameters = [from.due_at.into(), from.workflow.into(), most.into()];
    let rows = tx.query(sql, &parameters).await?;
    let mut page = Page {
        next: None,
        late: Vec::new(),
    };
    let now = Timestamp::from_microsecond(from.now).unwrap_or(Timestamp::UNIX_EPOCH);
    for row in &rows {
        let (organization, workflow) = (row.get(0)?, row.get(1)?);
        let due_at: i64 = row.get(4)?;
        let trigger: String = row.get(6)?;
        // One that cannot be read has said so, and waits for its timer.
        let due = match schedule(tx, organization, &trigger).await? {
            Ok(schedule) => schedule.next_after(now).map(Timestamp::as_microsecond),
            Err(_) => None,
        };
        if let Some(due) = due.filter(|due| *due < due_at) {
            page.late.push(LateSchedule {
                organization,
                workflow,
                version: row.get(2)?,
                since: row.get(3)?,
                due_at,
                active: row.get(5)?,
                due,
                now: from.now,
            });
        }
        if rows.len() == BATCH {
            page.next = Some(Position {
                due_at,
                workflow,
                now: from.now,
            });
        }
    }
    Ok(page)
}

/// Notes the instant; false where the schedule is no longer as it was found.
async fn bring_back(tx: &mut Tx, late: LateSchedule) -> Result<bool, StoreError> {
    let sql = "UPDATE main.workflow_schedules SET version = $3, due_at = $4, since = $5 WHERE organization_id = $1 \
         AND workflow_id = $2 AND version = $6 AND due_at = $7 AND since = $8 RETURNING workflow_id";
    let parameters = [
        late.organization.into(),
        late.workflow.into(),
        late.active.into(),
        late.due.into(),
        // It may have been activated by that clock, too.
        late.since.min(late.now).into(),
        late.version.into(),
        late.due_at.into(),
        late.since.into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}
