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
/// How many characters a refusal has of a place. A key of a body may be as long as the body, and a refusal is kept for a
/// day where a request has a key.
const MAX_PATH_CHARS: usize = 300;
/// How many characters it has of what is wrong there: room for a place, and for what follows.
const MAX_MESSAGE_CHARS: usize = 600;
/// How many characters it has of everything that is wrong.
const MAX_DETAIL_CHARS: usize = 2_000;

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
        let fault = Fault {
            path: path.into(),
            code: Code::ValidationFailed.as_str(),
            message: message.into(),
        };
        fault.cut()
    }

    /// The same, as much of it as a refusal has.
    fn cut(self) -> Fault {
        Fault {
            path: cut_path(self.path),
            code: self.code,
            message: cut(self.message, MAX_MESSAGE_CHARS),
        }
    }
}

/// As much of a text as a refusal has.
fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// As much of a place as a refusal has.
pub(crate) fn cut_path(path: String) -> String {
    cut(path, MAX_PATH_CHARS)
}

/// As many faults as a refusal lists.
fn listed(faults: Vec<Fault>) -> Vec<Fault> {
    let listed = faults.into_iter().take(MOST_FAULTS);
    listed.map(Fault::cut).collect()
}

impl Refusal {
    /// A refusal with that code.
    pub fn new(code: Code, detail: impl Into<String>) -> Refusal {
        Refusal {
            code,
            detail: cut(detail.into(), MAX_DETAIL_CHARS).into(),
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
        let count = faults.len();
        let errors = listed(faults);
        let mut details: Vec<String> = Vec::new();
        for fault in errors.iter().take(3) {
            details.push(match fault.path.as_str() {
                "" => fault.message.clone(),
                path => format!("{path}: {}", fault.message),
            });
        }
        if count > details.len() {
            details.push(format!("and {} more", count - details.len()));
        }
        let mut refusal = Refusal::new(code, details.join("; "));
        refusal.errors = errors;
        refusal
    }

    /// Invalid, about one value.
    pub fn fault(path: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal::invalid(vec![Fault::new(path, message)])
    }

    /// The same refusal in other words.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Refusal {
        self.detail = cut(detail.into(), MAX_DETAIL_CHARS).into();
        self.hides_detail = false;
        self
    }

    /// The same refusal with the single things that are wrong.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<Fault>) -> Refusal {
        self.errors = listed(errors);
        self
    }

    /// The same refusal, about a ref.
    #[must_use]
    pub fn with_reference(mut self, reference: &str) -> Refusal {
        self.reference = Some(cut_path(reference.to_owned()).into());
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

#[cfg(test)]
mod tests {
    use super::{Code, Fault, MAX_PATH_CHARS, Refusal};

    #[test]
    fn a_refusal_is_short_however_long_what_it_repeats_is() {
        let long = "é".repeat(1 << 20);
        let fault = Fault::new(long.as_str(), "is not a field of this body");
        assert_eq!(fault.path.chars().count(), MAX_PATH_CHARS + 1);
        assert!(fault.path.ends_with("é…"), "{}", fault.path);
        let refusal = Refusal::invalid(vec![fault]);
        let words = "é…: is not a field of this body";
        assert!(refusal.detail().ends_with(words), "{}", refusal.detail());
        // Also of what was put together elsewhere, and in whatever way it becomes a refusal.
        let fault = Fault {
            path: long.clone(),
            code: Code::ValidationFailed.as_str(),
            message: long.clone(),
        };
        let faults = vec![fault; 10];
        for refusal in [
            Refusal::invalid(faults.clone()),
            Refusal::new(Code::ValidationFailed, long.as_str()).with_errors(faults.clone()),
            Refusal::invalid(faults).with_detail(long.as_str()),
        ] {
            let refusal = refusal.with_reference(&long);
            let reference = refusal.reference.as_deref().unwrap_or_default();
            assert_eq!(reference.chars().count(), MAX_PATH_CHARS + 1);
            assert!(refusal.detail().chars().count() <= 2_001);
            for fault in refusal.errors() {
                assert!(fault.path.chars().count() + fault.message.chars().count() <= 902);
            }
        }
    }

    #[test]
    fn what_has_a_usual_length_is_whole() {
        let (path, message) = ("p".repeat(300), "m".repeat(600));
        let refusal = Refusal::fault(path.as_str(), message.as_str());
        assert_eq!(refusal.errors()[0].path, path);
        assert_eq!(refusal.errors()[0].message, message);
        assert_eq!(refusal.detail(), format!("{path}: {message}"));
    }
}
