//! `tplkit automation validate`: the validator, here or on a server.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tplkit::automation::{Issue, validate_file};
use tplkit::definitions::Definitions;
use tplkit::finding::render::{counted, diagnostic};
use tplkit::finding::{Finding, Located, Place, Severity, catalog};
use tplkit::package::Source;

use super::validate_args::ValidateArgs;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{write_result, write_styled};
use crate::cli::session::Session;
use crate::cli::settings::definitions_for;
use crate::cli::source;

pub(super) fn run(args: &ValidateArgs, session: &Session) -> Result<Exit, CliError> {
    if args.remote {
        return super::remote::run(args, session);
    }
    let definitions = definitions_for(args.definitions.as_ref(), &args.file, None)?;
    let source = source::open(&args.file)?;
    validate_local(&args.file, &source, &definitions, args.format, session)
}

/// What the validator says of a file.
pub(super) fn validate_local(
    file: &Path,
    source: &Source,
    definitions: &Definitions,
    format: Form,
    session: &Session,
) -> Result<Exit, CliError> {
    let issues = match source
        .text()
        .and_then(|text| validate_file(text, definitions))
    {
        Ok(issues) => issues
            .into_iter()
            .map(|issue| located(source.bytes(), issue))
            .collect(),
        Err(error) => {
            let place = Place {
                pointer: String::new(),
                span: error.offset..error.offset,
            };
            let finding = Finding::new(&catalog::J001, place, error.to_string());
            vec![IssueView {
                code: catalog::J001.name,
                target: None,
                path: String::new(),
                finding: Located::new(source.bytes(), finding),
            }]
        }
    };
    let ok = issues
        .iter()
        .all(|issue| issue.finding.severity != Severity::Error);
    match format {
        Form::Text if session.silent() => {}
        Form::Text => write_styled(&for_people(file, &issues, session), None)?,
        Form::Json => {
            let issues: Vec<Value> = issues.iter().map(document_of).collect();
            let body = json!({"path": file.to_string_lossy(), "ok": ok, "issues": issues});
            let outcome = if ok { "clean" } else { "findings" };
            write_result(&document::write(outcome, &body), None)?;
        }
    }
    Ok(if ok { Exit::Done } else { Exit::Findings })
}

/// An issue with its place.
struct IssueView {
    code: &'static str,
    target: Option<&'static str>,
    path: String,
    finding: Located,
}

fn located(bytes: &[u8], issue: Issue) -> IssueView {
    IssueView {
        code: issue.code(),
        target: Some(issue.target.as_str()),
        path: issue.path,
        finding: Located {
            // The flags that make fixes are those of `check`.
            fix: None,
            ..Located::new(bytes, issue.finding)
        },
    }
}

fn for_people(file: &Path, issues: &[IssueView], session: &Session) -> String {
    let style = session.style(None);
    let path = file.to_string_lossy();
    let mut out = String::new();
    for issue in issues {
        out.push_str(&diagnostic(&path, &issue.finding, style));
        out.push('\n');
    }
    if !style.quiet {
        let count = |severity| {
            issues
                .iter()
                .filter(|issue| issue.finding.severity == severity)
                .count()
        };
        let errors = counted(count(Severity::Error), "error");
        let warnings = counted(count(Severity::Warning), "warning");
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{errors}, {warnings}.");
    }
    out
}

fn document_of(issue: &IssueView) -> Value {
    let finding = &issue.finding;
    json!({
        "code": issue.code,
        "rule": finding.rule.code,
        "severity": finding.severity.as_str(),
        "path": issue.path,
        "target": issue.target,
        "pointer": finding.spot.pointer,
        "line": finding.spot.start.line,
        "column": finding.spot.start.column,
        "message": finding.message,
        "help": finding.help,
    })
}
