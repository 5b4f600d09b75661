//! `POST /v1/files`
//!
//! What can be refused by the head is refused before the body comes. The bytes are in their place before the record
//! names them.

use axum::http::{StatusCode, header};
use axum::response::Response;
use schemars::JsonSchema;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::boundary::boundary;
use super::receive::{Part, Received, empty, receive, too_large};
use crate::call::{Call, OperationContext, StreamedKey};
use crate::files::create::{self, Destination, NewFile, destination, no_room};
use crate::files::find;
use crate::files::name::{UNKNOWN_TYPE, name_fault, type_fault};
use crate::files::objects::{self, Object};
use crate::files::storage::{FileStorageError, Staged};
use crate::files::upload_hold::UploadHold;
use crate::files::uploads::UploadPermit;
use crate::http::kept_refusal::KeptRefusal;
use crate::http::multipart::MAX_FORM_BYTES;
use crate::http::response::ApiResponse;
use crate::refusal::{Fault, Refusal};
use crate::store::Tx;

/// What the head of a request says of its file.
struct Head {
    name: Option<String>,
    content_type: String,
    /// Of a form, which says the rest.
    boundary: Option<String>,
}

/// Uploads a file.
///
/// # Errors
/// 404 for a workspace that cannot be seen, 403, 408, 409 for the quota, 413, 415, 422, 429, 503.
pub async fn create(mut call: Call) -> Result<Response, Refusal> {
    let workspace = call.query_text.id("workspace_id");
    let Some(workspace) = workspace else {
        call.query_text.text("name");
        return Err(call
            .query_text
            .finish()
            .err()
            .unwrap_or_else(Refusal::internal));
    };
    let to = call.look_up(workspace, |tx, ctx| Box::pin(enter(tx, ctx)));
    let to: Destination = to.await?;
    let caller = call.caller()?.id;
    let permit = call.app.files.uploads.begin(to.organization, caller)?;
    let head = head(&mut call, to)?;
    call.app.files.place()?;
    let mut key = call.streamed_key().await?;
    let uploaded = match store_bytes(&mut call, &head, to, &mut key, permit).await {
        Ok(ReceivedUpload::File(stored)) => {
            let StoredUpload { file, hold } = *stored;
            let recorded = call.write(file, |tx, ctx| Box::pin(record(tx, ctx))).await;
            if recorded.is_ok() {
                hold.done();
            }
            recorded
        }
        Ok(ReceivedUpload::Repeated(response)) => Ok(response.response()),
        Err(refusal) => Err(refusal),
    };
    if let Some(key) = key {
        match &uploaded {
            Err(refusal) if !key.is_known() || !KeptRefusal::is_kept(refusal) => key.free().await,
            _ => key.done(),
        }
    }
    uploaded
}

/// The workspace, when the caller sees it and may write there.
async fn enter(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<Destination, Refusal> {
    let found = destination(tx, ctx.input).await?;
    let found = found.ok_or_else(Refusal::not_found)?;
    ctx.enter(found.organization)?;
    Ok(found)
}

/// Reads the head, in the order of refusals.
fn head(call: &mut Call, to: Destination) -> Result<Head, Refusal> {
    call.plain_body()?;
    let announced = call.announced();
    let boundary = boundary(call.header(&header::CONTENT_TYPE));
    let around = if matches!(boundary, Ok(None)) {
        0
    } else {
        MAX_FORM_BYTES
    };
    let most = call.app.files.max_file;
    if announced.is_some_and(|length| length > most.saturating_add(around)) {
        return Err(too_large(most));
    }
    let name = call.query_text.text("name");
    if let Some(why) = name.as_deref().and_then(name_fault) {
        call.query_text.refuse("name", why);
    } else if name.is_none() && matches!(boundary, Ok(None)) {
        call.query_text
            .refuse("name", "is required where the body is the file");
    }
    call.query_text.finish()?;
    let boundary = boundary?;
    let content_type = content_type(call, boundary.is_some())?;
    if announced == Some(0) {
        return Err(empty());
    }
    let least = announced.map(|length| length.saturating_sub(around));
    let fits = least
        .zip(to.room)
        .is_none_or(|(length, room)| i64::try_from(length).is_ok_and(|length| length <= room));
    if !fits {
        return Err(no_room());
    }
    Ok(Head {
        name,
        content_type,
        boundary,
    })
}

/// The type of a body that is the file.
fn content_type(call: &Call, is_form: bool) -> Result<String, Refusal> {
    if is_form || !call.has_header(&header::CONTENT_TYPE) {
        return Ok(UNKNOWN_TYPE.to_owned());
    }
    let text = call
        .header(&header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let text = text.unwrap_or_default();
    match type_fault(text) {
        None => Ok(text.to_owned()),
        Some(why) => Err(Refusal::fault("header.Content-Type", why)),
    }
}

/// The outcome of receiving a body.
enum ReceivedUpload {
    /// A file whose bytes are in their place.
    File(Box<StoredUpload>),
    /// The response to an earlier request with the same key.
    Repeated(ApiResponse),
}

/// A file whose bytes are in their place, held until there is a record.
struct StoredUpload {
    file: NewFile,
    hold: UploadHold,
}

/// Receives the bytes, and puts them where the record will say that they are.
async fn store_bytes(
    call: &mut Call,
    head: &Head,
    to: Destination,
    key: &mut Option<StreamedKey>,
    permit: UploadPermit,
) -> Result<ReceivedUpload, Refusal> {
    let named = head.name.is_some();
    let received = receive(call, head.boundary.clone(), |part| check(part, named)).await?;
    // An upload may take long, and whoever sends it may be somebody else by now.
    call.doubt_session()?;
    let new = named_file(call, head, to, &received)?;
    if let Some(key) = key {
        let fingerprint = fingerprint(&new);
        if let Some(before) = key.end(call, fingerprint).await? {
            return repeated(call, before).await;
        }
    }
    // The transaction of the record looks for it.
    let held = call.write_preliminary(new.object, |tx, ctx| Box::pin(hold(tx, ctx)));
    let object = held.await?;
    let file = NewFile { object, ..new };
    let app = &call.app;
    let hold = UploadHold::new(&app.store, app.files.place()?, &app.context, &file, permit);
    let hold = keep(received.staged, object, hold).await?;
    let stored = StoredUpload { file, hold };
    Ok(ReceivedUpload::File(Box::new(stored)))
}

/// Gives the bytes their name. It goes on to its end whether or not somebody still waits: what a client that has gone
/// leaves is let go of when nothing is done in the place any more.
async fn keep(
    staged: Staged,
    object: Object,
    hold: UploadHold,
) -> Result<UploadHold, FileStorageError> {
    let keeping = tokio::spawn(async move {
        match staged.keep(&object.key()).await {
            Ok(()) => Ok(hold),
            Err(error) => {
                hold.leave();
                Err(error)
            }
        }
    });
    let kept = keeping.await;
    kept.map_err(|error| FileStorageError::Unavailable(error.to_string()))?
}

/// Holds the object, where the caller may still write when the bytes have come.
async fn hold(tx: &mut Tx, ctx: &OperationContext<Object>) -> Result<Object, Refusal> {
    ctx.enter(ctx.input.organization)?;
    Ok(objects::hold(tx, ctx.input, ctx.now).await?)
}

/// What a part says of its file, before its bytes come.
fn check(part: &Part, named: bool) -> Result<(), Refusal> {
    let mut faults = Vec::new();
    if !named && let Some(why) = name_fault(&part.name) {
        faults.push(Fault::new("file.name", why));
    }
    if let Some(why) = part.content_type.as_deref().and_then(type_fault) {
        faults.push(Fault::new("file.content_type", why));
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Refusal::invalid(faults))
}

fn named_file(
    call: &Call,
    head: &Head,
    to: Destination,
    received: &Received,
) -> Result<NewFile, Refusal> {
    let part = received.part.as_ref();
    let name = head.name.clone().or_else(|| Some(part?.name.clone()));
    let content_type = part.and_then(|part| part.content_type.clone());
    let context = &call.app.context;
    Ok(NewFile {
        id: context.id(),
        workspace: to.workspace,
        name: name.unwrap_or_default(),
        content_type: content_type.unwrap_or_else(|| head.content_type.clone()),
        object: Object {
            organization: to.organization,
            id: context.id(),
            sha256: received.staged.sha256(),
            size: received.size,
        },
        hold_ends: objects::hold_ends(context.now()),
        by: call.caller()?.id,
        now: context.now(),
    })
}

/// What distinguishes an upload from others with its key.
fn fingerprint(new: &NewFile) -> [u8; 32] {
    let mut hash = Sha256::new();
    let workspace = new.workspace.as_bytes().as_slice();
    for part in [
        workspace,
        &new.object.sha256,
        new.name.as_bytes(),
        new.content_type.as_bytes(),
    ] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The response to an earlier upload, while its file is there.
async fn repeated(call: &mut Call, before: ApiResponse) -> Result<ReceivedUpload, Refusal> {
    if before.status == StatusCode::CREATED {
        let record: Option<serde_json::Value> = serde_json::from_slice(&before.body).ok();
        let id = record.and_then(|record| record["id"].as_str()?.parse::<Uuid>().ok());
        let found = call.look_up(id.unwrap_or_default(), |tx, ctx| Box::pin(there(tx, ctx)));
        if !found.await? {
            return Err(Refusal::not_found());
        }
    }
    Ok(ReceivedUpload::Repeated(before))
}

async fn there(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<bool, Refusal> {
    Ok(find::by_id(tx, ctx.input).await?.is_some())
}

async fn record(tx: &mut Tx, ctx: &OperationContext<NewFile>) -> Result<ApiResponse, Refusal> {
    ctx.enter(ctx.input.object.organization)?;
    if let Some(kept) = ctx.claim(tx).await? {
        create::give_up(tx, &ctx.input, ctx.now).await?;
        return Ok(kept);
    }
    let file = create::create(tx, &ctx.input, ctx.now).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::CREATED, &file)?)
        .await
}

/// A form with one part, the file. Instead of a form, the body may be the file itself, of any media type.
#[derive(JsonSchema)]
pub(crate) struct FileUpload {
    /// The file, with a `filename`, which is its name unless the query has one.
    #[schemars(extend("format" = "binary"))]
    #[expect(dead_code, reason = "it is described here and read part by part")]
    file: String,
}
