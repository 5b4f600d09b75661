//! Responses of HTTP/1.1 as far as a load generator needs them: where one ends, and its status.

use std::borrow::Cow;

/// Room for headers; responses here have about ten.
const HEADERS: usize = 32;

/// A whole response.
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    pub(crate) body: Cow<'a, [u8]>,
    /// How many of the bytes are this response's.
    pub(crate) length: usize,
}

impl Response<'_> {
    /// The response at the beginning of what came; none until all of it is there.
    pub(crate) fn read(bytes: &[u8]) -> Option<Response<'_>> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(start) = head.parse(bytes).expect("a response") else {
            return None;
        };
        let status = head.code.expect("a status");
        let value = |name: &str| {
            let mut headers = head.headers.iter();
            let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(header.value).ok()
        };
        if value("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            let (body, length) = chunks(&bytes[start..])?;
            return Some(Response {
                status,
                body: Cow::Owned(body),
                length: start + length,
            });
        }
        let length = value("content-length").map_or(0, |length| length.parse().expect("a length"));
        let body = bytes.get(start..start + length)?;
        Some(Response {
            status,
            body: Cow::Borrowed(body),
            length: start + length,
        })
    }
}

/// A body in chunks, and how many bytes it came in.
fn chunks(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let head = httparse::parse_chunk_size(&bytes[at..]).expect("a chunk");
        let httparse::Status::Complete((start, length)) = head else {
            return None;
        };
        at += start;
        let length = usize::try_from(length).expect("a length");
        body.extend_from_slice(bytes.get(at..at + length)?);
        at += length;
        assert_eq!(bytes.get(at..at + 2)?, b"\r\n", "the end of a chunk");
        at += 2;
        if length == 0 {
            return Some((body, at));
        }
    }
}
