//! The exit code, the help and the JSON members of each client error.

use std::path::Path;

use serde_json::{Map, Value, json};
use tplkit::client::{Cause, Error, Problem, ProblemCode, SessionError};
use tplkit::printable;
use tplkit::problem::Code;

use super::exit::Exit;
use super::shell_word::shell_word;

/// How a command ends that met this error.
pub(crate) fn exit(error: &Error) -> Exit {
    match error {
        Error::Refused(problem) if problem.is(Code::JobActive) => Exit::Running,
        // An earlier try of ours is still at work, and we have waited.
        Error::Refused(problem) if problem.is(Code::IdempotencyInProgress) => Exit::Unreachable,
        Error::Refused(problem) if problem.is(Code::PlanStale) || problem.is(Code::DraftStale) => {
            Exit::Stale
        }
        Error::Refused(problem) => exit_of(problem.status),
        Error::Session(SessionError::Over(_)) => Exit::Denied,
        Error::Unreachable { .. } | Error::Unreadable { .. } | Error::TooLarge { .. } => {
            Exit::Unreachable
        }
        Error::Redirected { .. }
        | Error::Source { .. }
        | Error::Invalid(_)
        | Error::Session(SessionError::Unusable(_))
        | Error::Setup(_) => Exit::Usage,
    }
}

/// How a command ends whose response has that status.
fn exit_of(status: u16) -> Exit {
    match status {
        200..300 => Exit::Done,
        401 | 403 => Exit::Denied,
        // Neither a verdict on the request nor one that will be another in a moment.
        429 | 500.. => Exit::Unreachable,
        _ => Exit::Findings,
    }
}

/// Whether a server has refused for good what was asked for.
pub(crate) fn is_verdict(error: &Error) -> bool {
    error
        .status()
        .is_some_and(|status| (400..500).contains(&status) && ![401, 429].contains(&status))
}

/// An error in words. A detail that only gathers the single faults is left to them.
pub(crate) fn describe(error: &Error) -> String {
    if let Error::Refused(problem) = error
        && let (Some(detail), Some(first)) = (&problem.detail, problem.errors.first())
        && !first.path.is_empty()
        && !first.message.is_empty()
        && detail.contains(&first.message)
    {
        let mut short = problem.clone();
        short.detail = None;
        return short.to_string();
    }
    error.to_string()
}

/// What to do about it.
pub(crate) fn help(error: &Error) -> String {
    match error {
        Error::Refused(problem) => refused(problem),
        Error::Unreachable { cause, .. } => match cause {
            Cause::Connection => {
                "check the address and the network; `tplkit doctor` looks at each part".to_owned()
            }
            Cause::Timeout => {
                "try again, or ask for less; `tplkit doctor` looks at each part".to_owned()
            }
            Cause::Tls => {
                "check the address; a certificate of your own is made known by SSL_CERT_FILE"
                    .to_owned()
            }
        },
        Error::Redirected { to, .. } => {
            let base = to.split("/v1/").next().unwrap_or(to);
            format!(
                "if that is the server you mean, sign in there: `tplkit login --url {}`",
                shell_word(base)
            )
        }
        Error::TooLarge { .. } => "ask for less".to_owned(),
        Error::Unreadable { .. } => {
            "check that the address is that of a `/v1` API; `tplkit doctor` looks at each part"
                .to_owned()
        }
        Error::Source { .. } => "check that it is a readable file that stays as it is".to_owned(),
        Error::Invalid(_) => "correct the request".to_owned(),
        Error::Session(_) => "sign in again with `tplkit login`".to_owned(),
        Error::Setup(_) => {
            "install the authorities to trust (`ca-certificates`), or name their file in SSL_CERT_FILE"
                .to_owned()
        }
    }
}

fn refused(problem: &Problem) -> String {
    let known = match &problem.code {
        Some(ProblemCode::Known(code)) => Some(*code),
        _ => None,
    };
    let help = match (problem.status, known) {
        (401, _) if problem.request.ends_with("/v1/auth/token") => {
            "check e-mail address and password"
        }
        (401, _) => "sign in again with `tplkit login`, or set TPLKIT_TOKEN to a key that is valid",
        (403, Some(Code::MissingScope)) => {
            "use a key that has the scope; `tplkit whoami` shows the scopes of this one"
        }
        (403, _) => "ask an admin of the organization; `tplkit whoami` shows your role",
        (404, _) => {
            "check the id; what you may not see looks missing, and `tplkit whoami` shows who you are"
        }
        (409, Some(Code::JobActive)) => return in_the_way(problem),
        (409, Some(Code::PlanStale)) => "plan again, look at it, and apply that",
        (409, Some(Code::NotEmpty)) => {
            "look at what would be lost; with `force` it goes all the same"
        }
        (409, _) => "look at what is there now, and decide again",
        (422, Some(code)) if is_of_mapping(code) => {
            "write the decisions down with `tplkit resolve init`, and give the file with `--resolutions`"
        }
        (422, Some(code)) if is_of_rows(code) => ROWS_HELP,
        (422, Some(Code::InvalidCursor)) => "begin at the first page again",
        (429, _) => return later("too many requests", problem),
        (502..=504, _) => return later("the server is not available", problem),
        (_, Some(Code::FileDamaged)) => DAMAGED_HELP,
        (500.., _) => return reported(problem),
        _ => "correct the request",
    };
    help.to_owned()
}

/// What to do about a file whose bytes are not those that were stored.
pub(crate) const DAMAGED_HELP: &str = "the stored bytes do not match the record of the file; ask the operator of the server to run `tplkit-server admin verify-files`";

/// What to do where it is not clear which rows enter.
pub(crate) const ROWS_HELP: &str = "`--rows REF=MODE` says which rows of a table enter (`all`, `missingByKey` or `none`), `--copy` makes a separate copy";

/// Whether a refusal is about what becomes of a dependency.
pub(crate) fn is_of_mapping(code: Code) -> bool {
    matches!(
        code,
        Code::MappingRequired
            | Code::MappingTargetNotFound
            | Code::MappingFeatureNotFound
            | Code::MappingColumnNotFound
            | Code::MappingColumnsIncomplete
            | Code::ImportWithoutBlueprint
    )
}

/// Whether a refusal is about which rows enter.
pub(crate) fn is_of_rows(code: Code) -> bool {
    matches!(code, Code::RowsUnmatched | Code::RowsModeWithoutKey)
}

/// What to do about a job that keeps others from beginning.
fn in_the_way(problem: &Problem) -> String {
    match &problem.job_id {
        Some(id) => format!(
            "`tplkit job watch {id}` waits for its end; `tplkit job resume {id}` goes on with it once nobody holds it"
        ),
        None => "wait for its end, and try again".to_owned(),
    }
}

fn later(why: &str, problem: &Problem) -> String {
    match &problem.retry_after {
        Some(time) if time.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{why}: try again in {time} s")
        }
        Some(time) => format!("{why}: try again after {time}"),
        None => format!("{why}: try again later"),
    }
}

fn reported(problem: &Problem) -> String {
    match &problem.request_id {
        Some(id) => format!("the server has a bug; report request `{id}` to its operator"),
        None => "the server has a bug; report it to its operator".to_owned(),
    }
}

/// What a document says of it beyond the message.
pub(crate) fn members(error: &Error) -> Map<String, Value> {
    let mut members = Map::new();
    let Error::Refused(problem) = error else {
        return members;
    };
    members.insert("status".to_owned(), json!(problem.status));
    let code = problem.code.as_ref().map(ProblemCode::as_str);
    members.insert("code".to_owned(), json!(code));
    let report = [
        ("ref", &problem.reference),
        ("column", &problem.column),
        ("job_id", &problem.job_id),
        ("locked_until", &problem.locked_until),
    ];
    for (name, value) in report {
        if let Some(value) = value {
            members.insert(name.to_owned(), json!(value));
        }
    }
    if !problem.errors.is_empty() {
        let faults = problem.errors.iter().map(|fault| {
            let code = fault.code.as_ref().map(ProblemCode::as_str);
            json!({"path": fault.path, "code": code, "message": fault.message})
        });
        members.insert("errors".to_owned(), faults.collect());
    }
    members
}

/// The same error of a body that holds a package: places in that member are those in the file that it was
/// read from, after the name of the file, where there is more than one.
pub(crate) fn in_member(mut error: Error, member: &str, file: Option<&Path>) -> Error {
    if let Error::Refused(problem) = &mut error {
        for fault in &mut problem.errors {
            let within = fault.path.strip_prefix('/');
            let within = within.and_then(|path| path.strip_prefix(member));
            let Some(pointer) = within.filter(|path| path.is_empty() || path.starts_with('/'))
            else {
                continue;
            };
            fault.path = match file.map(printable::path) {
                Some(file) if pointer.is_empty() => file,
                Some(file) => format!("{file}: {pointer}"),
                None => pointer.to_owned(),
            };
        }
    }
    error
}

/// Single faults of a refusal, a line each.
pub(crate) fn faults(error: &Error) -> Vec<String> {
    let Error::Refused(problem) = error else {
        return Vec::new();
    };
    let detail = problem.detail.as_deref().unwrap_or_default();
    // One without a place that is the whole story has been reported.
    let faults = problem.errors.iter();
    let faults = faults.filter(|fault| !fault.path.is_empty() || !detail.contains(&fault.message));
    let report = faults.map(|fault| {
        let code = fault.code.as_ref().map(ProblemCode::as_str);
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        // Some messages begin with the place themselves.
        let at = Some(&fault.path).filter(|path| !path.is_empty());
        let at = at.filter(|path| !fault.message.starts_with(&format!("`{path}`")));
        let at = at.map(|path| format!("{path}: ")).unwrap_or_default();
        format!("{at}{}{code}", fault.message)
    });
    report.collect()
}
