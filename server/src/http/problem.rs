//! Refusals as clients see them: `application/problem+json` with a stable code.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
pub use tplkit::problem::Code;
use uuid::Uuid;

use crate::store::StoreError;

/// The media type of refusals.
pub const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Whether a path is that of the executor, which lies outside `/v1` and tells refusals in a form of its
/// own.
fn is_executor(path: &str) -> bool {
    path.starts_with("/apply/")
}

/// The media type of refusals of a path.
pub fn media_type(path: &str) -> HeaderValue {
    if is_executor(path) {
        HeaderValue::from_static("application/json")
    } else {
        MEDIA_TYPE
    }
}

/// How many single faults one response lists.
pub const MOST_FAULTS: usize = 100;

/// A refusal.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What clients branch on.
    pub code: Code,
    detail: Box<str>,
    errors: Vec<Fault>,
    /// The column concerned.
    pub column: Option<String>,
    /// The ref concerned, without the dollar.
    pub reference: Option<Box<str>>,
    /// The job that is in the way.
    pub job: Option<Box<JobInTheWay>>,
    /// Seconds until another try makes sense.
    pub retry_after: Option<u32>,
    /// The methods that the route has.
    pub allow: Option<Box<str>>,
}

/// An unfinished job, as shown to a client that waits for it.
#[derive(Debug, Clone)]
pub struct JobInTheWay {
    /// Its id.
    pub id: Uuid,
    /// How far it is.
    pub status: &'static str,
    /// Until when somebody works on it, as it is answered elsewhere; nothing when nobody does.
    pub locked_until: Option<String>,
}

/// One thing that is wrong in a request.
#[derive(Debug, Clone, Serialize)]
pub struct Fault {
    /// Where: dotted as in the body, or `query.…`, `path.…`.
    pub path: String,
    /// Why, as a code: one of [`Code`], or of a rule of the library.
    pub code: &'static str,
    /// Why, for people.
    pub message: String,
}

impl Fault {
    /// A value of the wrong shape.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault {
            path: path.into(),
            code: Code::ValidationFailed.as_str(),
            message: message.into(),
        }
    }
}

impl Problem {
    /// A refusal with that code.
    pub fn new(code: Code, detail: impl Into<String>) -> Problem {
        Problem {
            code,
            detail: detail.into().into(),
            errors: Vec::new(),
            column: None,
            reference: None,
            job: None,
            retry_after: None,
            allow: None,
        }
    }

    /// 401, in the same words whatever the cause.
    pub fn unauthenticated() -> Problem {
        Problem::new(Code::Unauthenticated, "A valid credential is needed.")
    }

    /// 404, in the same words for what does not exist and what is hidden.
    pub fn not_found() -> Problem {
        Problem::new(
            Code::NotFound,
            "There is nothing here, or nothing that you may see.",
        )
    }

    /// 503 for what may work a little later.
    pub fn unavailable(detail: impl Into<String>) -> Problem {
        let mut problem = Problem::new(Code::StoreUnavailable, detail);
        problem.retry_after = Some(1);
        problem
    }

    /// 429 when too much work of the organization is in progress.
    pub fn busy() -> Problem {
        let mut problem = Problem::new(
            Code::Busy,
            "As much as may be done at a time is being done for this organization already; try again a \
             little later.",
        );
        problem.retry_after = Some(1);
        problem
    }

    /// 403 for a role that does not suffice.
    pub fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(Code::Forbidden, detail)
    }

    /// 409 for a repeated value in a unique column.
    pub fn repeated(column: &str) -> Problem {
        let reported = format!("The value of the column {column} stands in another row already.");
        let mut problem = Problem::new(Code::UniqueViolation, reported);
        problem.column = Some(column.to_owned());
        problem
    }

    /// 422 with everything that is wrong.
    pub fn invalid(faults: Vec<Fault>) -> Problem {
        Problem::invalid_with(Code::ValidationFailed, faults)
    }

    /// A refusal with that code and everything that is wrong.
    pub fn invalid_with(code: Code, faults: Vec<Fault>) -> Problem {
        let mut reported: Vec<String> = Vec::new();
        for fault in faults.iter().take(3) {
            reported.push(format!("{}: {}", fault.path, fault.message));
        }
        if faults.len() > reported.len() {
            reported.push(format!("and {} more", faults.len() - reported.len()));
        }
        let mut problem = Problem::new(code, reported.join("; "));
        problem.errors = faults;
        problem.errors.truncate(MOST_FAULTS);
        problem
    }

    /// 422 about one value.
    pub fn fault(path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem::invalid(vec![Fault::new(path, message)])
    }

    /// The same refusal in other words.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Problem {
        self.detail = detail.into().into();
        self
    }

    /// The same refusal with the single things that are wrong.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<Fault>) -> Problem {
        self.errors = errors;
        self.errors.truncate(MOST_FAULTS);
        self
    }

    /// Everything that is wrong, one by one.
    pub fn errors(&self) -> &[Fault] {
        &self.errors
    }

    /// Whether the store was not done with the question in time.
    pub fn is_too_long(&self) -> bool {
        self.detail() == TOO_LONG
    }

    /// Why, for people.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The document, for a request of that path.
    pub fn document(&self, path: &str) -> Vec<u8> {
        #[derive(Serialize)]
        struct Document<'a> {
            r#type: String,
            title: &'static str,
            status: u16,
            detail: &'a str,
            code: Code,
            instance: &'a str,
            #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
            errors: &'a [Fault],
            #[serde(skip_serializing_if = "Option::is_none")]
            column: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            r#ref: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            job_id: Option<Uuid>,
            #[serde(skip_serializing_if = "Option::is_none")]
            locked_until: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            retry_after: Option<u32>,
        }
        if is_executor(path) {
            return self.executor_document();
        }
        let (status, title) = status(self.code);
        let document = Document {
            r#type: format!("urn:tplkit:problem:{}", self.code),
            title,
            status: status.as_u16(),
            detail: &self.detail,
            code: self.code,
            instance: path,
            errors: &self.errors,
            column: self.column.as_deref(),
            r#ref: self.reference.as_deref(),
            job_id: self.job.as_ref().map(|job| job.id),
            locked_until: self
                .job
                .as_ref()
                .and_then(|job| job.locked_until.as_deref()),
            retry_after: self.retry_after,
        };
        serde_json::to_vec(&document).unwrap_or_default()
    }

    /// The form that the executor has had before there was an API around it (`rest` 6.6).
    fn executor_document(&self) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Document<'a> {
            error: Code,
            detail: &'a str,
            #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
            errors: &'a [Fault],
            #[serde(skip_serializing_if = "Option::is_none")]
            r#ref: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            job_id: Option<Uuid>,
            #[serde(skip_serializing_if = "Option::is_none")]
            status: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            locked_until: Option<&'a str>,
        }
        let job = self.job.as_ref();
        let document = Document {
            error: self.code,
            detail: &self.detail,
            errors: &self.errors,
            r#ref: self.reference.as_deref(),
            job_id: job.map(|job| job.id),
            status: job.map(|job| job.status),
            locked_until: job.and_then(|job| job.locked_until.as_deref()),
        };
        serde_json::to_vec(&document).unwrap_or_default()
    }

    /// The response, for a request of that path.
    pub fn response(&self, path: &str) -> Response {
        let mut response = Response::new(Body::from(self.document(path)));
        *response.status_mut() = status(self.code).0;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, media_type(path));
        if self.code == Code::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = self.allow.as_deref().and_then(|allow| allow.parse().ok()) {
            headers.insert(header::ALLOW, allow);
        }
        response
    }
}

/// What is said of a question that the store was not done with in time.
const TOO_LONG: &str = "This took the store too long and was given up; ask for less.";

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match error {
            StoreError::Unavailable(_) | StoreError::TurnedAway(_) | StoreError::Locked => {
                tracing::warn!(%error, "the store is not available");
                Problem::unavailable("The store is not available at the moment.")
            }
            StoreError::Busy => Problem::busy(),
            StoreError::TooLong => {
                tracing::warn!(%error, "the store was given up on");
                Problem::unavailable(TOO_LONG)
            }
            // Never reported: whoever ran the operation runs it once more.
            StoreError::Stale | StoreError::NotBrief => {
                Problem::unavailable("This could not be done at once; ask again.")
            }
            // What can collide is caught where it is known what collided; the rest are bugs.
            other => {
                tracing::error!(error = %other, "an operation of the store failed");
                Problem::new(
                    Code::Internal,
                    "Something went wrong here; it has been recorded.",
                )
            }
        }
    }
}

/// Status and title of a code.
pub fn status(code: Code) -> (StatusCode, &'static str) {
    let status = match code {
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::MissingScope => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::JobActive
        | Code::PlanStale
        | Code::Conflict
        | Code::UniqueViolation
        | Code::IdempotencyInProgress
        | Code::DraftStale
        | Code::NoActiveVersion
        | Code::NotEmpty
        | Code::QuotaExceeded
        | Code::NoSeatsAvailable => StatusCode::CONFLICT,
        Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::RateLimited | Code::Busy => StatusCode::TOO_MANY_REQUESTS,
        Code::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::ValidationFailed
        | Code::UnknownResolutionRef
        | Code::MappingRequired
        | Code::MappingColumnsIncomplete
        | Code::MappingFeatureNotFound
        | Code::MappingColumnNotFound
        | Code::MappingTargetNotFound
        | Code::ImportWithoutBlueprint
        | Code::RowsModeWithoutKey
        | Code::RowsUnmatched
        | Code::InvalidJson
        | Code::InvalidFilter
        | Code::InvalidAutomation
        | Code::SecretRequired
        | Code::PromotionFailed
        | Code::IdempotencyKeyReused
        | Code::InvalidCursor => StatusCode::UNPROCESSABLE_ENTITY,
    };
    (status, status.canonical_reason().unwrap_or_default())
}
