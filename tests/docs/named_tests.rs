//! Each test that `docs/RELIABILITY.md` names exists, and so does what its commands select.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of modules and functions of the tests, and of what they are next to.
fn known() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src", "tests", "testkit/src", "server/src", "server/tests"];
    let mut names = BTreeSet::new();
    for entry in folders
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(root.join(folder)))
    {
        let path: PathBuf = entry.expect("a readable folder").into_path();
        names.extend(
            path.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned()),
        );
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            let functions = text.split("fn ").skip(1);
            names.extend(functions.map(|rest| word(rest).to_owned()));
            // Laws are named once, and each is a test.
            let listed = text.lines().map(|line| line.trim().trim_end_matches(','));
            names.extend(listed.filter(|line| word(line) == *line).map(str::to_owned));
        }
    }
    names
}

/// The identifier that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|next: char| !next.is_alphanumeric() && next != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The parts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The names in a path of a test: `a::{b,c}::…::d_…`.
fn names(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split(|next: char| !next.is_alphanumeric() && next != '_');
    parts.filter(|part| !part.is_empty())
}

#[test]
fn named_tests_exist() {
    let known = known();
    let page = include_str!("../../docs/RELIABILITY.md");
    let mut missing = Vec::new();
    let mut rows = 0;
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [_, shown_by, command] = cells.as_slice() else {
            continue;
        };
        rows += 1;
        let is_path = |quoted: &&str| !quoted.contains(['/', ' ', '-']);
        for path in quoted(shown_by).filter(is_path) {
            for name in names(path) {
                // The last one may be cut.
                let begins = path.ends_with('…') && path.trim_end_matches('…').ends_with(name);
                let is_known = |known: &String| known == name || begins && known.starts_with(name);
                if !known.iter().any(is_known) {
                    missing.push(format!("`{path}` names {name}"));
                }
            }
        }
        for filter in quoted(command).filter(is_path) {
            for name in names(filter) {
                if !known.iter().any(|known| known.contains(name)) {
                    missing.push(format!("`{filter}` selects nothing: {name}"));
                }
            }
        }
    }
    assert!(rows > 50, "{rows} rows were read");
    assert!(missing.is_empty(), "{missing:#?}");
}
