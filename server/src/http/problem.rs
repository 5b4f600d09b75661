//! Refusals as clients see them: `application/problem+json` with a stable code.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;
use tplkit::upgrade::Conflict;
use uuid::Uuid;

use crate::json_schemas::UtcInstant;
use crate::refusal::{Code, Fault, Refusal};

/// The media type of refusals.
pub const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The form in which a refusal is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefusalForm {
    /// A problem document.
    Problem,
    /// What the executor has written before there was an API around it (`rest` 6.6).
    Executor,
}

impl RefusalForm {
    /// The media type.
    pub fn media_type(self) -> HeaderValue {
        match self {
            RefusalForm::Problem => MEDIA_TYPE,
            RefusalForm::Executor => HeaderValue::from_static("application/json"),
        }
    }
}

/// The document in that form, for a request of that path.
pub fn document(refusal: &Refusal, form: RefusalForm, path: &str) -> Vec<u8> {
    match form {
        RefusalForm::Problem => problem_document(refusal, path),
        RefusalForm::Executor => executor_document(refusal),
    }
}

/// Why a request was refused (RFC 9457). Branch on `code`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Problem<'a> {
    /// `urn:tplkit:problem:` and the code.
    r#type: String,
    /// One line.
    title: &'static str,
    /// HTTP status.
    status: u16,
    /// What happened, for people.
    detail: &'a str,
    /// Stable word to branch on.
    code: Code,
    /// The path of the request.
    instance: &'a str,
    /// One entry for each fault.
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    errors: &'a [Fault],
    /// Technical name of the column concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    /// Symbolic name in the package, without the dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#ref: Option<&'a str>,
    /// The job concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<Uuid>,
    /// When the lease of the worker ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "UtcInstant")]
    locked_until: Option<&'a str>,
    /// What somebody has to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Conflict>")]
    conflicts: Option<&'a serde_json::Value>,
    /// How many cells to decide are left out of `conflicts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts_more: Option<u64>,
    /// How many filled cells would be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<u64>,
    /// How many rows would be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// Seconds to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u32>,
}

/// Why the executor refused a request.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutorProblem<'a> {
    /// Stable word to branch on.
    error: Code,
    /// What happened, for people.
    detail: &'a str,
    /// One entry for each fault.
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    errors: &'a [Fault],
    /// Symbolic name in the package, without the dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#ref: Option<&'a str>,
    /// The job concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<Uuid>,
    /// How that job stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    /// When the lease of the worker ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "UtcInstant")]
    locked_until: Option<&'a str>,
    /// What somebody has to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Conflict>")]
    conflicts: Option<&'a serde_json::Value>,
    /// How many cells to decide are left out of `conflicts`.
    #[serde(rename = "conflicts_more", skip_serializing_if = "Option::is_none")]
    conflicts_more: Option<u64>,
    /// How many filled cells would be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<u64>,
    /// How many rows would be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
}

fn problem_document(refusal: &Refusal, path: &str) -> Vec<u8> {
    let (status, title) = status(refusal.code);
    let document = Problem {
        r#type: format!("urn:tplkit:problem:{}", refusal.code),
        title,
        status: status.as_u16(),
        detail: refusal.detail(),
        code: refusal.code,
        instance: path,
        errors: refusal.errors(),
        column: refusal.column.as_deref(),
        r#ref: refusal.reference.as_deref(),
        job_id: refusal.job.as_ref().map(|job| job.id),
        locked_until: refusal
            .job
            .as_ref()
            .and_then(|job| job.locked_until.as_deref()),
        conflicts: refusal.undecided.as_ref().map(|asked| &asked.conflicts),
        conflicts_more: refusal.undecided.as_ref().and_then(|asked| asked.more),
        cells: refusal.loss.as_ref().and_then(|loss| loss.cells),
        rows: refusal.loss.as_ref().and_then(|loss| loss.rows),
        retry_after: refusal.retry_after,
    };
    serde_json::to_vec(&document).unwrap_or_default()
}

fn executor_document(refusal: &Refusal) -> Vec<u8> {
    let job = refusal.job.as_ref();
    let document = ExecutorProblem {
        error: refusal.code,
        detail: refusal.detail(),
        errors: refusal.errors(),
        r#ref: refusal.reference.as_deref(),
        job_id: job.map(|job| job.id),
        status: job.map(|job| job.status),
        locked_until: job.and_then(|job| job.locked_until.as_deref()),
        conflicts: refusal.undecided.as_ref().map(|asked| &asked.conflicts),
        conflicts_more: refusal.undecided.as_ref().and_then(|asked| asked.more),
        cells: refusal.loss.as_ref().and_then(|loss| loss.cells),
        rows: refusal.loss.as_ref().and_then(|loss| loss.rows),
    };
    serde_json::to_vec(&document).unwrap_or_default()
}

/// The response in that form, for a request of that path.
pub fn response(refusal: &Refusal, form: RefusalForm, path: &str) -> Response {
    let mut response = Response::new(Body::from(document(refusal, form, path)));
    *response.status_mut() = status(refusal.code).0;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, form.media_type());
    if refusal.code == Code::Unauthenticated {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(seconds) = refusal.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The response to a method that the route does not have; these are those that it has.
pub fn method_not_allowed(methods: &str, form: RefusalForm, path: &str) -> Response {
    let detail = format!("This route knows {methods}.");
    let refusal = Refusal::new(Code::MethodNotAllowed, detail);
    let mut response = response(&refusal, form, path);
    if let Ok(allow) = methods.parse() {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
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
        Code::UploadStalled => StatusCode::REQUEST_TIMEOUT,
        Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Code::RangeNotSatisfiable => StatusCode::RANGE_NOT_SATISFIABLE,
        Code::RateLimited | Code::Busy => StatusCode::TOO_MANY_REQUESTS,
        Code::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal | Code::FileDamaged => StatusCode::INTERNAL_SERVER_ERROR,
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
        | Code::NoBase
        | Code::BaseUnrelated
        | Code::BaseExists
        | Code::Downgrade
        | Code::UpgradeConflicts
        | Code::DeleteRefused
        | Code::Destructive
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
