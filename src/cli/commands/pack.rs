//! `tplkit pack`: the package of an unpacked folder.

use std::path::PathBuf;

use serde_json::{Value, json};
use tplkit::finding::render::counted;
use tplkit::layout::{self, PackError, Problem};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::folder::OnDisk;
use crate::cli::output::{print_note, write_data, write_result};
use crate::cli::session::Session;
use crate::cli::source::is_stdin;

/// Build the package of a folder that `tplkit unpack` wrote.
///
/// The package is in canonical form. It is not checked; `tplkit pack DIR | tplkit check -` does
/// both.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Build a package", "tplkit pack crm -o crm-new.json"),
    ("Check a folder without writing the package", "tplkit pack crm | tplkit check -"),
]))]
pub(crate) struct Args {
    /// The folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of messages; `json` wraps the package in a document.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let mut bytes = Vec::new();
    match layout::pack(&OnDisk(args.folder.clone()), &mut bytes) {
        Ok(()) => {}
        Err(PackError::Problems(problems)) => return refuse(args, &problems),
        Err(error) => return Err(failure(args, error)),
    }
    let text = String::from_utf8_lossy(&bytes);
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    if args.format == Form::Text || output.is_some() {
        write_data(&text, output)?;
    }
    if args.format == Form::Json {
        let mut body = json!({"folder": args.folder.to_string_lossy()});
        match output {
            Some(path) => body["path"] = json!(path.to_string_lossy()),
            None => body["text"] = json!(text),
        }
        write_result(&document::write("clean", &body), None)?;
    }
    if let Some(path) = output {
        session.note(format!(
            "`{0}` written; `tplkit check {0}` checks it",
            printable::path(path)
        ));
    }
    Ok(Exit::Done)
}

/// Reports what is wrong with the files.
fn refuse(args: &Args, problems: &[Problem]) -> Result<Exit, CliError> {
    let shown = |problem: &Problem| args.folder.join(&problem.name);
    for problem in problems {
        let at = problem
            .at
            .map(|at| format!(":{}:{}", at.line, at.column))
            .unwrap_or_default();
        let path = shown(problem);
        print_note(&format!(
            "{}{at}: {}",
            printable::path(&path),
            problem.message
        ));
    }
    let folder = printable::path(&args.folder);
    print_note(&format!(
        "error: `{folder}` cannot be packed: {}",
        counted(problems.len(), "problem")
    ));
    if args.format == Form::Json {
        let reported = |problem: &Problem| {
            json!({
                "path": shown(problem).to_string_lossy(),
                "line": problem.at.map(|at| at.line),
                "column": problem.at.map(|at| at.column),
                "message": problem.message,
            })
        };
        let problems: Vec<Value> = problems.iter().map(reported).collect();
        let body = json!({"folder": args.folder.to_string_lossy(), "problems": problems});
        write_result(&document::write("findings", &body), None)?;
    }
    Ok(Exit::Findings)
}

fn failure(args: &Args, error: PackError) -> CliError {
    let folder = &args.folder;
    match error {
        PackError::NoIndex => CliError::Usage {
            message: format!("`{}`: {error}", printable::path(folder)),
            help: format!("`tplkit unpack PKG {}` makes one", printable::path(folder)),
        },
        PackError::Read { name, source } => CliError::Read {
            path: folder.join(name),
            source,
        },
        PackError::Write(source) => CliError::Output(source),
        other => CliError::Usage {
            message: other.to_string(),
            help: "unpack the package again".to_owned(),
        },
    }
}
