//! The body of a request: received, bounded, and known again when it is sent once more.

use axum::http::{HeaderValue, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use percent_encoding::percent_decode_str;

use super::call::Call;
use super::idempotency::Key;
use super::problem::{Code, Problem};
use crate::edge::BodyTooSlow;

/// Room that is made for a body before it comes.
const READY: usize = 64 << 10;

impl Call {
    /// The body as it came; with it the request can be told from others that carry its key.
    ///
    /// # Errors
    /// 415, 413, 422.
    pub async fn bytes(&mut self) -> Result<Vec<u8>, Problem> {
        let bytes = self.receive().await?;
        if let (Some(caller), true) = (&self.caller, self.operation.repeatable()) {
            // However its characters are written, it is one path.
            let path = percent_decode_str(&self.target.0).decode_utf8_lossy();
            let key = Key::read(
                &self.headers,
                (caller.id, self.app.context.now()),
                (self.operation.method, &path),
                [self.target.1.as_bytes(), &bytes],
                &self.app.running,
            )?;
            if let Some(key) = key {
                // A body comes once.
                let _ = self.key.set(key);
            }
        }
        Ok(bytes)
    }

    async fn receive(&mut self) -> Result<Vec<u8>, Problem> {
        let Some(body) = self.body.take() else {
            return Ok(Vec::new());
        };
        let media_type = self.headers.get(header::CONTENT_TYPE);
        let empty = axum::body::HttpBody::is_end_stream(&body);
        if !media_type.map_or(empty, is_json) {
            let told = if media_type.is_some() {
                "Bodies of this type are not accepted; use application/json."
            } else {
                "The body has to be JSON, and to say so: Content-Type: application/json."
            };
            return Err(Problem::new(Code::UnsupportedMediaType, told));
        }
        let config = &self.app.config;
        let limit = if self.operation.takes_package() {
            config.max_package
        } else {
            config.max_body
        };
        let too_large = || {
            Problem::new(
                Code::PayloadTooLarge,
                format!("A body may have {limit} bytes."),
            )
        };
        // Told before the bytes come, where the client says how many.
        let announced = self.headers.get(header::CONTENT_LENGTH);
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
                    let told = "The body did not come in time.";
                    return Err(Problem::new(Code::InvalidJson, told));
                }
                Err(_) => {
                    let told = "The body is not framed as announced, or ended too early.";
                    return Err(Problem::new(Code::InvalidJson, told));
                }
            }
        }
        Ok(bytes)
    }
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
    use axum::http::HeaderValue;

    use super::is_json;

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
