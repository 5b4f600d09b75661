//! Row events for the automations that watch a table.
//!
//! An event is written in the transaction of its row; a worker starts a run for it (`dispatch`). Writes to an
//! unwatched table cost nothing, because the cached table says so. Template jobs write rows without
//! events.

use std::collections::BTreeMap;

use tplkit::rows::{equal, members, same_file_cell};
use uuid::Uuid;

use super::runs::Run;
use crate::context::Context;
use crate::ids::Stamp;
use crate::rows::{PreparedRow, StoredRow, Subscription, Table};
use crate::store::{StoreError, Tx, Value};
use crate::wake::WorkerSignal;

/// Through whom something happens.
#[derive(Debug, Clone, Copy)]
pub struct Cause<'b> {
    /// The run, if it is one.
    run: Option<Uuid>,
    /// The run that began the chain of that one.
    chain: Option<Uuid>,
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
            chain: None,
            depth: 1,
            creator: None,
            signal,
        }
    }

    /// Through a run.
    pub(super) fn run(run: &Run, signal: &'b WorkerSignal) -> Cause<'b> {
        Cause {
            run: Some(run.id),
            chain: Some(run.chain()),
            depth: run.depth + 1,
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
    /// When it was created, in microseconds.
    pub created_at: i64,
    /// When it was changed last.
    pub updated_at: i64,
    /// When it was removed, in microseconds.
    pub now: i64,
}

/// Records that rows were created; watchers of columns get an event where one of their columns is filled.
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
        for watcher in concerned(table, "created", "{}", &stored.data) {
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
    let mut events = Vec::new();
    for watcher in concerned(table, "updated", before, &after.data) {
        let stamp = Stamp {
            id: context.id(),
            now: after.updated_at,
        };
        events.push(event_row(table, watcher, after, cause, stamp));
    }
    insert(tx, &events, cause).await
}

/// Records that a row was removed; watchers of columns get an event where one of their columns was filled.
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
    for watcher in concerned(table, "deleted", deleted.data, "{}") {
        let stored = StoredRow {
            id: deleted.id,
            created_at: deleted.created_at,
            updated_at: deleted.updated_at,
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

/// The automations that an event fires: they wait for its mode and, where they watch columns, one of these has changed.
/// A row that is new has changed from nothing, one that is removed to nothing.
fn concerned<'t>(table: &'t Table, mode: &str, before: &str, after: &str) -> Vec<&'t Subscription> {
    let waiting = table.watchers.iter().filter(|one| one.awaits(mode));
    let mut concerned: Vec<&Subscription> = waiting.collect();
    let always = |one: &Subscription| mode != "updated" && !one.watches_columns();
    if concerned.iter().all(|one| always(one)) {
        return concerned;
    }
    let is_file = |name: &str| table.column(name).is_some_and(|column| column.rule.file);
    let changed = changed(before, after, is_file);
    concerned.retain(|one| always(one) || changed.iter().any(|column| one.watches(column)));
    concerned
}

/// The columns whose cells differ. Absent and null are one, and so is the id of a file in other letters.
fn changed(before: &str, after: &str, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let cells = |data| -> BTreeMap<String, String> {
        let filled = members(data).filter(|(_, value)| *value != "null");
        filled
            .map(|(key, value)| (key.decoded().into_owned(), value.to_owned()))
            .collect()
    };
    let (before, after) = (cells(before), cells(after));
    let differs = |(key, value): &(&String, &String)| match before.get(*key) {
        Some(old) if is_file(key) => !same_file_cell(old, value),
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
        cause.chain.into(),
    ]
}

async fn insert(tx: &mut Tx, events: &[Vec<Value>], cause: Cause<'_>) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO main.workflow_events {into $1} (organization_id, workspace_id, feature_id, \
         id, workflow_id, version, row_id, record, depth, cause, creator, created_at, \
         chain) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    tx.each(sql, events).await?;
    if let Some(Value::Id(organization)) = events[0].first() {
        tx.note_queue(*organization).await?;
    }
    cause.signal.mark();
    Ok(())
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
            assert_eq!(changed(before, after, |_| false), columns, "{after}");
        }
    }

    #[test]
    fn the_id_of_a_file_is_one_in_other_letters() {
        let lower = r#"{"photo":"3f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11"}"#;
        let upper = r#"{"photo":"3F0C5B1E-9F5D-4D8E-8A47-2F5B8D1F0A11"}"#;
        assert_eq!(changed(lower, upper, |name| name == "photo"), [""; 0]);
        assert_eq!(changed(lower, upper, |_| false), ["photo"]);
        let other = r#"{"photo":"4f0c5b1e-9f5d-4d8e-8a47-2f5b8d1f0a11"}"#;
        assert_eq!(changed(lower, other, |name| name == "photo"), ["photo"]);
    }
}
