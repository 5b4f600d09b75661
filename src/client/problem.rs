//! Problem documents: refusals as servers send them.

use std::fmt;

use serde_json::{Map, Value};

use super::request::Request;
use super::response::ApiResponse;
use crate::problem::Code;

/// A refusal: what a problem document says, as far as it says it. Texts hold no control
/// characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Method and path of what was refused.
    pub request: String,
    /// The HTTP status.
    pub status: u16,
    /// What to branch on.
    pub code: Option<ProblemCode>,
    /// Why, for people.
    pub detail: Option<String>,
    /// Single faults.
    pub errors: Vec<Fault>,
    /// The column concerned.
    pub column: Option<String>,
    /// The ref concerned, without a dollar.
    pub reference: Option<String>,
    /// The job concerned.
    pub job_id: Option<String>,
    /// Until when a worker holds its lease, in RFC 3339.
    pub locked_until: Option<String>,
    /// Seconds, or an HTTP date, until another try makes sense.
    pub retry_after: Option<String>,
    /// By which the server knows the request.
    pub request_id: Option<String>,
}

/// The code of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemCode {
    /// One of ours.
    Known(Code),
    /// One that this version does not know.
    Unknown(String),
}

impl ProblemCode {
    /// The code of that word.
    pub fn parse(word: &str) -> ProblemCode {
        Code::parse(word).map_or_else(|| ProblemCode::Unknown(word.to_owned()), ProblemCode::Known)
    }

    /// The word of that code.
    pub fn as_str(&self) -> &str {
        match self {
            ProblemCode::Known(code) => code.as_str(),
            ProblemCode::Unknown(word) => word,
        }
    }
}

/// One thing that is wrong in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub path: String,
    /// Why, as a code.
    pub code: Option<ProblemCode>,
    /// Why, for people.
    pub message: String,
}

impl Problem {
    /// Reads a response. Every member may be missing; the form of the executor (`error`, `jobId`,
    /// `lockedUntil`) is understood as well, and what is not JSON at all leaves the status.
    pub(super) fn read(request: &Request, result: &ApiResponse) -> Problem {
        let document: Value = serde_json::from_slice(&result.body).unwrap_or_default();
        let empty = Map::new();
        let members = document.as_object().unwrap_or(&empty);
        let errors = members.get("errors").and_then(Value::as_array);
        let header = |name| result.header(name).map(plain);
        Problem {
            request: request.to_string(),
            status: result.status,
            code: text(members, &["code", "error"]).map(|word| ProblemCode::parse(&word)),
            detail: text(members, &["detail", "message", "title"]),
            errors: errors.into_iter().flatten().filter_map(fault).collect(),
            column: text(members, &["column"]),
            reference: text(members, &["ref"]),
            job_id: text(members, &["job_id", "jobId"]),
            locked_until: text(members, &["locked_until", "lockedUntil"]),
            retry_after: header("retry-after"),
            request_id: header("x-request-id"),
        }
    }

    /// Whether it is that one of our codes.
    pub fn is(&self, code: Code) -> bool {
        self.code == Some(ProblemCode::Known(code))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was refused with {}", self.request, self.status)?;
        if let Some(code) = &self.code {
            write!(f, " `{}`", code.as_str())?;
        }
        match &self.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

fn fault(value: &Value) -> Option<Fault> {
    let members = value.as_object()?;
    Some(Fault {
        path: text(members, &["path"]).unwrap_or_default(),
        code: text(members, &["code"]).map(|word| ProblemCode::parse(&word)),
        message: text(members, &["message", "detail"]).unwrap_or_default(),
    })
}

/// The first of these members that is a text with something in it.
fn text(members: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names
        .iter()
        .filter_map(|name| members.get(*name)?.as_str())
        .find(|text| !text.is_empty())
        .map(plain)
}

/// Text of a server, as a terminal may show it.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::{Problem, ProblemCode};
    use crate::client::{ApiResponse, Request};
    use crate::problem::Code;

    fn problem(status: u16, body: &str) -> Problem {
        let headers = vec![("retry-after".to_owned(), "7".to_owned())];
        let result = ApiResponse {
            status,
            headers,
            body: body.into(),
        };
        Problem::read(&Request::get("/v1/me?x=1"), &result)
    }

    #[test]
    fn a_whole_document_is_read() {
        let read = problem(
            409,
            r#"{"type": "urn:x", "title": "Conflict", "status": 409, "code": "job_active",
                "detail": "until \u001b[31mnoon", "job_id": "j", "locked_until": "noon",
                "errors": [{"path": "a.b", "code": "made_up", "message": "m"}, 7]}"#,
        );
        assert!(read.is(Code::JobActive));
        assert_eq!(read.job_id.as_deref(), Some("j"));
        assert_eq!(read.locked_until.as_deref(), Some("noon"));
        assert_eq!(read.retry_after.as_deref(), Some("7"));
        assert_eq!(read.errors.len(), 1);
        let code = read.errors[0].code.as_ref().expect("a code");
        assert_eq!(code, &ProblemCode::Unknown("made_up".to_owned()));
        assert_eq!(
            read.to_string(),
            "GET /v1/me was refused with 409 `job_active`: until  [31mnoon"
        );
    }

    #[test]
    fn the_executor_and_strangers_are_understood() {
        let read = problem(
            409,
            r#"{"error": "job_active", "jobId": "j", "lockedUntil": "t"}"#,
        );
        assert!(read.is(Code::JobActive));
        assert_eq!(
            (read.job_id.as_deref(), read.locked_until.as_deref()),
            (Some("j"), Some("t"))
        );
        for body in [
            "",
            "<html>",
            "[]",
            "null",
            "{}",
            r#"{"code": 7, "errors": "x"}"#,
        ] {
            let read = problem(502, body);
            assert_eq!(
                (read.code.as_ref(), read.detail.as_ref()),
                (None, None),
                "{body}"
            );
            assert_eq!(read.to_string(), "GET /v1/me was refused with 502");
        }
    }
}
