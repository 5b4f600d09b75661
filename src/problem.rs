//! The stable codes of refusals, on which clients branch (`rest` 1.3).
//!
//! The same mistake has the same code offline and over HTTP.

/// Why something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The request or a value in it has the wrong shape.
    ValidationFailed,
    /// A resolution or a rows mode names a ref that the package does not have, or names one twice.
    UnknownResolutionRef,
    /// A dependency has neither a resolution nor a proposal that decides it.
    MappingRequired,
    /// A column that the plan uses is not mapped.
    MappingColumnsIncomplete,
    /// The mapped table is not among the tables that may be mapped.
    MappingFeatureNotFound,
    /// The mapped column is none of the mapped table.
    MappingColumnNotFound,
    /// The mapped entity does not exist at the destination.
    MappingTargetNotFound,
    /// `import` of a dependency that has no blueprint.
    ImportWithoutBlueprint,
    /// `missingByKey` for a table without a verified key.
    RowsModeWithoutKey,
    /// Rows of an earlier pass are in the table, and nothing says which rows of the package they are.
    RowsUnmatched,
    /// Nothing of the template stands there that an upgrade could start from.
    NoBase,
    /// The package that is said to stand there is another one than the new version's.
    BaseUnrelated,
    /// A package is said to stand there, and the workspace knows what was applied to it.
    BaseExists,
    /// The package is of a lower version than what stands there.
    Downgrade,
    /// Somebody has to decide what becomes of what both sides changed.
    UpgradeConflicts,
    /// What was decided to go may not go.
    DeleteRefused,
    /// What was decided would lose cells or rows, and nothing allows that.
    Destructive,
    /// Somebody works on the job.
    JobActive,
    /// The plan that was looked at is not what would be done now.
    PlanStale,
    /// The state does not allow it.
    Conflict,
    /// A repeated value in a unique column.
    UniqueViolation,
    /// It still holds something that would be lost.
    NotEmpty,
    /// More rows than the organization may have.
    QuotaExceeded,
    /// It does not exist, or is not visible.
    NotFound,
    /// The role or the scope does not suffice.
    Forbidden,
    /// No credential, or one that does not hold.
    Unauthenticated,
    /// The API key lacks a scope.
    MissingScope,
    /// The route has no such method.
    MethodNotAllowed,
    /// The body is not JSON that can be read in one way only.
    InvalidJson,
    /// The cursor belongs to another question, or to none.
    InvalidCursor,
    /// A filter is malformed, or names an operator that does not exist.
    InvalidFilter,
    /// The first request with this key still runs.
    IdempotencyInProgress,
    /// The key was used for another request.
    IdempotencyKeyReused,
    /// The version in force is not the one that the draft was based on.
    DraftStale,
    /// The automation has no active version.
    NoActiveVersion,
    /// The automation has errors.
    InvalidAutomation,
    /// A kept secret belongs to another target than the one it is to be sent to now.
    SecretRequired,
    /// A rule of promotion is broken.
    PromotionFailed,
    /// The body is larger than accepted.
    PayloadTooLarge,
    /// The body is of a type that is not accepted.
    UnsupportedMediaType,
    /// An upload brings nothing, or next to nothing.
    UploadStalled,
    /// What the request is bound to is not what is there.
    PreconditionFailed,
    /// The file has no such part.
    RangeNotSatisfiable,
    /// The bytes of a file are gone, or are others.
    FileDamaged,
    /// Too many requests.
    RateLimited,
    /// Much is being done for the organization already.
    Busy,
    /// The organization has no seat left.
    NoSeatsAvailable,
    /// The store cannot be reached.
    StoreUnavailable,
    /// A bug of the server.
    Internal,
}

impl Code {
    /// The word over HTTP and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::ValidationFailed => "validation_failed",
            Code::UnknownResolutionRef => "unknown_resolution_ref",
            Code::MappingRequired => "mapping_required",
            Code::MappingColumnsIncomplete => "mapping_columns_incomplete",
            Code::MappingFeatureNotFound => "mapping_feature_not_found",
            Code::MappingColumnNotFound => "mapping_column_not_found",
            Code::MappingTargetNotFound => "mapping_target_not_found",
            Code::ImportWithoutBlueprint => "import_without_blueprint",
            Code::RowsModeWithoutKey => "rows_mode_without_key",
            Code::RowsUnmatched => "rows_unmatched",
            Code::NoBase => "no_base",
            Code::BaseUnrelated => "base_unrelated",
            Code::BaseExists => "base_exists",
            Code::Downgrade => "downgrade",
            Code::UpgradeConflicts => "upgrade_conflicts",
            Code::DeleteRefused => "delete_refused",
            Code::Destructive => "destructive",
            Code::JobActive => "job_active",
            Code::PlanStale => "plan_stale",
            Code::Conflict => "conflict",
            Code::UniqueViolation => "unique_violation",
            Code::NotEmpty => "not_empty",
            Code::QuotaExceeded => "quota_exceeded",
            Code::NotFound => "not_found",
            Code::Forbidden => "forbidden",
            Code::Unauthenticated => "unauthenticated",
            Code::MissingScope => "missing_scope",
            Code::MethodNotAllowed => "method_not_allowed",
            Code::InvalidJson => "invalid_json",
            Code::InvalidCursor => "invalid_cursor",
            Code::InvalidFilter => "invalid_filter",
            Code::IdempotencyInProgress => "idempotency_in_progress",
            Code::IdempotencyKeyReused => "idempotency_key_reused",
            Code::DraftStale => "draft_stale",
            Code::NoActiveVersion => "no_active_version",
            Code::InvalidAutomation => "invalid_automation",
            Code::SecretRequired => "secret_required",
            Code::PromotionFailed => "promotion_failed",
            Code::PayloadTooLarge => "payload_too_large",
            Code::UnsupportedMediaType => "unsupported_media_type",
            Code::UploadStalled => "upload_stalled",
            Code::PreconditionFailed => "precondition_failed",
            Code::RangeNotSatisfiable => "range_not_satisfiable",
            Code::FileDamaged => "file_damaged",
            Code::RateLimited => "rate_limited",
            Code::Busy => "busy",
            Code::NoSeatsAvailable => "no_seats_available",
            Code::StoreUnavailable => "store_unavailable",
            Code::Internal => "internal",
        }
    }

    /// The code of that word.
    pub fn parse(word: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.as_str() == word)
    }

    /// All codes.
    pub const ALL: [Code; 49] = [
        Code::ValidationFailed,
        Code::UnknownResolutionRef,
        Code::MappingRequired,
        Code::MappingColumnsIncomplete,
        Code::MappingFeatureNotFound,
        Code::MappingColumnNotFound,
        Code::MappingTargetNotFound,
        Code::ImportWithoutBlueprint,
        Code::RowsModeWithoutKey,
        Code::RowsUnmatched,
        Code::NoBase,
        Code::BaseUnrelated,
        Code::BaseExists,
        Code::Downgrade,
        Code::UpgradeConflicts,
        Code::DeleteRefused,
        Code::Destructive,
        Code::JobActive,
        Code::PlanStale,
        Code::Conflict,
        Code::UniqueViolation,
        Code::NotEmpty,
        Code::QuotaExceeded,
        Code::NotFound,
        Code::Forbidden,
        Code::Unauthenticated,
        Code::MissingScope,
        Code::MethodNotAllowed,
        Code::InvalidJson,
        Code::InvalidCursor,
        Code::InvalidFilter,
        Code::IdempotencyInProgress,
        Code::IdempotencyKeyReused,
        Code::DraftStale,
        Code::NoActiveVersion,
        Code::InvalidAutomation,
        Code::SecretRequired,
        Code::PromotionFailed,
        Code::PayloadTooLarge,
        Code::UnsupportedMediaType,
        Code::UploadStalled,
        Code::PreconditionFailed,
        Code::RangeNotSatisfiable,
        Code::FileDamaged,
        Code::RateLimited,
        Code::Busy,
        Code::NoSeatsAvailable,
        Code::StoreUnavailable,
        Code::Internal,
    ];
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for Code {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        schemars::json_schema!({"type": "string", "enum": words})
    }
}

impl<'de> serde::Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Code::parse(&word).ok_or_else(|| serde::de::Error::custom(format!("no code {word:?}")))
    }
}
