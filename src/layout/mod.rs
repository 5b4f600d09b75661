//! Unpacks a package into a folder of small files, one per item, for version control, and packs it
//! again. `docs/LAYOUT.md` describes the folder.
//!
//! | File | Holds |
//! |---|---|
//! | `tplkit.index` | the order of every list, by naming the file of each entry; one name per line |
//! | `template.json` | what belongs to no entry: catalog fields, `source`, the plan without its steps |
//! | `features/…`, `columns/…`, … | an item with its plan steps and what it could not carry |
//! | `rows/….jsonl` | the rows of a payload entry, one per line |
//! | `dependencies/…` | a dependency |
//! | `workspace.json`, `other.json` | what the workspace itself gets; what belongs to nothing |
//!
//! In: the text of a package, or the files of a folder. Out: files, or the canonical
//! text. The round trip is exact: packing an unpacked folder gives the canonical form of the
//! package, byte for byte, valid or not. It checks no package and touches no disk: callers pass
//! folders as [`FileSink`] and [`Folder`].

mod edits;
mod fault;
mod files;
mod format;
mod index;
mod join;
mod joined;
mod name;
mod pack;
mod pack_error;
mod piece;
mod shape;
mod splice;
mod structure;
mod unit;
mod unpack;
mod unread;

pub use fault::{LayoutFault, LayoutFaultKind};
pub use format::format;
pub use index::{Entry, Index, Section};
pub use join::join;
pub use joined::Joined;
pub use name::is_name;
pub use pack::pack;
pub use pack_error::PackError;
pub use unpack::{Unpacked, unpack};

use std::io;

use crate::package::Source;
use crate::package::canonical::CanonicalError;

/// The name of the index.
pub const INDEX: &str = "tplkit.index";

/// The name of the file that holds what belongs to no entry.
pub const TEMPLATE: &str = "template.json";

/// Where unpacked files go.
pub trait FileSink {
    /// Creates the file `name` (with `/` between folders) with what `fill` writes.
    fn create(&mut self, name: &str, fill: WriteContent<'_>) -> Result<(), CanonicalError>;
}

/// Writes the content of a file.
pub type WriteContent<'f> = &'f mut dyn FnMut(&mut dyn io::Write) -> Result<(), CanonicalError>;

/// Where files are packed from.
pub trait Folder {
    /// The names of all files that could be part of a package: in the folder itself and in the
    /// folders that [`is_name`] knows.
    fn names(&self) -> io::Result<Vec<String>>;
    /// The file of that name, or nothing when there is none. Never asked for a name that
    /// [`is_name`] refuses.
    fn open(&self, name: &str) -> io::Result<Option<Source>>;
}

/// A folder in memory: by name, the bytes of the files.
pub type Files = std::collections::BTreeMap<String, Vec<u8>>;

impl FileSink for Files {
    fn create(&mut self, name: &str, fill: WriteContent<'_>) -> Result<(), CanonicalError> {
        let mut bytes = Vec::new();
        fill(&mut bytes)?;
        self.insert(name.to_owned(), bytes);
        Ok(())
    }
}

impl Folder for Files {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.keys().cloned().collect())
    }

    fn open(&self, name: &str) -> io::Result<Option<Source>> {
        Ok(self
            .get(name)
            .map(|bytes| Source::from_bytes(bytes.clone())))
    }
}
