//! The sample files that tests run over.

use std::path::{Path, PathBuf};

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Name (without `.json`) and text of every JSON file directly in a folder, sorted by name. A
/// byte-order mark is taken off; what is not UTF-8 is left out.
pub(crate) fn folder(path: &str) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(root().join(path)) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let json = files
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "json"));
    json.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), text(path)?)))
        .collect()
}

fn text(path: &Path) -> Option<String> {
    let text = String::from_utf8(std::fs::read(path).unwrap()).ok()?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// Packages without any finding.
pub(crate) fn valid() -> Vec<(String, String)> {
    let files = folder("tests/fixtures/cases/valid");
    assert!(files.len() > 40, "the cases are there");
    files
}

/// Packages with one mistake each.
pub(crate) fn mutants() -> Vec<(String, String)> {
    folder("tests/fixtures/cases/mutants")
}

/// One valid case.
pub(crate) fn case(name: &str) -> String {
    let (_, text) = valid()
        .into_iter()
        .find(|(other, _)| other == name)
        .unwrap();
    text
}
