//! Files that go along with a mail: those that the current row uses, and a fixed one.
//!
//! In: what the step asks for, and what the run sees. Out: files, each once, columns in their order and the fixed one
//! last; then their bytes. What the run does not see does not go along, and what cells hold is never read.

use futures_util::TryStreamExt as _;
use lettre::message::header::ContentType;
use tplkit::automation::run::{Envelope, Failure, Mail};
use tplkit::json::{Object, Value as Json};
use uuid::Uuid;

use super::runs::Run;
use super::stop::Stop;
use crate::files::storage::verified;
use crate::files::{File, Files, find as files};
use crate::ids::WorkspaceKey;
use crate::store::Tx;

/// How many files go along with a mail.
const MAX_FILES: usize = 20;
/// How many bytes they have together, as they are stored.
const MOST_BYTES: i64 = 10 << 20;

/// The type under which bytes go whose own type says how a mail is to be taken apart.
const UNKNOWN_TYPE: &str = "application/octet-stream";

const ROW: &str = "attachFiles";
const FIXED: &str = "attachmentFileId";

/// What a mail asks for.
#[derive(Debug, Clone)]
pub(super) struct AttachmentRequest {
    /// Where the run is at home.
    workspace: WorkspaceKey,
    /// Table and id of the row whose files go along.
    row: Option<(Uuid, Uuid)>,
    fixed: Option<Uuid>,
}

/// A file that goes along.
#[derive(Debug)]
pub(super) struct Attachment {
    pub(super) name: String,
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

impl AttachmentRequest {
    /// What a mail of a run asks for, at this point of its envelope.
    pub(super) fn of(run: &Run, mail: &Mail, envelope: &Envelope) -> AttachmentRequest {
        AttachmentRequest {
            workspace: run.workspace_key(),
            row: envelope.current_row().filter(|_| mail.attach_row),
            fixed: mail.attachment,
        }
    }
}

/// The files that a mail asks for, as the caller of the transaction sees them.
///
/// # Errors
/// A failure where the fixed one is not seen or there is too much, and those of the store.
pub(super) async fn find(tx: &mut Tx, request: &AttachmentRequest) -> Result<Vec<File>, Stop> {
    let mut found: Vec<File> = Vec::new();
    if let Some((feature, row)) = request.row {
        for file in files::of_row(tx, [feature, row]).await? {
            let known = found.iter().any(|known| known.id == file.id);
            if !known && request.fixed != Some(file.id) {
                found.push(file);
            }
        }
    }
    if let Some(id) = request.fixed {
        let fixed = files::by_id(tx, id).await?;
        let fixed = fixed.filter(|file| file.workspace_id == request.workspace.workspace);
        found.push(fixed.ok_or_else(|| {
            let reason = "names no file of this workspace that the run sees";
            Stop::Failed(Failure::at(FIXED, reason).yields(None, &id.to_string().into()))
        })?);
    }
    match too_much(&found) {
        Some(reason) => {
            let field = if request.row.is_some() { ROW } else { FIXED };
            Err(Stop::Failed(Failure::at(field, reason)))
        }
        None => Ok(found),
    }
}

/// Why files are too many or too large for a mail, if they are.
fn too_much(files: &[File]) -> Option<String> {
    if files.len() > MAX_FILES {
        let count = files.len();
        return Some(format!(
            "would attach {count} files, and a mail has {MAX_FILES} at most"
        ));
    }
    let bytes: i64 = files.iter().map(|file| file.size).sum();
    (bytes > MOST_BYTES).then(|| {
        format!("would attach files of {bytes} bytes together, and a mail has {MOST_BYTES} at most")
    })
}

/// The files with their bytes.
///
/// # Errors
/// One of them cannot be read, or is not what was uploaded.
pub(super) async fn read(
    files: &Files,
    request: &AttachmentRequest,
    found: Vec<File>,
) -> Result<Vec<Attachment>, Failure> {
    let mut attachments = Vec::new();
    for file in found {
        let bytes = bytes(files, &file).await.map_err(|why| {
            let field = if request.fixed == Some(file.id) {
                FIXED
            } else {
                ROW
            };
            let reason = format!("the bytes of file {} cannot be read: {why}", file.id);
            Failure::at(field, reason)
        })?;
        attachments.push(Attachment {
            content_type: sent_type(&file.content_type).to_owned(),
            name: file.name,
            bytes,
        });
    }
    Ok(attachments)
}

async fn bytes(files: &Files, file: &File) -> Result<Vec<u8>, String> {
    let place = files
        .place()
        .map_err(|refusal| refusal.detail().to_owned())?;
    let read = place.read(&file.key(), None).await;
    let (size, stream) = read.map_err(|error| error.to_string())?;
    let expected = u64::try_from(file.size).unwrap_or(0);
    if size != expected {
        return Err("the object has another length".to_owned());
    }
    let mut stream = verified(stream, expected, file.digest());
    let mut bytes = Vec::new();
    while let Some(piece) = stream.try_next().await.map_err(|error| error.to_string())? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// What a dry run shows of files that would go along.
pub(super) fn listed(found: &[File]) -> Json {
    let listed = found.iter().map(|file| {
        Json::Object(Object::from_iter([
            ("id".to_owned(), file.id.to_string().into()),
            ("name".to_owned(), file.name.as_str().into()),
            (
                "content_type".to_owned(),
                sent_type(&file.content_type).into(),
            ),
            ("size".to_owned(), file.size.into()),
        ]))
    });
    Json::List(listed.collect())
}

/// The type under which a file goes. Readers of mails unpack those of mails, and of parts of mails. Parameters that a mail
/// cannot have are left out.
fn sent_type(stored: &str) -> &str {
    let kind = stored.split('/').next().unwrap_or_default().trim();
    let unpacked = ["message", "multipart"]
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known));
    if unpacked {
        return UNKNOWN_TYPE;
    }
    let bare = stored.split(';').next().unwrap_or_default().trim();
    let can_be_sent = |form: &&str| form.is_ascii() && ContentType::parse(form).is_ok();
    let mut forms = [stored, bare].into_iter();
    forms.find(can_be_sent).unwrap_or(UNKNOWN_TYPE)
}

#[cfg(test)]
mod tests {
    use super::sent_type;

    #[test]
    fn nothing_that_is_attached_is_taken_apart() {
        for stored in [
            "message/rfc822",
            "Multipart/mixed; boundary=x",
            "MESSAGE/partial",
            "text/ä",
        ] {
            assert_eq!(sent_type(stored), "application/octet-stream", "{stored}");
        }
        for stored in ["text/plain; charset=utf-8", "messages/x", "image/png"] {
            assert_eq!(sent_type(stored), stored);
        }
    }

    #[test]
    fn what_a_mail_cannot_have_of_a_type_is_left_out() {
        for (stored, sent) in [
            ("application/x; a=\"b\\\"c\"", "application/x"),
            ("application/x; a=\"\"", "application/x"),
            ("text/plain ; charset=utf-8", "text/plain"),
        ] {
            assert_eq!(sent_type(stored), sent, "{stored}");
        }
    }
}
