//! A response: status, headers and body.

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::error::Error;
use super::problem::Problem;
use super::request::Request;

/// A response, whatever its status.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiResponse {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    /// The body as it came; when it is a refusal, without the credential if the server repeated it.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for ApiResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Bodies may hold tokens.
        write!(f, "ApiResponse({}, {} bytes)", self.status, self.body.len())
    }
}

impl ApiResponse {
    /// Whether it did what was asked.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The clock of the server.
    pub fn date(&self) -> Option<Timestamp> {
        self.header("date").and_then(instant)
    }

    /// The refusal that it is, unless it is none.
    pub fn problem(&self, request: &Request) -> Option<Problem> {
        (!self.is_success()).then(|| Problem::read(request, self))
    }

    /// The body as a record.
    pub fn read<T: DeserializeOwned>(&self, request: &Request) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|error| Error::Unreadable {
            request: request.to_string(),
            why: unreadable(&self.body, &error),
        })
    }
}

/// Why a body is not what it should be. The values in it are not repeated: tokens may be among them.
fn unreadable(body: &[u8], error: &serde_json::Error) -> String {
    if body.trim_ascii().is_empty() {
        return "it is empty".to_owned();
    }
    let (line, column) = (error.line(), error.column());
    let what = if error.is_data() {
        "unexpected content"
    } else {
        "no JSON"
    };
    format!("{what} at line {line}, column {column}")
}

/// Reads an HTTP date.
pub fn instant(text: &str) -> Option<Timestamp> {
    let zoned = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(zoned.timestamp())
}

#[cfg(test)]
mod tests {
    #[test]
    fn http_dates_are_read() {
        let at = super::instant("Sun, 06 Nov 1994 08:49:37 GMT").map(|at| at.to_string());
        assert_eq!(at.as_deref(), Some("1994-11-06T08:49:37Z"));
        assert_eq!(super::instant("yesterday"), None);
    }
}
