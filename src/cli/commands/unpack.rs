//! `tplkit unpack`: a package as a folder of small files.

use std::path::PathBuf;

use serde_json::json;
use tplkit::check::CheckOptions;
use tplkit::finding::Finding;
use tplkit::finding::render::counted;
use tplkit::json::SyntaxError;
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::folder::{self, NotFilled};
use crate::cli::output::write_result;
use crate::cli::package_file;
use crate::cli::session::Session;
use crate::cli::shell_word::shell_path;

/// Write a package as a folder with one small file per item, for version control.
///
/// `tplkit pack` builds the package again, byte for byte in canonical form. Rows are one per line.
/// `docs/LAYOUT.md` describes the folder.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Unpack a package", "tplkit unpack crm.json crm"),
    ("Update the folder from a newer edition of the package", "tplkit unpack crm-new.json crm --force"),
]))]
pub(crate) struct Args {
    /// The package; `-` is standard input.
    #[arg(value_name = "PKG")]
    package: PathBuf,
    /// The folder; it is created when it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Unpack into a folder that is not empty: files of an earlier `unpack` are replaced or
    /// removed, all others stay.
    #[arg(long)]
    force: bool,
    /// Format of messages.
    #[arg(long, default_value = "text")]
    format: Form,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let source = package_file::read(&args.package)?;
    if !source.is_whole() {
        let report = package_file::report(&source, &CheckOptions::default());
        return package_file::refuse(&report, args.format, session);
    }
    let text = source
        .text()
        .map_err(|error: SyntaxError| NotFilled::Package(error.into()));
    let filled = match text.and_then(|text| folder::unpack(text, &args.folder, args.force)) {
        Ok(filled) => filled,
        Err(NotFilled::Folder(error)) => return Err(error),
        Err(NotFilled::Package(error)) => {
            let finding = Finding::without_form(&error);
            let report = package_file::refusal(&source, finding);
            return package_file::refuse(&report, args.format, session);
        }
    };
    let (package, folder) = (&args.package, &args.folder);
    if args.format == Form::Json {
        let body = json!({
            "path": package.to_string_lossy(),
            "folder": folder.to_string_lossy(),
            "files": filled.files,
            "removed": filled.removed,
        });
        write_result(&document::write("clean", &body), None)?;
    }
    for name in &filled.removed {
        session.detail(|| format!("{}: removed", printable::path(&folder.join(name))));
    }
    session.note(format!(
        "`{}` unpacked: {} and the index; `tplkit pack {}` makes a package of them",
        printable::path(folder),
        counted(filled.files.len(), "file"),
        shell_path(folder)
    ));
    Ok(Exit::Done)
}
