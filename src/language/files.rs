//! Which files of an unpacked folder change their names with a ref.

use std::collections::BTreeMap;

use crate::layout::{FileSink, Index, Section, WriteContent, unpack};
use crate::package::canonical::CanonicalError;

/// Takes names and no content.
struct Names;

impl FileSink for Names {
    fn create(&mut self, _: &str, _: WriteContent<'_>) -> Result<(), CanonicalError> {
        Ok(())
    }
}

/// The files that a package is unpacked into under other names after a change that keeps every
/// list in its order: by old name the new one.
pub fn renamed_files(before: &str, after: &str) -> BTreeMap<String, String> {
    let index = |text: &str| Some(unpack(text, &mut Names).ok()?.index);
    let (Some(old), Some(new)) = (index(before), index(after)) else {
        return BTreeMap::new();
    };
    let mut renamed = BTreeMap::new();
    for section in Section::ALL {
        for (old, new) in names(&old, section).zip(names(&new, section)) {
            if old != new {
                renamed.insert(old.to_owned(), new.to_owned());
            }
        }
    }
    renamed
}

fn names(index: &Index, section: Section) -> impl Iterator<Item = &str> {
    let entries = index.list(section).unwrap_or_default().iter();
    entries.map(|entry| entry.name.as_str())
}
