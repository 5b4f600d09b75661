//! An unpacked package as it was when it was read, for commands that rewrite its files.
//!
//! In: a folder on the disk, of which each file is read once. Out: the same bytes however often they are asked for, and
//! new ones for files that are still what was read.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use tplkit::layout::Folder;
use tplkit::package::Source;

use super::error::CliError;
use super::folder::OnDisk;
use super::replace::{self, FileBytes};

/// A folder whose files stay what they were when they were opened first.
pub(crate) struct FolderSnapshot {
    on_disk: OnDisk,
    /// By name; nothing for a file that was not there.
    files: RefCell<BTreeMap<String, Option<Vec<u8>>>>,
}

impl FolderSnapshot {
    pub(crate) fn new(folder: &Path) -> FolderSnapshot {
        FolderSnapshot {
            on_disk: OnDisk(folder.to_owned()),
            files: RefCell::default(),
        }
    }

    /// Writes files anew: all of them, or none when one of those that were read is not on the disk as it was read.
    pub(crate) fn rewrite(&self, new: &[(String, Vec<u8>)]) -> Result<(), CliError> {
        if new.is_empty() {
            return Ok(());
        }
        let folder = &self.on_disk.0;
        let names: BTreeSet<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
        let files = self.files.borrow();
        // Those that are replaced last, so that the least time passes until then.
        let (replaced, others): (Vec<_>, Vec<_>) = files
            .iter()
            .partition(|(name, _)| names.contains(name.as_str()));
        let read: Vec<FileBytes<'_>> = others
            .into_iter()
            .chain(replaced)
            .filter_map(|(name, bytes)| Some(FileBytes::new(folder.join(name), bytes.as_deref()?)))
            .collect();
        let new: Vec<FileBytes<'_>> = new
            .iter()
            .map(|(name, bytes)| FileBytes::new(folder.join(name), bytes))
            .collect();
        replace::rewrite(folder, &read, &new)
    }
}

impl Folder for FolderSnapshot {
    fn names(&self) -> io::Result<Vec<String>> {
        self.on_disk.names()
    }

    fn open(&self, name: &str) -> io::Result<Option<Source>> {
        let mut files = self.files.borrow_mut();
        let bytes = match files.entry(name.to_owned()) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => unread.insert(self.on_disk.read(name)?),
        };
        Ok(bytes.clone().map(Source::from_bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;
    use tplkit::layout::Folder as _;

    use super::FolderSnapshot;

    #[test]
    fn a_file_is_what_it_was_and_a_changed_folder_is_left_alone() {
        let folder = TempDir::new().expect("a folder");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("written");
        };
        let on_disk = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a text");
        write("template.json", "{}");
        write("other.json", "[]");
        let snapshot = FolderSnapshot::new(folder.path());
        let open = |name: &str| {
            let source = snapshot.open(name).expect("readable");
            source.map(|source| source.bytes().to_vec())
        };
        assert_eq!(open("template.json"), Some(b"{}".to_vec()));
        assert_eq!(open("other.json"), Some(b"[]".to_vec()));
        assert_eq!(open("workspace.json"), None);
        write("other.json", "[1]");
        write("workspace.json", "{}");
        assert_eq!(open("other.json"), Some(b"[]".to_vec()));
        assert_eq!(open("workspace.json"), None);
        // Another file than the one that is to be written has changed.
        let new = [("template.json".to_owned(), b"{\"a\": 1}".to_vec())];
        let error = snapshot.rewrite(&new).expect_err("it has changed");
        assert!(error.to_string().contains("other.json"), "{error}");
        assert_eq!(on_disk("template.json"), "{}");
        snapshot.rewrite(&[]).expect("there is nothing to write");
        write("other.json", "[]");
        snapshot.rewrite(&new).expect("it is what it was");
        assert_eq!(on_disk("template.json"), "{\"a\": 1}");
    }
}
