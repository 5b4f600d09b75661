//! Why a folder could not be packed.

use std::io;

use super::INDEX;
use super::fault::LayoutFault;

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
