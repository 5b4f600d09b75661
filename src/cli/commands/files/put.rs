//! `tplkit files put`: uploads a file, and writes it into a cell.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use serde_json::Value;
use tplkit::client::{FileRecord, NewFile, Upload};
use tplkit::printable;

use super::cell::Cell;
use super::media_type;
use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::write_result;
use crate::cli::remote::workspace::{NamedWorkspace, WorkspaceArgs};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::source::is_stdin;
use crate::cli::typed_id::parse_id;

/// Upload a file to a workspace, and write it into a cell of a row.
///
/// The id of the file goes to standard output. A file that no row uses is deleted by the server after a while.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Upload a file, and write it into the cell of a row", "tplkit files put photo.png --workspace $WORKSPACE --row $ROW --column photo"),
    ("Upload what a program writes", "date | tplkit files put - --name today.txt --workspace $WORKSPACE"),
]))]
pub(super) struct Args {
    /// The file; `-` is standard input.
    file: PathBuf,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// The name that it gets [default: that of the file].
    #[arg(long)]
    name: Option<String>,
    /// Write the file into a cell of this row, which stays as it was if it does not take it.
    #[arg(long, value_name = "ID", requires = "column", value_parser = row_id)]
    row: Option<String>,
    /// The column of that cell, by its name or label; of type `file`.
    #[arg(long, value_name = "NAME", requires = "row")]
    column: Option<String>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

fn row_id(word: &str) -> Result<String, String> {
    let id = parse_id(word).ok_or("the id of a row is a UUID with hyphens")?;
    Ok(id.to_string())
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let name = name(args)?;
    let unread = |source| CliError::Read {
        path: args.file.clone(),
        source,
    };
    let (size, bytes) = open(&args.file).map_err(unread)?;
    let mut server = args.target.clone();
    let target = server.take_target(Path::new("."))?;
    let word = args.workspace.required(&target, &server, session)?;
    let connection = Connection::open(&server, session)?;
    let client = &connection.client;
    let workspace = NamedWorkspace::find(client, &word)?.id.to_string();
    let cell = args.row.as_deref().zip(args.column.as_deref());
    let cell = cell.map(|(row, column)| Cell::find(client, &workspace, row, column));
    let cell = cell.transpose()?;
    let new = NewFile {
        workspace: &workspace,
        name: &name,
        content_type: media_type::of(&name),
    };
    let file = client.upload(&new, upload(size, bytes));
    let file = file.map_err(|error| match error {
        tplkit::client::Error::Source { source, .. } => unread(source),
        other => other.into(),
    })?;
    let row = cell.map(|cell| cell.write(client, &file.record));
    let row = row.transpose()?.flatten();
    let text = match args.format {
        Form::Text => format!("{}\n", printable::line(&file.record.id)),
        Form::Json => {
            let row = row.unwrap_or_else(|| document::raw(&Value::Null));
            document::write_raw("clean", &[("file", &*file.document), ("row", &*row)])
        }
    };
    write_result(&text, None)?;
    session.note(report(args, &file.record));
    Ok(Exit::Done)
}

/// The name that the file gets.
fn name(args: &Args) -> Result<String, CliError> {
    if let Some(name) = &args.name {
        return Ok(name.clone());
    }
    let usage = |message: String| CliError::Usage {
        message,
        help: "give one with `--name`".to_owned(),
    };
    if is_stdin(&args.file) {
        return Err(usage("standard input has no name".to_owned()));
    }
    let Some(name) = args.file.file_name() else {
        // `.`, `..` and `/`.
        return Err(CliError::Read {
            path: args.file.clone(),
            source: io::ErrorKind::IsADirectory.into(),
        });
    };
    name.to_str().map(str::to_owned).ok_or_else(|| {
        let path = printable::path(&args.file);
        usage(format!("`{path}` has no name that is UTF-8"))
    })
}

/// A file to read from its beginning, and how much of it there is. What has no length before its end is copied first.
fn open(path: &Path) -> io::Result<(u64, File)> {
    if is_stdin(path) {
        return copied(io::stdin().lock());
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if metadata.is_file() {
        return Ok((metadata.len(), file));
    }
    copied(file)
}

fn copied(mut from: impl Read) -> io::Result<(u64, File)> {
    let mut file = tempfile::tempfile()?;
    let size = io::copy(&mut from, &mut file)?;
    Ok((size, file))
}

fn upload(size: u64, file: File) -> Upload {
    Upload::new(size, move || {
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok(Box::new(file))
    })
}

fn report(args: &Args, file: &FileRecord) -> String {
    let name = printable::line(&file.name);
    let cell = match (&args.row, &args.column) {
        (Some(row), Some(column)) => {
            let column = column.escape_debug();
            format!(", and column `{column}` of row {row} names it")
        }
        _ => String::new(),
    };
    format!("`{name}` is uploaded: {}{cell}", HumanBytes(file.size))
}
