//! Folders of 500 packages, checked by the library and by the command.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::de::IgnoredAny;
use tplkit::package::Source;

use crate::measure::measure;
use crate::{clean, command, generate, written};

/// A folder of generated packages.
pub(crate) struct Catalog {
    name: &'static str,
    folder: PathBuf,
    files: Vec<PathBuf>,
}

impl Catalog {
    fn new(name: &'static str, folder: PathBuf, files: u64, text: impl Fn(u64) -> String) -> Self {
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = |seed| written(folder.join(format!("{seed:03}.json")), || text(seed));
        Catalog {
            name,
            files: (0..files).map(file).collect(),
            folder,
        }
    }

    /// Mostly rows: three tables of 160 each.
    pub(crate) fn of_rows(folder: &Path, small: bool) -> Catalog {
        let (files, rows) = if small { (5, 10) } else { (500, 160) };
        let folder = folder.join(format!("catalog-{files}-{rows}-v2"));
        let text = |seed| generate::package(100 + seed, 3, rows, 0);
        Catalog::new("mostly rows", folder, files, text)
    }

    /// Mostly structure: up to 40 tables with columns, views and automations, and a few rows.
    pub(crate) fn of_manifests(folder: &Path, small: bool) -> Catalog {
        let files = if small { 5 } else { 500 };
        let folder = folder.join(format!("manifests-{files}-v1"));
        let tables = |seed: u64| 7 + usize::try_from(seed * 7 % 34).unwrap_or_default();
        let text = |seed| generate::package(1000 + seed, tables(seed), 4, 2);
        Catalog::new("mostly structure", folder, files, text)
    }

    /// Measures it.
    pub(crate) fn report(&self, rounds: usize) {
        let sizes = self
            .files
            .iter()
            .map(|file| std::fs::metadata(file).expect("there").len());
        let (count, total) = (self.files.len(), sizes.sum::<u64>());
        println!(
            "{count} files of {:.1} MB together, {}",
            total as f64 / 1e6,
            self.name
        );
        measure(
            rounds,
            [
                ("serde_json, IgnoredAny, 1 thread", &|| {
                    for file in &self.files {
                        let bytes = std::fs::read(file).expect("read");
                        serde_json::from_slice::<IgnoredAny>(&bytes).expect("JSON");
                    }
                }),
                ("tplkit check FOLDER", &|| command(&self.folder)),
                ("check, 2 threads", &|| self.check(2)),
                ("check, 1 thread", &|| self.check(1)),
            ],
        );
    }

    fn check(&self, threads: usize) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(file) = self.files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        clean(Source::open(file).expect("opened").bytes(), 1);
                    }
                });
            }
        });
    }
}
