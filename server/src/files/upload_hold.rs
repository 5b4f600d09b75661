//! What an upload has named and no record names yet: held for it, and let go of when it comes to nothing.
//!
//! Goes in: an object whose bytes are in their place. It is let go of once, by the record's transaction or by this:
//! whether there is a record is asked under the lock on the object, because a commit may have been in doubt. What then
//! nobody needs goes at once. A process that is killed lets go of nothing, and the hold ends with its time.

use tokio::runtime::Handle;
use uuid::Uuid;

use super::create::NewFile;
use super::objects::{AfterRelease, Object, end_hold};
use super::storage::{FileStorage, FileStorageError};
use super::sweep::{condemn_one, forget};
use super::uploads::UploadPermit;
use crate::context::Context;
use crate::store::{Scope, Store, StoreError, Tx};

/// The hold of an upload on its object, until it is dropped or its record is made.
#[derive(Debug)]
pub struct UploadHold {
    store: Store,
    place: FileStorage,
    context: Context,
    held: Held,
    /// The upload counts as one in progress while its bytes get their name, whether or not its client is still there.
    _permit: UploadPermit,
    /// There is something to let go of.
    lasts: bool,
}

/// What is held, and for what.
#[derive(Debug, Clone, Copy)]
struct Held {
    object: Object,
    /// The record that is to name it.
    file: Uuid,
    until: i64,
}

impl UploadHold {
    /// Of the upload of a file whose object was held.
    pub fn new(
        store: &Store,
        place: &FileStorage,
        context: &Context,
        file: &NewFile,
        permit: UploadPermit,
    ) -> UploadHold {
        UploadHold {
            store: store.clone(),
            place: place.clone(),
            context: context.clone(),
            held: Held {
                object: file.object,
                file: file.id,
                until: file.hold_ends,
            },
            _permit: permit,
            lasts: true,
        }
    }

    /// The transaction of the record has let go of it.
    pub fn done(mut self) {
        self.lasts = false;
    }

    /// It ends with its time: what was begun may still be done in the place.
    pub fn leave(mut self) {
        self.lasts = false;
    }
}

impl Drop for UploadHold {
    /// The upload was refused, or its client has gone. Nobody waits: how long it takes would tell whether others have the
    /// same bytes.
    fn drop(&mut self) {
        let (true, Ok(runtime)) = (self.lasts, Handle::try_current()) else {
            return;
        };
        let (store, place, context) =
            (self.store.clone(), self.place.clone(), self.context.clone());
        let held = self.held;
        runtime.spawn(async move {
            if let Err(why) = let_go(&store, &place, &context, held).await {
                tracing::warn!(
                    why,
                    "the bytes of an upload that came to nothing were not removed; a later sweep does it"
                );
            }
        });
    }
}

async fn let_go(
    store: &Store,
    place: &FileStorage,
    context: &Context,
    held: Held,
) -> Result<(), String> {
    let now = context.now();
    let ended = store.write(&Scope::Operator, (held, now), |tx, (held, now)| {
        Box::pin(end(tx, *held, *now))
    });
    let ended: Result<bool, StoreError> = ended.await;
    let object = held.object;
    if !ended.map_err(|error| error.to_string())? {
        return Ok(());
    }
    if let Err(FileStorageError::Unavailable(why)) = place.remove(&object.key()).await {
        return Err(why);
    }
    let forgotten: Result<(), StoreError> = store
        .write(&Scope::Operator, object, |tx, object| {
            Box::pin(forget(tx, object.organization, object.id))
        })
        .await;
    forgotten.map_err(|error| error.to_string())
}

/// Ends the hold, unless the record is there. Says whether the object is condemned, or was swept.
async fn end(tx: &mut Tx, held: Held, now: i64) -> Result<bool, StoreError> {
    let object = held.object;
    let sql = "SELECT id FROM file_objects WHERE organization_id = $1 AND id = $2 {lock}";
    let of = [object.organization.into(), object.id.into()];
    if tx.first(sql, &of).await?.is_none() {
        // Swept before its bytes had their name: nothing can name them any more.
        return Ok(true);
    }
    // A statement of its own: it sees what those who had the lock before have written.
    let sql = "SELECT id FROM files WHERE organization_id = $1 AND id = $2";
    let of = [object.organization.into(), held.file.into()];
    if tx.first(sql, &of).await?.is_some() {
        return Ok(false);
    }
    // What is held after its time is held for others.
    if now < held.until {
        let end = end_hold(&object, now, AfterRelease::Free);
        tx.pipeline(vec![end]).await?;
    }
    condemn_one(tx, object.organization, object.id, now).await
}
