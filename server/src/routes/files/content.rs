//! `GET /v1/files/{file_id}/content`, and the response of a link to a file.
//!
//! Who does not see the file learns nothing from conditions and ranges: they are looked at afterwards.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use uuid::Uuid;

use crate::call::{Call, OperationContext};
use crate::files::storage::{FileStorageError, ObjectKey, WholeObject, damaged};
use crate::files::{File, FileStorage, find};
use crate::http::conditions::{Verdict, may_be_part, verdict};
use crate::http::content_disposition::Shown;
use crate::http::problem::{self, RefusalForm};
use crate::http::range::RequestedRange;
use crate::http::response_headers::OWN_COPY;
use crate::refusal::{Code, Refusal};
use crate::store::{Store, Tx};

/// Reads the bytes of a file, or a part of them.
///
/// # Errors
/// 404, 412, 500 for bytes that are gone, 503.
pub async fn content(mut call: Call) -> Result<Response, Refusal> {
    let id = call.path_id(0).await?;
    let inline = call.query_text.flag("inline");
    let query = call.query_text.finish();
    let file = call.look_up(id, |tx, ctx| Box::pin(visible(tx, ctx)));
    let file = file.await?;
    query?;
    respond(&call, &file, inline).await
}

async fn visible(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<File, Refusal> {
    let file = find::by_id(tx, ctx.input).await?;
    file.ok_or_else(Refusal::not_found)
}

/// Responds with a file that may be seen.
pub(super) async fn respond(call: &Call, file: &File, inline: bool) -> Result<Response, Refusal> {
    let headers = call.headers();
    let tag = format!("\"{}\"", file.sha256);
    let size = u64::try_from(file.size).unwrap_or(0);
    match verdict(headers, &tag) {
        Verdict::Go => {}
        Verdict::Failed => return Err(other_content()),
        Verdict::NotModified => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            describe(&mut response, file, inline, &tag);
            response.headers_mut().remove(header::CONTENT_TYPE);
            return Ok(response);
        }
    }
    let part = !call.is_head() && may_be_part(headers, &tag);
    let range = call.header(&header::RANGE).filter(|_| part);
    let wanted = RequestedRange::read(range.and_then(|value| value.to_str().ok()), size);
    let object = Object {
        store: &call.app.store,
        place: call.app.files.place()?,
        file,
        key: file.key(),
        size,
    };
    let (status, body, length) = match &wanted {
        RequestedRange::Nothing => return Ok(no_such_part(size, call.path())),
        _ if call.is_head() => {
            object.check().await?;
            (StatusCode::OK, Body::empty(), size)
        }
        RequestedRange::Whole => {
            let body = match object.read_whole().await? {
                WholeObject::Bytes(bytes) => Body::from(bytes),
                WholeObject::Stream(bytes) => Body::from_stream(bytes),
            };
            (StatusCode::OK, body, size)
        }
        RequestedRange::Part(range) => {
            let read = object.place.read(&object.key, Some(range.clone()));
            let bytes = object.found(read.await).await?;
            let body = Body::from_stream(bytes);
            (StatusCode::PARTIAL_CONTENT, body, range.end - range.start)
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    describe(&mut response, file, inline, &tag);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, length.into());
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let RequestedRange::Part(range) = wanted {
        let sent = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        insert(&mut response, header::CONTENT_RANGE, &sent);
    }
    Ok(response)
}

/// An object as its record has it.
struct Object<'a> {
    store: &'a Store,
    place: &'a FileStorage,
    file: &'a File,
    key: ObjectKey,
    size: u64,
}

impl Object<'_> {
    async fn check(&self) -> Result<(), Refusal> {
        match self.place.size(&self.key).await {
            Ok(size) if size == self.size => Ok(()),
            Ok(_) => Err(damaged("the object has another length")),
            Err(FileStorageError::Missing) => Err(self.missing().await),
            Err(error) => Err(error.into()),
        }
    }

    async fn read_whole(&self) -> Result<WholeObject, Refusal> {
        let digest = self.file.digest();
        let read = self.place.read_whole(&self.key, self.size, digest);
        self.found(read.await).await
    }

    /// What was read, if the object has as many bytes as its record says.
    async fn found<T>(&self, read: Result<(u64, T), FileStorageError>) -> Result<T, Refusal> {
        match read {
            Ok((size, bytes)) if size == self.size => Ok(bytes),
            Ok(_) => Err(damaged("the object has another length")),
            Err(FileStorageError::Missing) => Err(self.missing().await),
            // A part that is not there is as little a fault of the place as an object that is not.
            Err(error @ FileStorageError::Unavailable(_)) => {
                self.check().await?;
                Err(error.into())
            }
        }
    }

    /// Nothing is damaged where the file was deleted meanwhile.
    async fn missing(&self) -> Refusal {
        match find::is_on_record(self.store, self.file).await {
            Ok(true) => FileStorageError::Missing.into(),
            Ok(false) => Refusal::not_found(),
            Err(error) => error.into(),
        }
    }
}

/// The headers that say what it is and how it may be treated.
fn describe(response: &mut Response, file: &File, inline: bool, tag: &str) {
    let shown = if inline {
        Shown::of(&file.content_type)
    } else {
        Shown::Saved
    };
    insert(response, header::CONTENT_TYPE, &file.content_type);
    insert(response, header::ETAG, tag);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, OWN_COPY);
    headers.insert(header::CONTENT_DISPOSITION, shown.disposition(&file.name));
    let policy = HeaderValue::from_static(shown.policy());
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
}

fn insert(response: &mut Response, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
}

fn other_content() -> Refusal {
    Refusal::new(
        Code::PreconditionFailed,
        "The file is none of those that If-Match names; a file never changes, so this is another one.",
    )
}

fn no_such_part(size: u64, path: &str) -> Response {
    let why =
        format!("The file has {size} bytes, and none of them is in the range that was asked for.");
    let refusal = Refusal::new(Code::RangeNotSatisfiable, why);
    let mut response = problem::response(&refusal, RefusalForm::Problem, path);
    insert(
        &mut response,
        header::CONTENT_RANGE,
        &format!("bytes */{size}"),
    );
    response
}
