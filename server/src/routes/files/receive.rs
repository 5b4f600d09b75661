//! Receives the bytes of a file into the place where they are kept.

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use tokio::task::yield_now;
use uuid::Uuid;

use crate::call::{BodyStream, Call};
use crate::files::FileStorage;
use crate::files::storage::{Staged, Writer};
use crate::http::multipart::FilePart;
use crate::refusal::{Code, Refusal};

/// A file whose bytes are there and have no name yet.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) staged: Staged,
    pub(super) size: i64,
    /// What the part said of it, where it came in one.
    pub(super) part: Option<Part>,
}

/// What the part of a form says of its file.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) content_type: Option<String>,
}

/// Where the bytes of a body are.
enum Source {
    Raw(BodyStream),
    Part(Box<FilePart>),
}

impl Source {
    async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        match self {
            Source::Raw(body) => body.next().await,
            Source::Part(part) => part.next().await,
        }
    }
}

/// Receives a body, which has a boundary where it is a form. `check` looks at what a part says before its bytes come.
pub(super) async fn receive(
    call: &Call,
    boundary: Option<String>,
    check: impl Fn(&Part) -> Result<(), Refusal>,
) -> Result<Received, Refusal> {
    let files = &call.app.files;
    let body = call.body_stream(files.pace).ok_or_else(Refusal::internal)?;
    let (mut source, part) = match boundary {
        None => (Source::Raw(body), None),
        Some(boundary) => {
            let body = stream::try_unfold(body, |mut body| async move {
                Ok(body.next().await?.map(|bytes| (bytes, body)))
            });
            let mut file = FilePart::open(body.boxed(), boundary).await?;
            let part = Part {
                name: std::mem::take(&mut file.name),
                content_type: file.content_type.take(),
            };
            check(&part)?;
            (Source::Part(Box::new(file)), Some(part))
        }
    };
    let mut incoming = Incoming::new(files.place()?, call.app.context.id(), files.max_file);
    while let Some(bytes) = source.next().await? {
        incoming.take(bytes).await?;
        // While bytes keep coming nothing else makes the task wait, and others would wait for all of them.
        yield_now().await;
    }
    if let Source::Part(file) = source {
        file.end().await?;
    }
    incoming.end(part).await
}

/// The bytes so far.
struct Incoming {
    writer: Writer,
    size: u64,
    most: u64,
}

impl Incoming {
    fn new(place: &FileStorage, id: Uuid, most: u64) -> Incoming {
        Incoming {
            writer: place.write(id),
            size: 0,
            most,
        }
    }

    async fn take(&mut self, bytes: Bytes) -> Result<(), Refusal> {
        self.size += bytes.len() as u64;
        if self.size > self.most {
            return Err(too_large(self.most));
        }
        Ok(self.writer.write(bytes).await?)
    }

    async fn end(self, part: Option<Part>) -> Result<Received, Refusal> {
        if self.size == 0 {
            return Err(empty());
        }
        Ok(Received {
            staged: self.writer.end().await?,
            size: i64::try_from(self.size).map_err(|_| too_large(self.most))?,
            part,
        })
    }
}

/// The refusal of a file that is too large.
pub(super) fn too_large(most: u64) -> Refusal {
    Refusal::new(
        Code::PayloadTooLarge,
        format!("A file may have {most} bytes."),
    )
}

/// The refusal of a file without bytes.
pub(super) fn empty() -> Refusal {
    Refusal::fault("", "the file is empty")
}
