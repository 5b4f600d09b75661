//! Removes files that nothing has used for a while, objects that no record names, and what a process that was killed has
//! half written into a folder.
//!
//! Each file goes in a transaction of its own, under the lock that a delete takes and the makers of uses share; what
//! was decided without the lock is decided once more under it. An object is condemned in one transaction and removed
//! after it: a process that is killed in between leaves a condemned object, which the next sweep removes.

use uuid::Uuid;

use super::objects::Object;
use super::record::{File, columns};
use super::remove::{erase, lock_organization};
use super::storage::{FileStorage, FileStorageError, MIN_AGE_MICROS};
use crate::context::{Context, micros};
use crate::store::{Scope, Store, StoreError, Tx, Value};

/// How many are looked for at a time.
const OBJECTS_PER_QUERY: i64 = 100;

/// When an object that could not be removed is tried again, in microseconds.
const RETRY_AFTER_MICROS: i64 = 5 * 60 * 1_000_000;

/// What a sweep works with.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// Where the records are.
    pub store: Store,
    /// Where the bytes are, if anywhere.
    pub place: Option<FileStorage>,
    /// The time.
    pub context: Context,
    /// How long a file without a use is kept.
    pub grace: std::time::Duration,
}

impl Sweep {
    /// Sweeps once, and gives how much went.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn run(&self) -> Result<u64, StoreError> {
        let files = self.files().await?;
        let objects = self.objects().await?;
        Ok(files + objects + self.half_written().await)
    }

    /// Removes files whose grace is over.
    async fn files(&self) -> Result<u64, StoreError> {
        let grace = i64::try_from(micros(self.grace)).unwrap_or(i64::MAX / 2);
        let before = self.context.now() - grace;
        let mut removed = 0;
        loop {
            let due: Vec<Due> = self
                .store
                .read(&Scope::Operator, before, |tx, before| {
                    Box::pin(due(tx, *before))
                })
                .await?;
            for file in &due {
                let input = (*file, before);
                let gone: bool = self
                    .store
                    .write(&Scope::Operator, input, |tx, (file, before)| {
                        Box::pin(expire(tx, *file, *before))
                    })
                    .await?;
                removed += u64::from(gone);
            }
            if i64::try_from(due.len()).unwrap_or(OBJECTS_PER_QUERY) < OBJECTS_PER_QUERY {
                return Ok(removed);
            }
        }
    }

    /// Removes objects that nothing names.
    async fn objects(&self) -> Result<u64, StoreError> {
        let Some(place) = &self.place else {
            return Ok(0);
        };
        let mut removed = 0;
        loop {
            let looked: SweepCandidates = self
                .store
                .write(&Scope::Operator, self.context.now(), |tx, now| {
                    Box::pin(condemn(tx, *now))
                })
                .await?;
            for object in looked.free {
                if let Err(FileStorageError::Unavailable(why)) = place.remove(&object.key()).await {
                    tracing::warn!(
                        why,
                        key = %object.key(),
                        "an object that nothing needs could not be removed; a later sweep tries again"
                    );
                    if place.is_there().await.is_err() {
                        return Ok(removed);
                    }
                    let later = (object, self.context.now() + RETRY_AFTER_MICROS);
                    let put_off: Result<(), StoreError> = self
                        .store
                        .write(&Scope::Operator, later, |tx, (object, until)| {
                            Box::pin(put_off(tx, *object, *until))
                        })
                        .await;
                    put_off?;
                    continue;
                }
                let forgotten: Result<(), StoreError> = self
                    .store
                    .write(&Scope::Operator, object, |tx, object| {
                        Box::pin(forget(tx, object.organization, object.id))
                    })
                    .await;
                forgotten?;
                removed += 1;
            }
            if !looked.more {
                return Ok(removed);
            }
        }
    }

    /// Removes what no upload that is still coming can be writing. No record says anything of it.
    async fn half_written(&self) -> u64 {
        let Some(place) = &self.place else {
            return 0;
        };
        let removed = remove_half_written(place, self.context.now() - MIN_AGE_MICROS).await;
        removed.unwrap_or_else(|error| {
            tracing::warn!(%error, "what uploads have left half written was not removed; a later sweep tries again");
            0
        })
    }
}

async fn remove_half_written(place: &FileStorage, before: i64) -> Result<u64, FileStorageError> {
    let mut removed = 0;
    for listed in place.half_written().await? {
        if listed.written >= before {
            continue;
        }
        match place.remove_listed(&listed).await {
            Ok(()) => removed += 1,
            Err(error) => {
                tracing::warn!(%error, "half an upload was not removed; a later sweep tries again");
            }
        }
    }
    Ok(removed)
}

/// A file that may have to go.
#[derive(Debug, Clone, Copy)]
struct Due {
    organization: Uuid,
    id: Uuid,
}

/// Files that nothing is known to have used since.
async fn due(tx: &mut Tx, before: i64) -> Result<Vec<Due>, StoreError> {
    let sql = "SELECT organization_id, id FROM files WHERE unused_since IS NOT NULL AND unused_since <= $1 \
         ORDER BY unused_since LIMIT $2 {across queue}";
    let rows = tx
        .query(sql, &[before.into(), OBJECTS_PER_QUERY.into()])
        .await?;
    let due = rows.iter().map(|row| {
        Ok(Due {
            organization: row.get(0)?,
            id: row.get(1)?,
        })
    });
    due.collect()
}

/// Removes a file, unless something uses it after all; then nothing is known of its not being used.
async fn expire(tx: &mut Tx, due: Due, before: i64) -> Result<bool, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM files WHERE files.organization_id = $1 AND files.id = $2 AND files.unused_since <= $3 {lock}"
    );
    let of: [Value; 2] = [due.organization.into(), due.id.into()];
    let [organization, id] = of.clone();
    lock_organization(tx, due.organization).await?;
    let Some(row) = tx.first(sql, &[organization, id, before.into()]).await? else {
        return Ok(false);
    };
    let file = File::read(&row)?;
    // A statement of its own: it sees what those who had the lock before have written.
    let used = "SELECT EXISTS (SELECT 1 FROM file_uses WHERE organization_id = $1 AND file_id = $2) \
         OR EXISTS (SELECT 1 FROM file_holds WHERE organization_id = $1 AND file_id = $2)";
    let used = tx.first(used, &of).await?;
    if used.map_or(Ok(true), |row| row.get::<bool>(0))? {
        let sql =
            "UPDATE main.files SET unused_since = NULL WHERE organization_id = $1 AND id = $2";
        tx.query(sql, &of).await?;
        return Ok(false);
    }
    erase(tx, &file).await?;
    Ok(true)
}

/// Objects that may have to go, after one was looked at.
#[derive(Debug)]
struct SweepCandidates {
    free: Vec<Object>,
    more: bool,
}

/// Condemns objects that no record names and nobody holds, and gives them with those that were condemned before.
async fn condemn(tx: &mut Tx, now: i64) -> Result<SweepCandidates, StoreError> {
    let finds = "SELECT organization_id, id FROM file_objects \
         WHERE free_since IS NOT NULL AND free_since <= $1 ORDER BY free_since LIMIT $2 {across queue}";
    let found = tx
        .query(finds, &[now.into(), OBJECTS_PER_QUERY.into()])
        .await?;
    let locks = "SELECT organization_id, id, sha256, size FROM file_objects \
         WHERE organization_id = $1 AND {any id $2} AND free_since IS NOT NULL AND free_since <= $3 \
         ORDER BY id {skip}";
    let rows = tx.by_organization(locks, &found, &[now.into()]).await?;
    // Where others have all of them, they do the rest as well.
    let more = i64::try_from(found.len()).unwrap_or(0) == OBJECTS_PER_QUERY && !rows.is_empty();
    let mut free = Vec::new();
    for row in rows {
        let digest: Vec<u8> = row.get(2)?;
        let object = Object {
            organization: row.get(0)?,
            id: row.get(1)?,
            sha256: digest.try_into().unwrap_or([0; 32]),
            size: row.get(3)?,
        };
        if condemn_one(tx, object.organization, object.id, now).await? {
            free.push(object);
        }
    }
    Ok(SweepCandidates { free, more })
}

/// Condemns an object, unless a record names it or somebody holds it. Says whether it is condemned.
///
/// # Errors
/// Those of the store.
pub(super) async fn condemn_one(
    tx: &mut Tx,
    organization: Uuid,
    object: Uuid,
    now: i64,
) -> Result<bool, StoreError> {
    let of: [Value; 2] = [organization.into(), object.into()];
    let sql = "SELECT condemned, coalesce(free_since > $3, false) FROM file_objects \
         WHERE organization_id = $1 AND id = $2 {lock}";
    let [organization, object] = of.clone();
    let Some(row) = tx.first(sql, &[organization, object, now.into()]).await? else {
        return Ok(false);
    };
    let (condemned, held): (bool, bool) = (row.get(0)?, row.get(1)?);
    if condemned || held {
        return Ok(condemned);
    }
    // A statement of its own: it sees what those who had the lock before have written.
    let sql = "SELECT id FROM files WHERE organization_id = $1 AND object_id = $2 LIMIT 1";
    if tx.first(sql, &of).await?.is_some() {
        let sql =
            "UPDATE main.file_objects SET free_since = NULL WHERE organization_id = $1 AND id = $2";
        tx.query(sql, &of).await?;
        return Ok(false);
    }
    let sql = "UPDATE main.file_objects SET condemned = true, free_since = coalesce(free_since, 0) \
         WHERE organization_id = $1 AND id = $2";
    tx.query(sql, &of).await?;
    Ok(true)
}

/// Lets a condemned object that could not be removed stand in nobody's way until that time.
async fn put_off(tx: &mut Tx, object: Object, until: i64) -> Result<(), StoreError> {
    let sql = "UPDATE main.file_objects SET free_since = $3 WHERE organization_id = $1 AND id = $2 AND condemned";
    let parameters = [object.organization.into(), object.id.into(), until.into()];
    tx.query(sql, &parameters).await.map(drop)
}

/// Forgets an object that was removed.
///
/// # Errors
/// Those of the store.
pub(super) async fn forget(
    tx: &mut Tx,
    organization: Uuid,
    object: Uuid,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM main.file_objects WHERE organization_id = $1 AND id = $2 AND condemned";
    let of = [organization.into(), object.into()];
    tx.query(sql, &of).await.map(drop)
}
