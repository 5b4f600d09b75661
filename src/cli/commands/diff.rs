//! `tplkit diff`: what differs between two packages.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;
use tplkit::check::CheckOptions;
use tplkit::diff::{self, Diff};
use tplkit::finding::Finding;
use tplkit::package::canonical::CanonicalError;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::overwrite::refuse_input;
use crate::cli::package_file::{self, PackageFile};
use crate::cli::session::Session;
use crate::cli::source::is_stdin;

/// Show how the results of two packages differ.
///
/// Items are matched by name and kind: packages that differ only in uids, timestamps, refs or order
/// do not differ.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Compare two editions of a package, rows included", "tplkit diff crm.json crm-new.json --rows"),
    ("Write the differences as Markdown for a pull request", "tplkit diff crm.json crm-new.json --format md -o changes.md"),
]))]
pub(crate) struct Args {
    /// The first package, a file or an unpacked folder; `-` is standard input.
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The second package, a file or an unpacked folder; `-` is standard input.
    #[arg(value_name = "B")]
    second: PathBuf,
    /// Also compare rows: by key column where both packages verify it, otherwise as a whole.
    #[arg(long)]
    rows: bool,
    /// Exit with 1 when there are differences.
    #[arg(long)]
    exit_code: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Forms of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text to read.
    Text,
    /// One JSON document.
    Json,
    /// Markdown, for a pull request.
    Md,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    if is_stdin(&args.first) && is_stdin(&args.second) {
        return Err(CliError::Usage {
            message: "both packages cannot come from standard input".to_owned(),
            help: "name a file for one of them".to_owned(),
        });
    }
    let inputs = [args.first.as_path(), args.second.as_path()];
    refuse_input(args.output.as_deref(), inputs.map(Some))?;
    let first = package_file::read(&args.first)?;
    let second = package_file::read(&args.second)?;
    for source in [&first, &second] {
        if !source.is_whole() {
            let report = package_file::report(source, &CheckOptions::default());
            return package_file::refuse(&report, form(args), session);
        }
    }
    let (old, new) = match (first.text(), second.text()) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(error), _) => return refuse(args, &first, &error.into(), session),
        (_, Err(error)) => return refuse(args, &second, &error.into(), session),
    };
    let diff = match Diff::of(old, new, args.rows) {
        Ok(diff) => diff,
        Err(error) => {
            let source = if error.second { &second } else { &first };
            return refuse(args, source, &error.error, session);
        }
    };
    let exit = if args.exit_code && !diff.is_empty() {
        Exit::Findings
    } else {
        Exit::Done
    };
    let text = match args.format {
        Format::Text => diff::text(&diff),
        Format::Md => diff::markdown(&diff),
        Format::Json => {
            let outcome = if exit == Exit::Done {
                "clean"
            } else {
                "findings"
            };
            let body = json!({
                "first": args.first.to_string_lossy(),
                "second": args.second.to_string_lossy(),
                "identical": diff.is_empty(),
                "changes": diff.changes,
                "rows": diff.rows,
            });
            document::write(outcome, &body)
        }
    };
    if args.format != Format::Text || !session.silent() {
        write_result(&text, args.output.as_deref())?;
    }
    Ok(exit)
}

fn refuse(
    args: &Args,
    source: &PackageFile,
    error: &CanonicalError,
    session: &Session,
) -> Result<Exit, CliError> {
    let report = package_file::refusal(source, Finding::without_form(error));
    package_file::refuse(&report, form(args), session)
}

/// The form of a refusal.
fn form(args: &Args) -> Form {
    match args.format {
        Format::Json => Form::Json,
        Format::Text | Format::Md => Form::Text,
    }
}
