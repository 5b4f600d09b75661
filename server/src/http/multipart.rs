//! A body of `multipart/form-data` with exactly one part, which is a file.
//!
//! At most one piece of the body is in memory. The body is read to its end before its file ends: what ends earlier than
//! announced is no file. Of what browsers encode in a file name, that alone is decoded.

mod closing;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use axum::http::header;
use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt as _};
use multer::{Field, Multipart};

use crate::refusal::Refusal;
use closing::Closing;

/// What stands around the file in a body, at most. The file itself is bounded by whoever takes it.
pub const MAX_FORM_BYTES: u64 = 16 << 10;

/// The file of a body.
#[derive(Debug)]
pub struct FilePart {
    multipart: Multipart<'static>,
    field: Field<'static>,
    around: Around,
    /// The name that it was sent under.
    pub name: String,
    /// The media type that it was sent with.
    pub content_type: Option<String>,
}

impl FilePart {
    /// Reads the body up to the first byte of the file.
    ///
    /// # Errors
    /// 422 for a body that is framed otherwise or whose first part is not a file, and those of the body.
    pub async fn open(
        body: BoxStream<'static, Result<Bytes, Refusal>>,
        boundary: String,
    ) -> Result<FilePart, Refusal> {
        let around = Around::default();
        around.enter();
        let body = OneByOne {
            body,
            rests: false,
            around: around.clone(),
            closing: Closing::new(&boundary),
            last: None,
        };
        let mut multipart = Multipart::new(body, boundary);
        let field = multipart
            .next_field()
            .await
            .map_err(refusal)?
            .ok_or_else(no_file)?;
        let lines = field.headers().iter();
        let lines = lines.map(|(name, value)| name.as_str().len() + value.len());
        if lines.sum::<usize>() as u64 > MAX_FORM_BYTES {
            return Err(too_much());
        }
        around.leave();
        let disposition = field.headers().get(header::CONTENT_DISPOSITION);
        let name = match disposition.map(|value| std::str::from_utf8(value.as_bytes())) {
            Some(Ok(disposition)) => file_name(disposition).ok_or_else(no_file)?,
            Some(Err(_)) => return Err(Refusal::fault("file.name", "is not UTF-8")),
            None => return Err(no_file()),
        };
        let content_type = match field.headers().get(header::CONTENT_TYPE) {
            Some(value) => {
                let text = value.to_str();
                Some(
                    text.map_err(|_| Refusal::fault("file.content_type", "is not a media type"))?
                        .to_owned(),
                )
            }
            None => None,
        };
        Ok(FilePart {
            multipart,
            field,
            around,
            name,
            content_type,
        })
    }

    /// The next bytes of the file; nothing at its end.
    ///
    /// # Errors
    /// 422 for a body that is framed otherwise, and those of the body.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        self.field.chunk().await.map_err(refusal)
    }

    /// Makes sure that the file is the only part, and that the body is whole.
    ///
    /// # Errors
    /// 422 for another part, and those of the body.
    pub async fn end(self) -> Result<(), Refusal> {
        let FilePart {
            mut multipart,
            field,
            around,
            ..
        } = self;
        drop(field);
        around.enter();
        match multipart.next_field().await.map_err(refusal)? {
            None => Ok(()),
            Some(_) => Err(Refusal::fault(
                "",
                "has to have one part, the file, and no other",
            )),
        }
    }
}

fn no_file() -> Refusal {
    Refusal::fault(
        "",
        "has to have one part, and that has to be a file with a `filename`",
    )
}

fn too_much() -> Refusal {
    Refusal::fault("", "has more around the file than 16 KiB")
}

fn not_framed() -> Refusal {
    Refusal::fault(
        "",
        "is not multipart/form-data with the boundary of its type, or ends too early",
    )
}

fn refusal(error: multer::Error) -> Refusal {
    match error {
        multer::Error::StreamReadFailed(error) => match error.downcast::<Carried>() {
            Ok(carried) => carried.0,
            Err(_) => Refusal::fault("", "is not framed as announced, or ended too early"),
        },
        _ => not_framed(),
    }
}

/// A refusal that passes through the parser.
#[derive(Debug, thiserror::Error)]
#[error("refused")]
struct Carried(Refusal);

/// How much was read of what stands around the file: the parser holds all of it.
#[derive(Debug, Clone, Default)]
struct Around(Arc<Mutex<Option<u64>>>);

impl Around {
    /// The file begins.
    fn leave(&self) {
        *self.lock() = None;
    }

    /// The file has ended.
    fn enter(&self) {
        *self.lock() = Some(0);
    }

    /// Whether more may be read.
    fn has_room(&self) -> bool {
        self.lock().is_none_or(|read| read <= MAX_FORM_BYTES)
    }

    fn note(&self, bytes: usize) {
        if let Some(read) = self.lock().as_mut() {
            *read += bytes as u64;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives one piece of a body each time it is asked: the parser would take in all that is there.
///
/// The piece with the end of the closing delimiter is the last one that it gives, and waits for the end of the body. The
/// parser asks for nothing behind it, and would not learn that the body breaks off there.
struct OneByOne {
    body: BoxStream<'static, Result<Bytes, Refusal>>,
    rests: bool,
    around: Around,
    closing: Closing,
    last: Option<Bytes>,
}

impl OneByOne {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Refusal>>> {
        loop {
            let piece = match ready!(self.body.poll_next_unpin(cx)) {
                Some(Ok(bytes)) => bytes,
                Some(Err(refusal)) => return Poll::Ready(Some(Err(refusal))),
                None if self.closing.may_end() => return Poll::Ready(self.last.take().map(Ok)),
                None => return Poll::Ready(Some(Err(not_framed()))),
            };
            if !self.closing.take(&piece) {
                return Poll::Ready(Some(Err(not_framed())));
            }
            if self.closing.behind() > MAX_FORM_BYTES {
                return Poll::Ready(Some(Err(too_much())));
            }
            if !self.closing.has_come() {
                return Poll::Ready(Some(Ok(piece)));
            }
            // Of the pieces behind it nobody reads anything.
            self.last.get_or_insert(piece);
        }
    }
}

impl Stream for OneByOne {
    type Item = Result<Bytes, Carried>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.rests) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if !self.around.has_room() {
            return Poll::Ready(Some(Err(Carried(too_much()))));
        }
        let piece = self.poll_piece(cx);
        if let Poll::Ready(Some(Ok(bytes))) = &piece {
            self.around.note(bytes.len());
        }
        self.rests = matches!(piece, Poll::Ready(Some(_)));
        piece.map(|piece| piece.map(|piece| piece.map_err(Carried)))
    }
}

/// The file name of a part; nothing where it has none. A quotation mark ends it, and no backslash changes that.
fn file_name(disposition: &str) -> Option<String> {
    let (kind, mut rest) = disposition.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return None;
    }
    loop {
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => value.split_at(value.find(';').unwrap_or(value.len())),
        };
        if name.trim().eq_ignore_ascii_case("filename") {
            return Some(decoded(value));
        }
        (_, rest) = behind.split_once(';')?;
    }
}

/// What browsers do not write into a name as it is.
fn decoded(name: &str) -> String {
    name.replace("%22", "\"")
        .replace("%0D", "\r")
        .replace("%0A", "\n")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::stream::{self, StreamExt as _};

    use super::{FilePart, MAX_FORM_BYTES, file_name};
    use crate::refusal::Refusal;

    const FORM: &str =
        "--XX\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\nab\r\n--XX--\r\n";

    /// The file of a body that comes in these pieces, and may break off behind them.
    async fn file_of(pieces: &[&str], breaks_off: bool) -> Result<Vec<u8>, Refusal> {
        let pieces = pieces
            .iter()
            .map(|piece| Ok(Bytes::from((*piece).to_owned())));
        let end = breaks_off.then(|| Err(Refusal::fault("", "broke off")));
        let body: Vec<Result<Bytes, Refusal>> = pieces.chain(end).collect();
        let mut file = FilePart::open(stream::iter(body).boxed(), "XX".to_owned()).await?;
        let mut bytes = Vec::new();
        while let Some(piece) = file.next().await? {
            bytes.extend_from_slice(&piece);
        }
        file.end().await?;
        Ok(bytes)
    }

    #[tokio::test]
    async fn a_form_is_read_to_the_end_of_its_body() {
        for cut in 0..=FORM.len() {
            let (first, second) = FORM.split_at(cut);
            let file = file_of(&[first, second], false).await;
            assert_eq!(file.expect("is whole"), b"ab", "{cut}");
            let broken = file_of(&[first, second], true).await;
            assert!(broken.is_err(), "{cut}");
        }
        let bytes: Vec<&str> = FORM.split("").collect();
        let file = file_of(&bytes, false).await;
        assert_eq!(file.expect("is whole"), b"ab");
    }

    #[tokio::test]
    async fn as_much_may_stand_behind_the_file_as_around_it() {
        let blanks = " ".repeat(usize::try_from(MAX_FORM_BYTES).expect("fits") - 2);
        let file = file_of(&[FORM, &blanks], false).await;
        assert_eq!(file.expect("is whole"), b"ab");
        assert!(file_of(&[FORM, &blanks, " "], false).await.is_err());
    }

    #[test]
    fn the_name_of_a_file_is_read_as_browsers_mean_it() {
        for (disposition, name) in [
            ("form-data; name=\"f\"; filename=\"a.txt\"", Some("a.txt")),
            (
                "form-data; filename=\"a;b=c.txt\"; name=\"f\"",
                Some("a;b=c.txt"),
            ),
            ("Form-Data; name=f; FileName=a.txt", Some("a.txt")),
            (
                "form-data; name=\"f\"; filename=\"%22%0D%0A%25%2f\"",
                Some("\"\r\n%25%2f"),
            ),
            (
                "form-data; name=\"f\"; filename=\"a\\\"; x=\"y\"",
                Some("a\\"),
            ),
            ("form-data; name=\"f\"; filename=\"\"", Some("")),
            ("form-data; name=\"filename=x\"", None),
            ("form-data; name=\"f\"; filename*=UTF-8''a", None),
            ("attachment; filename=\"a\"", None),
            ("form-data", None),
        ] {
            assert_eq!(file_name(disposition).as_deref(), name, "{disposition}");
        }
    }
}
