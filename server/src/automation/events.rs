//! Row events for the automations that watch a table.
//!
//! An event is written in the transaction of its row; a worker starts a run for it. Writes to an
//! unwatched table cost nothing, because the cached table says so. Template jobs write rows without
//! events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use tplkit::automation::run::Reason;
use tplkit::rows::{equal, members};
use uuid::Uuid;

use super::visibility::{AccountScopes, ChangedRow};
use crate::context::Context;
use crate::ids::{Stamp, WorkspaceKey};
use crate::rows::{PreparedRow, StoredRow, Subscription, Table};
use crate::store::{BulkInsert, Row, RowValue, Scope, Store, StoreError, Tx, Value};
use crate::wake::WorkerSignal;

/// How deep runs may cause one another.
pub const DEEPEST: i64 = 8;

/// Through whom something happens.
#[derive(Debug, Clone, Copy)]
pub struct Cause<'b> {
    /// The run, if it is one.
    run: Option<Uuid>,
    /// How deep the runs are that are caused.
    depth: i64,
    /// Whose the row is that it happens to.
    creator: Option<Uuid>,
    signal: &'b WorkerSignal,
}

impl<'b> Cause<'b> {
    /// Through a person or a key.
    pub fn person(signal: &'b WorkerSignal) -> Cause<'b> {
        Cause {
            run: None,
            depth: 1,
            creator: None,
            signal,
        }
    }

    /// Through a run of that depth.
    pub(super) fn run(run: Uuid, depth: i64, signal: &'b WorkerSignal) -> Cause<'b> {
        Cause {
            run: Some(run),
            depth: depth + 1,
            creator: None,
            signal,
        }
    }

    /// The same, to a row that is theirs.
    #[must_use]
    pub fn to_row_of(mut self, creator: Option<Uuid>) -> Cause<'b> {
        self.creator = creator;
        self
    }
}

/// Rows that were created.
#[derive(Debug, Clone, Copy)]
pub struct CreatedRows<'r> {
    /// The rows.
    pub rows: &'r [PreparedRow],
    /// When, in microseconds.
    pub now: i64,
}

/// A row that changed.
#[derive(Debug, Clone, Copy)]
pub struct UpdatedRow<'r> {
    /// Its data before.
    pub before: &'r str,
    /// The row as it is now.
    pub after: &'r StoredRow,
}

/// A row that was removed.
#[derive(Debug, Clone, Copy)]
pub struct DeletedRow<'r> {
    /// Its id.
    pub id: Uuid,
    /// The data that it had.
    pub data: &'r str,
    /// When it was removed, in microseconds.
    pub now: i64,
}

/// Records that rows were created.
///
/// # Errors
/// Those of the store.
pub async fn created(
    tx: &mut Tx,
    table: &Table,
    created: CreatedRows<'_>,
    cause: Cause<'_>,
    context: &Context,
) -> Result<(), StoreError> {
    if table.watchers.is_empty() {
        return Ok(());
    }
    let CreatedRows { rows, now } = created;
    let mut events = Vec::new();
    for row in rows {
        let stored = StoredRow {
            id: row.id,
            created_at: now,
            updated_at: now,
            data: row.data.clone(),
        };
        let waiting = table.watchers.iter().filter(|one| one.awaits("created"));
        for watcher in waiting {
            let id = context.id();
            let stamp = Stamp { id, now };
            events.push(event_row(table, watcher, &stored, cause, stamp));
        }
    }
    insert(tx, &events, cause).await
}

/// Records that a row changed; watchers of columns get an event only when one of their columns
/// changed.
///
/// # Errors
/// Those of the store.
pub async fn updated(
    tx: &mut Tx,
    table: &Table,
    UpdatedRow { before, after }: UpdatedRow<'_>,
    cause: Cause<'_>,
    context: &Context,
) -> Result<(), StoreError> {
    if !table.watchers.iter().any(|one| one.awaits("updated")) {
        return Ok(());
    }
    let changed = changed(before, &after.data);
    let mut events = Vec::new();
    for watcher in &table.watchers {
        let concerns = changed.iter().any(|column| watcher.watches(column));
        if watcher.awaits("updated") && concerns {
            let stamp = Stamp {
                id: context.id(),
                now: after.updated_at,
            };
            events.push(event_row(table, watcher, after, cause, stamp));
        }
    }
    insert(tx, &events, cause).await
}

/// Records that a row was removed.
///
/// # Errors
/// Those of the store.
pub async fn deleted(
    tx: &mut Tx,
    table: &Table,
    deleted: DeletedRow<'_>,
    cause: Cause<'_>,
    context: &Context,
) -> Result<(), StoreError> {
    let mut events = Vec::new();
    for watcher in table.watchers.iter().filter(|one| one.awaits("deleted")) {
        let stored = StoredRow {
            id: deleted.id,
            created_at: deleted.now,
            updated_at: deleted.now,
            data: deleted.data.to_owned(),
        };
        let stamp = Stamp {
            id: context.id(),
            now: deleted.now,
        };
        events.push(event_row(table, watcher, &stored, cause, stamp));
    }
    insert(tx, &events, cause).await
}

/// The columns whose cells differ. Absent and null are one.
fn changed(before: &str, after: &str) -> Vec<String> {
    let cells = |data| -> BTreeMap<String, String> {
        let filled = members(data).filter(|(_, value)| *value != "null");
        filled
            .map(|(key, value)| (key.decoded().into_owned(), value.to_owned()))
            .collect()
    };
    let (before, after) = (cells(before), cells(after));
    let differs = |(key, value): &(&String, &String)| match before.get(*key) {
        Some(old) => !equal(old, value),
        None => true,
    };
    let mut changed: Vec<String> = after
        .iter()
        .filter(differs)
        .map(|(key, _)| key.clone())
        .collect();
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    changed.extend(gone.cloned());
    changed
}

fn event_row(
    table: &Table,
    watcher: &Subscription,
    row: &StoredRow,
    cause: Cause<'_>,
    Stamp { id, now }: Stamp,
) -> Vec<Value> {
    let record = String::from_utf8(row.document(table.id)).unwrap_or_default();
    vec![
        table.organization.into(),
        table.workspace.into(),
        table.id.into(),
        id.into(),
        watcher.workflow.into(),
        watcher.version.into(),
        row.id.into(),
        record.into(),
        cause.depth.into(),
        cause.run.into(),
        cause.creator.into(),
        now.into(),
    ]
}

async fn insert(tx: &mut Tx, events: &[Vec<Value>], cause: Cause<'_>) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO main.workflow_events {into $1} (organization_id, workspace_id, feature_id, \
         id, workflow_id, version, row_id, record, depth, cause, creator, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    tx.each(sql, events).await?;
    if let Some(Value::Id(organization)) = events[0].first() {
        tx.note_queue(*organization).await?;
    }
    cause.signal.mark();
    Ok(())
}

/// How many events one transaction makes runs of.
const BATCH: usize = 200;

/// Makes runs of the events that have waited longest; true when more may wait. What happened to a row that
/// the publisher does not see starts none, and leaves no trace.
///
/// # Errors
/// Those of the store.
pub(super) async fn dispatch(store: &Store, scope: &Scope, now: i64) -> Result<bool, StoreError> {
    let dispatched = store.write(scope, now, |tx, now| Box::pin(dispatch_some(tx, *now)));
    dispatched.await
}

async fn dispatch_some(tx: &mut Tx, asked_at: i64) -> Result<bool, StoreError> {
    let TakenEvents { events, more } = take_some(tx).await?;
    let fired = fired(tx, &events).await?;
    let mut account_scopes = AccountScopes::new(asked_at);
    let mut runs = BTreeMap::<Uuid, Vec<Vec<Value>>>::new();
    for event in &events {
        let of = Subscriber::read(event)?;
        // An automation that has gone meanwhile runs no more.
        let Some(FiredWorkflow {
            workspace: place,
            publisher,
        }) = fired.get(&of).copied()
        else {
            continue;
        };
        let Subscriber {
            organization,
            workflow,
            version,
        } = of;
        let feature: Uuid = event.get(4)?;
        let row = ChangedRow {
            workspace: event.get(10)?,
            feature,
            creator: event.get(11)?,
        };
        let key = WorkspaceKey {
            organization,
            workspace: place,
        };
        if !account_scopes.notices(tx, key, publisher, row).await? {
            continue;
        }
        let depth: i64 = event.get(7)?;
        let now: i64 = event.get(9)?;
        let (status, error) = too_deep(depth);
        runs.entry(organization).or_default().push(vec![
            place.into(),
            workflow.into(),
            event.get::<Uuid>(1)?.into(),
            version.into(),
            status.into(),
            feature.into(),
            event.get::<Uuid>(5)?.into(),
            event.get::<String>(6)?.into(),
            depth.into(),
            event.get::<Option<Uuid>>(8)?.into(),
            error.clone().into(),
            error.as_ref().map(|_| Reason::TooDeep.as_str()).into(),
            now.into(),
            error.map(|_| now).into(),
            publisher.into(),
        ]);
    }
    for (organization, runs) in runs {
        RUNS.insert(tx, &[organization.into()], runs).await?;
    }
    Ok(more)
}

/// Writes the runs of events of an organization down.
static RUNS: LazyLock<BulkInsert> = LazyLock::new(|| {
    use RowValue::{Id, Int, Text};
    BulkInsert {
        head: "INSERT INTO main.workflow_runs {into $1} (organization_id, workspace_id, workflow_id, id, \
             version, status, feature_id, row_id, record, depth, cause, error, error_code, created_at, \
             finished_at, publisher, trigger_word, dry_run)"
            .to_owned(),
        row: "$1, @1, @2, @3, @4, @5, @6, @7, @8, @9, @10, @11, @12, @13, @14, @15, 'record.event', false"
            .to_owned(),
        tail: String::new(),
        own: vec![
            Id, Id, Id, Int, Text, Id, Id, Text, Int, Id, Text, Text, Int, Int, Id,
        ],
    }
});

/// Events that were taken out of the queue.
struct TakenEvents {
    events: Vec<Row>,
    /// Whether others may wait.
    more: bool,
}

/// The events that have waited longest, removed. Those that others take at the moment are passed over, however many
/// they are. Found, locked and removed in statements of their own: in one, PostgreSQL plans to go through all events as
/// long as it has counted none.
async fn take_some(tx: &mut Tx) -> Result<TakenEvents, StoreError> {
    let finds = "SELECT organization_id, id FROM workflow_events WHERE {queue organization_id} AND id > $1 \
         ORDER BY id LIMIT 200 {across queue}";
    let locks = "SELECT organization_id, id, workflow_id, version, feature_id, row_id, record, depth, \
         cause, created_at, workspace_id, creator FROM workflow_events \
         WHERE organization_id = $1 AND {any id $2} ORDER BY id {skip}";
    let (mut events, mut more, mut after) = (Vec::new(), true, Uuid::nil());
    while events.is_empty() && more {
        let found = tx.query(finds, &[after.into()]).await?;
        more = found.len() >= BATCH;
        if let Some(last) = found.last() {
            after = last.get(1)?;
        }
        events = tx.by_organization(locks, &found, &[]).await?;
    }
    let sql = "DELETE FROM main.workflow_events WHERE organization_id = $1 AND {any id $2}";
    tx.by_organization(sql, &events, &[]).await?;
    Ok(TakenEvents { events, more })
}

/// Removes the events of an automation of which no run was made yet.
///
/// # Errors
/// Those of the store.
pub async fn forget(tx: &mut Tx, organization: Uuid, workflow: Uuid) -> Result<(), StoreError> {
    let sql = "DELETE FROM main.workflow_events WHERE organization_id = $1 AND workflow_id = $2";
    let of = [organization.into(), workflow.into()];
    tx.query(sql, &of).await.map(drop)
}

/// The version of an automation that an event fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Subscriber {
    /// Whose the automation is.
    organization: Uuid,
    /// The automation.
    workflow: Uuid,
    /// The number of the version.
    version: i64,
}

impl Subscriber {
    /// Reads it from a row of [`take_some`].
    fn read(event: &Row) -> Result<Subscriber, StoreError> {
        Ok(Subscriber {
            organization: event.get(0)?,
            workflow: event.get(2)?,
            version: event.get(3)?,
        })
    }
}

/// Where an automation that fires stands, and for whom it works.
#[derive(Debug, Clone, Copy)]
struct FiredWorkflow {
    /// The workspace that it stands in.
    workspace: Uuid,
    /// Who published the version.
    publisher: Option<Uuid>,
}

/// Where the automations of events stand, and who published their versions: many events are of few
/// automations.
async fn fired(
    tx: &mut Tx,
    events: &[Row],
) -> Result<BTreeMap<Subscriber, FiredWorkflow>, StoreError> {
    let keys = events.iter().map(Subscriber::read);
    let keys = keys.collect::<Result<BTreeSet<Subscriber>, StoreError>>()?;
    let parameters = keys.iter().map(|key| {
        vec![
            key.organization.into(),
            key.workflow.into(),
            key.version.into(),
        ]
    });
    let sql = "SELECT w.workspace_id, v.publisher FROM workflows w LEFT JOIN workflow_versions v \
         ON v.organization_id = w.organization_id AND v.workflow_id = w.id AND v.version = $3 \
         WHERE w.organization_id = $1 AND w.id = $2";
    let found = tx.each(sql, &parameters.collect::<Vec<_>>()).await?;
    let mut fired = BTreeMap::new();
    for (key, rows) in keys.into_iter().zip(found) {
        if let Some(row) = rows.first() {
            let workflow = FiredWorkflow {
                workspace: row.get(0)?,
                publisher: row.get(1)?,
            };
            fired.insert(key, workflow);
        }
    }
    Ok(fired)
}

/// The status of a run of that depth, and why it is not executed.
pub(super) fn too_deep(depth: i64) -> (&'static str, Option<String>) {
    if depth <= DEEPEST {
        return ("queued", None);
    }
    let message = format!(
        "runs caused one another to a depth of {depth}, and {DEEPEST} is the deepest: the automations set each other off"
    );
    ("failed", Some(message))
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn only_what_differs_has_changed() {
        let before = r#"{"a":1,"b":null,"c":"x","d":[1],"e":true}"#;
        for (after, columns) in [
            (before, &[][..]),
            (r#"{"a":1.0,"c":"x","d":[1.0],"e":true,"f":null}"#, &[]),
            (r#"{"a":"1","b":2,"d":[2]}"#, &["a", "b", "d", "c", "e"]),
            ("{}", &["a", "c", "d", "e"]),
        ] {
            assert_eq!(changed(before, after), columns, "{after}");
        }
    }
}
