//! Refusals: why something is not done, with a stable code.
//!
//! Goes in: what is wrong. Comes out: a value that every layer returns unchanged. Knows no status, no media type
//! and no header: [`http::problem`](crate::http::problem) makes a response of it.

use schemars::JsonSchema;
use serde::Serialize;
pub use tplkit::problem::Code;
use uuid::Uuid;

/// How many single faults one refusal lists.
pub const MOST_FAULTS: usize = 100;

/// What a caller sees of a bug.
const INTERNAL: &str = "Something went wrong here; it has been recorded.";

/// A refusal.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// What clients branch on.
    pub code: Code,
    detail: Box<str>,
    /// Whether that is not for callers.
    hides_detail: bool,
    errors: Vec<Fault>,
    is_too_long: bool,
    /// The column concerned.
    pub column: Option<String>,
    /// The ref concerned, without the dollar.
    pub reference: Option<Box<str>>,
    /// The job that is in the way.
    pub job: Option<Box<BlockingJob>>,
    /// What somebody has to decide before an upgrade.
    pub undecided: Option<Box<Undecided>>,
    /// What would be lost.
    pub loss: Option<Box<Loss>>,
    /// Seconds until another try makes sense.
    pub retry_after: Option<u32>,
}

/// An unfinished job, as shown to a client that waits for it.
#[derive(Debug, Clone)]
pub struct BlockingJob {
    /// Its id.
    pub id: Uuid,
    /// How far it is.
    pub status: &'static str,
    /// Until when somebody works on it, as the job itself has it; nothing when nobody does.
    pub locked_until: Option<String>,
}

/// What somebody has to decide.
#[derive(Debug, Clone, PartialEq)]
pub struct Undecided {
    /// The conflicts, as a plan lists them.
    pub conflicts: serde_json::Value,
    /// How many cells are left out of them, if any.
    pub more: Option<u64>,
}

/// What would be lost, where that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// How many filled cells.
    pub cells: Option<u64>,
    /// How many rows.
    pub rows: Option<u64>,
}

/// One thing that is wrong in a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Fault {
    /// Where: dotted as in the body, or `query.…`, `path.…`.
    pub path: String,
    /// Why, as a code: that of a problem, or of a rule for packages or automations.
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

impl Refusal {
    /// A refusal with that code.
    pub fn new(code: Code, detail: impl Into<String>) -> Refusal {
        Refusal {
            code,
            detail: detail.into().into(),
            hides_detail: false,
            errors: Vec::new(),
            is_too_long: false,
            column: None,
            reference: None,
            job: None,
            undecided: None,
            loss: None,
            retry_after: None,
        }
    }

    /// No valid credential, in the same words whatever the cause.
    pub fn unauthenticated() -> Refusal {
        Refusal::new(Code::Unauthenticated, "A valid credential is needed.")
    }

    /// Nothing there, in the same words for what does not exist and what is hidden.
    pub fn not_found() -> Refusal {
        Refusal::new(
            Code::NotFound,
            "There is nothing here, or nothing that you may see.",
        )
    }

    /// What may work a little later.
    pub fn unavailable(detail: impl Into<String>) -> Refusal {
        let mut refusal = Refusal::new(Code::StoreUnavailable, detail);
        refusal.retry_after = Some(1);
        refusal
    }

    /// Too much work of the organization is in progress.
    pub fn busy() -> Refusal {
        let mut refusal = Refusal::new(
            Code::Busy,
            "As much as may be done at a time is being done for this organization already; try again a \
             little later.",
        );
        refusal.retry_after = Some(1);
        refusal
    }

    /// A role that does not suffice.
    pub fn forbidden(detail: impl Into<String>) -> Refusal {
        Refusal::new(Code::Forbidden, detail)
    }

    /// A repeated value in a unique column.
    pub fn repeated(column: &str) -> Refusal {
        let detail = format!("The value of the column {column} is already in another row.");
        let mut refusal = Refusal::new(Code::UniqueViolation, detail);
        refusal.column = Some(column.to_owned());
        refusal
    }

    /// A bug, about which nothing is said; whoever refuses has logged it.
    pub fn internal() -> Refusal {
        Refusal::new(Code::Internal, INTERNAL)
    }

    /// The same with its cause, which a caller never sees.
    pub fn internal_by(cause: impl Into<String>) -> Refusal {
        let mut refusal = Refusal::new(Code::Internal, cause);
        refusal.hides_detail = true;
        refusal
    }

    /// What cannot be here is here: a line in the log, and nothing for the caller to know.
    pub fn bug(what: &str, error: &dyn std::error::Error) -> Refusal {
        tracing::error!(%error, "{what}");
        Refusal::internal_by(format!("{what}: {error}"))
    }

    /// Invalid, with everything that is wrong.
    pub fn invalid(faults: Vec<Fault>) -> Refusal {
        Refusal::invalid_with(Code::ValidationFailed, faults)
    }

    /// A refusal with that code and everything that is wrong.
    pub fn invalid_with(code: Code, faults: Vec<Fault>) -> Refusal {
        let mut details: Vec<String> = Vec::new();
        for fault in faults.iter().take(3) {
            details.push(match fault.path.as_str() {
                "" => fault.message.clone(),
                path => format!("{path}: {}", fault.message),
            });
        }
        if faults.len() > details.len() {
            details.push(format!("and {} more", faults.len() - details.len()));
        }
        let mut refusal = Refusal::new(code, details.join("; "));
        refusal.errors = faults;
        refusal.errors.truncate(MOST_FAULTS);
        refusal
    }

    /// Invalid, about one value.
    pub fn fault(path: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal::invalid(vec![Fault::new(path, message)])
    }

    /// The same refusal in other words.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Refusal {
        self.detail = detail.into().into();
        self.hides_detail = false;
        self
    }

    /// The same refusal with the single things that are wrong.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<Fault>) -> Refusal {
        self.errors = errors;
        self.errors.truncate(MOST_FAULTS);
        self
    }

    /// Everything that is wrong, one by one.
    pub fn errors(&self) -> &[Fault] {
        &self.errors
    }

    /// A query that the store was not done with in time.
    pub fn too_long() -> Refusal {
        let detail = "This took the store too long and was given up; ask for less.";
        let mut refusal = Refusal::unavailable(detail);
        refusal.is_too_long = true;
        refusal
    }

    /// Whether the store was not done with the query in time.
    pub fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Why, for people.
    pub fn detail(&self) -> &str {
        if self.hides_detail {
            INTERNAL
        } else {
            &self.detail
        }
    }

    /// The same for an administrator at the machine, whose command keeps no log: of a bug its cause.
    pub fn cause(&self) -> &str {
        &self.detail
    }
}
