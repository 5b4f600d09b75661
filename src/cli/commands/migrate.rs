//! `tplkit migrate`: upgrades a version 1 package to version 2.

use std::path::PathBuf;

use serde_json::json;
use tplkit::check::CheckOptions;
use tplkit::definitions::Definitions;
use tplkit::finding::FileKind;
use tplkit::package::canonical;
use tplkit::{migrate, printable};

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::package_output;
use crate::cli::session::{RandomIds, Session};
use crate::cli::source::is_stdin;

/// Upgrade a version 1 package to version 2.
///
/// The plan stays as it is; items, parents and the other layers are derived from it. The command
/// reports what it cannot derive. A version 2 package is copied byte for byte.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Upgrade a package", "tplkit migrate reading-list.json -o reading-list-2.json"),
    ("Upgrade a package and check the result", "tplkit migrate reading-list.json | tplkit check -"),
]))]
pub(crate) struct Args {
    /// The package: a file or an unpacked folder; `-` is standard input.
    #[arg(value_name = "PKG")]
    package: PathBuf,
    /// The version to write.
    #[arg(long, value_name = "VERSION", default_value = "2", value_parser = ["2"])]
    to: String,
    /// Write to this file instead of standard output; a folder that is there, or a name that ends in
    /// `/`, gets the package unpacked.
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// Format of messages; `json` wraps the package in a document.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    let source = match output {
        Some(_) => package_file::read_whole(&args.package)?,
        None => package_file::read(&args.package)?,
    };
    let doc = match package_file::parse(&source) {
        Ok(doc) => doc,
        Err(report) => return package_file::refuse(&report, args.format, session),
    };
    let migrated = migrate::to_version_2(&doc, Definitions::embedded(), &mut RandomIds);
    let written = migrated.map(|migrated| {
        migrated.map(|migrated| {
            Ok::<_, tplkit::package::canonical::CanonicalError>((
                migrated.package.write()?,
                migrated.notes,
            ))
        })
    });
    let (text, notes, changed) = match written {
        Ok(Some(Ok((text, notes)))) => (text, notes, true),
        Ok(None) => {
            let notes = vec![format!(
                "it is of version {} already and stays as it is",
                args.to
            )];
            let bytes = String::from_utf8_lossy(source.bytes());
            let text = match canonical::write(&bytes) {
                Ok(packed) if source.is_folder() => packed,
                _ => bytes.into_owned(),
            };
            (text, notes, false)
        }
        Ok(Some(Err(_))) | Err(_) => {
            // The check says more about it than the reader that gave up.
            let mut report = package_file::report(&source, &CheckOptions::default());
            for file in &mut report.files {
                file.report.kind = FileKind::Package;
            }
            session.note("error: only a package that checks without errors can be migrated");
            return package_file::refuse(&report, args.format, session);
        }
    };
    if args.format == Form::Text || output.is_some() {
        package_output::write_over(&source, &text, output)?;
    }
    if args.format == Form::Json {
        let mut body = json!({
            "path": args.package.to_string_lossy(),
            "changed": changed,
            "notes": notes,
        });
        match output {
            Some(path) => body["output"] = json!(path.to_string_lossy()),
            None => body["text"] = json!(text),
        }
        write_result(&document::write("clean", &body), None)?;
    }
    let path = printable::path(&args.package);
    for note in &notes {
        session.note(format!("`{path}`: {note}"));
    }
    Ok(Exit::Done)
}
