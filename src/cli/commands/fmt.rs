//! `tplkit fmt`: writes packages in canonical form.

use std::path::{Path, PathBuf};

use serde_json::json;
use tplkit::finding::render::{ReportError, counted, diagnostic};
use tplkit::finding::{FileKind, Located};
use tplkit::package::canonical::{self, CanonicalError};

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{print_error, write_data, write_result};
use crate::cli::package_file::no_form;
use crate::cli::replace;
use crate::cli::session::Session;
use crate::cli::source::{self, is_stdin};
use crate::cli::walk::{self, Files, FoundFile};

/// Write packages in canonical form: the same content gives the same bytes.
///
/// Files are rewritten in place; standard input (`-`) goes to standard output. In a folder, files
/// that are not packages stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Rewrite a package in place", "tplkit fmt crm.json"),
    ("Fail in CI when a package is not in canonical form", "tplkit fmt --check crm.json"),
]))]
pub(crate) struct Args {
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write nothing; fail when a file is not in canonical form.
    #[arg(long)]
    check: bool,
    /// Write to this file instead of in place; only with one package.
    #[arg(short, long, value_name = "FILE", conflicts_with = "check")]
    output: Option<PathBuf>,
    /// Format of messages.
    #[arg(long, default_value = "text")]
    format: Form,
}

/// What became of one file.
struct Formatted {
    path: PathBuf,
    kind: FileKind,
    changed: bool,
    /// The canonical text, unless it was written back.
    text: Option<String>,
    /// Why it has none.
    problem: Option<Located>,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let Files {
        found,
        errors: mut troubles,
    } = walk::files(&args.paths);
    if args.output.is_some() && found.len() > 1 {
        return Err(CliError::Usage {
            message: format!("{} cannot be written to one", counted(found.len(), "file")),
            help: "name one package, or leave `-o` out to rewrite the files in place".to_owned(),
        });
    }
    let mut files = Vec::new();
    for file in &found {
        match format(file, args) {
            Ok(formatted) => files.push(formatted),
            Err(trouble) => troubles.push(trouble),
        }
    }
    print_results(args, &files, &troubles, session)?;
    let bad = files
        .iter()
        .any(|file| file.problem.is_some() || args.check && file.changed);
    Ok(match (troubles.is_empty(), bad) {
        (false, _) => Exit::Usage,
        (true, true) => Exit::Findings,
        (true, false) => Exit::Done,
    })
}

fn format(file: &FoundFile, args: &Args) -> Result<Formatted, ReportError> {
    let file_source =
        source::read(&file.path).map_err(|error| walk::report_error(&file.path, &error))?;
    let mut formatted = Formatted {
        path: file.path.clone(),
        kind: FileKind::Package,
        changed: false,
        text: None,
        problem: None,
    };
    let written = file_source
        .text()
        .map_err(Into::into)
        .and_then(canonical::write);
    match written {
        Ok(text) => {
            formatted.changed = text.as_bytes() != file_source.bytes();
            if is_stdin(&file.path) || args.output.is_some() {
                formatted.text = Some(text);
            } else if formatted.changed && !args.check {
                replace::write(&file.path, text.as_bytes()).map_err(|error| ReportError {
                    path: error.path().cloned(),
                    message: error.to_string(),
                    help: error.help(),
                })?;
            }
        }
        Err(CanonicalError::NotAPackage) if !file.named => formatted.kind = FileKind::Plain,
        Err(error) => formatted.problem = Some(Located::new(file_source.bytes(), no_form(&error))),
    }
    Ok(formatted)
}

fn print_results(
    args: &Args,
    files: &[Formatted],
    troubles: &[ReportError],
    session: &Session,
) -> Result<(), CliError> {
    troubles.iter().for_each(print_error);
    let target = args.output.as_deref();
    if args.format == Form::Json {
        if let (Some(path), Some(text)) =
            (target, files.iter().find_map(|file| file.text.as_deref()))
        {
            write_data(text, Some(path))?;
        }
        return write_result(&report(args, files, troubles), None);
    }
    let style = session.style(None);
    for file in files {
        let path = file.path.to_string_lossy();
        if let Some(problem) = &file.problem {
            session.note(diagnostic(&path, problem, style).trim_end());
        } else if let Some(text) = file.text.as_deref().filter(|_| !args.check) {
            write_data(text, target)?;
        } else if file.changed && args.check {
            write_result(&format!("{path}: not in canonical form\n"), None)?;
        }
    }
    let changed = files.iter().filter(|file| file.changed).count();
    let verb = if args.check {
        "would change"
    } else {
        "changed"
    };
    session.note(format!(
        "{} of {} {verb}",
        changed,
        counted(files.len(), "file")
    ));
    Ok(())
}

fn report(args: &Args, files: &[Formatted], troubles: &[ReportError]) -> String {
    let entries = files.iter().map(|file| {
        let mut entry = json!({
            "path": file.path.to_string_lossy(),
            "kind": if file.kind == FileKind::Package { "package" } else { "plain" },
            "changed": file.changed,
        });
        if let Some(problem) = &file.problem {
            entry["problem"] = json!({
                "code": problem.rule.code,
                "pointer": problem.spot.pointer,
                "line": problem.spot.start.line,
                "column": problem.spot.start.column,
                "message": problem.message,
            });
        }
        if let Some(text) = file
            .text
            .as_ref()
            .filter(|_| is_stdin(Path::new(&file.path)))
        {
            entry["text"] = json!(text);
        }
        entry
    });
    let mut body = json!({"files": entries.collect::<Vec<_>>()});
    let bad = files
        .iter()
        .any(|file| file.problem.is_some() || args.check && file.changed);
    let outcome = match (troubles.is_empty(), bad) {
        (false, _) => "failed",
        (true, true) => "findings",
        (true, false) => "clean",
    };
    if !troubles.is_empty() {
        body["errors"] = document::errors(troubles)["errors"].clone();
    }
    document::write(outcome, &body)
}
