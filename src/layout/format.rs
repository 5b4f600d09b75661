//! The files of a folder in canonical form, each on its own: the folder packs to the same bytes.

use super::fault::LayoutFault;
use super::files::Bytes;
use super::index::unit_of_rows;
use super::name::is_rows;
use super::structure::structure;
use super::{Folder, INDEX, PackError, TEMPLATE, shape};
use crate::package::canonical::{CanonicalError, Columns, Writer, write_lines_as_lines};

/// The files whose bytes are not canonical, with those that are. Names stay as they are.
///
/// # Errors
/// When `pack` refuses the folder, or a file cannot be read.
pub fn format(folder: &dyn Folder) -> Result<Vec<(String, Vec<u8>)>, PackError> {
    let mut bytes = Bytes::read(folder)?;
    let mut faults = std::mem::take(&mut bytes.faults);
    if !bytes.usable {
        return Err(PackError::Faults(faults));
    }
    let files = bytes.open(&mut faults);
    structure(&bytes, &files, &mut faults);
    if !faults.is_empty() {
        return Err(PackError::Faults(faults));
    }
    let mut changed = Vec::new();
    for (name, source) in &bytes.sources {
        let new = if name == INDEX {
            bytes.index.write().into_bytes()
        } else if is_rows(name) {
            let payload =
                unit_of_rows(name).and_then(|unit| files.doc(&unit)?.1.root().get("payload"));
            let columns = payload.and_then(|payload| payload.get("columns"));
            let columns = columns.map(Columns::of).unwrap_or_default();
            let text = source.text().unwrap_or_default();
            let mut out = Vec::with_capacity(text.len());
            write_lines_as_lines(text, &columns, &mut out).map_err(|error| failed(name, &error))?;
            out
        } else {
            let Some((_, doc)) = files.doc(name) else {
                continue;
            };
            let shape = if name == TEMPLATE {
                &shape::TEMPLATE
            } else {
                &shape::UNIT
            };
            let mut writer = Writer::gathering(doc.text().len());
            let written = writer.root(doc.root(), shape);
            let text = written.and_then(|()| Ok(writer.finish()?));
            text.map_err(|error| failed(name, &error))?.into_bytes()
        };
        if new != source.bytes() {
            changed.push((name.clone(), new));
        }
    }
    Ok(changed)
}

fn failed(name: &str, error: &CanonicalError) -> PackError {
    PackError::Faults(vec![LayoutFault::file(name, error.to_string())])
}
