//! `tplkit automation validate --remote`: the validator of a server, which knows its tables.

use std::fmt::Write as _;

use serde_json::json;
use tplkit::client::{AutomationVerdict, VerdictIssue};
use tplkit::finding::render::counted;
use tplkit::json::{Doc, Object, Value};
use tplkit::printable;

use super::validate_args::ValidateArgs;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{folded, write_result};
use crate::cli::remote::Connection;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::session::Session;
use crate::cli::source;

pub(super) fn run(args: &ValidateArgs, session: &Session) -> Result<Exit, CliError> {
    let source = source::open(&args.file)?;
    let mut definition = definition(args, source.text().unwrap_or_default())?;
    let connection = Connection::open(&args.target, session)?;
    if let Some(word) = &definition.workspace {
        let id = NamedWorkspace::find(&connection.client, word)?
            .id
            .to_string();
        definition
            .body
            .insert("workspace_id".to_owned(), id.as_str().into());
    }
    let body = Value::Object(definition.body).write();
    let reported = connection.client.validate_automation(&body)?;
    let verdict = reported.record;
    let text = match args.format {
        Form::Text => folded(&for_people(&verdict, session)),
        Form::Json => {
            let document = document::value(reported.document.get());
            let path = args.file.to_string_lossy();
            let issues = &document["issues"];
            document::write(
                if verdict.ok { "clean" } else { "findings" },
                &json!({"path": path, "ok": verdict.ok, "issues": issues}),
            )
        }
    };
    if !session.silent() || args.format == Form::Json {
        write_result(&text, None)?;
    }
    Ok(if verdict.ok {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// What the route takes.
struct Definition {
    body: Object,
    /// The word for the workspace, where the file does not hold its id.
    workspace: Option<String>,
}

/// What the route takes, from what the file holds; numbers keep their digits.
fn definition(args: &ValidateArgs, text: &str) -> Result<Definition, CliError> {
    let unusable = |message: String, help: &str| CliError::Usage {
        message: format!("`{}`: {message}", printable::path(&args.file)),
        help: help.to_owned(),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let offline = "validate it without `--remote` to see where";
    let doc = Doc::parse(text).map_err(|error| unusable(error.to_string(), offline))?;
    let root = doc.root();
    if !root.is_object() {
        return Err(unusable("it is not a definition".to_owned(), offline));
    }
    let mut body = Object::new();
    let fields = [
        ("trigger_config", "triggerConfig"),
        ("graph_config", "graphConfig"),
        ("workflow_id", "workflowId"),
    ];
    for (field, other) in fields {
        if let Some(node) = root.get(field).or_else(|| root.get(other)) {
            let value = Value::read(node).map_err(|error| unusable(error.to_string(), offline))?;
            body.insert(field.to_owned(), value);
        }
    }
    if let (None, Some(workspace)) = (&args.workspace, root.get_str("workspace_id")) {
        body.insert("workspace_id".to_owned(), workspace.into());
        return Ok(Definition {
            body,
            workspace: None,
        });
    }
    let word = WorkspaceArgs {
        workspace: args.workspace.clone(),
    };
    let mut server = args.target.clone();
    let target = server.take_target(&args.file)?;
    let workspace = word.word(&target, &server)?.ok_or_else(|| {
        let help = "give `--workspace ID`, or `workspace_id` in the file";
        unusable(
            "nothing says which workspace it is meant for".to_owned(),
            help,
        )
    })?;
    Ok(Definition {
        body,
        workspace: Some(workspace),
    })
}

fn for_people(verdict: &AutomationVerdict, session: &Session) -> String {
    let mut out = String::new();
    for issue in &verdict.issues {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "{}", issue_line(issue));
    }
    if !session.style(None).quiet {
        let count = |word: &str| {
            let issues = verdict.issues.iter();
            issues
                .filter(|issue| issue.severity.as_deref() == Some(word))
                .count()
        };
        let (errors, warnings) = (count("error"), count("warning"));
        let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
        let _ = writeln!(out, "{errors}, {warnings}.");
    }
    out
}

fn issue_line(issue: &VerdictIssue) -> String {
    let severity = issue.severity.as_deref().unwrap_or("issue");
    let target = issue.target.as_deref().unwrap_or_default();
    let path = issue.path.as_deref().unwrap_or_default();
    let message = issue.message.as_deref().unwrap_or_default();
    printable::line(&format!(
        "{severity}[{}] {target} {path}: {message}",
        issue.code
    ))
}
