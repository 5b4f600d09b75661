//! Receives the body of a request within bounds, with a digest that recognizes repeats.

use std::borrow::Cow;
use std::sync::PoisonError;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use percent_encoding::percent_decode_str;

use super::Call;
use crate::edge::BodyTooSlow;
use crate::http::idempotency::{self, IdempotencyKey, KeyedRequest};
use crate::ids;
use crate::refusal::{Code, Refusal};

/// Room that is made for a body before it comes.
const READY: usize = 64 << 10;
/// If reading the body took this long (in microseconds) or longer, the caller is read again: short requests ask the store
/// nothing more.
const SLOW_BODY_MICROS: u64 = 1_000_000;

impl Call {
    /// The body as it came; with it the request can be distinguished from others that carry its key.
    ///
    /// # Errors
    /// 415, 413, 422.
    pub async fn bytes(&mut self) -> Result<Vec<u8>, Refusal> {
        if self.received.is_none() {
            self.body_was_slow().await?;
        }
        // A body comes once.
        self.received.take().map_or(Ok(Vec::new()), |bytes| *bytes)
    }

    /// Receives the body, which [`bytes`](Call::bytes) then gives. Says whether that took so long that the caller was
    /// read again (`rest` 2.6): whatever the handler asked for the caller before the body has to be asked once more, and
    /// comes before what is wrong with the body.
    ///
    /// # Errors
    /// 401 and 403 for a credential that is not good for the operation any more, and those of the store.
    pub async fn body_was_slow(&mut self) -> Result<bool, Refusal> {
        let began = self.app.context.now();
        let received = self.receive().await;
        let was_slow = self.app.context.now().abs_diff(began) >= SLOW_BODY_MICROS;
        if was_slow {
            // Boxed: few requests need the room.
            Box::pin(self.read_caller_again()).await?;
        }
        let received = match received {
            Ok(bytes) => self.keyed(bytes).await,
            refused => refused,
        };
        self.received = Some(Box::new(received));
        Ok(was_slow)
    }

    /// From now on the caller is the one of today.
    async fn read_caller_again(&self) -> Result<(), Refusal> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let now = self.app.context.now();
        session.confirm_again(&self.app.store, now).await?;
        self.operation.admit(&session.caller())
    }

    /// A body, with the key of its request read.
    async fn keyed(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        if self.operation.repeatable() {
            if self.operation.changes_nothing() {
                // Sent again it reads again: there is nothing to keep.
                idempotency::check(&self.headers)?;
            } else {
                self.read_key(&bytes).await?;
            }
        }
        Ok(bytes)
    }

    async fn read_key(&self, bytes: &[u8]) -> Result<(), Refusal> {
        let (Ok(caller), true) = (self.caller(), idempotency::is_given(&self.headers)) else {
            return Ok(());
        };
        let path = self.canonical_path();
        let name = idempotency::check(&self.headers)?;
        let parts = [self.target.query.as_bytes(), bytes];
        let fingerprint = if self.operation.takes_secret() {
            let salt = [caller.id.as_bytes(), path.as_bytes(), name.as_bytes()];
            self.app.passwords.fingerprint(parts, salt).await?
        } else {
            idempotency::fingerprint(parts)
        };
        let request = KeyedRequest {
            method: self.operation.method,
            path: &path,
            name,
        };
        let (running, now) = (&self.app.in_flight, self.app.context.now());
        let key = IdempotencyKey::new(caller.id, request, fingerprint, running, now);
        // A body comes once.
        let _ = self.key.set(key);
        Ok(())
    }

    /// However its characters and its ids are written, it is one path.
    pub(super) fn canonical_path(&self) -> String {
        let path = percent_decode_str(&self.target.path).decode_utf8_lossy();
        let segments: Vec<Cow<'_, str>> = path
            .split('/')
            .map(|segment| match ids::uuid(segment) {
                Some(id) => Cow::Owned(id.to_string()),
                None => Cow::Borrowed(segment),
            })
            .collect();
        segments.join("/")
    }

    async fn receive(&mut self) -> Result<Vec<u8>, Refusal> {
        let Some(body) = self.take_body() else {
            return Ok(Vec::new());
        };
        if let Err(refusal) = self.is_readable(&body) {
            // Refused, and yet a request that can be distinguished from others.
            *self.body.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
            return Err(refusal);
        }
        collect(body, &self.headers, self.most_bytes()).await
    }

    pub(super) fn take_body(&self) -> Option<Body> {
        self.body
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Refuses a body that is not JSON, or that is encoded.
    fn is_readable(&self, body: &Body) -> Result<(), Refusal> {
        self.is_plain()?;
        let refuse = |why: &str| Err(Refusal::new(Code::UnsupportedMediaType, why));
        let media_type = self.headers.get(header::CONTENT_TYPE);
        let empty = axum::body::HttpBody::is_end_stream(body);
        if media_type.map_or(empty, is_json) {
            return Ok(());
        }
        refuse(if media_type.is_some() {
            "Bodies of this type are not accepted; use application/json."
        } else {
            "The body has to be JSON, and to say so: Content-Type: application/json."
        })
    }

    /// Refuses a body in a coding: of its content, or of its transfer besides that in chunks.
    pub(super) fn is_plain(&self) -> Result<(), Refusal> {
        let mut codings = self.headers.get_all(header::CONTENT_ENCODING).iter();
        let why = match (codings.all(is_plain), is_framed_alone(&self.headers)) {
            (true, true) => return Ok(()),
            (false, _) => {
                "Bodies are taken as they are: leave Content-Encoding out, or make it identity."
            }
            (true, false) => {
                "Bodies are taken as they are: leave Transfer-Encoding out, or make it chunked."
            }
        };
        Err(Refusal::new(Code::UnsupportedMediaType, why))
    }

    fn most_bytes(&self) -> usize {
        let config = &self.app.config;
        if self.operation.takes_package() {
            config.max_package
        } else {
            config.max_body
        }
    }

    /// Reads what a refusal left of the body, so that the refusal can be kept under the key of the
    /// request. Where the body cannot be had, or the key is none, nothing is kept.
    pub(crate) async fn read_key_of_refused(&self) {
        if self.key.get().is_some() {
            return;
        }
        let Some(body) = self.take_body() else { return };
        let began = self.app.context.now();
        let bytes = collect(body, &self.headers, self.most_bytes()).await;
        // Nobody reads the caller again behind a slow one, so nothing is kept or replayed.
        let was_slow = self.app.context.now().abs_diff(began) >= SLOW_BODY_MICROS;
        if let (Ok(bytes), false) = (bytes, was_slow) {
            let _ = self.read_key(&bytes).await;
        }
    }

    /// Whether the response may have to be kept under a key, whatever it is.
    pub(crate) fn may_be_kept(&self) -> bool {
        self.operation.repeatable()
            && !self.operation.takes_file()
            && !self.operation.changes_nothing()
            && idempotency::is_given(&self.headers)
    }
}

/// The bytes of a body, if they are not too many.
async fn collect(body: Body, headers: &HeaderMap, limit: usize) -> Result<Vec<u8>, Refusal> {
    let too_large = || {
        Refusal::new(
            Code::PayloadTooLarge,
            format!("A body may have {limit} bytes."),
        )
    };
    // Reported before the bytes come, where the client says how many.
    let announced = headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    // Room for what is announced is made as it comes: announcing costs a client nothing.
    let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(READY));
    let mut body = Limited::new(body, limit);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| data)),
            Err(error) if error.is::<LengthLimitError>() => return Err(too_large()),
            Err(error) if is_slow(&*error) => {
                let detail = "The body did not come in time.";
                return Err(Refusal::new(Code::InvalidJson, detail));
            }
            Err(_) => {
                let detail = "The body is not framed as announced, or ended too early.";
                return Err(Refusal::new(Code::InvalidJson, detail));
            }
        }
    }
    Ok(bytes)
}

/// Whether the codings of a body are none.
fn is_plain(codings: &HeaderValue) -> bool {
    codings.to_str().is_ok_and(|codings| {
        codings
            .split(',')
            .map(str::trim)
            .all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
    })
}

/// Whether a body has no transfer coding but that of its chunks, and that once.
fn is_framed_alone(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::TRANSFER_ENCODING).iter();
    let mut codings = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    codings.next().is_none_or(is_chunked) && codings.next().is_none()
}

fn is_chunked(coding: &[u8]) -> bool {
    coding.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// Whether the edge gave up waiting for the body.
fn is_slow(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut error = Some(error);
    while let Some(cause) = error {
        if cause.is::<BodyTooSlow>() {
            return true;
        }
        error = cause.source();
    }
    false
}

fn is_json(media_type: &HeaderValue) -> bool {
    let text = media_type.to_str().unwrap_or_default();
    let essence = text
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let suffix = essence.strip_prefix("application/");
    suffix.is_some_and(|subtype| {
        subtype == "json" || (subtype.len() > 5 && subtype.ends_with("+json"))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header};

    use super::{is_framed_alone, is_json, is_plain};

    #[test]
    fn no_coding_goes_by_several_names() {
        for (codings, fine) in [
            ("identity", true),
            ("Identity, identity", true),
            ("", true),
            ("gzip", false),
            ("identity, br", false),
            ("x-identity", false),
        ] {
            assert_eq!(
                is_plain(&HeaderValue::from_static(codings)),
                fine,
                "{codings}"
            );
        }
    }

    #[test]
    fn chunks_are_the_only_transfer_coding() {
        let cases: [(&[&'static str], bool); 10] = [
            (&[], true),
            (&["chunked"], true),
            (&[" Chunked\t"], true),
            (&["gzip, chunked"], false),
            (&["gzip", "chunked"], false),
            (&["chunked, chunked"], false),
            (&["chunked", "chunked"], false),
            (&["identity, chunked"], false),
            (&["chunked;q=1"], false),
            (&[""], false),
        ];
        for (lines, fine) in cases {
            let mut headers = HeaderMap::new();
            for &line in lines {
                headers.append(header::TRANSFER_ENCODING, HeaderValue::from_static(line));
            }
            assert_eq!(is_framed_alone(&headers), fine, "{lines:?}");
        }
    }

    #[test]
    fn json_goes_by_several_names() {
        for (name, fine) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/merge-patch+json", true),
            ("application/+json", false),
            ("text/json", false),
            ("application/xml", false),
            ("", false),
        ] {
            assert_eq!(is_json(&HeaderValue::from_static(name)), fine, "{name}");
        }
    }
}
