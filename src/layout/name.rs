//! Names of files: made from refs, and the same on every file system.
//!
//! A name derives from its ref alone, so a new item renames no file. Names are lower case, because
//! some file systems ignore case.

use std::collections::HashSet;

use crate::package::format::ITEM_KINDS;
use crate::package::reference;

/// Folders of items, by kind.
const FOLDERS: [&str; 7] = [
    "features",
    "columns",
    "views",
    "modules",
    "rails",
    "workflows",
    ROWS,
];

/// The folder of rows.
pub(super) const ROWS: &str = "rows";
/// The folder of dependencies.
pub(super) const DEPENDENCIES: &str = "dependencies";
/// The folder of items of unknown kinds.
const OTHER: &str = "others";

/// What the workspace itself gets.
pub(super) const WORKSPACE_FILE: &str = "workspace.json";
/// What belongs to nothing.
pub(super) const OTHER_FILE: &str = "other.json";

/// Names that a device has on Windows, whatever follows a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Longer names are cut.
const MAX_STEM_BYTES: usize = 80;

/// The folder of the items of a kind.
pub(super) fn folder(kind: &str) -> &'static str {
    let known = ITEM_KINDS.iter().position(|known| *known == kind);
    known.map_or(OTHER, |index| FOLDERS[index])
}

/// Whether a name may be in an index: a file of the layout, inside the folder, and one that
/// every file system can hold.
pub fn is_name(name: &str) -> bool {
    match name.split_once('/') {
        None => [super::TEMPLATE, WORKSPACE_FILE, OTHER_FILE].contains(&name),
        Some((folder, file)) => {
            let stem = match file.strip_suffix(".jsonl") {
                Some(stem) if folder == ROWS => stem,
                Some(_) => return false,
                None => file.strip_suffix(".json").unwrap_or_default(),
            };
            is_folder(folder) && is_stem(stem)
        }
    }
}

/// Whether a file holds rows, one per line, and no JSON value.
pub(super) fn is_rows(name: &str) -> bool {
    name.strip_suffix(".jsonl").is_some()
}

/// Whether files of the layout are in that folder.
fn is_folder(name: &str) -> bool {
    FOLDERS.contains(&name) || name == DEPENDENCIES || name == OTHER
}

fn is_stem(stem: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    stem.len() <= 2 * MAX_STEM_BYTES
        && stem.bytes().next().is_some_and(plain)
        && stem
            .bytes()
            .all(|byte| plain(byte) || matches!(byte, b'_' | b'-' | b'~'))
        && !is_device(stem)
}

fn is_device(stem: &str) -> bool {
    let port = |word: &str| {
        let digit = stem.strip_prefix(word);
        digit.is_some_and(|digit| digit.len() == 1 && digit.bytes().all(|d| d.is_ascii_digit()))
    };
    DEVICES.contains(&stem) || port("com") || port("lpt")
}

/// The name of a ref without its letter: what is in a folder of one kind of thing.
pub(super) fn tail(reference: &str) -> &str {
    match reference.split_once('_') {
        Some((_, tail)) if reference::is_declaration(reference) => tail,
        _ => reference,
    }
}

/// The file name (without its end) for a text: the text itself where that will do, else what is
/// left of it and a digest. `~` is in no ref, so the two never meet.
pub(super) fn stem(text: &str) -> String {
    if is_stem(text) && text.len() <= MAX_STEM_BYTES && !text.contains('~') {
        return text.to_owned();
    }
    let mut stem = String::new();
    for character in text.chars().take(MAX_STEM_BYTES / 2) {
        match character.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9' | '_' | '-') => stem.push(plain),
            _ => stem.push('-'),
        }
    }
    let stem = stem.trim_start_matches(['-', '_']);
    let stem = if stem.is_empty() { "unnamed" } else { stem };
    format!("{stem}~{:08x}", digest(text))
}

/// FNV-1a: a name has to stay the same for ever, and no secret is kept with it.
fn digest(text: &str) -> u32 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = text.bytes().fold(0xCBF2_9CE4_8422_2325, step);
    // Folded, because the high bits are the better ones.
    u32::try_from((hash >> 32) ^ (hash & 0xFFFF_FFFF)).unwrap_or_default()
}

/// The names that were given away.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// A name in a folder. Only things that share a ref (a mistake) or a digest depend on their
    /// neighbours.
    pub(super) fn give(&mut self, folder: &str, text: &str) -> String {
        let stem = stem(text);
        let mut name = format!("{folder}/{stem}.json");
        let mut next = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{folder}/{stem}~{next}.json");
            next += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, is_name, stem, tail};

    #[test]
    fn names_are_safe_everywhere() {
        assert_eq!(stem("notes_title-2"), "notes_title-2");
        let odd = [
            "Notes",
            "notes.",
            "con",
            "com1",
            "../../etc/passwd",
            "a/b",
            "..",
            "",
            "~",
            "notes~1",
            "_a",
            "-a",
            "Ação",
            "😀",
            &"x".repeat(300),
        ];
        let mut seen = std::collections::HashSet::new();
        for text in odd {
            let name = format!("columns/{}.json", stem(text));
            assert!(is_name(&name), "{text}: {name}");
            assert!(name.len() < 80 && name.contains('~'), "{name}");
            assert!(seen.insert(name), "{text}");
        }
        assert_ne!(stem("Notes"), stem("NOTES"));
        assert_eq!(
            (tail("c_a_b"), tail("C_a"), tail("$x")),
            ("a_b", "C_a", "$x")
        );
    }

    #[test]
    fn names_outside_are_refused() {
        for good in [
            "template.json",
            "rows/a.jsonl",
            "rows/a.json",
            "others/x~12.json",
        ] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            "x.json",
            "tplkit.index",
            "../template.json",
            "columns/../x.json",
            "columns/..json",
            "columns/.json",
            "/etc/passwd",
            "columns//a.json",
            "columns\\a.json",
            "columns/a.jsonl",
            "columns/A.json",
            "columns/nul.json",
            "columns/a.b.json",
            "columns/a",
            "rows/a/b.json",
            "C:/a.json",
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn equal_names_are_distinguished() {
        let mut names = Names::default();
        assert_eq!(names.give("views", "a"), "views/a.json");
        assert_eq!(names.give("views", "a"), "views/a~2.json");
        assert_eq!(names.give("rails", "a"), "rails/a.json");
    }
}
