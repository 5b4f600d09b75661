//! `tplkit files get`: downloads a file, and goes on where an earlier download broke.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest as _, Sha256};
use tplkit::client::{Client, Content, Error, FileRecord};
use tplkit::printable;

use super::find::{find, titled};
use super::part_file::{PartFile, hex};
use super::safe_name::safe_name;
use crate::cli::args::Form;
use crate::cli::client_error;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::interrupt_message::{self, InterruptMessage};
use crate::cli::output::{print_bytes, write_result};
use crate::cli::remote::{Connection, ServerArgs};
use crate::cli::session::Session;
use crate::cli::source::is_stdin;

/// How much is taken at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Download a file.
///
/// It goes to standard output, or with `-o` to a file. A broken download is resumed up to three times. What has come by
/// then stays in `FILE.part`; the same command goes on from there, and compares the SHA-256 before the file gets its
/// name.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Download a file into a folder, under its own name", "tplkit files get $FILE -o downloads/"),
    ("Count the bytes of a file", "tplkit files get $FILE | wc -c"),
]))]
pub(super) struct Args {
    /// The file: its id, or its name where only one has it.
    #[arg(value_name = "ID|NAME")]
    file: String,
    /// Write to this file instead of standard output; a folder that is there, or a name that ends in `/`, gets it under
    /// its own name, made safe. `-` is standard output, also where that is a terminal.
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// Replace a file that is there, and a `FILE.part` that is not the beginning of the file.
    #[arg(long)]
    force: bool,
    /// Format of messages; `json` needs `-o`.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    let output = args.output.as_deref().filter(|path| !is_stdin(path));
    if output.is_none() {
        refuse_stdout(args)?;
    }
    let connection = Connection::open(&args.target, session)?;
    let client = &connection.client;
    let found = find(client, &args.file)?;
    let file = &found.record;
    let Some(output) = output else {
        stream(client.content(file, 0)?, file, |bytes| {
            print_bytes(bytes).map_err(CliError::Output)
        })?;
        return Ok(Exit::Done);
    };
    let path = place(output, file)?;
    let shown = printable::path(&path);
    match fs::metadata(&path) {
        // Nothing takes the place of a folder.
        Ok(there) if there.is_dir() => {
            return Err(CliError::Usage {
                message: format!("`{shown}` is a folder"),
                help: "move it away, or give another name with `-o`".to_owned(),
            });
        }
        // A pipe or a device: there is nothing that could be lost.
        Ok(there) if !there.is_file() => {
            write_through(client, file, &path)?;
        }
        Err(_) if fs::symlink_metadata(&path).is_err() => {
            download(client, file, &path, args, session)?;
        }
        _ if args.force => {
            download(client, file, &real(path.clone()), args, session)?;
        }
        _ => {
            return Err(CliError::Usage {
                message: format!("`{shown}` is there already"),
                help: "give another name with `-o`, or replace it with `--force`".to_owned(),
            });
        }
    }
    if args.format == Form::Json {
        let path = document::raw(&json!(path.to_string_lossy()));
        let members = [("file", &*found.document), ("path", &*path)];
        write_result(&document::write_raw("clean", &members), None)?;
    }
    session.note(format!("`{shown}` is written: {}", titled(file)));
    Ok(Exit::Done)
}

/// Refuses standard output for the file where it is a terminal or carries the JSON document.
fn refuse_stdout(args: &Args) -> Result<(), CliError> {
    let why = if args.format == Form::Json {
        "the document and the bytes of the file cannot both go to standard output"
    } else if args.output.is_none() && io::stdout().is_terminal() {
        "standard output is a terminal, and the file may hold anything"
    } else {
        return Ok(());
    };
    Err(CliError::Usage {
        message: why.to_owned(),
        help: "name a file or a folder with `-o`; `-o -` writes to a terminal all the same"
            .to_owned(),
    })
}

/// Where the file goes: into a folder under its own name.
fn place(output: &Path, file: &FileRecord) -> Result<PathBuf, CliError> {
    let ends_in_slash = output.to_string_lossy().ends_with(std::path::is_separator);
    if ends_in_slash {
        fs::create_dir_all(output).map_err(|source| CliError::Write {
            path: output.to_owned(),
            source,
        })?;
    }
    if ends_in_slash || output.is_dir() {
        return Ok(output.join(safe_name(&file.name)));
    }
    Ok(output.to_owned())
}

/// The file behind a link.
fn real(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).unwrap_or(path)
}

/// Passes the bytes on as they come.
fn stream(
    mut content: Content<'_>,
    file: &FileRecord,
    mut take: impl FnMut(&[u8]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut hash = Sha256::new();
    let mut bytes = vec![0; CHUNK_BYTES];
    loop {
        let length = content.next(&mut bytes)?;
        if length == 0 {
            break;
        }
        hash.update(&bytes[..length]);
        take(&bytes[..length])?;
    }
    let digest = hex(hash);
    if digest == file.sha256 {
        return Ok(());
    }
    Err(damaged(file, &digest))
}

fn write_through(client: &Client, file: &FileRecord, path: &Path) -> Result<(), CliError> {
    let unwritten = |source| CliError::Write {
        path: path.to_owned(),
        source,
    };
    let mut to = OpenOptions::new()
        .write(true)
        .open(path)
        .map_err(unwritten)?;
    stream(client.content(file, 0)?, file, |bytes| {
        to.write_all(bytes).map_err(unwritten)
    })
}

/// Downloads into `FILE.part`, from where an earlier download broke, and renames it.
fn download(
    client: &Client,
    file: &FileRecord,
    path: &Path,
    args: &Args,
    session: &Session,
) -> Result<(), CliError> {
    let mut part = PartFile::open(path, file.size, args.force)?;
    let goes_on = format!(
        "`{}` keeps what has come; the same command goes on from there",
        printable::path(part.path())
    );
    interrupt_message::leave(Some(InterruptMessage {
        note: goes_on.clone(),
        document: None,
    }));
    let mut from = part.length();
    if from > 0 {
        session.note(format!("going on after {from} of {} bytes", file.size));
    }
    loop {
        match fill(client, file, &mut part, from, args.force) {
            Ok(Filled::Whole) => {}
            Ok(Filled::Foreign) => return Err(part.no_beginning()),
            Err(error) => return Err(broken(error, part, &goes_on, session)),
        }
        let digest = part.sha256();
        if digest == file.sha256 {
            break;
        }
        if from == 0 {
            part.remove();
            return Err(damaged(file, &digest));
        }
        from = 0;
        if args.force {
            session.note("the partial download belongs to another file: starting again");
            part.begin_anew()?;
        } else {
            // It may be somebody's own: it is compared, as it was, before anything of it goes.
            part.go_back()?;
        }
    }
    part.keep(args.force)?;
    interrupt_message::leave(None);
    Ok(())
}

/// What came of adding what is missing.
enum Filled {
    /// As many bytes as the file has are there.
    Whole,
    /// What was there is not the beginning of the file, and is as it was.
    Foreign,
}

/// Asks for the file from a byte on, and adds what is missing. Bytes that come although they are there already are
/// compared with those; with `force` they take their place.
fn fill(
    client: &Client,
    file: &FileRecord,
    part: &mut PartFile,
    from: u64,
    force: bool,
) -> Result<Filled, CliError> {
    if from >= file.size {
        return Ok(Filled::Whole);
    }
    let mut content = client.content(file, from)?;
    let mut known = part.length().saturating_sub(content.at());
    if known > 0 && force {
        part.begin_anew()?;
        known = 0;
    }
    let mut beginning = Sha256::new();
    let mut bytes = vec![0; CHUNK_BYTES];
    loop {
        let length = content.next(&mut bytes)?;
        if length == 0 {
            return Ok(Filled::Whole);
        }
        let mut new = &bytes[..length];
        if known > 0 {
            let there = usize::try_from(known).map_or(length, |known| known.min(length));
            let (there, rest) = new.split_at(there);
            beginning.update(there);
            known -= there.len() as u64;
            if known == 0 && hex(beginning.clone()) != part.sha256() {
                return Ok(Filled::Foreign);
            }
            new = rest;
        }
        part.write(new)?;
    }
}

/// The error, and the way back where there is one.
fn broken(error: CliError, part: PartFile, goes_on: &str, session: &Session) -> CliError {
    if part.length() == 0 {
        part.remove();
        interrupt_message::leave(None);
        return error;
    }
    match error {
        CliError::Remote(source) => CliError::Explained {
            help: format!("{}; {goes_on}", client_error::help(&source)),
            source,
        },
        // The disk does not take the rest.
        other => {
            session.note(goes_on);
            other
        }
    }
}

fn damaged(file: &FileRecord, digest: &str) -> CliError {
    let source = Error::Unreadable {
        request: format!("GET /v1/files/{}/content", file.id),
        why: format!(
            "its SHA-256 is {digest}, and the record says {}",
            printable::line(&file.sha256)
        ),
    };
    CliError::Explained {
        source: Box::new(source),
        help: client_error::DAMAGED_HELP.to_owned(),
    }
}
