//! `ID|NAME`: the file that a word means.

use indicatif::HumanBytes;
use tplkit::client::{Client, FileRecord, WithDocument};
use tplkit::printable;

use crate::cli::candidates::Candidate;
use crate::cli::error::CliError;
use crate::cli::typed_id::parse_id;
use crate::cli::word_match::Choices;

/// The file of that id, or the only one of that name.
///
/// # Errors
/// There is none, or several have the name; or the server does not respond.
pub(super) fn find(client: &Client, word: &str) -> Result<WithDocument<FileRecord>, CliError> {
    if parse_id(word).is_some() {
        return Ok(client.file(word)?);
    }
    let mut all = Vec::new();
    for page in client.files(None, None) {
        all.extend(page?.items);
    }
    let candidates: Vec<Candidate> = all.iter().map(|one| candidate(&one.record)).collect();
    let choices = Choices {
        noun: "file",
        none: None,
        all: &candidates,
        help: "`tplkit files list` shows the files with their ids",
    };
    let id = choices.find(word)?.id.clone();
    match all.into_iter().find(|one| one.record.id == id) {
        Some(found) => Ok(found),
        None => Ok(client.file(&id)?),
    }
}

fn candidate(file: &FileRecord) -> Candidate {
    Candidate {
        id: file.id.clone(),
        name: Some(file.name.clone()),
        workspace: file.workspace_id.clone(),
        ..Candidate::default()
    }
}

/// A file in words: its name and size.
pub(super) fn titled(file: &FileRecord) -> String {
    let name = printable::line(&format!("{:?}", file.name));
    format!("{name} ({})", HumanBytes(file.size))
}
