//! `tplkit pack`: the package of an unpacked folder.

use std::path::PathBuf;

use serde_json::{Value, json};
use tplkit::finding::render::counted;
use tplkit::layout::{self, LayoutFault, PackError};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::folder::OnDisk;
use crate::cli::output::{print_note, write_data, write_result};
use crate::cli::overwrite::refuse_input;
use crate::cli::session::Session;
use crate::cli::shell_word::shell_path;
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
    refuse_input(args.output.as_deref(), [Some(args.folder.as_path())])?;
    let mut bytes = Vec::new();
    match layout::pack(&OnDisk(args.folder.clone()), &mut bytes) {
        Ok(()) => {}
        Err(PackError::Faults(faults)) => return refuse(args, &faults),
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
            "`{}` written; `tplkit check {}` checks it",
            printable::path(path),
            shell_path(path)
        ));
    }
    Ok(Exit::Done)
}

/// Reports what is wrong with the files.
fn refuse(args: &Args, faults: &[LayoutFault]) -> Result<Exit, CliError> {
    let shown = |fault: &LayoutFault| args.folder.join(&fault.name);
    for fault in faults {
        let at = fault
            .at
            .map(|at| format!(":{}:{}", at.line, at.column))
            .unwrap_or_default();
        let path = shown(fault);
        print_note(&format!(
            "{}{at}: {}",
            printable::path(&path),
            fault.message
        ));
    }
    let folder = printable::path(&args.folder);
    print_note(&format!(
        "error: `{folder}` cannot be packed: {}",
        counted(faults.len(), "problem")
    ));
    if args.format == Form::Json {
        let reported = |fault: &LayoutFault| {
            json!({
                "path": shown(fault).to_string_lossy(),
                "line": fault.at.map(|at| at.line),
                "column": fault.at.map(|at| at.column),
                "message": fault.message,
            })
        };
        let faults: Vec<Value> = faults.iter().map(reported).collect();
        let body = json!({"folder": args.folder.to_string_lossy(), "problems": faults});
        write_result(&document::write("findings", &body), None)?;
    }
    Ok(Exit::Findings)
}

fn failure(args: &Args, error: PackError) -> CliError {
    let folder = &args.folder;
    match error {
        PackError::NoIndex => CliError::Usage {
            message: format!("`{}`: {error}", printable::path(folder)),
            help: format!("`tplkit unpack PKG {}` makes one", shell_path(folder)),
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
