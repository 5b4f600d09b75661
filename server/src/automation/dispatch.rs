//! Makes runs of the row events that wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use uuid::Uuid;

use super::chain::{self, Extension};
use super::run_failure::RunFailure;
use super::visibility::{AccountScopes, ChangedRow};
use crate::ids::WorkspaceKey;
use crate::store::{BulkInsert, Row, RowValue, Scope, Store, StoreError, Tx, Value};

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
    let TakenEvents {
        events,
        fired,
        more,
    } = take_some(tx).await?;
    let mut account_scopes = AccountScopes::new(asked_at);
    let mut noticed = Vec::new();
    for event in &events {
        let subscriber = Subscriber::read(event)?;
        // An automation that has gone meanwhile runs no more.
        let Some(workflow) = fired.get(&subscriber).copied() else {
            continue;
        };
        let row = ChangedRow {
            workspace: event.get(10)?,
            feature: event.get(4)?,
            creator: event.get(11)?,
        };
        let key = WorkspaceKey {
            organization: subscriber.organization,
            workspace: workflow.workspace,
        };
        let publisher = workflow.publisher;
        if account_scopes.notices(tx, key, publisher, row).await? {
            noticed.push(NoticedEvent {
                event,
                subscriber,
                workflow,
                chain: event.get(12)?,
            });
        }
    }
    let mut room = room_in_chains(tx, &noticed, asked_at).await?;
    let mut runs = BTreeMap::<Uuid, Vec<Vec<Value>>>::new();
    for event in noticed {
        let left = event.take_room(&mut room);
        // Of what a chain has no room for, the first is recorded.
        if left.is_some_and(|left| left < -1) {
            continue;
        }
        let run = event.run(event.failure(left)?)?;
        let of = event.subscriber.organization;
        runs.entry(of).or_default().push(run);
    }
    for (organization, runs) in runs {
        RUNS.insert(tx, &[organization.into()], runs).await?;
    }
    Ok(more)
}

/// How many runs more the chains of these events may have, by the runs that began them.
async fn room_in_chains(
    tx: &mut Tx,
    events: &[NoticedEvent<'_>],
    now: i64,
) -> Result<BTreeMap<Uuid, i64>, StoreError> {
    let mut wanted = BTreeMap::<(Uuid, Uuid), i64>::new();
    for event in events {
        if let Some(chain) = event.chain {
            let of = (event.subscriber.organization, chain);
            *wanted.entry(of).or_default() += 1;
        }
    }
    let extensions = wanted
        .into_iter()
        .map(|((organization, chain), by)| Extension {
            organization,
            chain,
            by,
        });
    let extensions: Vec<Extension> = extensions.collect();
    let allowed = chain::extend(tx, &extensions, now).await?;
    let chains = extensions.iter().map(|one| one.chain);
    Ok(chains.zip(allowed).collect())
}

/// An event whose row the publisher of its automation sees.
struct NoticedEvent<'e> {
    event: &'e Row,
    subscriber: Subscriber,
    workflow: FiredWorkflow,
    /// The run that began the chain that it belongs to, if a run caused it.
    chain: Option<Uuid>,
}

impl NoticedEvent<'_> {
    /// Takes one of the runs that its chain may still have, and gives how many are left.
    fn take_room(&self, room: &mut BTreeMap<Uuid, i64>) -> Option<i64> {
        let left = room.get_mut(&self.chain?)?;
        *left -= 1;
        Some(*left)
    }

    /// Why its run is not executed, where its chain has so many left.
    fn failure(&self, left: Option<i64>) -> Result<Option<RunFailure>, StoreError> {
        let deep = chain::too_deep(self.event.get(7)?);
        let is_over = left.is_some_and(|left| left < 0);
        Ok(deep.or_else(|| is_over.then(chain::too_long)))
    }

    /// The run as [`RUNS`] writes it.
    fn run(&self, failure: Option<RunFailure>) -> Result<Vec<Value>, StoreError> {
        let event = self.event;
        let now: i64 = event.get(9)?;
        let status = if failure.is_some() {
            "failed"
        } else {
            "queued"
        };
        Ok(vec![
            self.workflow.workspace.into(),
            self.subscriber.workflow.into(),
            event.get::<Uuid>(1)?.into(),
            self.subscriber.version.into(),
            status.into(),
            event.get::<Uuid>(4)?.into(),
            event.get::<Uuid>(5)?.into(),
            event.get::<String>(6)?.into(),
            event.get::<i64>(7)?.into(),
            event.get::<Option<Uuid>>(8)?.into(),
            failure
                .as_ref()
                .map(|failure| failure.detail.clone())
                .into(),
            failure.as_ref().map(|failure| failure.code).into(),
            now.into(),
            failure.map(|_| now).into(),
            self.workflow.publisher.into(),
            self.chain.into(),
        ])
    }
}

/// Writes the runs of events of an organization down.
static RUNS: LazyLock<BulkInsert> = LazyLock::new(|| {
    use RowValue::{Id, Int, Text};
    BulkInsert {
        head: "INSERT INTO main.workflow_runs {into $1} (organization_id, workspace_id, workflow_id, id, \
             version, status, feature_id, row_id, record, depth, cause, error, error_code, created_at, \
             finished_at, publisher, chain, trigger_word, dry_run)"
            .to_owned(),
        row: "$1, @1, @2, @3, @4, @5, @6, @7, @8, @9, @10, @11, @12, @13, @14, @15, @16, 'record.event', false"
            .to_owned(),
        tail: String::new(),
        own: vec![
            Id, Id, Id, Int, Text, Id, Id, Text, Int, Id, Text, Text, Int, Int, Id, Id,
        ],
    }
});

/// Events that were taken out of the queue.
struct TakenEvents {
    events: Vec<Row>,
    /// What they fire, as far as it is there.
    fired: BTreeMap<Subscriber, FiredWorkflow>,
    /// Whether others may wait.
    more: bool,
}

/// The events that have waited longest, removed. Those that others take at the moment are passed over, however many
/// they are. Found, locked and removed in statements of their own: in one, PostgreSQL plans to go through all events as
/// long as it has counted none. Whoever deletes a workspace keeps its automations and then removes their events, so
/// automations are kept first here, too.
async fn take_some(tx: &mut Tx) -> Result<TakenEvents, StoreError> {
    let finds = "SELECT organization_id, id, workflow_id, version FROM workflow_events \
         WHERE {queue organization_id} AND id > $1 ORDER BY id LIMIT 200 {across queue}";
    let locks = "SELECT organization_id, id, workflow_id, version, feature_id, row_id, record, depth, \
         cause, created_at, workspace_id, creator, chain FROM workflow_events \
         WHERE organization_id = $1 AND {any id $2} ORDER BY id {skip}";
    let (mut events, mut fires, mut more) = (Vec::new(), BTreeMap::new(), true);
    let mut after = Uuid::nil();
    while events.is_empty() && more {
        let found = tx.query(finds, &[after.into()]).await?;
        more = found.len() >= BATCH;
        if let Some(last) = found.last() {
            after = last.get(1)?;
        }
        fires = fired(tx, &found).await?;
        events = tx.by_organization(locks, &found, &[]).await?;
    }
    let sql = "DELETE FROM main.workflow_events WHERE organization_id = $1 AND {any id $2}";
    tx.by_organization(sql, &events, &[]).await?;
    Ok(TakenEvents {
        events,
        fired: fires,
        more,
    })
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
    /// Reads it from a row of either statement of [`take_some`].
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
/// automations. They stay until the transaction ends, or the runs of all the others would be lost with those of one that
/// goes meanwhile.
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
         WHERE w.organization_id = $1 AND w.id = $2 {share w}";
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
