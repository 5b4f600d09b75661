//! The bytes of a file as they come, from any place on; a connection that breaks is made good for a few times.

use std::any::Any;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::blocking::Response;

use super::error::Error;
use super::files::{FileRecord, path};
use super::request::Request;
use super::response::ApiResponse;
use super::transport::{Exchange, MIN_BYTES_PER_SECOND, broken, timed_out};
use super::upload::LARGE_BODY_BYTES;
use super::{Client, refuse};

/// How often a download goes on after it broke.
const MAX_RESUMPTIONS: u32 = 3;

/// The bytes of a file that are still to come.
pub struct Content<'c> {
    client: &'c Client,
    file: FileRecord,
    response: Response,
    /// Where the next byte stands in the file.
    at: u64,
    /// From where it came without a break, and how long that was waited for.
    since: (u64, Duration),
    resumed: u32,
    received: Arc<AtomicU64>,
    _receiving: Option<Box<dyn Any>>,
}

impl std::fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} of {} bytes)", self.at, self.file.size)
    }
}

impl Client {
    /// `GET /v1/files/{file_id}/content`: the bytes of a file from there on, which is below its size; from the beginning
    /// where the server has another content by now.
    pub fn content(&self, file: &FileRecord, from: u64) -> Result<Content<'_>, Error> {
        let (at, response) = self.open(file, from)?;
        let received = Arc::new(AtomicU64::new(at));
        let request = Request::get(content_path(file)).to_string();
        let receiving = (file.size.saturating_sub(at) > LARGE_BODY_BYTES)
            .then(|| {
                self.host
                    .receiving(&request, file.size, Arc::clone(&received))
            })
            .flatten();
        Ok(Content {
            client: self,
            file: file.clone(),
            response,
            at,
            since: (at, Duration::ZERO),
            resumed: 0,
            received,
            _receiving: receiving,
        })
    }

    /// A response, and where its first byte stands in the file.
    fn open(&self, file: &FileRecord, from: u64) -> Result<(u64, Response), Error> {
        let mut request = Request::get(content_path(file));
        let mut with = |name: &str, value| request.headers.push((name.to_owned(), value));
        with("Accept", "*/*".to_owned());
        if from > 0 {
            with("Range", format!("bytes={from}-"));
            with("If-Range", format!("\"{}\"", file.sha256));
        }
        request.streamed = true;
        let Exchange { response, rest } = self.exchange(&request)?;
        let response = refuse(&request, response)?;
        let unreadable = |why: &str| Error::Unreadable {
            request: request.to_string(),
            why: why.to_owned(),
        };
        let at = match response.status {
            200 => 0,
            206 => part(&response, file.size)
                .filter(|at| *at == from)
                .ok_or_else(|| unreadable("it is another part of the file than was asked for"))?,
            _ => return Err(unreadable("it is neither the file nor a part of it")),
        };
        let length = response.header("content-length");
        let length = length.and_then(|length| length.parse().ok());
        if length.is_some_and(|length: u64| length != file.size.saturating_sub(at)) {
            return Err(unreadable("it has another length than the record says"));
        }
        let rest = rest.ok_or_else(|| unreadable("it has no body"))?;
        Ok((at, rest))
    }
}

fn content_path(file: &FileRecord) -> String {
    path(&file.id) + "/content"
}

/// Where a part of a file begins that goes on to its end.
fn part(response: &ApiResponse, size: u64) -> Option<u64> {
    let range = response.header("content-range")?.strip_prefix("bytes ")?;
    let (range, of) = range.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let goes_on = of.parse() == Ok(size)
        && last.parse().ok().and_then(|last: u64| last.checked_add(1)) == Some(size);
    first.parse().ok().filter(|_| goes_on)
}

impl Content<'_> {
    /// Where the next byte stands in the file.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next bytes; none at the end of the file.
    ///
    /// # Errors
    /// The connection broke once too often, or the file is another one by now.
    pub fn next(&mut self, part: &mut [u8]) -> Result<usize, Error> {
        loop {
            if self.at >= self.file.size {
                return Ok(0);
            }
            let left = usize::try_from(self.file.size - self.at).unwrap_or(usize::MAX);
            let most = left.min(part.len());
            let began = self.client.host.now();
            let read = self.response.read(&mut part[..most]);
            let waited = self.client.host.now().duration_since(began);
            self.since.1 += waited.unsigned_abs();
            let error = match read {
                Ok(_) if self.is_slow() => timed_out(self.client.base()),
                Ok(0) => broken(
                    self.client.base(),
                    &std::io::ErrorKind::UnexpectedEof.into(),
                ),
                Ok(length) => {
                    self.at += length as u64;
                    self.received.store(self.at, Ordering::Relaxed);
                    return Ok(length);
                }
                Err(error) => broken(self.client.base(), &error),
            };
            if self.resumed == MAX_RESUMPTIONS {
                return Err(error.after(self.resumed + 1));
            }
            self.resumed += 1;
            self.resume(&error)?;
        }
    }

    /// Whether it has come more slowly than anybody waits for, since it last began. The time that whoever reads it
    /// takes for it does not count.
    fn is_slow(&self) -> bool {
        let (from, waited) = self.since;
        let least = waited.as_secs().saturating_mul(MIN_BYTES_PER_SECOND);
        waited > self.client.options.silence && self.at - from < least
    }

    fn resume(&mut self, why: &Error) -> Result<(), Error> {
        let after = Duration::from_millis(200) * self.resumed;
        self.client.host.retrying(&why.to_string(), after);
        self.client.host.wait(after);
        let (at, response) = self.client.open(&self.file, self.at)?;
        if at != self.at {
            return Err(Error::Unreadable {
                request: Request::get(content_path(&self.file)).to_string(),
                why: "it is another file by now".to_owned(),
            });
        }
        self.response = response;
        self.since = (at, Duration::ZERO);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::part;
    use crate::client::ApiResponse;

    #[test]
    fn a_content_range_must_reach_the_end() {
        for (range, at) in [
            ("bytes 5-9/10", Some(5)),
            ("bytes 0-9/10", Some(0)),
            ("bytes 5-8/10", None),
            ("bytes 5-9/11", None),
            ("bytes 5-9/*", None),
            ("lines 5-9/10", None),
            ("bytes */10", None),
            ("bytes 5-18446744073709551615/10", None),
        ] {
            let response = ApiResponse {
                status: 206,
                headers: vec![("content-range".to_owned(), range.to_owned())],
                body: Vec::new(),
            };
            assert_eq!(part(&response, 10), at, "{range}");
        }
    }
}
