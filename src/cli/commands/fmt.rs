//! `tplkit fmt`: writes packages in canonical form.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use tplkit::check::{CheckOptions, check_folder};
use tplkit::finding::catalog::{J001, J002, J010};
use tplkit::finding::render::{ReportError, counted, diagnostic};
use tplkit::finding::{FileKind, Finding, Located};
use tplkit::layout::{self, PackError};
use tplkit::package::canonical::{self, CanonicalError};

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::folder_snapshot::FolderSnapshot;
use crate::cli::output::{print_error, write_data, write_result};
use crate::cli::overwrite::refuse_input;
use crate::cli::package_output;
use crate::cli::replace;
use crate::cli::session::Session;
use crate::cli::source::{self, is_stdin};
use crate::cli::walk::{self, Files, FoundFile};

/// Write packages in canonical form: the same content gives the same bytes.
///
/// Files are rewritten in place; standard input (`-`) goes to standard output. In a folder, files
/// that are not packages stay as they are. The files of an unpacked package are rewritten and keep
/// their names.
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
    problems: Vec<Located>,
}

impl Formatted {
    fn new(path: &Path) -> Formatted {
        Formatted {
            path: path.to_owned(),
            kind: FileKind::Package,
            changed: false,
            text: None,
            problems: Vec::new(),
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let Files {
        found,
        errors: mut report_errors,
    } = walk::packages(&args.paths);
    if args.output.is_some() && found.len() > 1 {
        return Err(CliError::Usage {
            message: format!("{} cannot be written to one", counted(found.len(), "file")),
            help: "name one package, or leave `-o` out to rewrite the files in place".to_owned(),
        });
    }
    // A file that is written to itself is rewritten in place.
    let in_place = |output: &&Path| {
        let mut files = found.iter().filter(|file| !file.is_folder);
        files.any(|file| package_output::is_same(&file.path, output))
    };
    let output = args.output.as_deref().filter(|output| !in_place(output));
    // What is written is the package of a folder, which is none of its files.
    let folders = found.iter().filter(|file| file.is_folder);
    refuse_input(output, folders.map(|folder| Some(folder.path.as_path())))?;
    let mut files = Vec::new();
    for file in &found {
        match format(file, args, output) {
            Ok(formatted) => files.push(formatted),
            Err(report_error) => report_errors.push(report_error),
        }
    }
    print_results(args, output, &files, &report_errors, session)?;
    Ok(match (report_errors.is_empty(), is_bad(args, &files)) {
        (false, _) => Exit::Usage,
        (true, true) => Exit::Findings,
        (true, false) => Exit::Done,
    })
}

/// Whether something is not as it should be.
fn is_bad(args: &Args, files: &[Formatted]) -> bool {
    let bad = |file: &Formatted| !file.problems.is_empty() || args.check && file.changed;
    files.iter().any(bad)
}

/// Formats a file in place, unless it is standard input or there is an `output`.
fn format(file: &FoundFile, args: &Args, output: Option<&Path>) -> Result<Formatted, ReportError> {
    if file.is_folder {
        return format_folder(&file.path, args, output);
    }
    let in_place = !is_stdin(&file.path) && output.is_none();
    let read = if in_place && !args.check {
        source::read_whole(&file.path)
    } else {
        source::read(&file.path)
    };
    let file_source = read.map_err(|error| walk::report_error(&file.path, &error))?;
    let mut formatted = Formatted::new(&file.path);
    let written = file_source
        .text()
        .map_err(Into::into)
        .and_then(canonical::write);
    match written {
        Ok(text) => {
            formatted.changed = text.as_bytes() != file_source.bytes();
            if in_place {
                if formatted.changed && !args.check {
                    replace::rewrite_file(&file.path, file_source.bytes(), text.as_bytes())
                        .map_err(|error| error.report_error())?;
                }
            } else {
                formatted.text = Some(text);
            }
        }
        Err(CanonicalError::NotAPackage) if !file.named => formatted.kind = FileKind::Plain,
        Err(error) => {
            let problem = Located::new(file_source.bytes(), Finding::without_form(&error));
            formatted.problems.push(problem);
        }
    }
    Ok(formatted)
}

/// Formats each file of an unpacked package; with an `output` the package.
fn format_folder(
    folder: &Path,
    args: &Args,
    output: Option<&Path>,
) -> Result<Formatted, ReportError> {
    let snapshot = FolderSnapshot::new(folder);
    let mut formatted = Formatted::new(folder);
    match layout::format(&snapshot) {
        Ok(files) => {
            formatted.changed = !files.is_empty();
            if output.is_some() {
                let mut packed = Vec::new();
                layout::pack(&snapshot, &mut packed).map_err(|error| unreadable(folder, error))?;
                formatted.text = Some(String::from_utf8_lossy(&packed).into_owned());
            } else if !args.check {
                snapshot
                    .rewrite(&files)
                    .map_err(|error| error.report_error())?;
            }
        }
        Err(PackError::Faults(_)) => {
            let joined = layout::join(&snapshot).map_err(|error| unreadable(folder, error))?;
            let findings = check_folder(&joined, &CheckOptions::default()).findings;
            let keeps = [&J001, &J002, &J010];
            let findings = findings
                .into_iter()
                .filter(|finding| keeps.contains(&finding.rule));
            formatted.problems = findings
                .map(|finding| Located::new(&joined, finding))
                .collect();
        }
        Err(error) => return Err(unreadable(folder, error)),
    }
    Ok(formatted)
}

/// The folder, or the file in it, that cannot be read.
fn unreadable(folder: &Path, error: PackError) -> ReportError {
    match error {
        PackError::Read { name, source } => walk::report_error(&folder.join(name), &source),
        error => walk::report_error(folder, &io::Error::other(error)),
    }
}

fn print_results(
    args: &Args,
    output: Option<&Path>,
    files: &[Formatted],
    report_errors: &[ReportError],
    session: &Session,
) -> Result<(), CliError> {
    report_errors.iter().for_each(print_error);
    if args.format == Form::Json {
        if let (Some(path), Some(text)) =
            (output, files.iter().find_map(|file| file.text.as_deref()))
        {
            write_data(text, Some(path))?;
        }
        return write_result(&report(args, files, report_errors), None);
    }
    let style = session.note_style();
    for file in files {
        let path = file.path.to_string_lossy();
        for problem in &file.problems {
            let inside = problem
                .spot
                .file
                .as_ref()
                .map(|inside| file.path.join(inside));
            let path = inside.as_deref().unwrap_or(&file.path).to_string_lossy();
            session.styled_note(diagnostic(&path, problem, style).trim_end());
        }
        if !file.problems.is_empty() {
            continue;
        }
        if let Some(text) = file.text.as_deref().filter(|_| !args.check) {
            write_data(text, output)?;
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

fn report(args: &Args, files: &[Formatted], report_errors: &[ReportError]) -> String {
    let entries = files.iter().map(|file| {
        let mut entry = json!({
            "path": file.path.to_string_lossy(),
            "kind": if file.kind == FileKind::Package { "package" } else { "plain" },
            "changed": file.changed,
        });
        if let Some(problem) = file.problems.first() {
            entry["problem"] = json!({
                "code": problem.rule.code,
                "pointer": problem.spot.pointer,
                "line": problem.spot.start.line,
                "column": problem.spot.start.column,
                "message": problem.message,
            });
            if let Some(inside) = &problem.spot.file {
                entry["problem"]["file"] = json!(inside);
            }
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
    let outcome = match (report_errors.is_empty(), is_bad(args, files)) {
        (false, _) => "failed",
        (true, true) => "findings",
        (true, false) => "clean",
    };
    if !report_errors.is_empty() {
        body["errors"] = document::errors(report_errors)["errors"].clone();
    }
    document::write(outcome, &body)
}
