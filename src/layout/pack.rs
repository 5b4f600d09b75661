//! Packs files into a package, and reports everything that is wrong with them.

use std::io;

use super::fault::LayoutFault;
use super::files::Bytes;
use super::piece::Handle;
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
    Faults(Vec<LayoutFault>),
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

fn counted(faults: usize) -> String {
    match faults {
        1 => "one place".to_owned(),
        many => format!("{many} places"),
    }
}

/// Writes the package of a folder in canonical form. Rows are streamed from their files.
///
/// All faults of all files are gathered; nothing is written unless there are none.
pub fn pack(folder: &dyn Folder, sink: &mut dyn io::Write) -> Result<(), PackError> {
    let mut bytes = Bytes::read(folder)?;
    let mut faults = std::mem::take(&mut bytes.faults);
    if bytes.usable {
        let files = bytes.open(&mut faults);
        let structure = structure(&bytes, &files, &mut faults);
        if let (Some(structure), true) = (structure, faults.is_empty()) {
            let (piece, shape) = structure.piece();
            let mut writer = Writer::streaming(sink);
            return writer
                .root(Handle::of(&piece), shape)
                .and_then(|()| Ok(writer.finish()?))
                .map(drop)
                .map_err(|error| match error {
                    CanonicalError::Write(error) => PackError::Write(error),
                    other => {
                        PackError::Faults(vec![LayoutFault::file(TEMPLATE, other.to_string())])
                    }
                });
        }
    }
    faults.sort_by(|a, b| (&a.name, a.at).cmp(&(&b.name, b.at)));
    Err(PackError::Faults(faults))
}
