//! Packs files into a package, and reports everything that is wrong with them.

use std::io;

use super::files::Bytes;
use super::piece::Handle;
use super::problem::Problem;
use super::structure::structure;
use super::{Folder, INDEX, TEMPLATE};
use crate::package::canonical::{CanonicalError, Writer};

/// Why a folder could not be packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// It has no index: it was not unpacked here, or not to the end.
    #[error("it holds no unpacked package: there is no `{INDEX}`")]
    NoIndex,
    /// Files are missing, foreign or malformed.
    #[error("{} of the folder cannot be packed", counted(.0.len()))]
    Problems(Vec<Problem>),
    /// A file could not be read.
    #[error("cannot read `{name}`: {source}")]
    Read {
        /// The file.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The output could not be written.
    #[error(transparent)]
    Write(io::Error),
}

fn counted(problems: usize) -> String {
    match problems {
        1 => "one place".to_owned(),
        many => format!("{many} places"),
    }
}

/// Writes the package of a folder in canonical form. Rows are streamed from their files.
///
/// All problems of all files are gathered; nothing is written unless there are none.
pub fn pack(folder: &dyn Folder, sink: &mut dyn io::Write) -> Result<(), PackError> {
    let mut bytes = Bytes::read(folder)?;
    let mut problems = std::mem::take(&mut bytes.problems);
    if bytes.usable {
        let files = bytes.open(&mut problems);
        let structure = structure(&bytes, &files, &mut problems);
        if let (Some(structure), true) = (structure, problems.is_empty()) {
            let (piece, shape) = structure.piece();
            let mut writer = Writer::streaming(sink);
            return writer
                .root(Handle::of(&piece), shape)
                .and_then(|()| Ok(writer.finish()?))
                .map(drop)
                .map_err(|error| match error {
                    CanonicalError::Write(error) => PackError::Write(error),
                    other => PackError::Problems(vec![Problem::file(TEMPLATE, other.to_string())]),
                });
        }
    }
    problems.sort_by(|a, b| (&a.name, a.at).cmp(&(&b.name, b.at)));
    Err(PackError::Problems(problems))
}
