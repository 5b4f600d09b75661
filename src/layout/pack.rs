//! Packs files into a package, and reports everything that is wrong with them.

use std::io;

use super::fault::LayoutFault;
use super::files::Bytes;
use super::pack_error::PackError;
use super::piece::Handle;
use super::structure::structure;
use super::{Folder, TEMPLATE};
use crate::package::canonical::{CanonicalError, Writer};

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
