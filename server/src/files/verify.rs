//! Compares the records of files with what is in their place.
//!
//! Goes in: a store and its place. Comes out: files whose object is missing or has other bytes, and what is there for
//! nothing. That can be removed: an object that no record names and nobody holds, because a condemned object never
//! lives again, and what no upload that is still running can be writing.

use std::collections::HashMap;

use futures_util::StreamExt as _;
use serde::Serialize;
use uuid::Uuid;

use super::claim_storage::{self, MarkError};
use super::find;
use super::objects::ObjectRef;
use super::record::{File, columns};
use super::storage::{
    FileStorage, FileStorageError, Listed, MIN_AGE_MICROS, Mark, OtherBytes, verified,
};
use super::sweep;
use crate::store::{Scope, Store, StoreError, Tx};

/// How long the next part of an upload into a bucket may be on its way, in microseconds: 5 MiB at 1 KiB/s.
const PART_TIME: i64 = 5 * 1024 * 1_000_000;
/// How many records are read at a time.
const RECORDS_PER_QUERY: i64 = 500;

/// What came out.
#[derive(Debug, Default, Serialize)]
pub struct Verdict {
    /// How many files were looked at.
    pub checked: u64,
    /// Files whose object is not there.
    pub missing: Vec<Broken>,
    /// Files whose object has other bytes.
    pub damaged: Vec<Broken>,
    /// Files whose object is in a bucket, and broke off each time that it was read: nothing is known of its bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Broken>,
    /// What is there for nothing.
    pub left_over: Vec<LeftOver>,
    /// How much of that was removed.
    pub repaired: u64,
}

/// A file whose bytes are not there.
#[derive(Debug, Serialize)]
pub struct Broken {
    file_id: Uuid,
    organization_id: Uuid,
    key: String,
}

/// Something that is there for nothing.
#[derive(Debug, Serialize)]
pub struct LeftOver {
    key: String,
    size: u64,
}

impl Verdict {
    /// Whether all files are known to be whole.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty() && self.unreadable.is_empty()
    }
}

/// Verifies all files of a store. With `repair` what is left over and old enough at `now` is removed.
///
/// # Errors
/// When the place is another store's, or away.
pub async fn verify(
    store: &Store,
    place: &FileStorage,
    repair: bool,
    now: i64,
) -> Result<Verdict, MarkError> {
    claim_storage::check(store, place).await?;
    let mut verdict = Verdict::default();
    // Files of one content share an object, which is read once.
    let mut seen = HashMap::new();
    let mut after = FileRef {
        organization: Uuid::nil(),
        file: Uuid::nil(),
    };
    loop {
        let files = some(store, after).await?;
        let Some(last) = files.last() else { break };
        after = FileRef {
            organization: last.organization_id,
            file: last.id,
        };
        for file in &files {
            verdict.check_file(store, place, file, &mut seen).await?;
        }
    }
    verdict
        .look_for_left_overs(store, place, repair, now)
        .await?;
    Ok(verdict)
}

#[derive(Debug, Clone, Copy)]
enum State {
    Whole,
    Missing,
    Damaged,
    Unreadable,
}

impl Verdict {
    async fn check_file(
        &mut self,
        store: &Store,
        place: &FileStorage,
        file: &File,
        seen: &mut HashMap<Uuid, State>,
    ) -> Result<(), MarkError> {
        let state = match seen.get(&file.object) {
            Some(state) => *state,
            None => state(place, file).await?,
        };
        // Its bytes go when it is deleted, which may be now.
        if !matches!(state, State::Whole) && !find::is_on_record(store, file).await? {
            return Ok(());
        }
        self.checked += 1;
        seen.insert(file.object, state);
        let broken = || Broken {
            file_id: file.id,
            organization_id: file.organization_id,
            key: file.key().to_string(),
        };
        match state {
            State::Whole => {}
            State::Missing => self.missing.push(broken()),
            State::Damaged => self.damaged.push(broken()),
            State::Unreadable => self.unreadable.push(broken()),
        }
        Ok(())
    }

    async fn look_for_left_overs(
        &mut self,
        store: &Store,
        place: &FileStorage,
        repair: bool,
        now: i64,
    ) -> Result<(), MarkError> {
        let foreign = Foreign {
            mark: place.mark().await?,
            other_stores: place.marks_below().await?,
        };
        let mut listing = place.list(None).await?;
        while let Some(listed) = listing.next().await {
            let listed = listed?;
            let object = named_object(&listed);
            if foreign.has(&listed.key) || is_needed(store, object, now).await? {
                continue;
            }
            if repair && listed.written < now - MIN_AGE_MICROS && may_go(store, object, now).await?
            {
                place.remove_listed(&listed).await?;
                if let Some(of) = object {
                    let forgotten: Result<(), StoreError> = store
                        .write(&Scope::Operator, of, |tx, of| {
                            Box::pin(sweep::forget(tx, of.organization, of.object))
                        })
                        .await;
                    forgotten?;
                }
                self.repaired += 1;
            }
            self.left_over.push(LeftOver {
                key: listed.key,
                size: listed.size,
            });
        }
        self.add_open_uploads(place, &foreign, repair, now).await
    }

    /// What a process began to write into a bucket, and nobody ends.
    async fn add_open_uploads(
        &mut self,
        place: &FileStorage,
        foreign: &Foreign,
        repair: bool,
        now: i64,
    ) -> Result<(), MarkError> {
        let open = match place.open_uploads().await {
            Ok(open) => open,
            // Not every bucket lists them, to everybody; what was found of files stands all the same.
            Err(error) if !repair => {
                tracing::warn!(%error, "uploads in parts that nobody has ended could not be listed");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        for upload in open {
            if foreign.has(&upload.key) {
                continue;
            }
            if repair && upload.begun < now - MIN_AGE_MICROS {
                // One that began long ago may still be coming.
                let Some(written) = place.last_written(&upload).await? else {
                    continue;
                };
                if written < now - MIN_AGE_MICROS - PART_TIME {
                    place.abort(&upload).await?;
                    self.repaired += 1;
                }
            }
            self.left_over.push(LeftOver {
                key: upload.key,
                // Nobody knows before it ends.
                size: 0,
            });
        }
        Ok(())
    }
}

/// What lies in the place and is not the store's.
struct Foreign {
    mark: Mark,
    /// Other stores below the place: their names, each with a slash behind it.
    other_stores: Vec<String>,
}

impl Foreign {
    fn has(&self, key: &str) -> bool {
        self.mark.knows(key)
            || self
                .other_stores
                .iter()
                .any(|store| key.starts_with(store.as_str()))
    }
}

/// How the object of a file is. A read that breaks off says nothing of it: there is another one from the start. Where that
/// breaks off too, an object in a folder that is there cannot be read, and of one in a bucket nothing is known.
async fn state(place: &FileStorage, file: &File) -> Result<State, FileStorageError> {
    match read_whole(place, file).await? {
        WholeRead::Ended(state) => return Ok(state),
        WholeRead::BrokeOff(why) => {
            tracing::warn!(why, key = %file.key(), "reading an object broke off; it is read once more");
        }
    }
    match read_whole(place, file).await? {
        WholeRead::Ended(state) => Ok(state),
        WholeRead::BrokeOff(_) if place.is_folder() => {
            place.is_there().await?;
            Ok(State::Damaged)
        }
        WholeRead::BrokeOff(why) => {
            tracing::error!(why, key = %file.key(), "reading an object broke off again");
            Ok(State::Unreadable)
        }
    }
}

/// What came of reading an object from its first byte to its last.
enum WholeRead {
    Ended(State),
    /// Why it did not end.
    BrokeOff(String),
}

async fn read_whole(place: &FileStorage, file: &File) -> Result<WholeRead, FileStorageError> {
    let size = u64::try_from(file.size).unwrap_or(0);
    let bytes = match place.read(&file.key(), None).await {
        Ok((found, bytes)) if found == size => bytes,
        Ok(_) => return Ok(WholeRead::Ended(State::Damaged)),
        Err(FileStorageError::Missing) => return Ok(WholeRead::Ended(State::Missing)),
        Err(error) => return Err(error),
    };
    let mut bytes = verified(bytes, size, file.digest());
    while let Some(piece) = bytes.next().await {
        let Err(error) = piece else { continue };
        return Ok(match error.downcast::<OtherBytes>() {
            Ok(_) => WholeRead::Ended(State::Damaged),
            Err(error) => WholeRead::BrokeOff(error.to_string()),
        });
    }
    Ok(WholeRead::Ended(State::Whole))
}

/// A file, with its organization.
#[derive(Debug, Clone, Copy)]
struct FileRef {
    /// Whose it is.
    organization: Uuid,
    /// Its id.
    file: Uuid,
}

async fn some(store: &Store, after: FileRef) -> Result<Vec<File>, StoreError> {
    store
        .read(&Scope::Operator, after, |tx, after| {
            Box::pin(select(tx, *after))
        })
        .await
}

async fn select(tx: &mut Tx, after: FileRef) -> Result<Vec<File>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM files WHERE (files.organization_id, files.id) > ($1, $2) \
         ORDER BY files.organization_id, files.id LIMIT $3 {across operator}"
    );
    let parameters = [
        after.organization.into(),
        after.file.into(),
        RECORDS_PER_QUERY.into(),
    ];
    let rows = tx.query(sql, &parameters).await?;
    rows.iter().map(File::read).collect()
}

/// The object that has this name, `ORGANIZATION/…/SHA256.ID`, if it is the name of one.
fn named_object(listed: &Listed) -> Option<ObjectRef> {
    let organization = Uuid::try_parse(listed.key.split('/').next()?).ok()?;
    let object = Uuid::try_parse(listed.key.rsplit('.').next()?).ok()?;
    Some(ObjectRef {
        organization,
        object,
    })
}

/// Whether a file has these bytes, or an upload holds them.
async fn is_needed(store: &Store, object: Option<ObjectRef>, now: i64) -> Result<bool, StoreError> {
    let Some(object) = object else {
        return Ok(false);
    };
    store
        .read(&Scope::Operator, (object, now), |tx, (object, now)| {
            Box::pin(needs(tx, *object, *now))
        })
        .await
}

async fn needs(tx: &mut Tx, of: ObjectRef, now: i64) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM file_objects WHERE organization_id = $1 AND id = $2 AND (free_since > $3 \
         OR EXISTS (SELECT 1 FROM files WHERE files.organization_id = $1 \
         AND files.object_id = file_objects.id))";
    let parameters = [of.organization.into(), of.object.into(), now.into()];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// Whether something that is left over may be removed. An object is condemned first, under its lock; an id is never
/// given twice, so what has no record now never gets one.
async fn may_go(store: &Store, object: Option<ObjectRef>, now: i64) -> Result<bool, StoreError> {
    let Some(object) = object else {
        return Ok(true);
    };
    store
        .write(&Scope::Operator, (object, now), |tx, (object, now)| {
            Box::pin(is_free(tx, *object, *now))
        })
        .await
}

async fn is_free(tx: &mut Tx, of: ObjectRef, now: i64) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM file_objects WHERE organization_id = $1 AND id = $2";
    let parameters = [of.organization.into(), of.object.into()];
    let known = tx.first(sql, &parameters).await?;
    Ok(known.is_none() || sweep::condemn_one(tx, of.organization, of.object, now).await?)
}
